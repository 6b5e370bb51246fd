"""Send one model request: wait for a place, try again after a passing fault, count what was spent."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from sonde.errors import ModelError
from sonde.events import CallRetried, Fault, Usage
from sonde.journal.writer import Journal
from sonde.limits.scope import Scope
from sonde.limits.slots import Slots
from sonde.models.protocol import Model, Reply, Request
from sonde.models.retry import wait_s
from sonde.spec import Limits


class Tally:
    """What one call has used, failed attempts included."""

    def __init__(self, call: int) -> None:
        self.call = call
        self.usage = Usage()
        self.model = ""
        self.cut = False

    def add(self, reply: Reply) -> None:
        """Count an answered request."""
        self.usage += reply.usage
        self.model = reply.model
        self.cut = self.cut or reply.finish == "length"

    def add_failure(self) -> None:
        """Count a request that brought nothing."""
        self.usage += Usage(requests=1)


class Dispatcher:
    """Sends requests for one run. A place is held only while a request is on the wire, never while waiting."""

    def __init__(
        self,
        limits: Limits,
        scope: Scope,
        journal: Journal,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.slots = Slots(limits.concurrency)
        self.scope = scope
        self._limits = limits
        self._journal = journal
        self._sleep = sleep
        self._jitter = jitter

    async def ask(self, tally: Tally, model: Model, request: Request) -> Reply:
        """Send a request until it is answered. Raises the last `ModelError` when trying again cannot help, or when
        the retries are used up."""
        attempt = 0
        while True:
            try:
                async with self.slots:
                    reply = await model.complete(request, self._limits.call_timeout_s)
            except ModelError as error:
                tally.add_failure()
                if not error.retryable or attempt == self._limits.retries:
                    raise
                wait = wait_s(attempt, self._limits.retry_base_s, error.retry_after, self._jitter)
                attempt += 1
                fault = Fault(error.code, str(error), error.fault, retryable=True)
                self._journal.append(CallRetried(tally.call, attempt, fault, wait))
                await self._sleep(wait)
            else:
                tally.add(reply)
                self.scope.settle(reply.usage)
                return reply
