"""A model in this process that says what it was told to say."""

import json
from collections import deque
from collections.abc import Callable

from sonde.errors import ModelError
from sonde.events import Usage
from sonde.models.protocol import Reply, Request, ToolCall

Step = str | Reply | ModelError
Answerer = Callable[[Request], Step]


def code(*cells: str) -> Reply:
    """Return a reply that runs cells with the tool `eval`."""
    calls = (ToolCall(f"call_{n}", "eval", json.dumps({"code": cell})) for n, cell in enumerate(cells))
    return Reply("", tool_calls=tuple(calls), finish="tools")


class ScriptedModel:
    """Plays its steps, one for each turn of an agent; `answer` replies to single calls, those without a system prompt.

    A turn without a step left fails, and so does `check` while steps are left.
    """

    def __init__(self, *steps: Step, answer: Answerer | None = None, name: str = "scripted:model") -> None:
        self.requests: list[Request] = []
        self._steps = deque(steps)
        self._answer = answer
        self._name = name

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def endpoint(self) -> str:
        """Its name again: it shares a limit with nobody."""
        return self._name

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Play the next step. Raises the step, if it is an error."""
        self.requests.append(request)
        if request.messages[0].role != "system" and self._answer is not None:
            step = self._answer(request)
        elif self._steps:
            step = self._steps.popleft()
        else:
            raise AssertionError(f"no step is left for: {request.messages[-1].text[:200]}")
        if isinstance(step, ModelError):
            raise step
        reply = Reply(step) if isinstance(step, str) else step
        return Reply(reply.text, reply.tool_calls, Usage(1, 1, requests=1), reply.finish, self._name)

    async def close(self) -> None:
        """Nothing to close."""

    def check(self) -> None:
        """Fail if steps are left."""
        assert not self._steps, f"{len(self._steps)} steps were not played"
