"""JavaScript, as the nursery and its interpreters know it."""

import hashlib
import json
import sys
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from sonde.guest.desk import described
from sonde.guest.inputs import fits_one_string
from sonde.guest.manual import manual
from sonde.interpreters.confined.child.session import World
from sonde.interpreters.confined.child.wire import Wire

_OF_HEAP = 0.75
"""What JavaScript has of the memory that an interpreter may take; the rest is for reading documents and answers."""

_PARTS = ("engine", "documents", "vocabulary", "delegation", "patterns", "dataset", "words")

_prepared: list[Callable[[Wire, World], Any]] = []


def prepare(packages: list[str], folders: list[str]) -> None:
    """Compile the engine and make its one instance, which each interpreter gets as it is by being forked. Raises
    `ImportError`."""
    sys.path.extend(folders)
    # What these import lies in the folders.
    from .cell import Runner  # noqa: PLC0415
    from .machine import Machine  # noqa: PLC0415

    machine = Machine()
    define = machine.define(_vocabulary())

    def begin_with(wire: Wire, world: World) -> Runner:
        machine.limit_memory(int(world.heap_bytes * _OF_HEAP))
        runner = Runner(wire, machine, world.documents)
        runner.agents = tuple(world.agents)
        runner.is_workflow = world.is_workflow
        machine.equip(define, "ask", json.dumps(_told(world)))
        return runner

    _prepared.append(begin_with)


def begin(wire: Wire, world: World) -> Any:
    """Make the runner of one interpreter, with all that its cells find."""
    return _prepared[0](wire, world)


def _vocabulary() -> str:
    """Return the function that the guest's files are parts of."""
    folder = files("sonde.guest")
    parts = ((folder / f"{name}.js").read_text("utf-8") for name in _PARTS)
    return "\n".join(('(function (ask, told) {\n"use strict";', *parts, "return engine;\n})"))


def _told(world: World) -> dict[str, Any]:
    return {
        "started": world.started,
        "budget": world.budget,
        "chance": int.from_bytes(hashlib.sha256(world.seed.encode()).digest()[:4], "little"),
        "inputs": [described(document) for document in world.documents],
        "whole": described(world.whole),
        "fits": fits_one_string(world.documents),
        "agents": world.agents,
        "tools": world.tools,
        "args": world.args,
        "most_items": world.most_items,
        "manual": manual(js=True, agents=world.agents, tools=world.tools),
    }
