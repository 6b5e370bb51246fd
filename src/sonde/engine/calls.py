"""Answer what the code in a cell calls: for real, or as it was answered before."""

import asyncio
import math
from collections import deque
from typing import Any, Protocol

import msgspec

from sonde import jsontext
from sonde.engine.context import Context
from sonde.engine.history import AgentHistory, CellPast, Past
from sonde.engine.recorder import Asked, Place, key_of
from sonde.errors import ModelChoiceError, TaskError
from sonde.events import Warned
from sonde.interpreters.protocol import Answer
from sonde.limits.scope import Amounts
from sonde.models.protocol import Message, Model, Reply, Request
from sonde.tasks.dispatch import Tally
from sonde.tasks.schemas import Shape, instruction


class Answerable(Protocol):
    """Who takes an agent's final answer."""

    def accept(self, value: object) -> None:
        """Take the answer, if it is the first. Raises `TaskError` if it does not fit the schema."""
        ...


class LlmCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `llm` is given."""

    prompt: str
    schema: dict[str, Any] | None = None
    model: str | None = None
    label: str | None = None
    cache: bool = False


class FinalCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `FINAL` is given."""

    value: Any


class BudgetCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `budget` is given: nothing."""


class SleepCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Until when a timer runs."""

    until: float


class Unknown(msgspec.Struct, frozen=True):
    """A call that cannot be answered, and why."""

    why: str


Given = LlmCall | FinalCall | BudgetCall | SleepCall | Unknown

_FUNCTIONS: dict[str, type[Given]] = {
    "llm": LlmCall,
    "final": FinalCall,
    "budget": BudgetCall,
    "sleep": SleepCall,
}


class LiveCalls:
    """Answers a cell's calls for real. Each is recorded, unless a paid result for it is left over."""

    def __init__(self, context: Context, agent: Answerable, history: AgentHistory, place: Place) -> None:
        self._context = context
        self._agent = agent
        self._history = history
        self._place = place

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        """Answer one call."""
        asked = Asked(self._place, function, key_of(function, arguments))
        try:
            given = msgspec.convert(arguments, _FUNCTIONS[function])
        except (KeyError, msgspec.ValidationError) as error:
            given = Unknown(f"there is no {function!r} to call" if isinstance(error, KeyError) else str(error))
        if isinstance(given, LlmCall):
            asked = asked._replace(request=given.prompt, label=given.label or "", model=given.model or "")
            past = self._history.take(asked.key)
            if past is not None:
                return await self._context.recorder.reuse(asked, past)
        return await self._context.recorder.perform(asked, lambda tally: self._answer(tally, given))

    def idle(self) -> None:
        """Nothing to do: answers come when they come."""

    async def _answer(self, tally: Tally, given: Given) -> Any:
        match given:
            case LlmCall():
                return await self._llm(tally, given)
            case FinalCall(value=value):
                return self._agent.accept(value)
            case BudgetCall():
                scope = self._context.dispatcher.scope
                return {"spent": plain(scope.spent), "remaining": plain(scope.remaining)}
            case Unknown(why=why):
                raise TaskError("tool_error", why)
            case SleepCall(until=until):
                return await self._sleep_until(until)

    async def _sleep_until(self, when: float) -> None:
        """Sleep, never less: code that is woken early would ask again, and no two replays would be the same."""
        left = when - self._context.clock()
        if left > 0:
            await asyncio.sleep(left)
            await self._sleep_until(when)

    async def _llm(self, tally: Tally, given: LlmCall) -> Any:
        shape = None if given.schema is None else Shape(given.schema)
        model = self._model(given.model)
        if not given.cache:
            return await self._ask(tally, model, given.prompt, shape)
        key = key_of("llm", (model.name, given.prompt, given.schema))
        kept = self._context.cache.get(key)
        if kept is not None:
            tally.cached = True
            return jsontext.decode(kept, object)
        value = await self._ask(tally, model, given.prompt, shape)
        self._context.cache.put(key, jsontext.encode(value).decode())
        return value

    async def _ask(self, tally: Tally, model: Model, prompt: str, shape: Shape | None) -> Any:
        self._context.dispatcher.scope.take_call()
        if shape is not None:
            return await self._ask_typed(tally, model, prompt, shape)
        reply = await self._context.dispatcher.ask(tally, model, Request((Message("user", prompt),)))
        _refuse_partial(reply)
        return reply.text

    async def _ask_typed(self, tally: Tally, model: Model, prompt: str, shape: Shape) -> Any:
        """Ask for a value of a shape; one that does not fit is sent back once, with what is wrong."""
        asked = Message("user", f"{prompt}\n\n{instruction(shape.schema)}")
        reply = await self._context.dispatcher.ask(tally, model, Request((asked,), schema=shape.schema))
        _refuse_partial(reply)
        try:
            return shape.read(reply.text)
        except TaskError as error:
            wrong = Message("user", f"That does not fit: {error}. Answer again, with JSON alone.")
            again = (asked, Message("assistant", reply.text), wrong)
        reply = await self._context.dispatcher.ask(tally, model, Request(again, schema=shape.schema))
        return shape.read(reply.text)

    def _model(self, name: str | None) -> Model:
        if name is None:
            return self._context.models.sub
        try:
            return self._context.models.named(name)
        except ModelChoiceError as error:
            raise TaskError("model_error", str(error)) from error


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


def _refuse_partial(reply: Reply) -> None:
    """Raise `TaskError` for half an answer: code would count it as a whole one."""
    if reply.finish == "length":
        raise TaskError("model_error", "the reply was cut at its length limit: ask for a shorter one")
    if reply.finish == "filter":
        raise TaskError("model_error", "the reply was withheld by the provider's content filter")


def plain(amounts: Amounts) -> dict[str, float | None]:
    """Return amounts as plain data; no limit is None."""
    return {name: None if value == math.inf else value for name, value in amounts._asdict().items()}
