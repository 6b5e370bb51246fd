"""Give a cell that runs again the answers it had, in the order it had them."""

import asyncio
from collections import deque
from typing import Any

from sonde.engine.calls import Answerable, LiveCalls
from sonde.engine.context import Context
from sonde.engine.history import CellPast, Past
from sonde.engine.recorder import key_of
from sonde.events import Warned
from sonde.interpreters.protocol import Answer


class ReplayedCalls:
    """Gives a cell that runs again the answers it had, in the order it had them.

    `unforeseen` answers calls that it did not make before, which should not happen.
    """

    def __init__(self, context: Context, agent: Answerable, past: CellPast, unforeseen: LiveCalls) -> None:
        self._context = context
        self._agent = agent
        self._unforeseen = unforeseen
        self._made = {key: deque(calls) for key, calls in past.made.items()}
        self._order = deque(past.answered)
        self._waiting: dict[int, asyncio.Future[Past]] = {}

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        """Answer one call when its turn has come."""
        made = self._made.get(key_of(function, arguments))
        if not made:
            self._warn(f"it called {function} as it did not before")
            return await self._unforeseen.call(function, arguments)
        turn: asyncio.Future[Past] = asyncio.get_running_loop().create_future()
        self._waiting[made.popleft()] = turn
        # Soon, not now: one that is let go must be waiting already, or it would overtake those let go before it.
        asyncio.get_running_loop().call_soon(self._let_go)
        answer = self._context.recorder.recall(await turn)
        if function == "final" and answer.failure is None:
            self._agent.accept(arguments["value"])
        return answer

    def idle(self) -> None:
        """Pass over an answer that is not asked for: the code waits, so it will not ask for it now."""
        if not self._let_go() and any(past.call in self._waiting for past in self._order):
            self._warn("it did not make a call that it made before")
            while self._order[0].call not in self._waiting:
                self._order.popleft()
            self._let_go()

    def _let_go(self) -> bool:
        """Give out the answers whose turn has come, and return whether there were any."""
        left = len(self._order)
        while self._order and self._order[0].call in self._waiting:
            past = self._order.popleft()
            turn = self._waiting.pop(past.call)
            if not turn.done():
                turn.set_result(past)
        return len(self._order) < left

    def _warn(self, what: str) -> None:
        message = f"a cell did not run as it had before: {what}"
        self._context.journal.append(Warned("replay", message))
