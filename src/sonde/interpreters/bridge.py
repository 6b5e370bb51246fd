"""The host's end of the socket to an interpreter: frames in, calls answered, frames out.

A frame is a length of four bytes and then JSON. What comes in was written by code nobody has read, so it is decoded
into fixed types, and anything else ends the interpreter. What it may cost our memory is bounded: the bytes and the
values of a frame, the calls that are open, and the answers that are not read. What it costs our time is counted, and
the cell pays for it. Answers that are ready together leave in one frame.
"""

import asyncio
import time
from typing import Any, cast

import msgspec

from sonde import jsontext
from sonde.errors import InterpreterError
from sonde.interpreters.confined.child.wire import CALL_S, MOST_VALUES, has_too_many_values
from sonde.interpreters.cost import cost_of
from sonde.interpreters.protocol import Answer, CellResult, HostCalls

LONGEST_FRAME = 32 * 1024 * 1024
_CHUNK = 65_536
MOST_OPEN_CALLS = 20_000
MOST_OPEN_BYTES = 64 * 1024 * 1024
_MOST_UNREAD_BYTES = 32 * 1024 * 1024
_LITTLE = 1024  # to read so few bytes takes us no longer than to send them takes the cell


class Frame(msgspec.Struct, forbid_unknown_fields=True):
    """What an interpreter may send."""

    ready: list[str] | None = None
    """It has started, and these layers confine it."""
    calls: list[tuple[int, str, dict[str, Any]]] = []
    cancelled: list[int] = []
    waiting: int | None = None
    """All the calls that were sent are waited for, and this many answers have been used."""
    done: CellResult | None = None
    cell: int | None = None
    """Which cell is done."""


class BadFrame(ConnectionError):
    """The interpreter sent what no interpreter sends: code in it has forged a frame, or broken what makes them."""


