"""Run one cell: let it go as far as it can, send what it calls, hand it the answers, and tell what it came to."""

import json
import re
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from sonde.guest.desk import Desk
from sonde.guest.document import Document
from sonde.guest.refusal import Problem, error_of
from sonde.interpreters.confined.child.faults import Timeout
from sonde.interpreters.confined.child.wire import Answered, HostGone, Wire

from .check import Known, check, may_be_wrong
from .declarations import lasting
from .machine import Broken, Burst, Exhausted, Machine, Overflowed
from .workflow import as_cell

_AGAIN_S = 0.1
_DIED = "InterpreterDied"
_FRAME = re.compile(r"at (?:(.*) )?\(?eval_script:(\d+)(?::\d+)?\)?")
_MOST_FRAMES = 20
_FIRST_LINE = 2000
"""Cells begin after the lines of the vocabulary, each after the one before it, so that a line number tells the cell."""
_FULL = "OutOfMemory"
_OURS = {"out of memory": _FULL, "Maximum call stack size exceeded": "RecursionError"}

Told = dict[str, Any]


class Runner:
    """Runs cells in one machine."""

    def __init__(self, wire: Wire, machine: Machine, documents: list[Document]) -> None:
        self.agents: tuple[str, ...] = ()
        """The kinds of subagents that there are."""
        self.is_workflow = False
        """Whether what a cell comes to is the run's answer."""
        self.look_failed: Callable[[Exception], None] = lambda error: None
        """Told when a cell could not be looked at before it ran."""
        self._wire = wire
        self._machine = machine
        self._desk = Desk(documents)
        self._tickets: dict[int, int] = {}
        self._cells: list[tuple[int, int, list[str]]] = []
        self._lines = _FIRST_LINE
        self._cpu_s = 0.0
        self._deadline = 0.0
        self._interrupted = False
        self._interrupted_at = ""
        self._gone: HostGone | None = None
        self._broken = False
        machine.ask, machine.is_over = self._answer_now, self._is_over
        wire.charge = self._charge

    def run(self, number: int, code: str, cpu_s: float) -> Told:
        """Run a cell and return its result as the host is told it. Never raises but `HostGone`."""
        if self._broken:
            raise HostGone
        self._cpu_s, self._deadline = cpu_s, time.process_time() + cpu_s
        self._interrupted = False
        self._tickets.clear()
        problems = [] if self._wire.replaying else self._looked_at(code)
        if problems:
            return {
                "status": "error",
                "value": None,
                "stdout": "",
                "error": error_of(problems, code, f"<cell {number}>"),
            }
        lines = code.splitlines()
        self._cells.append((self._lines, number, lines))
        begun = "\n" * self._lines + lasting(as_cell(code) if self.is_workflow else code)
        self._lines += len(lines) + 1
        try:
            if self.is_workflow:
                self._machine.answer('{"is_workflow":true}')
            return self._result(self._drive(begun))
        except (Broken, MemoryError) as error:
            return self._killed(*self._why(error))
        except (LookupError, RecursionError, TypeError, ValueError) as error:
            return self._killed(_DIED, f"the code has overwritten what its cells are driven with ({error})")

    def _looked_at(self, code: str) -> list[Problem]:
        """Return what is wrong with a cell. What cannot be looked at is run."""
        if not may_be_wrong(code):
            return []
        try:
            with self._limit():
                return check(code, Known(self.agents, self._is_variable, self._is_word))
        except (Exception, Timeout) as error:  # noqa: BLE001 - no fault of ours may keep a cell from running
            if isinstance(error, Exception) and not isinstance(error, ValueError):
                self.look_failed(error)
            return []

    def _is_variable(self, name: str) -> bool:
        return self._holds(f'"{name}" in this')

    def _is_word(self, name: str) -> bool:
        return self._holds(f"Object.getPrototypeOf(this).{name} === this.{name}")

    def _holds(self, condition: str) -> bool:
        """Whether something is so, where cells run. Raises `Broken`, or `ValueError` if it cannot be told."""
        signal.setitimer(signal.ITIMER_PROF, 0)  # nothing may be raised while the engine runs, which has its own limit
        try:
            ended = json.loads(self._machine.begin(f"({condition}) ? 1 : 0")).get("ended", {})
        finally:
            self._arm()
        if ended.get("value") not in {"0", "1"}:
            raise ValueError("it is not told")
        return ended["value"] == "1"

    def _why(self, error: Exception) -> tuple[str, str]:
        """Return the type and message of what the machine has failed with."""
        if isinstance(error, Overflowed):
            return "RecursionError", str(error)
        if self._interrupted:
            return "Timeout", f"{self._used_up()} and could not be interrupted"
        return _FULL if isinstance(error, Exhausted | Burst | MemoryError) else _DIED, str(error)

    def _used_up(self) -> str:
        return f"the cell used more than {self._cpu_s:g} s of processor time"

    def _killed(self, kind: str, message: str) -> Told:
        """Return that this interpreter is at its end."""
        self._broken = True
        return {"status": "killed", "error": {"type": kind, "message": message}}

    def _drive(self, code: str) -> Told:
        """Run code to its end and return what it came to. Raises `Broken`."""
        try:
            report = self._read(self._machine.begin(code))
            while "ended" not in report and not self._interrupted:
                report = self._go_on(report)
        except Exhausted:
            self._machine.break_into_reserve()
            if not self._interrupted:
                return self._end(_FULL, "out of memory")
            report = {}
        return report["ended"] if "ended" in report else self._end("Timeout", "")

    def _go_on(self, report: Told) -> Told:
        """Send what was called, wait for answers and hand them over."""
        refused = self._send(report["calls"])
        if refused:
            return self._hand_over(refused)
        if report["more"]:
            return self._read(self._machine.go_on())
        if report["open"] == 0:
            message = "the cell waits for something that nothing can bring about"
            return {"ended": self._end("Deadlock", message)}
        return self._hand_over([self._for_code(answer) for answer in self._wire.next_answers()])

    def _hand_over(self, answers: list[Any]) -> Told:
        return self._read(self._machine.answer(json.dumps({"answers": answers})))

    def _end(self, kind: str, message: str) -> Told:
        """End the cell with an error, and return what it came to."""
        error = {"type": kind, "message": message, "stack": ""}
        return self._read(self._machine.answer(json.dumps({"error": error})))["ended"]

    def _read(self, text: str) -> Told:
        """Take a report apart. Raises `HostGone` if it was noticed while the code ran."""
        if self._gone is not None:
            raise self._gone
        return json.loads(text)

    # --- Calls --------------------------------------------------------------------------------------------------

    def _send(self, calls: list[tuple[int, str, Any]]) -> list[Any]:
        """Send calls, and return the answers to those that cannot be sent."""
        refused = list[Any]()
        for ticket, function, arguments in calls:
            try:
                self._tickets[self._wire.call(function, arguments)] = ticket
            except ValueError as error:
                refused.append([ticket, False, _problem(error), self._wire.now])
        return refused

    def _for_code(self, answer: Answered) -> tuple[int, bool, Any, float]:
        return self._tickets.pop(answer[0], 0), *answer[1:]

    def _answer_now(self, text: str) -> str:
        """Answer a call that the code blocks on."""
        function, arguments, queued = json.loads(text)
        try:
            if function == "document":
                with self._limit():
                    return json.dumps({"value": self._desk.do(**arguments)}, ensure_ascii=False)
            return json.dumps(self._ask_host(function, arguments, queued))
        except HostGone as gone:
            self._gone = gone
            self._interrupted, self._deadline = True, 0.0
            return json.dumps({"error": {"type": "Error", "message": "nobody is there"}})
        except Timeout as error:
            self._interrupt()
            return json.dumps({"error": _problem(error)})
        except Exception as error:  # noqa: BLE001 - whatever goes wrong belongs to the code
            return json.dumps({"error": _problem(error)})

    @contextmanager
    def _limit(self) -> Generator[None]:
        """Raise `Timeout` when the cell's time is up: QuickJS notices only once it runs again."""

        def interrupt(signum: int, frame: FrameType | None) -> None:
            raise Timeout("the cell has used up its processor time")

        signal.signal(signal.SIGPROF, interrupt)
        self._arm()
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _arm(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, max(1e-3, self._deadline - time.process_time()))

    def _ask_host(self, function: str, arguments: Told, queued: list[Any]) -> Told:
        earlier = self._send(queued)
        call = self._wire.call(function, arguments)
        while (answer := self._wire.next_answer())[0] != call:
            earlier.append(self._for_code(answer))
        _, succeeded, value, at = answer
        return {"value" if succeeded else "error": value, "earlier": earlier, "at": at}

    def _charge(self, seconds: float) -> None:
        self._deadline -= seconds

    def _is_over(self) -> bool:
        """Whether the code is to be interrupted: once its time is up, and again should it go on."""
        if time.process_time() < self._deadline:
            return False
        self._interrupt()
        return True

    def _interrupt(self) -> None:
        if not self._interrupted:
            self._interrupted, self._interrupted_at = True, self._machine.stack()
        self._deadline = time.process_time() + _AGAIN_S

    # --- What it came to ----------------------------------------------------------------------------------------

    def _result(self, ended: Told) -> Told:
        result = {"status": "ok", "value": ended["value"], "stdout": ended["stdout"]}
        error = ended.get("error")
        if self._interrupted:
            error = {"type": "Timeout", "message": self._used_up(), "stack": self._interrupted_at}
        if error is not None:
            result["status"] = "timeout" if self._interrupted else "error"
            result["value"] = None
            kind, message = self._kind_of(error)
            result["error"] = {"type": kind, "message": message, "traceback": self._traceback(error["stack"])}
        return result

    def _kind_of(self, error: Told) -> tuple[str, str]:
        """Return an error's type and message. Where QuickJS has no memory left for an error, it throws null."""
        message = str(error["message"])
        kind = _OURS.get(message, str(error["type"]))
        if (kind, message) == ("Error", "null") and self._machine.is_at_its_limit():
            kind, message = _FULL, "out of memory"
        if kind == _FULL:
            self._machine.break_into_reserve()
        return kind, message

    def _traceback(self, stack: str) -> str:
        """Return the lines of cells that a stack names, the innermost first."""
        frames = list[str]()
        for function, line in _FRAME.findall(stack)[:_MOST_FRAMES]:
            for first, number, lines in reversed(self._cells):
                at = int(line) - first
                if at > 0:
                    code = lines[at - 1].strip() if at <= len(lines) else ""
                    place = f", in {function}" if function and function != "<eval>" else ""
                    frames.append(f"  <cell {number}>, line {at}{place}\n    {code}\n")
                    break
        return "".join(frames)


def _problem(error: BaseException) -> Told:
    """Return an error as the code is told it."""
    return {"type": type(error).__name__, "message": str(error)}
