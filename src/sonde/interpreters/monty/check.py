"""Cells for Monty, looked at before they run. Their variables cannot be seen from here; so whatever name any cell has
used for itself is taken for its own."""

import ast
import re
from collections.abc import Callable
from typing import Any

from sonde.guest.check import LONGEST, Known, check, parsed
from sonde.guest.delegation import Tools
from sonde.guest.refusal import Problem
from sonde.guest.survey import Survey
from sonde.interpreters.monty.words import functions
from sonde.interpreters.protocol import GuestWorld

_NOT_JUST_CALLED = re.compile(r"\b(?:def|class)\s+(\w+)|\b([^\W\d]\w*)\b(?!\s*\()")


class Checks:
    """Looks at the cells of one session, one after the other."""

    def __init__(self, world: GuestWorld) -> None:
        words: dict[str, Any] = {**functions(), "tools": Tools(list(world.tools))}
        if not world.agents:
            del words["task"]
        self._words = words
        self._agents = world.agents
        self._names: set[str] = set()
        self._blind = False
        self.look_failed: Callable[[Exception], None] = lambda error: None
        """Told when a cell could not be looked at."""

    def look(self, code: str, *, ran_before: bool) -> list[Problem]:
        """Return what is wrong with the next cell; nothing, if it ran before or cannot be looked at."""
        if self._blind or len(code) > LONGEST:
            self._blind = True
            return []
        try:
            tree = parsed(code)
            problems = [] if ran_before else check(code, Known(self._words, None, self._agents, self._names), tree)
        except Exception as error:  # noqa: BLE001 - no fault of ours may keep a cell from running
            if not isinstance(error, SyntaxError | ValueError | RecursionError | MemoryError):
                self.look_failed(error)
            # Monty may know better what it means.
            self._names.update(name for found in _NOT_JUST_CALLED.findall(code) for name in found)
            return []
        if not problems:
            self._note(tree)
        return problems

    def _note(self, tree: ast.Module) -> None:
        seen = Survey(tree)
        self._names |= seen.bound.keys()
        self._blind = seen.is_dynamic