class Bridge(asyncio.BufferedProtocol):
    """One connection. Runs one cell at a time."""

    def __init__(self) -> None:
        self.layers: list[str] | None = None
        self.received_bytes = 0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = memoryview(bytearray(_CHUNK))
        self._received = bytearray()
        self._calls: HostCalls | None = None
        self._done: asyncio.Future[CellResult] | None = None
        self._open: dict[int, tuple[asyncio.Task[None], int]] = {}
        self._open_bytes = 0
        self._answers: list[tuple[int, Answer]] = []
        self._answered = 0
        self._cell = 0
        self._calls_of_cell = 0
        self._reading_s = 0.0
        self._last_call = 0
        self._reading = True
        self._unread = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=_MOST_UNREAD_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the cell that was running."""
        self._transport = None
        self.break_off(ConnectionResetError("the interpreter is gone"))

    def pause_writing(self) -> None:
        """Take no more calls while their answers are not read."""
        self._unread = True
        self._settle_reading()

    def resume_writing(self) -> None:
        """Take calls again."""
        self._unread = False
        self._settle_reading()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to put what comes in."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take frames apart and act on each."""
        began = time.thread_time() if nbytes > _LITTLE else 0.0
        self.received_bytes += nbytes
        try:
            if not self._received and nbytes == 4 + int.from_bytes(self._buffer[:4], "little"):
                self._act_on(_decoded(bytes(self._buffer[4:nbytes])))  # most often one frame comes, and whole
            else:
                self._received += self._buffer[:nbytes]
                while (frame := self._next_frame()) is not None:
                    self._act_on(frame)
        except (BadFrame, msgspec.DecodeError) as error:
            self._received.clear()
            self.close()
            self.break_off(BadFrame(f"the interpreter sent a frame that cannot be read: {error}"))
        if nbytes > _LITTLE:
            self._reading_s += time.thread_time() - began

    def _next_frame(self) -> Frame | None:
        """Return the next frame that has come in whole. Raises `BadFrame` or `DecodeError`."""
        received = self._received
        if len(received) < 4:
            return None
        size = int.from_bytes(received[:4], "little")
        if size > LONGEST_FRAME:
            raise BadFrame(f"it has {size:,} bytes")
        if len(received) < 4 + size:
            return None
        with memoryview(received) as view:
            body = bytes(view[4 : 4 + size])
        del received[: 4 + size]
        return _decoded(body)

    @property
    def owes_answers(self) -> bool:
        """Whether the code may be waiting for us: for a call's answer, or for what has not left yet."""
        unsent = self._transport is not None and self._transport.get_write_buffer_size() > 0
        return bool(self._open or self._answers) or unsent

    @property
    def answered(self) -> int:
        """How many calls of the running cell have been answered."""
        return self._answered

    @property
    def spent_s(self) -> float:
        """What the cell counts for of our time: by its calls, as it counts itself, or by what its frames have cost."""
        return max(self._calls_of_cell * CALL_S, self._reading_s)

    def send(self, frame: dict[str, Any]) -> None:
        """Send a frame. Raises `ConnectionError` if nobody is there."""
        if self._transport is None:
            raise ConnectionResetError("the interpreter is gone")
        body = jsontext.encode(frame)
        self._transport.write(len(body).to_bytes(4, "little") + body)

    async def run(self, cell: dict[str, Any], calls: HostCalls) -> CellResult:
        """Run one cell to its end. Raises `ConnectionError` if the interpreter dies, or what `calls` raised."""
        if self._done is not None:
            raise InterpreterError("a cell is already running in this interpreter", "Wait for it to end.")
        self._calls = calls
        self._answered = self._calls_of_cell = 0
        self._reading_s = 0.0
        self._cell = cell["number"]
        self._done = self._loop.create_future()
        try:
            self.send({"cell": cell})
            return await self._done
        finally:
            self._done = None
            await self._cancel_open()

    def break_off(self, error: Exception) -> None:
        """End the running cell with an error of the host's."""
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)

    def close(self) -> None:
        """Close the socket; the interpreter ends when it sees that."""
        if self._transport is not None:
            self._transport.abort()

    def _act_on(self, frame: Frame) -> None:
        if frame.ready is not None and self.layers is None:
            self.layers = frame.ready
            return
        if self._done is None or self._calls is None:
            raise BadFrame("no cell is running")
        for number, function, arguments in frame.calls:
            if number <= self._last_call:
                raise BadFrame(f"it uses the number of call {number} again")
            self._last_call = number
            self._calls_of_cell += 1
            try:
                share = cost_of(arguments)
            except ValueError as error:
                raise BadFrame(str(error)) from error
            self._open_bytes += share
            task = self._loop.create_task(self._serve(self._calls, number, function, arguments))
            self._open[number] = (task, share)
        for number in frame.cancelled:
            if number in self._open:
                self._open[number][0].cancel()
                self._forget(number)
        self._settle_reading()
        if frame.done is not None:
            if frame.cell != self._cell or self._done.done():
                raise BadFrame("it ends a cell that is not running")
            self._done.set_result(frame.done)
        elif frame.waiting == self._answered and not self._answers:
            self._calls.idle()

    async def _serve(self, calls: HostCalls, number: int, function: str, arguments: dict[str, Any]) -> None:
        try:
            answer = await calls.call(function, arguments)
        except Exception as error:  # noqa: BLE001 - whatever stops the host from answering ends the cell
            self.break_off(error)
            return
        finally:
            self._forget(number)
        self._answers.append((number, answer))
        if not self._open:
            self._flush()
        elif len(self._answers) == 1:
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        answers = [
            (
                number,
                answer.failure is None,
                answer.value if answer.failure is None else answer.failure,
                answer.at,
            )
            for number, answer in self._answers
        ]
        self._answers.clear()
        if answers and self._transport is not None:
            self._answered += len(answers)
            self.send({"answers": answers})

    def _forget(self, number: int) -> None:
        """Count a call as open no more; one that was cancelled may be gone already."""
        if number in self._open:
            _, share = self._open.pop(number)
            self._open_bytes -= share
            if not self._reading:
                self._settle_reading()

    def _settle_reading(self) -> None:
        """Take no more calls while very many are open, so that a flood fills the sender's memory, not ours."""
        part = 1 if self._reading else 2
        many = len(self._open) > MOST_OPEN_CALLS // part or self._open_bytes > MOST_OPEN_BYTES // part
        reading = not many and not self._unread
        if reading != self._reading and self._transport is not None:
            self._reading = reading
            (self._transport.resume_reading if reading else self._transport.pause_reading)()

    async def _cancel_open(self) -> None:
        tasks = [task for task, _ in self._open.values()]
        for number, task in zip(list(self._open), tasks, strict=True):
            task.cancel()
            self._forget(number)
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)
        self._answers.clear()


def _decoded(body: bytes) -> Frame:
    """Return the frame that JSON says. Raises `BadFrame` or `DecodeError`."""
    if has_too_many_values(body):
        raise BadFrame(f"it has more than {MOST_VALUES:,} values")
    return jsontext.decode(body, Frame)
