"""The child's end of the socket to the host: calls go out in batches, answers come in one by one.

Answers are handed to the code one at a time, and only when it has nothing else to do. So what the code does depends
on the order of the answers alone, never on when they arrived, and a replay in the same order takes
the same path. For the same reason the clock stands still between answers.
"""

import dataclasses
import datetime
import decimal
import json
import re
import socket
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, cast

from .faults import Deadlock, TaskError

_FLUSH_CALLS = 1000
_FLUSH_BYTES = 1 << 20
_SPINS = 1000
_CHUNK = 65_536  # larger buffers are mapped anew for every read, which costs more than the read
LONGEST_CALL = 16 * 1024 * 1024
MOST_VALUES = 1_000_000
_SAFE_BYTES = 1 << 20
_STRING = re.compile(rb'"[^"]*"')
_TEXT = bytes(set(range(256)) - set(b'"[{,'))

Answered = tuple[int, bool, Any, float]  # the call, whether it succeeded, its value or failure, the time


class HostGone(BaseException):
    """The host closed the socket: there is nobody left to work for."""


class Wire:
    """Frames over one socket: a length of four bytes, then JSON. Raises `HostGone` when it is closed."""

    def __init__(self, connection: socket.socket) -> None:
        self.now = 0.0
        self.busy = False
        """A frame is being sent or read: not to be interrupted."""
        self._socket = connection
        self._received = bytearray()
        self._answers: deque[Answered] = deque()
        self._outgoing: list[str] = []
        self._outgoing_bytes = 0
        self._cancelled: list[int] = []
        self._last_call = 0
        self._open: set[int] = set()
        self._timers: dict[int, float] = {}
        self._used_answers = 0
        self._replaying = False
        self._spins = 0

    @property
    def working(self) -> bool:
        """Whether a call is open that a cell should not end without; a timer is not one."""
        return len(self._open) > len(self._timers)

    def begin_cell(self, *, replaying: bool) -> None:
        """Forget what the last cell left open; the host has cancelled it."""
        self._replaying = replaying
        self._used_answers = 0
        for leftovers in (self._answers, self._outgoing, self._cancelled, self._open, self._timers):
            leftovers.clear()

    def send(self, frame: dict[str, Any]) -> None:
        """Send a frame of plain data."""
        self._send(json.dumps(frame))

    def receive(self) -> dict[str, Any]:
        """Wait for the next frame that is not an answer."""
        while "answers" in (frame := self._read()):
            pass
        return frame

    def call(self, function: str, arguments: dict[str, Any]) -> int:
        """Queue a call and return its number. Raises `TypeError` if an argument is not plain data, `ValueError`
        if it is too long."""
        text = encode(arguments)
        if len(text) > LONGEST_CALL:
            raise ValueError(f"{function} was given {len(text):,} bytes; at most {LONGEST_CALL:,} fit one call")
        if has_too_many_values(text.encode("ascii")):
            raise ValueError(f"{function} was given more than {MOST_VALUES:,} values, too many for one call")
        self._last_call += 1
        self._open.add(self._last_call)
        self._outgoing.append(f'[{self._last_call},"{function}",{text}]')
        self._outgoing_bytes += len(text)
        if len(self._outgoing) >= _FLUSH_CALLS or self._outgoing_bytes >= _FLUSH_BYTES:
            self.flush()
        return self._last_call

    def cancel(self, call: int) -> None:
        """Give up an open call; its answer, if one comes, is dropped."""
        if call in self._open:
            self._open.discard(call)
            self._timers.pop(call, None)
            self._cancelled.append(call)

    def ask_to_wake(self, when: float) -> None:
        """Ask for an answer at time `when`, unless that was asked already."""
        if when not in self._timers.values():
            self._timers[self.call("sleep", {"until": when})] = when

    def wait(self, timeout: float | None) -> Answered | None:
        """Return the next answer once the code has nothing else to do, which `timeout` tells: None if nothing at
        all, seconds if it has a timer, 0 if it has not finished. Raises `Deadlock` if none can come."""
        if timeout == 0:
            self._spins += 1
            if self._spins < _SPINS or not self._open:
                self.flush()
                return None
        self._spins = 0
        if timeout:
            self.ask_to_wake(self.now + timeout)
        if not self._open:
            raise Deadlock("the cell waits for something that nothing can bring about")
        return self.next_answer()

    def next_answer(self) -> Answered:
        """Wait for the next answer to a call that is still open."""
        self.flush()
        while True:
            while not self._answers:
                if self._replaying:
                    self.send({"waiting": self._used_answers})
                self._answers.extend(self._read()["answers"])
            answer = self._take_answer()
            if answer is not None:
                return answer

    def next_answers(self) -> list[Answered]:
        """Wait for the next answer, and take with it those that are there already."""
        answers = [self.next_answer()]
        while self._answers:
            answer = self._take_answer()
            if answer is not None:
                answers.append(answer)
        return answers

    def _take_answer(self) -> Answered | None:
        answer = self._answers.popleft()
        self._used_answers += 1
        self.now = max(self.now, answer[3])
        if answer[0] not in self._open:
            return None
        self._open.discard(answer[0])
        self._timers.pop(answer[0], None)
        return answer

    def flush(self) -> None:
        """Send what is queued."""
        if self._outgoing or self._cancelled:
            calls, self._outgoing, self._outgoing_bytes = ",".join(self._outgoing), [], 0
            self._send(f'{{"calls":[{calls}],"cancelled":{self._cancelled}}}')
            self._cancelled = []

    def _send(self, text: str) -> None:
        body = text.encode("ascii")
        left = memoryview(len(body).to_bytes(4, "little") + body)
        self.busy = True
        try:
            while left:
                try:
                    left = left[self._socket.send(left) :]
                except BlockingIOError:
                    self._take_in()
        except OSError as error:
            raise HostGone from error
        finally:
            self.busy = False

    def _take_in(self) -> None:
        """Keep what the host has sent: it may read on only when its answers are taken."""
        with suppress(BlockingIOError):
            self._received += self._socket.recv(1 << 20, socket.MSG_DONTWAIT)

    def _read(self) -> dict[str, Any]:
        received = self._received
        self.busy = True
        try:
            while len(received) < 4 or len(received) < 4 + (size := int.from_bytes(received[:4], "little")):
                data = self._socket.recv(_CHUNK)
                if not data:
                    raise HostGone
                received += data
            frame = json.loads(received[4 : 4 + size])
            del received[: 4 + size]
        except OSError as error:
            raise HostGone from error
        finally:
            self.busy = False
        return frame


def has_too_many_values(body: bytes) -> bool:
    """Whether JSON would take far more memory than its text: a value of two bytes becomes an object of eighty."""
    if len(body) <= _SAFE_BYTES:
        return False
    marks = body.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _TEXT)
    return marks.count(b'"') > 2 * MOST_VALUES or len(_STRING.sub(b"", marks)) > MOST_VALUES


def encode(value: Any) -> str:
    """Return plain data as JSON. Raises `TypeError` for what is not."""
    try:
        return json.dumps(value, default=_plain, separators=(",", ":"))
    except ValueError as error:
        raise TypeError(f"this value is not plain data: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset | range | deque):
        return list(cast("Iterable[Any]", value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, datetime.date | datetime.time | decimal.Decimal):
        return str(value)
    raise TypeError(f"a {type(value).__name__} is not plain data: pass text, numbers, lists or dicts")


def failure(told: dict[str, Any]) -> TaskError:
    """Return the error that a failed call raises."""
    return TaskError(told["kind"], told["message"], told["retryable"])
