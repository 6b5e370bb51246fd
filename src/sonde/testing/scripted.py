"""A model in this process that says what it was told to say."""

import asyncio
import json
from collections import deque
from collections.abc import Callable

from sonde.errors import ModelError
from sonde.events import Usage
from sonde.models.protocol import BEGIN_WITH, Reply, Request, ToolCall

Step = str | Reply | ModelError
Answerer = Callable[[Request], Step]


def code(*cells: str) -> Reply:
    """Return a reply that runs cells with the tool `eval`."""
    calls = (ToolCall(f"call_{n}", "eval", json.dumps({"code": cell})) for n, cell in enumerate(cells))
    return Reply("", tool_calls=tuple(calls), finish="tools")


class FunctionModel:
    """Answers with a function of the request. `delay` gives the seconds that an answer takes; `requests` holds all
    that came, unless it is not to `remember` them."""

    def __init__(
        self,
        answer: Answerer,
        *,
        delay: Callable[[Request], float] | None = None,
        name: str = "function:model",
        remember: bool = True,
    ) -> None:
        self.requests: list[Request] = []
        self._remember = remember
        self._answer = answer
        self._delay = delay
        self._name = name

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def endpoint(self) -> str:
        """Its name again: it shares a limit with nobody."""
        return self._name

    @property
    def begins_with(self) -> int:
        """As many as a server."""
        return BEGIN_WITH

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Return the answer. Raises it, if it is an error."""
        if self._remember:
            self.requests.append(request)
        if self._delay is not None:
            await asyncio.sleep(self._delay(request))
        step = self._answer(request)
        if isinstance(step, ModelError):
            raise step
        reply = Reply(step) if isinstance(step, str) else step
        return Reply(reply.text, reply.tool_calls, Usage(1, 1, requests=1), reply.finish, self._name)

    async def close(self) -> None:
        """Nothing to close."""


class ScriptedModel(FunctionModel):
    """Plays its steps, one for each turn of an agent; `answer` replies to single calls, those without a system prompt.

    A turn without a step left fails, and so does `check` while steps are left.
    """

    def __init__(self, *steps: Step, answer: Answerer | None = None, name: str = "scripted:model") -> None:
        super().__init__(self._next, name=name)
        self._steps = deque(steps)
        self._answer_call = answer

    def _next(self, request: Request) -> Step:
        if request.messages[0].role != "system" and self._answer_call is not None:
            return self._answer_call(request)
        if not self._steps:
            raise AssertionError(f"no step is left for: {request.messages[-1].text[:200]}")
        return self._steps.popleft()

    def check(self) -> None:
        """Fail if steps are left."""
        assert not self._steps, f"{len(self._steps)} steps were not played"
