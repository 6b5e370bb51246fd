"""Make calls and write down what came of them, before anyone is told."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, cast

from sonde import jsontext
from sonde.engine.history import History, Past
from sonde.errors import LimitReached, ModelError, OutOfService, TaskError, TaskFault
from sonde.events import TURN, CallFinished, CallReused, CallStarted, CallStatus, Fault, Stored
from sonde.interpreters.protocol import Answer, TaskFailure
from sonde.journal.reader import Reader
from sonde.journal.writer import Journal
from sonde.tasks.dispatch import Tally


class Place(NamedTuple):
    """Where a call is made: the agent, and its cell (or turn)."""

    agent: str
    cell: int


class Asked(NamedTuple):
    """A call as it is asked for. Two with the same key are the same call."""

    place: Place
    function: str
    key: str
    request: str = ""
    label: str = ""
    model: str = ""
    native: bool = False


class Recorder:
    """The only way to make a call. Calls are numbered through all lives of a run."""

    def __init__(self, journal: Journal, reader: Reader, history: History) -> None:
        self._journal = journal
        self._reader = reader
        self._last_call = history.last_call

    async def perform(self, asked: Asked, live: Callable[[Tally], Awaitable[Any]]) -> Answer:
        """Make a call. What code can deal with is part of the answer; what it cannot is raised: that an endpoint is out
        of service, or that a limit allows no further turn."""
        call = self._next_call()
        request = self._journal.keep(asked.request)
        self._journal.append(
            CallStarted(
                call, *asked.place, asked.function, asked.key, asked.label, asked.model, request, native=asked.native
            )
        )
        tally = Tally(call, asked.place.agent)
        value, kept, fault, failure, stop = None, None, None, None, None
        try:
            value = await live(tally)
            kept = None if value is None else self._journal.keep_value(value)
        except (TaskError, ModelError, LimitReached) as error:
            failure = _failure(error)
            fault = Fault(error.code, failure.message, failure.kind, failure.retryable)
            stop = error if _stops_the_run(error, asked.function) else None
        except asyncio.CancelledError:
            self._journal.append(_finished(call, "cancelled", tally))
            raise
        record = self._journal.append(_finished(call, "failed" if failure else "ok", tally, kept, fault))
        await self._journal.saved()
        if stop is not None:
            raise stop
        return Answer(value, record.at, failure)

    async def reuse(self, asked: Asked, past: Past) -> Answer:
        """Answer a call with a result that was paid for before."""
        record = self._journal.append(CallReused(self._next_call(), *asked.place, asked.function, asked.key, past.call))
        await self._journal.saved()
        return self.recall(past)._replace(at=record.at)

    def recall(self, past: Past) -> Answer:
        """Return an answer as the journal has it."""
        finished = self._reader.fact(past.seq)
        assert isinstance(finished, CallFinished)
        if finished.fault is not None:
            return Answer(None, past.at, _remembered(finished.fault))
        value = None if finished.value is None else jsontext.decode(self._reader.text(finished.value), object)
        return Answer(value, past.at)

    def _next_call(self) -> int:
        self._last_call += 1
        return self._last_call


def key_of(function: str, arguments: object) -> str:
    """Return what makes two calls the same: the function and what it is given."""
    return hashlib.blake2b(jsontext.encode((function, arguments)), digest_size=12).hexdigest()


def _finished(
    call: int, status: CallStatus, tally: Tally, value: Stored | None = None, fault: Fault | None = None
) -> CallFinished:
    return CallFinished(
        call,
        status,
        value=value,
        fault=fault,
        usage=tally.usage,
        model=tally.model,
        cost_usd=tally.cost_usd,
        unreported_usd=tally.unreported_usd,
        cached=tally.cached,
        cut=tally.cut,
    )


def _stops_the_run(error: Exception, function: str) -> bool:
    return isinstance(error, OutOfService) or (isinstance(error, LimitReached) and function == TURN)


def _failure(error: TaskError | ModelError | LimitReached) -> TaskFailure:
    """Return an error as the code in a cell is told it."""
    match error:
        case TaskError():
            return TaskFailure(error.kind, str(error), error.retryable)
        case ModelError():
            kind: TaskFault = "timeout" if error.fault == "timeout" else "model_error"
            return TaskFailure(kind, str(error), error.retryable)
        case LimitReached():
            return TaskFailure("budget", str(error))


def _remembered(fault: Fault) -> TaskFailure:
    return TaskFailure(cast("TaskFault", fault.kind), fault.message, fault.retryable)
