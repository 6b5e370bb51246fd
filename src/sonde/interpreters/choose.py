"""From an interpreter's name to a backend."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from sonde.errors import UsageError
from sonde.interpreters.confined.backend import ConfinedBackend
from sonde.interpreters.confined.support import lacking, runs_here
from sonde.interpreters.protocol import Backend, Settings

PYTHON, JAVASCRIPT, MONTY = "python", "javascript", "monty"
NAMES = (PYTHON, JAVASCRIPT, MONTY)

_NEEDED = {JAVASCRIPT: "quickjs_rs", MONTY: "pydantic_monty"}


_OR_UNCONFINED = "; or, if you trust the model and the inputs, give --interpreter-unconfined."


def usual() -> tuple[str, str | None]:
    """Return the interpreter that is taken unless another is chosen, and why, if it is not confined Python.

    Raises `UsageError` if there is none.
    """
    missing = lacking()
    if missing is None:
        return PYTHON, None
    if find_spec(_NEEDED[MONTY]) is None:
        raise UsageError(
            f"Python cannot be confined here: {missing}; and Monty, which can be used instead, is not installed",
            f"Install it: pip install 'sonde[monty]'{_OR_UNCONFINED if runs_here() else '.'}",
        )
    return MONTY, f"Python cannot be confined here: {missing}. Cells run in Monty, a smaller Python."


def choose(name: str, settings: Settings) -> Backend:
    """Return the backend that `name` means. Raises `UsageError` if there is none, or if what it needs is missing."""
    if name not in NAMES:
        raise UsageError(f"unknown interpreter {name!r}", f"Known: {', '.join(NAMES)}.")
    package = _NEEDED.get(name)
    if package is not None and find_spec(package) is None:
        raise UsageError(f"the interpreter {name} is not installed", f"Install it: pip install 'sonde[{name}]'.")
    if name == MONTY:
        make = cast("Callable[[Settings], Backend]", import_module("sonde.interpreters.monty.backend").MontyBackend)
        return make(settings)
    missing = lacking() if settings.confined or not runs_here() else None
    if missing is not None:
        remedy = f"Choose --interpreter monty{_OR_UNCONFINED if runs_here() else '.'}"
        raise UsageError(f"{name} cells cannot be confined here: {missing}", remedy)
    return ConfinedBackend(name, settings)
