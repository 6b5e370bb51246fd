"""Send one model request: reserve what it may cost, wait for a place, try again after a passing fault, settle."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from sonde import jsontext
from sonde.errors import ModelError, OutOfService
from sonde.events import CallRetried, Fault, Usage, Warned
from sonde.journal.writer import Journal
from sonde.limits.gate import Gate
from sonde.limits.scope import Amounts, Scope
from sonde.limits.window import AdaptiveWindow, FixedWindow
from sonde.models.prices import Price
from sonde.models.protocol import Message, Model, Reply, Request
from sonde.models.retry import wait_s
from sonde.spec import Limits

PriceOf = Callable[[str], Price | None]

USUAL_REPLY_TOKENS = 4096
"""What a reply may take under a limit on tokens or dollars, unless that is set too."""

_MENDED_BY_SOMEBODY = frozenset({"key", "quota"})
_OVERLOADED = frozenset({"rate", "overload"})
_MAY_BE_CHARGED = frozenset({"connection", "timeout", "response"})
_REQUEST_TOKENS, _MESSAGE_TOKENS = 64, 16  # what a model's template may add
_PATIENCE_S = 300.0


class Tally:
    """What one call has used, failed attempts included. `branch` is where in the tree of agents it was made."""

    def __init__(self, call: int, branch: str = "") -> None:
        self.call = call
        self.branch = branch
        self.usage = Usage()
        self.model = ""
        self.cut = False
        self.cached = False
        self.cost_usd: float | None = None
        self.unreported_usd = 0.0

    def add(self, reply: Reply, cost_usd: float | None) -> None:
        """Count an answered request."""
        self.usage += reply.usage
        self.model = reply.model
        self.cut = self.cut or reply.finish == "length"
        if cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost_usd

    def add_unreported(self, most: Amounts) -> None:
        """Count a request whose usage is not known: it may be the most it can be."""
        self.usage += Usage(unreported_tokens=int(most.tokens))
        self.unreported_usd += most.dollars


class Timing(NamedTuple):
    """Where time and chance come from."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


