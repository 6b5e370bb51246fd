"""How many model requests may be on the wire at once. First come, first served."""

import asyncio
from collections import deque
from types import TracebackType


class Slots:
    """An async context that is entered by at most `limit` at a time; the others wait in order."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.in_flight = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @property
    def queued(self) -> int:
        """How many are waiting."""
        return len(self._queue)

    async def __aenter__(self) -> None:
        if self.in_flight < self.limit and not self._queue:
            self.in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        """Hand the place to the next who still waits, or give it up."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.in_flight -= 1
