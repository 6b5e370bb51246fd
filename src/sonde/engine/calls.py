"""Answer for real what the code in a cell calls."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from sonde import jsontext
from sonde.engine.asking import Asking
from sonde.engine.context import Context
from sonde.engine.errands import Errands
from sonde.engine.finished import finished_calls
from sonde.engine.history import AgentHistory, CellPast
from sonde.engine.job import Job
from sonde.engine.recorder import Asked, Place, key_of
from sonde.engine.spending import as_data
from sonde.engine.words import (
    BudgetCall,
    Disallowed,
    FinalCall,
    Given,
    LlmCall,
    LogCall,
    PhaseCall,
    ResultsCall,
    RlmCall,
    SaveCall,
    SleepCall,
    TaskCall,
    ToolUse,
    Unknown,
    WorkflowCall,
    read_call,
    request_of,
)
from sonde.errors import ModelChoiceError, TaskError
from sonde.events import Logged, PhaseStarted, Saved
from sonde.interpreters.protocol import Answer
from sonde.models.protocol import Model
from sonde.tasks.dispatch import Tally
from sonde.tasks.schemas import Shape, shape_of

MOST_TOOL_USES = 256
MOST_RESULTS = 16
LONGEST_LABEL = 120
LONGEST_LOG = 4000

_DISPATCHES = LlmCall | TaskCall | RlmCall


class Answerable(Protocol):
    """Who takes an agent's final answer."""

    @property
    def job(self) -> Job:
        """What it is to do."""
        ...

    def accept(self, value: object) -> None:
        """Take the answer, if it is the first. Raises `TaskError` if it does not fit the schema."""
        ...


class LiveCalls:
    """Answers a cell's calls for real. Each is recorded, unless a paid result for it is left over. `before` is what the
    same cell did when it was cut short: what its tools did then is not done again."""

    def __init__(
        self,
        context: Context,
        agent: Answerable,
        history: AgentHistory,
        place: Place,
        before: CellPast | None = None,
    ) -> None:
        self._context = context
        self._agent = agent
        self._history = history
        self._place = place
        self._used = None if before is None else before.used
        self._errands = Errands(context, agent.job, place)
        self._tool_uses = 0
        self._results = 0

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        """Answer one call."""
        given = read_call(function, arguments)
        asked = Asked(self._place, function, key_of(function, arguments))
        if isinstance(given, ToolUse) and self._used is not None and (used := self._used.get(asked.key)):
            return await self._context.recorder.reuse(asked, used.popleft())
        if isinstance(given, _DISPATCHES):
            label = (given.label or "")[:LONGEST_LABEL]
            asked = asked._replace(request=request_of(given), label=label, model=given.model or "")
            past = self._history.take(asked.key)
            if past is not None:
                return await self._context.recorder.reuse(asked, past)
            refusal = await self._context.approval.before_dispatch(self._place, asked)
            given = given if refusal is None else Disallowed(refusal)
        return await self._context.recorder.perform(asked, self._answering(given, asked.key))

    def idle(self) -> None:
        """Nothing to do: answers come when they come."""

    def _answering(self, given: Given, key: str) -> Callable[[Tally], Awaitable[Any]]:
        """Return what answers a call, given where its costs are counted."""
        match given:
            case LlmCall():
                return lambda tally: self._llm(tally, given)
            case TaskCall() | RlmCall() | WorkflowCall():
                return lambda tally: self._errands.send(tally, given, key)
            case ToolUse():
                return lambda _: self._use_tool(given)
            case SleepCall(until=until):
                return lambda _: self._sleep_until(until)
            case _:
                return lambda _: self._at_once(given)

    async def _at_once(self, given: Given) -> Any:
        journal, place = self._context.journal, self._place
        match given:
            case FinalCall(value=value):
                self._agent.accept(value)
            case BudgetCall():
                scope = self._context.dispatcher.scope
                return {"spent": as_data(scope.spent), "remaining": as_data(scope.remaining)}
            case PhaseCall(name=name):
                journal.append(PhaseStarted(place.agent, place.cell, name[:LONGEST_LABEL]))
            case LogCall(text=text):
                journal.append(Logged(place.agent, text[:LONGEST_LOG]))
            case SaveCall(name=name, value=value):
                if len(name) > LONGEST_LABEL:
                    raise TaskError("tool_error", f"a name has at most {LONGEST_LABEL} characters: give a shorter one")
                journal.append(Saved(place.agent, name, journal.keep_value(value)))
            case ResultsCall():
                self._results += 1
                if self._results > MOST_RESULTS:  # each reads the record and holds up all others meanwhile
                    raise TaskError("tool_error", f"a cell may ask for results {MOST_RESULTS} times: keep them")
                return await finished_calls(self._context, place)
            case Unknown(why=why):
                raise TaskError("tool_error", why)
            case Disallowed(why=why):
                raise TaskError("cancelled", why)
            case _:
                raise AssertionError(f"{type(given).__name__} is answered elsewhere")
        return None

    async def _use_tool(self, use: ToolUse) -> Any:
        workbench = self._agent.job.workbench
        if workbench is None:
            raise TaskError("tool_error", "there are no tools here")
        self._tool_uses += 1
        if self._tool_uses > MOST_TOOL_USES:
            raise TaskError("budget", f"a cell may use tools {MOST_TOOL_USES} times: go on in the next cell")
        return await workbench.use(use.name, use.arguments)

    async def _sleep_until(self, when: float) -> None:
        """Sleep, never less: code that is woken early would ask again, and no two replays would be the same."""
        left = when - self._context.clock()
        if left > 0:
            await asyncio.sleep(left)
            await self._sleep_until(when)

    async def _llm(self, tally: Tally, given: LlmCall) -> Any:
        shape = None if given.schema is None else shape_of(given.schema)
        model = self._model(given.model)
        if not (given.cache or self._context.spec.cache or self._context.spec.cache_only):
            return await self._ask(tally, model, given.prompt, shape)
        key = key_of("llm", (model.name, given.prompt, given.schema))
        kept = self._context.cache.get(key)
        if kept is not None:
            tally.cached = True
            return jsontext.decode(kept, object)
        if self._context.spec.cache_only:
            raise TaskError("tool_error", "this question is not in the cache, and nothing may be sent")
        value = await self._ask(tally, model, given.prompt, shape)
        self._context.cache.put(key, jsontext.encode(value).decode())
        return value

    async def _ask(self, tally: Tally, model: Model, prompt: str, shape: Shape | None) -> Any:
        self._context.dispatcher.scope.take_call()
        return await Asking(self._context, tally, model).ask(prompt, shape)

    def _model(self, name: str | None) -> Model:
        try:
            return self._context.models.for_call(name, self._agent.job.inherited)
        except ModelChoiceError as error:
            raise TaskError("model_error", str(error)) from error
