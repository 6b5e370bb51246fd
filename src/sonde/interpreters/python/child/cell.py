"""Run one cell: compile, execute, show its last value, and tell what went wrong in terms of its own lines."""

import ast
import inspect
import io
import linecache
import sys
import traceback
from types import CodeType
from typing import Any

from .faults import Deadlock
from .loop import CellLoop
from .wire import HostGone, Wire

_VALUE = "__value__"
_LONGEST_OUTPUT = 8_000_000
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
        self.changed_input: str | None = None
        self._wire = wire
        self._loop = loop
        self._variables = variables
        self._output = Output()
        loop.set_exception_handler(lambda _, context: print(f"warning: {context['message']}", file=self._output))

    def run(self, number: int, code: str) -> dict[str, Any]:
        """Run a cell and return its result as the host is told it. Never raises but `HostGone`."""
        self.finished = False
        sys.stdout = sys.stderr = self._output
        filename = f"<cell {number}>"
        linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)
        result: dict[str, Any] = {"status": "ok"}
        try:
            result["value"] = self._execute(compile_cell(code, filename))
        except HostGone:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the code raises is the cell's result
            result = {"status": "error", "error": _told(error, filename)}
        result["stdout"] = self._output.take()
        result["changed_input"] = self.changed_input
        return result

    def _execute(self, code: CodeType) -> str | None:
        """Run compiled code and return its last value as text."""
        self._variables.pop(_VALUE, None)
        main = None
        if code.co_flags & inspect.CO_COROUTINE:
            main = eval(code, self._variables)
        else:
            exec(code, self._variables)  # noqa: S102 - the same
        self._loop.finish(main, wait=lambda: self._wire.working and not self.finished)
        return shown(self._variables.pop(_VALUE, None))


def compile_cell(source: str, filename: str) -> CodeType:
    """Compile a cell; the value of a last expression is kept in a variable of its own."""
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST | _FLAGS)
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        kept = ast.Assign([ast.Name(_VALUE, ast.Store())], last.value)
        tree.body[-1] = ast.fix_missing_locations(ast.copy_location(kept, last))
    return compile(tree, filename, "exec", _FLAGS)


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
    try:
        message = str(error)
    except Exception as second:  # noqa: BLE001 - an error's own __str__ may fail
        message = f"[its message cannot be shown: {type(second).__name__}]"
    if isinstance(error, SystemExit | KeyboardInterrupt):
        message = f"a cell cannot end the interpreter ({message})"
    summary = traceback.TracebackException.from_exception(error, limit=None, lookup_lines=True)
    frames = [frame for frame in summary.stack if frame.filename.startswith("<cell ")]
    lines = traceback.format_list(frames)
    if isinstance(error, SyntaxError) and error.filename == filename:
        lines += list(summary.format_exception_only())
    elif isinstance(error, Deadlock):
        message += "; nothing is left that could wake it"
    return {
        "type": type(error).__name__,
        "message": cut(message, len(message)),
        "traceback": "".join(lines),
    }
