"""One Monty session: its worker, and the loop that drives cells in it from one suspension to the next.

All of it runs in a thread: a turn of the worker blocks. What the thread needs from outside it asks `Calls` for.
"""

import datetime
import os
import secrets
import signal
import time
from contextlib import suppress
from typing import Any, NamedTuple, cast

import pydantic_monty as monty

from sonde.errors import InterpreterError
from sonde.guest.manual import manual
from sonde.guest.monty import LONGEST_CALL, LONGEST_SHOWN
from sonde.guest.refusal import error_of
from sonde.interpreters.cost import cost_of
from sonde.interpreters.monty import values
from sonde.interpreters.monty.calls import Calls, Stopped
from sonde.interpreters.monty.check import Checks
from sonde.interpreters.monty.documents import Documents, GivenUp
from sonde.interpreters.monty.words import HOST, WORLD, source
from sonde.interpreters.monty.workflow import LINES_BEFORE, as_cell
from sonde.interpreters.protocol import Answer, CellError, CellResult, GuestWorld

_UNLIMITED = 2**40
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_LATEST = 253_402_300_799  # the last second that a date can tell
_BATCHED_ABOVE = 500
_SHOWN_FRAMES = 20
_LATER: Any = {"future": ...}
_CLOCKS = {"time.time", "datetime.now", "date.today"}
_SLEEPS = {"time.sleep", "asyncio.sleep"}


class Limits(NamedTuple):
    """How far a session may go. `turn_s` ends a worker that nobody is left to end."""

    heap_bytes: int
    turn_s: float


class Stopwatch:
    """The time that code has computed, read from another thread."""

    def __init__(self) -> None:
        self._total = 0.0
        self._since: float | None = None

    def start(self) -> None:
        """Go on counting."""
        self._since = time.perf_counter()

    def stop(self) -> None:
        """Count no more."""
        if self._since is not None:
            self._total += time.perf_counter() - self._since
            self._since = None

    def read(self) -> float:
        """Return the seconds counted so far."""
        since = self._since
        return self._total + (time.perf_counter() - since if since is not None else 0.0)


