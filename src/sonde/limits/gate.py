"""The gate before one endpoint, for all agents of a run: who may send now, and whether anybody may."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable

from sonde.errors import OutOfService
from sonde.limits.window import Window


class Gate:
    """Lets as many pass as its window says. Those who wait do so in order, and branches of a tree take turns, so that
    one which sends thousands does not hold up another which sends one."""

    def __init__(
        self,
        window: Window,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.window = window
        self.in_flight = 0
        self.answered_at = clock()
        """When the last answer came."""
        self._clock = clock
        self._sleep = sleep
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._queued = 0
        self._closed_until = 0.0
        self._reopening: asyncio.Task[None] | None = None
        self._broken: OutOfService | None = None

    @property
    def queued(self) -> int:
        """How many wait."""
        return self._queued

    async def enter(self, branch: str) -> float:
        """Wait for a place and return the time. Raises `OutOfService` once the gate is shut."""
        if self._broken is not None:
            raise self._broken
        if self._queued or not self._has_room():
            await self._wait(branch)
        else:
            self.in_flight += 1
        return self._clock()

    def leave(self) -> None:
        """Give the place up."""
        self.in_flight -= 1
        self._admit()

    def note_answer(self, began: float) -> None:
        """Note that a request, begun at that time, was answered."""
        self.answered_at = self._clock()
        self.window.succeeded(began, crowded=self._queued > 0)

    def note_overload(self, began: float, retry_after: float | None) -> None:
        """Note that a request, begun at that time, was refused for now; nobody sends until the server wants more."""
        self.window.overloaded(began)
        if retry_after:
            self._closed_until = max(self._closed_until, self._clock() + retry_after)
            if self._reopening is None:
                self._reopening = asyncio.ensure_future(self._reopen())

    def shut(self, error: OutOfService) -> None:
        """Let nobody pass any more: the endpoint refuses until somebody mends it."""
        self._broken = error
        for queue in self._queues.values():
            for turn in queue:
                if not turn.done():
                    turn.set_exception(error)
        self._queues.clear()
        self._queued = 0

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._reopening is not None:
            self._reopening.cancel()

    async def _wait(self, branch: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(branch, deque()).append(turn)
        self._queued += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave()
            raise

    def _has_room(self) -> bool:
        return self._reopening is None and self.in_flight < self.window.size

    def _admit(self) -> None:
        """Let pass who may, one from each branch in turn."""
        while self._queued and self._has_room():
            branch, queue = next(iter(self._queues.items()))
            turn = queue.popleft()
            self._queued -= 1
            if queue:
                self._queues.move_to_end(branch)
            else:
                del self._queues[branch]
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)

    async def _reopen(self) -> None:
        while (left := self._closed_until - self._clock()) > 0:
            await self._sleep(left)
        self._reopening = None
        self._admit()
