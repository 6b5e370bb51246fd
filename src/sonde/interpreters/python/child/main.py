"""The separate interpreter: wait for a cell, run it, tell the host, and so on until the socket closes."""

import asyncio
import builtins
import ctypes
import hashlib
import json
import os
import random
import signal
import socket
import sys
import time
import types
from collections.abc import Coroutine
from typing import Any

from sonde.guest.document import WHOLE_LIMIT, Document, Index, joined
from sonde.guest.files import Files, Mark
from sonde.guest.vocabulary import Host, words

from .cell import Runner
from .faults import Deadlock, InputChanged, TaskError
from .loop import CellLoop
from .wire import HostGone, Wire

_PR_SET_PDEATHSIG = 1


def serve(frames: int, files: int) -> None:
    """Serve the host over two inherited sockets: one for frames, one to be handed input files over."""
    die_with_the_host()
    wire = Wire(socket.socket(fileno=frames))
    try:
        world = wire.receive()["world"]
        wire.now = world["started"]
        loop = CellLoop(wire)
        asyncio.set_event_loop(loop)
        variables = _variables()
        runner = Runner(wire, loop, variables)
        _settle_time_and_chance(wire, loop, world["seed"])
        _offer_words(loop, runner, world, variables)
        _offer_inputs(socket.socket(fileno=files), world["inputs"], runner, variables)
        wire.send({"ready": True})
        while True:
            cell = wire.receive()["cell"]
            wire.begin_cell(replaying=cell["replaying"])
            wire.send({"done": runner.run(cell["number"], cell["code"])})
    except HostGone:
        # Nothing is left to save, and exit handlers set by a cell must not run.
        os._exit(0)


def die_with_the_host() -> None:
    """Have the kernel kill this process when the host is gone, even in the middle of a cell."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _variables() -> dict[str, Any]:
    """Return the variables of the module that cells run in; it is a real one, so that classes can be pickled."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    return module.__dict__


def _settle_time_and_chance(wire: Wire, loop: CellLoop, seed: str) -> None:
    """Make the clock and chance the run's, so that a replay sees the same."""

    def sleep(seconds: float) -> None:
        loop.call_now("sleep", {"until": wire.now + seconds})

    def run(main: Coroutine[Any, Any, Any], *, debug: bool | None = None) -> Any:
        if loop.is_running():
            main.close()
            raise RuntimeError("asyncio.run() cannot be used beside `await`: write `await main()`")
        return loop.run_until_complete(main)

    random.seed(hashlib.sha256(seed.encode()).digest())
    time.time = time.monotonic = time.perf_counter = loop.time
    time.sleep = sleep
    asyncio.run = run


def _offer_words(loop: CellLoop, runner: Runner, world: dict[str, Any], variables: dict[str, Any]) -> None:
    """Make the words built in: code may use the same names for itself, and `del` brings the word back."""

    def call_now(function: str, arguments: dict[str, Any]) -> Any:
        value = loop.call_now(function, arguments)
        runner.finished = runner.finished or function == "final"
        return value

    offered = words(Host(loop.call, call_now, loop.call_all_now), world["budget"], variables)
    offered |= {"TaskError": TaskError, "Deadlock": Deadlock, "InputChanged": InputChanged}
    for name, word in offered.items():
        setattr(builtins, name, word)


def _offer_inputs(files: socket.socket, inputs: list[Any], runner: Runner, variables: dict[str, Any]) -> None:
    """Set `context` and `inputs`."""
    marks = [Mark(*mark) for _, mark, _ in inputs]

    def fault(what: str) -> InputChanged:
        runner.changed_input = what
        return InputChanged(what)

    reads = Files(marks, lambda number: _ask_for_file(files, number), fault)
    documents = [
        Document(name, lambda start, end, n=number: reads.read(n, start, end), Index(*index))
        for number, (name, _, index) in enumerate(inputs)
    ]
    whole = documents[0] if len(documents) == 1 else joined("context", documents)
    if (len(documents) == 1 and whole.size <= WHOLE_LIMIT) or not documents:
        variables["context"] = str(whole)
    else:
        variables["context"] = whole
    variables["inputs"] = Inputs((document.name, document) for document in documents)


class Inputs(dict[str, Document]):
    """The inputs by name."""

    def __missing__(self, name: object) -> Document:
        known = ", ".join(map(repr, list(self)[:20])) or "there are none"
        raise KeyError(f"no input {name!r}; known: {known}")


def _ask_for_file(files: socket.socket, number: int) -> int:
    files.send(number.to_bytes(4, "little"))
    told, descriptors, _, _ = socket.recv_fds(files, 4096, 1)
    if not descriptors:
        raise OSError(*json.loads(told))
    return descriptors[0]
