"""Run one cell: compile, execute, show its last value, and tell what went wrong in terms of its own lines."""

import ast
import asyncio
import builtins
import inspect
import io
import linecache
import signal
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from time import process_time
from types import CodeType, FrameType
from typing import Any

from sonde.guest.check import Known, check, needs_no_look
from sonde.guest.refusal import Problem, Refused, error_of
from sonde.interpreters.confined.child.faults import Deadlock, Timeout
from sonde.interpreters.confined.child.wire import HostGone, Wire

from .loop import CellLoop

_VALUE = "__value__"
_LONGEST_OUTPUT = 1_000_000  # twelve bytes a character, at worst, must fit a frame
_LONGEST_TRACEBACK, _LONGEST_NAME = 100_000, 200
_AGAIN_S = 0.1
_SPARE_BYTES = 4 * 1024 * 1024
_TELLING_S = 0.2
_NAME = type.__dict__["__name__"]  # as it is, whatever a metaclass says
_SET_HANDLER = inspect.unwrap(signal.signal)  # each cell sets one, and what wraps it takes longer than the call
_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Output(io.TextIOBase):
    """Collects what a cell prints, up to a limit that is said."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0

    def write(self, text: str, /) -> int:
        """Keep some text."""
        room = _LONGEST_OUTPUT - self._size
        if room > 0:
            self._parts.append(text[:room])
        self._size += len(text)
        return len(text)

    def take(self) -> str:
        """Return what was written, and begin anew."""
        text, size = "".join(self._parts), self._size
        self._parts, self._size = [], 0
        return cut(text, size)

    def writable(self) -> bool:
        """Tell print() that it may write."""
        return True


class Runner:
    """Runs cells over one set of variables."""

    def __init__(self, wire: Wire, loop: CellLoop, variables: dict[str, Any]) -> None:
        self.finished = False
        self.words: dict[str, Any] = {}
        """What is built in, beside Python's own, when a cell begins."""
        self.agents: tuple[str, ...] = ()
        """The kinds of subagents that there are."""
        self._wire = wire
        self._loop = loop
        self._variables = variables
        self._output = Output()
        self._spare: bytearray | None = None
        self._deadline = 0.0
        self.compile: Callable[[str, str], tuple[CodeType, ast.Module | None]] = compile_cell
        self.take: Callable[[Any], Any] = lambda value: value
        """Given what a cell comes to; returns what is shown of it."""
        self.look_failed: Callable[[Exception], None] = lambda error: None
        """Told when a cell could not be looked at before it ran."""
        wire.charge = self._charge
        loop.set_exception_handler(lambda _, context: print(f"warning: {context['message']}", file=self._output))

    def run(self, number: int, code: str, cpu_s: float) -> dict[str, Any]:
        """Run a cell and return its result as the host is told it. Never raises but `HostGone`."""
        self.finished = False
        builtins.__dict__.update(self.words)
        self._set_aside()
        sys.stdout = sys.stderr = self._output
        filename = f"<cell {number}>"
        linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)
        result: dict[str, Any] = {"status": "ok"}
        try:
            result["value"] = self._execute(code, filename, cpu_s)
        except HostGone:
            raise
        except Refused as refused:
            result = {"status": "error", "error": error_of(refused.problems, code, f'File "{filename}"')}
        except BaseException as error:  # noqa: BLE001 - whatever the code raises is the cell's result
            result = {"status": "timeout" if isinstance(error, Timeout) else "error"}
            self._spare = None
            result["error"] = self._tell(error, filename)
        result["stdout"] = self._output.take()
        return result

    def _execute(self, source: str, filename: str, cpu_s: float) -> str | None:
        """Run code and return its last value as text. Raises `Refused` if it would surely fail."""
        self._variables.pop(_VALUE, None)
        wait = True
        try:
            with self._limit(cpu_s):
                value = self._run(self._compiled(source, filename))
                return shown(self.take(self._variables.pop(_VALUE, value)))
        except Deadlock as error:
            wait = False
            raise Deadlock(f"{error} ({self._where()})") from None
        except Timeout:
            wait = False
            raise
        finally:
            self._loop.settle(wait=lambda: wait and self._wire.working and not self.finished)

    def _compiled(self, source: str, filename: str) -> CodeType:
        """Compile a cell and look at it, unless it ran before. Raises `Refused`."""
        code, tree = self.compile(source, filename)
        if not self._wire.replaying:
            known = Known(self.words, self._variables, self.agents)
            if tree is not None or not needs_no_look(code, known):
                problems = self._looked_at(source, known, tree)
                if problems:
                    raise Refused(problems)
        return code

    def _looked_at(self, source: str, known: Known, tree: ast.Module | None) -> list[Problem]:
        """Return what is wrong with a cell. What cannot be looked at is run."""
        try:
            return check(source, known, tree)
        except Exception as error:  # noqa: BLE001 - no fault of ours may keep a cell from running
            self.look_failed(error)
            return []

    def _set_aside(self) -> None:
        """Keep some memory for telling that there was not enough."""
        with suppress(MemoryError):
            self._spare = self._spare or bytearray(_SPARE_BYTES)

    def _tell(self, error: BaseException, filename: str) -> dict[str, str]:
        """Return an error as the host is told it. To show it may run code of the cell's, and that may fail too."""
        try:
            with self._limit(_TELLING_S):
                return _told(error, filename)
        except BaseException as second:  # noqa: BLE001 - whatever the code raises
            return {"type": _name(error), "message": f"[it cannot be shown: {_name(second)}]", "traceback": ""}

    def _run(self, code: CodeType) -> Any:
        value = eval(code, self._variables)
        return self._loop.run_until_complete(value) if code.co_flags & inspect.CO_COROUTINE else value

    def _where(self) -> str:
        """Return the line of a cell where one of its tasks waits."""
        for task in asyncio.all_tasks(self._loop):
            for frame in task.get_stack():
                if frame.f_code.co_filename.startswith("<cell "):
                    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"
        return "outside the cells"

    @contextmanager
    def _limit(self, cpu_s: float) -> Generator[None]:
        """Raise `Timeout` in the code once it has used so much processor time, and again should it go on."""

        def interrupt(signum: int, frame: FrameType | None) -> None:
            self._wire.interrupt(Timeout(f"the cell used more than {cpu_s:g} s of processor time"))

        _SET_HANDLER(signal.SIGPROF, interrupt)
        self._deadline = process_time() + cpu_s
        signal.setitimer(signal.ITIMER_PROF, cpu_s, _AGAIN_S)
        try:
            yield
        finally:
            self._deadline = 0.0
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _charge(self, seconds: float) -> None:
        """Let the code that runs have so much less time."""
        if self._deadline:
            self._deadline -= seconds
            signal.setitimer(signal.ITIMER_PROF, max(self._deadline - process_time(), 1e-6), _AGAIN_S)


