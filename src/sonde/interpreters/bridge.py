"""The host's end of the socket to an interpreter: frames in, calls answered, frames out.

A frame is a length of four bytes and then JSON. What comes in was written by code nobody has read, so it is decoded
into fixed types, and anything else ends the interpreter. Answers that are ready together leave in one frame.
"""

import asyncio
from typing import Any, cast

import msgspec

from sonde import jsontext
from sonde.errors import InterpreterError
from sonde.interpreters.protocol import Answer, CellResult, HostCalls

LONGEST_FRAME = 256 * 1024 * 1024
MOST_OPEN_CALLS = 20_000


class Frame(msgspec.Struct, forbid_unknown_fields=True):
    """What an interpreter may send."""

    ready: bool = False
    calls: list[tuple[int, str, dict[str, Any]]] = []
    cancelled: list[int] = []
    waiting: int | None = None
    """All the calls that were sent are waited for, and this many answers have been used."""
    done: CellResult | None = None


class Bridge(asyncio.Protocol):
    """One connection. Runs one cell at a time."""

    def __init__(self) -> None:
        self.ready = False
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._calls: HostCalls | None = None
        self._done: asyncio.Future[CellResult] | None = None
        self._open: dict[int, asyncio.Task[None]] = {}
        self._answers: list[tuple[int, Answer]] = []
        self._answered = 0
        self._reading = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the cell that was running."""
        self._transport = None
        self.break_off(ConnectionResetError("the interpreter is gone"))

    def data_received(self, data: bytes) -> None:
        """Take frames apart and act on each."""
        received = self._received
        received += data
        while len(received) >= 4:
            size = int.from_bytes(received[:4], "little")
            if size > LONGEST_FRAME:
                self.break_off(InterpreterError(f"the interpreter sent a frame of {size:,} bytes"))
                return
            if len(received) < 4 + size:
                return
            body = bytes(received[4 : 4 + size])
            del received[: 4 + size]
            try:
                frame = jsontext.decode(body, Frame)
            except msgspec.DecodeError as error:
                self.break_off(InterpreterError(f"the interpreter sent a frame that cannot be read: {error}"))
                return
            self._act_on(frame)

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
        self._answered = 0
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
        self.ready = self.ready or frame.ready
        if self._done is None or self._calls is None:
            return
        for number, function, arguments in frame.calls:
            self._open[number] = self._loop.create_task(self._serve(self._calls, number, function, arguments))
        for number in frame.cancelled:
            if number in self._open:
                self._open[number].cancel()
        if len(self._open) > MOST_OPEN_CALLS:
            self._pause(reading=False)
        if frame.done is not None and not self._done.done():
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
            self._open.pop(number, None)
            if not self._reading and len(self._open) < MOST_OPEN_CALLS // 2:
                self._pause(reading=True)
        if not self._answers:
            self._loop.call_soon(self._flush)
        self._answers.append((number, answer))

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

    def _pause(self, *, reading: bool) -> None:
        """Stop taking calls while very many are open, so that a flood fills the sender's memory, not ours."""
        self._reading = reading
        if self._transport is not None:
            (self._transport.resume_reading if reading else self._transport.pause_reading)()

    async def _cancel_open(self) -> None:
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._answers.clear()
