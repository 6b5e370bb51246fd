"""The tools that a model uses by itself: files, todos, and sending subagents. Each use is recorded as a call."""

from typing import Any

import msgspec

from sonde import jsontext
from sonde.engine.context import Context
from sonde.engine.delegate import DELEGATE, TASK_GET, Delegation, delegate_tools
from sonde.engine.errands import Errands
from sonde.engine.history import AgentHistory
from sonde.engine.job import Job
from sonde.engine.recorder import Asked, Place, key_of
from sonde.engine.transcript import Use
from sonde.engine.words import TaskCall
from sonde.interpreters.protocol import Answer
from sonde.models.protocol import Tool
from sonde.spec import Subagent

TASK = "task"
_SENDING = frozenset({TASK, DELEGATE})


class Uses:
    """Serves the tools of one agent."""

    def __init__(self, context: Context, job: Job, history: AgentHistory) -> None:
        assert job.workbench is not None, "only agents with tools use them"
        self._context = context
        self._job = job
        self._history = history
        self._workbench = job.workbench
        self._delegation: Delegation | None = None
        self._turn = 0
        self._errands: Errands | None = None
        self.tools = (*self._workbench.tools, *self._sending_tools())
        """What the model is offered."""

    def may_overlap(self, use: Use) -> bool:
        """Whether the next use need not wait for this one: it sends a subagent."""
        return use.name == TASK

    async def use(self, turn: int, use: Use) -> str:
        """Return what a use comes to, as the model is shown it: from the record, if it was made before."""
        if all(use.name != tool.name for tool in self.tools):
            most = self._context.spec.limits.max_depth
            if use.name in _SENDING and self._job.depth >= most:
                return _error(
                    "depth", f"maximum recursion depth exceeded: current depth {self._job.depth}, limit {most}"
                )
            known = ", ".join(tool.name for tool in self.tools)
            return _error("UnknownTool", f"There is no tool {use.name!r}; known: {known}")
        try:
            arguments = jsontext.decode(use.arguments, dict[str, Any])
            if use.name == TASK:
                given = msgspec.convert(arguments, TaskCall)
                answer, _ = await self._errands_of(turn).native_task(given)
                return shown(answer)
        except msgspec.DecodeError as error:
            return _error("InvalidArguments", f"{use.name}: {error}")
        if use.name == DELEGATE:
            return await self._sender().delegate(self._errands_of(turn), arguments)
        return shown(await self._recorded(turn, use.name, arguments))

    async def close(self) -> None:
        """Stop what still works in the background."""
        if self._delegation is not None:
            await self._delegation.close()

    async def _recorded(self, turn: int, name: str, arguments: dict[str, Any]) -> Answer:
        key = key_of(name, arguments)
        past = self._history.take_use(turn, key)
        if past is not None:
            self._workbench.look(arguments.get("path"))
            return self._context.recorder.recall(past)
        request = jsontext.encode(arguments).decode()
        asked = Asked(Place(self._job.path, turn), "tool", key, request, label=name, native=True)
        if name == TASK_GET:
            return await self._context.recorder.perform(asked, lambda _: self._sender().task_get(arguments))
        return await self._context.recorder.perform(asked, lambda _: self._workbench.use(name, arguments))

    def _sender(self) -> Delegation:
        if self._delegation is None:
            self._delegation = Delegation(self._context)
        return self._delegation

    def _errands_of(self, turn: int) -> Errands:
        """Return what sends subagents in a turn; two that are alike get different names."""
        if self._errands is None or self._turn != turn:
            self._turn, self._errands = turn, Errands(self._context, self._job, Place(self._job.path, turn))
        return self._errands

    def _sending_tools(self) -> tuple[Tool, ...]:
        """Return the tools that send subagents, if this agent may and is not too deep."""
        if not self._context.offers_delegation or self._job.depth >= self._context.spec.limits.max_depth:
            return ()
        allowed = None if self._job.role is None else self._job.role.tools
        agents = list(self._context.roles)
        task = () if allowed is not None and TASK not in allowed else (task_tool(self._context),)
        delegate = () if allowed is not None and DELEGATE not in allowed else delegate_tools(agents)
        return (*task, *delegate)


def may_send(role: Subagent) -> bool:
    """Whether a kind of agent has the tools that send others."""
    return role.tools is None or not _SENDING.isdisjoint(role.tools)


def task_tool(context: Context) -> Tool:
    """Return the tool that sends one subagent; it names those that there are."""
    agents = "\n".join(f"- {role.name}: {role.description}" for role in context.roles.values())
    fields = {
        "description": {"type": "string", "description": "All that it needs to know, and what to return."},
        "subagent_type": {"type": "string", "enum": list(context.roles)},
    }
    return Tool(
        TASK,
        "Send a subagent to work on one task, with a fresh context of its own: it sees the description and nothing "
        f"else. Its result comes back. Several in one reply work at the same time.\n{agents}",
        {"type": "object", "properties": fields, "required": ["description"], "additionalProperties": False},
    )


def shown(answer: Answer) -> str:
    """Return what came of a use, as the model sees it."""
    if answer.failure is not None:
        return _error(answer.failure.kind, answer.failure.message)
    match answer.value:
        case str() as text:
            return text
        case [*lines] if all(isinstance(line, str) for line in lines):
            return "\n".join(map(str, lines))
        case value:
            return jsontext.encode(value).decode()


def _error(kind: str, message: str) -> str:
    return f'<error type="{kind}">\n{message}\n</error>'