class Session:
    """A session and its worker. `run` and `close` block."""

    def __init__(self, pool: monty.Monty, limits: Limits, world: GuestWorld) -> None:
        self.documents = Documents(world)
        self._checks = Checks(world)
        self._now = world.started
        self._cells: dict[str, tuple[int, list[str]]] = {}
        self._feeds = 0
        self._show = f"show_{secrets.token_hex(8)}"
        self._is_workflow = world.is_workflow
        self._lines_before = LINES_BEFORE if world.is_workflow else 0
        self._session = pool.checkout(
            limits={
                "max_memory": limits.heap_bytes,
                "max_turn_duration_secs": limits.turn_s,
                "max_suspensions": _UNLIMITED,
            },
            os_policy={"datetime": "call_host", "sleep": "call_host", "random_start": {"seed": world.seed}},
            assert_message_annotations=False,
        )
        try:
            self._pid = self._session.__enter__().worker_pid
            self._feed(source(self._show, with_task=bool(world.agents)), {HOST: _host, WORLD: self._told(world)})
        except (OSError, RuntimeError, monty.MontyError) as error:
            self.close()
            raise InterpreterError(f"the interpreter did not start: {error}", "Try `sonde doctor`.") from error

    def kill(self) -> None:
        """End the worker at once (from any thread)."""
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, _KILL)

    def run(self, number: int, code: str, calls: Calls, watch: Stopwatch) -> CellResult:
        """Run one cell to its end. Never raises."""
        problems = self._checks.look(code, ran_before=calls.replaying)
        if problems:
            return CellResult("error", error=CellError(**error_of(problems, code, f'File "<cell {number}>"')))
        output = Output()
        self._cells[f"<python-input-{self._feeds}>"] = number, [""] * self._lines_before + code.splitlines()
        try:
            value = self._drive(self._as_cell(values.told(code)), calls, watch, output)
            return CellResult("ok", value, output.take(), changed_input=self.documents.changed_input)
        except (monty.MontyRuntimeError, monty.MontySyntaxError) as error:
            status, told = "error" if self._goes_on() else "killed", self._error(error)
        except (Stopped, GivenUp):
            status, told = "killed", CellError("Stopped", "the cell was ended from outside")
        except (monty.MontyError, RuntimeError) as error:
            status, told = "killed", CellError("InterpreterDied", f"the interpreter ended: {error}")
        finally:
            watch.stop()
        return CellResult(status, stdout=output.take(), error=told, changed_input=self.documents.changed_input)

    def _as_cell(self, code: str) -> str:
        return as_cell(code) if self._is_workflow else values.showing(code, self._show)

    def close(self) -> None:
        """Give the worker back."""
        self.documents.close()
        self._session.__exit__(None, None, None)

    def _drive(self, code: str, calls: Calls, watch: Stopwatch, output: "Output") -> str | None:
        self._feeds += 1
        waiting = 0
        watch.start()
        step: Any = self._session.feed_start(code, print_callback=output.write)
        while not isinstance(step, monty.MontyComplete):
            watch.stop()
            if isinstance(step, monty.FunctionSnapshot):
                answer = self._answer(step, calls, watch)
                waiting += answer is _LATER
                watch.start()
                step = step.resume(answer)
            elif isinstance(step, monty.FutureSnapshot):
                assert waiting, "the code waits for calls alone"
                # Each turn costs what all that wait cost, so very many are answered some at a time.
                answered = calls.next(1 + waiting // _BATCHED_ABOVE)
                waiting -= len(answered)
                results = {call: self._settled(answer) for call, answer in answered}
                watch.start()
                step = step.resume(results)
            else:
                watch.start()
                step = step.resume()
        watch.stop()
        return _shown(step)

    def _answer(self, step: monty.FunctionSnapshot, calls: Calls, watch: Stopwatch) -> Any:
        """Return the answer to a call, or that it comes later."""
        name = step.function_name
        try:
            if name == _host.__name__ and not step.is_os_function:
                return self._serve(step.call_id, step.args, calls, watch)
            if name in _SLEEPS:
                until = self._now + max(0.0, float(step.args[0]))
                calls.make(step.call_id, "sleep", {"until": until}, 0)
                return _LATER if name == "asyncio.sleep" else self._blocking(step.call_id, calls)
            if name in _CLOCKS:
                return {"return_value": self._clock(name, step.args)}
        except (ValueError, TypeError, OverflowError, IndexError) as error:
            return values.raised(error)
        if name == "import":
            return {"exc_type": "ModuleNotFoundError", "message": f"there is no module {str(step.args[0])!r} here"}
        return {"exc_type": "PermissionError", "message": f"{name} is not available here"}

    def _serve(self, call: int, given: tuple[Any, ...], calls: Calls, watch: Stopwatch) -> Any:
        """Do what the guest's words ask for."""
        way, function, text = given
        if way == "document":
            return self._ask_document(function, values.read(text, LONGEST_CALL), watch)
        if way == "all":
            return self._serve_all(call, function, text, calls)
        arguments = _arguments(text)
        calls.make(call, function, arguments, cost_of(arguments))
        return _LATER if way == "call" else self._blocking(call, calls)

    def _serve_all(self, call: int, function: str, texts: list[str], calls: Calls) -> Any:
        # Other calls are numbered from 0 on.
        numbered = {-1 - number: _arguments(text) for number, text in enumerate(texts)}
        for number, arguments in numbered.items():
            calls.make(number, function, arguments, cost_of(arguments))
        answers = calls.all_of(set(numbered))
        self._now = max([self._now, *(answer.at for answer in answers.values())])
        for number in numbered:
            failure = answers[number].failure
            if failure is not None:
                return values.raised(failure)
        return {"return_value": [values.told(answers[number].value) for number in numbered]}

    def _blocking(self, call: int, calls: Calls) -> Any:
        return self._settled(calls.all_of({call})[call])

    def _settled(self, answer: Answer) -> Any:
        self._now = max(self._now, answer.at)
        if answer.failure is not None:
            return values.raised(answer.failure)
        return {"return_value": values.told(answer.value)}

    def _ask_document(self, operation: str, asked: Any, watch: Stopwatch) -> Any:
        watch.start()
        try:
            return {"return_value": values.told(self.documents.do(operation, asked))}
        except Exception as error:  # noqa: BLE001 - whatever code asked for wrongly is told to the code
            return values.raised(error)
        finally:
            watch.stop()

    def _clock(self, name: str, given: tuple[Any, ...]) -> Any:
        """Return the run's time, which moves with the answers alone."""
        if name == "time.time":
            return self._now
        now = datetime.datetime.fromtimestamp(min(self._now, _LATEST), datetime.UTC)
        if name == "date.today":
            return now.date()
        zone = given[0] if given else None
        return now.replace(tzinfo=None) if zone is None else now.astimezone(zone)

    def _feed(self, code: str, inputs: dict[str, Any]) -> None:
        self._feeds += 1
        self._session.feed_run(code, inputs=inputs)

    def _goes_on(self) -> bool:
        """Whether the session can go on after an error: one whose memory is full cannot."""
        try:
            self._feed("None", {})
        except (monty.MontyError, RuntimeError):
            return False
        return True

    def _told(self, world: GuestWorld) -> dict[str, Any]:
        told: dict[str, Any] = {"documents": self.documents.described, "context": self.documents.one_string}
        told |= {"budget": world.budget, "tools": list(world.tools), "args": world.args, "most_items": world.most_items}
        told["manual"] = manual(js=False, agents=world.agents, tools=world.tools)
        return values.told(told)

    def _error(self, error: monty.MontyRuntimeError | monty.MontySyntaxError) -> CellError:
        """Return an error as it is shown, with those lines of its traceback that lie in a cell."""
        frames = [(*self._cells[frame.filename], frame) for frame in error.traceback() if frame.filename in self._cells]
        lines = [_frame_line(number, code, frame, self._lines_before) for number, code, frame in frames]
        if len(lines) > 2 * _SHOWN_FRAMES:
            left_out = f"  [{len(lines) - 2 * _SHOWN_FRAMES:,} more]\n"
            lines = [*lines[:_SHOWN_FRAMES], left_out, *lines[-_SHOWN_FRAMES:]]
        if isinstance(error, monty.MontySyntaxError):
            return CellError("SyntaxError", error.display("msg"), "".join(lines))
        raised = error.exception()
        message = str(raised.args[0] if len(raised.args) == 1 else raised)  # one that is very long is not copied again
        return CellError(type(raised).__name__, _cut(message, len(message)), "".join(lines))


class Output:
    """Collects what a cell prints, up to a limit that is said."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0

    def write(self, stream: str, text: str) -> None:
        """Keep some text."""
        room = LONGEST_SHOWN - self._size
        if room > 0:
            self._parts.append(text[:room])
        self._size += len(text)

    def take(self) -> str:
        """Return what was written."""
        return _cut("".join(self._parts), self._size)


def _host(way: str, function: str, text: str) -> None:
    """Stands for the host where code calls it."""


def _arguments(text: Any) -> dict[str, Any]:
    arguments = values.read(text, LONGEST_CALL)
    if not isinstance(arguments, dict):
        raise TypeError("a call takes its arguments by name")
    return cast("dict[str, Any]", arguments)


def _shown(complete: monty.MontyComplete) -> str | None:
    output: Any = complete.output
    return None if output is None else _cut(output[0], output[1])


def _cut(text: str, size: int) -> str:
    if size <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}\n[cut: {size:,} characters in all, {LONGEST_SHOWN:,} kept]"


def _frame_line(number: int, code: list[str], frame: monty.Frame, before: int) -> str:
    place = f'  File "<cell {number}>", line {frame.line - before}'
    place += f", in {frame.function_name}\n" if frame.function_name else "\n"
    return place + (f"    {code[frame.line - 1].strip()}\n" if frame.line <= len(code) else "")
