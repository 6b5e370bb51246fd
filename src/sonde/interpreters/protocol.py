"""What an interpreter is to the engine: it runs cells, and asks the host for whatever they call.

Lifecycle: opened by its factory, `run` any number of times, one after the other, then `close`. Variables last from one
cell to the next. An interpreter that has died stays dead: `run` raises `InterpreterError`, and whoever
owns it opens another.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec

from sonde.errors import TaskFault
from sonde.events import CellStatus
from sonde.guest.document import Index
from sonde.guest.files import Mark


class TaskFailure(msgspec.Struct, frozen=True):
    """Why a call failed, as the code in the cell is told."""

    kind: TaskFault
    message: str
    retryable: bool = False


class Answer(NamedTuple):
    """What a call came to, and when. `value` is plain data; with a `failure` it counts for nothing."""

    value: Any
    at: float
    failure: TaskFailure | None = None


class HostCalls(Protocol):
    """Who answers what a cell calls. Any number of calls may be open at once."""

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        """Answer one call. A failure that the code can deal with is part of the answer; an exception ends the cell."""
        ...

    def idle(self) -> None:
        """Note that the code can do nothing more until it gets an answer. Told only while replaying."""
        ...


class CellError(msgspec.Struct, frozen=True):
    """What ended a cell early. `traceback` names the lines of the cell."""

    type: str
    message: str
    traceback: str = ""


class CellResult(msgspec.Struct, frozen=True):
    """How a cell ended. `value` is its last expression as text, `stdout` all that it printed."""

    status: CellStatus
    value: str | None = None
    stdout: str = ""
    error: CellError | None = None
    changed_input: str | None = None
    """What changed of an input that the cell read, whether or not the code minded."""


class Settings(NamedTuple):
    """How interpreters are made."""

    heap_bytes: int = 512 * 1024 * 1024
    confined: bool = True
    packages: tuple[str, ...] = ()
    """Packages of this Python that Python cells may import."""


class GuestInput(NamedTuple):
    """An input as an interpreter needs it: its file is opened by its number."""

    name: str
    mark: Mark
    blocks: Index


class GuestWorld(NamedTuple):
    """What code finds when it starts."""

    inputs: list[GuestInput]
    open_file: Callable[[int], int]
    """Returns a descriptor of an input's file."""
    budget: dict[str, float | None]
    """The run's limits; None where there is none."""
    seed: str
    started: float
    agents: tuple[str, ...] = ()
    """The kinds of subagents that `task` can send; without any there is no such word."""
    tools: tuple[str, ...] = ()
    """The tools that code may use as `tools.NAME(...)`."""
    args: Any = None
    """What a saved workflow was given, as plain data."""
    is_workflow: bool = False
    """Whether a cell is the body of a function: what it returns, or its last value, is the answer."""
    most_items: int | None = None
    """How many items one fan-out may have."""


def _no_file(number: int) -> int:
    raise FileNotFoundError(number)


EMPTY_WORLD = GuestWorld([], _no_file, dict.fromkeys(("calls", "tokens", "dollars", "seconds")), "empty", 0.0)
"""A world without inputs and limits, for trying an interpreter out."""


class NoCalls:
    """Refuses all that a cell calls."""

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        """Refuse one call."""
        return Answer(None, 0.0, TaskFailure("tool_error", f"{function} cannot be called here"))

    def idle(self) -> None:
        """Nothing to do."""


class Interpreter(Protocol):
    """Runs cells of code."""

    @property
    def layers(self) -> list[str]:
        """What confines it, strongest first; known once the first cell has run."""
        ...

    async def run(
        self, code: str, calls: HostCalls, *, cpu_s: float, replaying: bool = False, number: int | None = None
    ) -> CellResult:
        """Run one cell, by its number: the next one if it is not told. Raises `InterpreterError` if the interpreter
        died for any reason but the cell's time-out."""
        ...

    async def close(self) -> None:
        """End it, and everything it still does."""
        ...


class Backend(Protocol):
    """Opens interpreters of one kind, any number of them."""

    def start(self) -> None:
        """Begin to load, so that the first interpreter is ready sooner."""
        ...

    async def open(self, world: GuestWorld) -> Interpreter:
        """Open one. Raises `InterpreterError`."""
        ...

    async def close(self) -> None:
        """End all that were opened."""
        ...
