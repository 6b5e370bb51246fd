"""The host's end of an interpreter's socket, fed with anything."""

import asyncio
from typing import Any

from sonde.interpreters.bridge import BadFrame, Bridge
from sonde.interpreters.protocol import CellResult, NoCalls


class Wire(asyncio.Transport):
    """A transport that goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()

    def write(self, data: Any) -> None:
        """Keep what the host sends."""
        self.written += data

    def pause_reading(self) -> None:
        """Nothing is read anyway."""

    def resume_reading(self) -> None:
        """Nothing is read anyway."""

    def abort(self) -> None:
        """Nothing is open."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is kept waiting."""

    def get_write_buffer_size(self) -> int:
        """Return what waits to be sent."""
        return 0


def feed(bridge: Bridge, data: bytes) -> None:
    """Give data to a bridge as a socket would, in as many pieces as it takes."""
    while data:
        buffer = bridge.get_buffer(-1)
        size = min(len(data), len(buffer))
        buffer[:size] = data[:size]
        bridge.buffer_updated(size)
        data = data[size:]


async def outcome(pieces: list[bytes]) -> CellResult | BadFrame | None:
    """Return how a cell ends whose interpreter sends these bytes; None if they do not end it."""
    bridge = Bridge()
    bridge.connection_made(Wire())
    cell = asyncio.create_task(bridge.run({"number": 1, "code": ""}, NoCalls()))
    await asyncio.sleep(0)
    for piece in pieces:
        feed(bridge, piece)
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    if not cell.done():
        cell.cancel()
    ended = (await asyncio.gather(cell, return_exceptions=True))[0]
    if isinstance(ended, CellResult | BadFrame):
        return ended
    assert isinstance(ended, asyncio.CancelledError), repr(ended)
    return None
