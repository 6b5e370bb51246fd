"""One interpreter's life: hear of the world, then run cell after cell until the socket closes."""

import json
import socket
from collections.abc import Callable
from typing import Any, Protocol

from sonde.guest.files import Files
from sonde.guest.inputs import documents_of, marks_of, whole_of

from .confine import stat_size_and_time
from .faults import InputChanged
from .wire import HostGone, Wire


class Runner(Protocol):
    """Runs cells of one language."""

    def run(self, number: int, code: str, cpu_s: float) -> dict[str, Any]:
        """Run a cell and return its result as the host is told it. Never raises but `HostGone`."""
        ...


class World:
    """What an interpreter is told of the run it works for, with the inputs as documents: each is read through a
    descriptor that the host hands over when it is first needed."""

    def __init__(self, told: dict[str, Any], files: socket.socket) -> None:
        self.seed: str = told["seed"]
        self.started: float = told["started"]
        self.budget: dict[str, float | None] = told["budget"]
        self.heap_bytes: int = told["heap_bytes"]
        self.agents: list[str] = told["agents"]
        self.tools: list[str] = told["tools"]
        self.args: Any = told["args"]
        self.is_workflow: bool = told["is_workflow"]
        self.most_items: int | None = told["most_items"]
        self.changed_input: str | None = None
        """What was found changed, whether or not the code minded."""
        self._files = files
        reads = Files(marks_of(told["inputs"]), self._ask_for_file, self._note_change, stat_size_and_time)
        self.documents = documents_of(told["inputs"], reads)
        self.whole = whole_of(self.documents)

    def _ask_for_file(self, number: int) -> int:
        self._files.send(number.to_bytes(4, "little"))
        told, descriptors, _, _ = socket.recv_fds(self._files, 4096, 1)
        if not descriptors:
            raise OSError(*json.loads(told))
        return descriptors[0]

    def _note_change(self, what: str) -> InputChanged:
        self.changed_input = what
        return InputChanged(what)


def serve(wire: Wire, files: socket.socket, layers: list[str], begin: Callable[[Wire, World], Runner]) -> None:
    """Serve the host: `begin` makes the runner of this interpreter's language."""
    wire.send({"ready": layers})
    try:
        world = World(wire.receive()["world"], files)
        wire.now = world.started
        runner = begin(wire, world)
        while True:
            cell = wire.receive()["cell"]
            wire.begin_cell(replaying=cell["replaying"])
            result = runner.run(cell["number"], cell["code"], cell["cpu_s"])
            wire.send({"done": {**result, "changed_input": world.changed_input}, "cell": cell["number"]})
    except HostGone:
        return
