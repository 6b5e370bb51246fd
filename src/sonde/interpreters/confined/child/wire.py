"""The child's end of the socket to the host: calls go out in batches, answers come in one by one.

Answers are handed to the code one at a time, and only when it has nothing else to do. So what the code does depends
on the order of the answers alone, never on when they arrived, and a replay in the same order takes
the same path. For the same reason the clock stands still between answers.
"""

import dataclasses
import datetime
import decimal
import json
import os
import re
import socket
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import accumulate
from typing import Any, cast

from .faults import Deadlock, TaskError

_FLUSH_CALLS = 1000
_FLUSH_BYTES = 1 << 20
_SPINS = 1000
_POLLS = 100  # about as long as a quick answer takes: to be woken from sleep would take as long again
_CHUNK = 65_536  # larger buffers are mapped anew for every read, which costs more than the read
LONGEST_CALL = 16 * 1024 * 1024
MOST_VALUES = 1_000_000
MOST_DEPTH = 200
CALL_S = 50e-6
"""What a call counts for of a cell's processor time: about what it costs the host."""
_CHARGED_AT_ONCE = 400
_SAFE_BYTES = 1 << 20
_STRING = re.compile(rb'"[^"]*"')
_TEXT = bytes(set(range(256)) - set(b'"[{,'))
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # one deeper, or one less: signed

Answered = tuple[int, bool, Any, float]  # the call, whether it succeeded, its value or failure, the time


class HostGone(BaseException):
    """The host closed the socket: there is nobody left to work for."""


class Wire:
    """Frames over one socket: a length of four bytes, then JSON. Raises `HostGone` when it is closed."""

    def __init__(self, connection: socket.socket) -> None:
        self.now = 0.0
        self.charge: Callable[[float], None] = lambda seconds: None
        """Told what the calls that are sent count for of the cell's processor time."""
        self._uncharged = 0
        self._busy = False
        self._late: BaseException | None = None
        self._socket = connection
        self._received, self._unsent = bytearray(), bytearray()
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

    @property
    def replaying(self) -> bool:
        """Whether the cell has run before, in an earlier life of the run."""
        return self._replaying

    def begin_cell(self, *, replaying: bool) -> None:
        """Forget what the last cell left open; the host has cancelled it."""
        self._replaying = replaying
        self._used_answers = self._uncharged = 0
        self._late = None
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

    def interrupt(self, error: BaseException) -> None:
        """Raise an error in the code: at once, or when the frame that is under way has been sent or read."""
        if not self._busy:
            raise error
        self._late = error

    def call(self, function: str, arguments: dict[str, Any]) -> int:
        """Queue a call and return its number. Raises `TypeError` if an argument is not plain data, `ValueError`
        if it is too long, or too deep."""
        text = encode(arguments)
        if len(text) > 2 * MOST_DEPTH:  # less cannot be too much of anything
            _refuse_too_much(function, text)
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
                if self._late is not None:
                    self._raise_late()
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
            calls, self._outgoing, self._outgoing_bytes = self._outgoing, [], 0
            cancelled, self._cancelled = self._cancelled, []
            self._send(f'{{"calls":[{",".join(calls)}],"cancelled":{cancelled}}}')
            self._uncharged += len(calls)
            if self._uncharged >= _CHARGED_AT_ONCE:
                uncharged, self._uncharged = self._uncharged, 0
                self.charge(uncharged * CALL_S)
            if self._late is not None:
                self._raise_late()

    def _raise_late(self) -> None:
        late, self._late = self._late, None
        assert late is not None, "asked before"
        raise late

    def _send(self, text: str) -> None:
        body = text.encode("ascii")
        left = self._unsent  # there is some if a signal's handler has raised in the middle of a frame
        left += len(body).to_bytes(4, "little")
        left += body
        self._busy = True
        try:
            while left:
                try:
                    del left[: self._socket.send(left)]
                except BlockingIOError:
                    self._take_in()
        except OSError as error:
            raise _gone(error) from error
        finally:
            self._busy = False

    def _take_in(self) -> None:
        """Keep what the host has sent: it may read on only when its answers are taken."""
        with suppress(BlockingIOError):
            self._received += self._socket.recv(1 << 20, socket.MSG_DONTWAIT)

    def _receive(self) -> bytes:
        """Wait for bytes, at first without sleeping."""
        for _ in range(_POLLS):
            os.sched_yield()
            try:
                return self._socket.recv(_CHUNK, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
        return self._socket.recv(_CHUNK)

    def _read(self) -> dict[str, Any]:
        received = self._received
        self._busy = True
        try:
            while len(received) < 4 or len(received) < 4 + (size := int.from_bytes(received[:4], "little")):
                data = self._receive()
                if not data:
                    raise HostGone
                received += data
            frame = json.loads(received[4 : 4 + size].decode())
            del received[: 4 + size]
        except OSError as error:
            raise _gone(error) from error
        finally:
            self._busy = False
        return frame


def _refuse_too_much(function: str, text: str) -> None:
    """Raise `ValueError` for arguments that are too long, too many, or too deep for one call."""
    if len(text) > LONGEST_CALL:
        raise ValueError(f"{function} was given {len(text):,} bytes; at most {LONGEST_CALL:,} fit one call")
    body = text.encode()
    if has_too_many_values(body):
        raise ValueError(f"{function} was given more than {MOST_VALUES:,} values, too many for one call")
    if is_deeper_than(MOST_DEPTH, body):
        raise ValueError(f"{function} was given lists or dicts nested more than {MOST_DEPTH} deep")


def _gone(error: OSError) -> BaseException:
    """Return what an error of the socket means; one without a number was raised by a signal's handler."""
    return error if error.errno is None else HostGone()


def has_too_many_values(body: bytes) -> bool:
    """Whether JSON would take far more memory than its text: a value of two bytes becomes an object of eighty."""
    if len(body) <= _SAFE_BYTES:
        return False
    marks = body.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _TEXT)
    return marks.count(b'"') > 2 * MOST_VALUES or len(_STRING.sub(b"", marks)) > MOST_VALUES


def is_deeper_than(most: int, body: bytes) -> bool:
    """Whether lists and objects in JSON are nested so deep that reading it may take more stack than there is."""
    if body.count(b"[") + body.count(b"{") <= most:
        return False
    bare = _STRING.sub(b"", body.replace(b"\\\\", b"").replace(b'\\"', b""))
    steps = memoryview(bare.translate(_STEPS, _NO_BRACKETS)).cast("b")
    return max(accumulate(steps)) > most


def encode(value: Any) -> str:
    """Return plain data as JSON. Raises `TypeError` for what is not."""
    try:
        return _ENCODE(value)
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


_ENCODE = json.JSONEncoder(default=_plain, separators=(",", ":")).encode  # to make one costs more than to use it


def failure(told: dict[str, Any]) -> TaskError:
    """Return the error that a failed call raises."""
    return TaskError(told["kind"], told["message"], told["retryable"])