def compile_cell(source: str, filename: str) -> tuple[CodeType, ast.Module | None]:
    """Compile a cell, and return its tree if it took one. It gives its value if it is an expression; if it ends in one,
    that is kept in a variable."""
    with suppress(SyntaxError, ValueError):
        return compile(source, filename, "eval", _FLAGS), None
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST | _FLAGS)
    body: list[ast.stmt] = tree.body
    if body and isinstance(last := body[-1], ast.Expr):
        name = ast.copy_location(ast.Name(_VALUE, ast.Store()), last)
        body = [*body[:-1], ast.copy_location(ast.Assign([name], last.value), last)]
    return compile(ast.Module(body, tree.type_ignores), filename, "exec", _FLAGS), tree


def shown(value: Any) -> str | None:
    """Return a value as the model is shown it: text of several lines as it is, all else as Python writes it."""
    if value is None:
        return None
    text = str(value) if isinstance(value, str) and "\n" in value else repr(value)
    return cut(text, len(text))


def cut(text: str, size: int) -> str:
    """Return text of at most the longest size, and say so if `size` was more."""
    if size <= _LONGEST_OUTPUT:
        return text
    return f"{text[:_LONGEST_OUTPUT]}\n[cut: {size:,} characters in all, {_LONGEST_OUTPUT:,} kept]"


def _told(error: BaseException, filename: str) -> dict[str, str]:
    """Return an error as the host is told it, with those lines of its traceback that lie in a cell."""
    message = str.__str__(str(error))
    if isinstance(error, SystemExit | KeyboardInterrupt):
        message = f"a cell cannot end the interpreter ({message})"
    summary = traceback.TracebackException.from_exception(error, limit=None, lookup_lines=True)
    frames = [frame for frame in summary.stack if frame.filename.startswith("<cell ")]
    lines = traceback.format_list(frames)
    if isinstance(error, SyntaxError) and error.filename == filename:
        lines += list(summary.format_exception_only())
    return {
        "type": _name(error),
        "message": cut(message, len(message)),
        "traceback": "".join(lines)[:_LONGEST_TRACEBACK],
    }


def _name(error: BaseException) -> str:
    name: str = _NAME.__get__(type(error))
    return name[:_LONGEST_NAME]