class Dispatcher:
    """Sends requests for one run, with one gate for each endpoint. A place is held only while a request is on the
    wire, never while waiting to try again."""

    def __init__(
        self, limits: Limits, scope: Scope, journal: Journal, price_of: PriceOf, timing: Timing | None = None
    ) -> None:
        self.scope = scope
        self._limits = limits
        self._journal = journal
        self._price_of = price_of
        self._timing = timing or Timing()
        self._gates: dict[str, Gate] = {}

    async def ask(self, tally: Tally, model: Model, request: Request) -> Reply:
        """Send a request until it is answered. Raises the last `ModelError` when trying again cannot help or the
        retries are used up, `LimitReached` before a limit would be passed, `OutOfService` when the endpoint is."""
        gate = self._gate(model)
        attempt, began = 0, self._timing.clock()
        while True:
            try:
                return await self._send(tally, gate, model, request)
            except ModelError as error:
                if error.fault in _MENDED_BY_SOMEBODY:
                    raise self._shut(gate, model, error) from error
                if not error.retryable:
                    raise
                # Being asked to wait is no failed attempt: a burst of refusals must not cost a call.
                if error.fault != "rate":
                    if attempt == self._limits.retries:
                        raise
                    attempt += 1
                elif self._lost_patience(gate, began, error):
                    raise self._shut(gate, model, error) from error
                await self._wait(tally, attempt, error)

    def close(self) -> None:
        """Wait for nothing any more."""
        for gate in self._gates.values():
            gate.close()

    async def _send(self, tally: Tally, gate: Gate, model: Model, request: Request) -> Reply:
        """Send a request once."""
        price = self._price_of(model.name)
        request, most = self._at_most(request, price)
        await self.scope.reserve(most)
        actual = Amounts()
        try:
            began = await gate.enter(tally.branch)
            actual = most
            try:
                reply = await self._on_the_wire(gate, began, model, request)
                actual = self._count(tally, reply, most, price)
                return reply
            except ModelError as error:
                actual = self._count_failure(tally, error, most)
                raise
            except asyncio.CancelledError:
                self._count_failure(tally, ModelError("connection", "broken off"), most)
                raise
        finally:
            self.scope.settle(most, actual)
            self._warn_when_near()

    async def _on_the_wire(self, gate: Gate, began: float, model: Model, request: Request) -> Reply:
        """Send a request and tell the gate what came of it, before the next may pass."""
        try:
            reply = await model.complete(request, self._limits.call_timeout_s)
            gate.note_answer(began)
            return reply
        except ModelError as error:
            if error.fault in _OVERLOADED:
                gate.note_overload(began, self._bearable(error.retry_after))
            raise
        finally:
            gate.leave()

    def _count_failure(self, tally: Tally, error: ModelError, most: Amounts) -> Amounts:
        """Count a request that brought nothing, and return what it may have cost."""
        tally.usage += Usage(requests=1)
        if error.fault not in _MAY_BE_CHARGED:
            return Amounts()
        tally.add_unreported(most)
        return most

    def _at_most(self, request: Request, price: Price | None) -> tuple[Request, Amounts]:
        """Return the request as it is sent, and the most that it can cost: no text has more tokens than bytes."""
        asked = request.max_tokens or self._limits.reply_tokens
        output = asked or USUAL_REPLY_TOKENS
        if request.max_tokens != (asked := output if self.scope.caps_tokens else asked):
            request = msgspec.structs.replace(request, max_tokens=asked)
        size = _REQUEST_TOKENS + sum(_MESSAGE_TOKENS + _size_of(message) for message in request.messages)
        if request.tools or request.schema:
            size += len(jsontext.encode((request.tools, request.schema)))
        dollars = 0.0 if price is None else price.cost(Usage(size, output))
        return request, Amounts(0, size + output, dollars, 0, size, output)

    def _count(self, tally: Tally, reply: Reply, most: Amounts, price: Price | None) -> Amounts:
        """Count an answer and return what it did cost; what no server tells is taken for the most it can be."""
        usage = reply.usage
        if not usage.input_tokens and not usage.output_tokens:
            tally.add(reply, None)
            tally.add_unreported(most)
            return most
        cost = None if price is None else price.cost(usage)
        tally.add(reply, cost)
        return Amounts(0, usage.tokens, cost or 0.0, 0, usage.input_tokens, usage.output_tokens)

    def _gate(self, model: Model) -> Gate:
        gate = self._gates.get(model.endpoint)
        if gate is None:
            fixed, clock = self._limits.concurrency, self._timing.clock
            window = AdaptiveWindow(model.begins_with, clock) if fixed is None else FixedWindow(fixed)
            gate = self._gates[model.endpoint] = Gate(window, clock, self._timing.sleep)
        return gate

    async def _wait(self, tally: Tally, attempt: int, error: ModelError) -> None:
        wait = wait_s(max(0, attempt - 1), self._limits.retry_base_s, error.retry_after, self._timing.jitter)
        fault = Fault(error.code, str(error), error.fault, retryable=True)
        self._journal.append(CallRetried(tally.call, attempt, fault, wait))
        await self._timing.sleep(wait)

    def _lost_patience(self, gate: Gate, began: float, error: ModelError) -> bool:
        """Whether an endpoint that asks to wait has done so for too long, or asks for too long."""
        waited = self._timing.clock() - max(began, gate.answered_at)
        return waited > _PATIENCE_S or (error.retry_after or 0.0) > _PATIENCE_S

    def _bearable(self, retry_after: float | None) -> float | None:
        return None if retry_after is None or retry_after > _PATIENCE_S else retry_after

    def _shut(self, gate: Gate, model: Model, error: ModelError) -> OutOfService:
        shut = OutOfService(error.fault, error.what, error.remedy or "Try later: `sonde resume` goes on.")
        gate.shut(shut)
        return shut

    def _warn_when_near(self) -> None:
        for flag in self.scope.newly_near():
            self._journal.append(Warned("limit", f"four fifths of --{flag} are spent"))


def _size_of(message: Message) -> int:
    text = message.text
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return size + (len(jsontext.encode(message.tool_calls)) if message.tool_calls else 0)


def most_of_a_prompt(size: int, limits: Limits) -> Usage:
    """Return the most that a request with a prompt of `size` bytes may have used."""
    return Usage(_REQUEST_TOKENS + _MESSAGE_TOKENS + size, limits.reply_tokens or USUAL_REPLY_TOKENS)
