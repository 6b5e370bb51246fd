"""Send subagents: which one, how deep, under which name; and what is done instead where the depth ends."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import msgspec

from sonde.engine.asking import Asking
from sonde.engine.context import Context
from sonde.engine.job import Job
from sonde.engine.recorder import Asked, Place, key_of
from sonde.engine.words import ContextInput, RlmCall, TaskCall, WorkflowCall
from sonde.errors import ModelChoiceError, TaskError
from sonde.events import Warned
from sonde.interpreters.protocol import Answer, TaskFailure
from sonde.spec import Subagent
from sonde.tasks.dispatch import Tally
from sonde.tasks.runner import Errand
from sonde.tasks.schemas import shape_of

_MOST_DIRECT_CHARS = 200_000
"""So much is taken to fit one prompt, where nothing deeper may be sent."""


class Errands:
    """Sends subagents on behalf of one agent, from one place in its work."""

    def __init__(self, context: Context, job: Job, place: Place) -> None:
        self._context = context
        self._job = job
        self._place = place
        self._taken: set[str] = set()

    async def send(self, tally: Tally, given: TaskCall | RlmCall | WorkflowCall, key: str) -> Any:
        """Send a subagent of whatever kind. Raises `TaskError`, `ModelError` or `LimitReached`."""
        match given:
            case TaskCall():
                return await self.task(tally, given, key)
            case RlmCall():
                return await self.rlm(tally, given, key)
            case WorkflowCall():
                return await self.workflow(tally, given, key)

    async def task(self, tally: Tally, given: TaskCall, key: str) -> Any:
        """Have an agent of some kind work on a description. Raises `TaskError`, `ModelError` or `LimitReached`."""
        role = self._role(given.subagent_type)
        schema = given.response_schema or role.schema
        if schema is not None:
            shape_of(schema)
        errand = Errand(
            "task",
            given.description,
            self._path(key),
            tally.call,
            self._job.depth + 1,
            role=role.name,
            schema=schema,
            model=self._named(given.model) or role.model or self._job.inherited,
            inherited=given.model or self._job.inherited,
        )
        return await _within(given.timeout, self._send(tally, errand, role.system_prompt))

    async def native_task(self, given: TaskCall) -> tuple[Answer, int]:
        """Send a subagent that the model itself asks for, and return its answer with the number of the call: from the
        record, if it was sent before."""
        key = key_of("task", msgspec.to_builtins(given))
        past = self._context.history.agent(self._job.path).take_use(self._place.cell, key)
        if past is not None:
            return self._context.recorder.recall(past), past.call
        number = 0

        async def live(tally: Tally) -> Any:
            nonlocal number
            number = tally.call
            return await self.task(tally, given, key)

        asked = Asked(self._place, "task", key, given.description, given.label or "", given.model or "", native=True)
        refusal = await self._context.approval.before_dispatch(self._place, asked)
        if refusal is not None:
            return Answer(None, self._context.clock(), TaskFailure("cancelled", refusal)), 0
        return await self._context.recorder.perform(asked, live), number

    async def rlm(self, tally: Tally, given: RlmCall, key: str) -> Any:
        """Have an agent like this one answer a question over a part of the inputs. Raises as `task` does."""
        if given.schema is not None:
            shape_of(given.schema)
        context = given.context
        errand = Errand(
            "rlm",
            given.question,
            self._path(key),
            tally.call,
            self._job.depth + 1,
            schema=given.schema,
            model=self._named(given.model) or self._job.inherited,
            inherited=given.model or self._job.inherited,
            context=context.input if isinstance(context, ContextInput) else context,
        )
        return await self._send(tally, errand, "")

    async def workflow(self, tally: Tally, given: WorkflowCall, key: str) -> Any:
        """Run a saved workflow within this one. Raises `TaskError` if there is none, if it fails, or if this one is
        nested already."""
        if not self._job.code:
            raise TaskError("tool_error", "only a saved workflow can run another")
        if self._job.call:
            raise TaskError("depth", "a workflow within a workflow cannot run a third: give it a function instead")
        code = self._context.workflows(given.name)
        if code is None:
            raise TaskError("tool_error", f"there is no saved workflow {given.name!r}")
        path = self._path(key)
        return await self._context.runner.run(
            Errand("workflow", code, path, tally.call, self._job.depth, role=given.name, args=given.args)
        )

    async def _send(self, tally: Tally, errand: Errand, system: str) -> Any:
        self._context.dispatcher.scope.take_call()
        if errand.depth <= self._context.spec.limits.max_depth:
            return await self._context.runner.run(errand)
        return await self._directly(tally, errand, system)

    async def _directly(self, tally: Tally, errand: Errand, system: str) -> Any:
        """Process what may not be sent deeper with one plain request, if that is wanted and it fits one."""
        most = self._context.spec.limits.max_depth
        context = self._text_of(errand.context)
        prompt = f"{errand.prompt}\n\n{context}" if context else errand.prompt
        if not self._context.spec.fallback:
            raise TaskError("depth", f"maximum recursion depth exceeded: current depth {most}, limit {most}")
        if len(prompt) > _MOST_DIRECT_CHARS:
            what = f"{len(prompt):,} characters do not fit one prompt"
            raise TaskError("depth", f"maximum recursion depth exceeded (limit {most}), and {what}: cut it up")
        self._context.journal.append(
            Warned("depth", f"{errand.kind} at the depth limit {most}: processed with one plain request")
        )
        model = self._context.models.for_call(errand.model, None)
        shape = None if errand.schema is None else shape_of(errand.schema)
        return await Asking(self._context, tally, model, system).ask(prompt, shape)

    def _text_of(self, context: str | int | None) -> str:
        """Return the text to look into, or one that is too long if it is."""
        if isinstance(context, str):
            return context
        inputs = self._job.inputs
        if inputs is None or not inputs.documents:
            return ""
        if context is not None and not -1 <= context < len(inputs.documents):
            raise TaskError("tool_error", f"there is no input number {context}")
        document = inputs.whole if context in {None, -1} else inputs.documents[context or 0]
        return document[: _MOST_DIRECT_CHARS + 1]

    def _role(self, name: str) -> Subagent:
        """Return a kind of agent. Raises `TaskError` if there is none of that name, or this one may not send it."""
        roles, allowed = self._context.roles, self._job.sends
        if name not in roles:
            known = ", ".join(sorted(roles))
            raise TaskError("unknown_agent", f"unknown agent {name!r}; known: {known}")
        if allowed is not None and name not in allowed:
            raise TaskError("unknown_agent", f"Not allowed to delegate to: {name}")
        return roles[name]

    def _named(self, model: str | None) -> str | None:
        """Return a model that code has named. Raises `TaskError` if it may not."""
        try:
            return None if model is None else self._context.models.named(model).name
        except ModelChoiceError as error:
            raise TaskError("model_error", str(error)) from error

    def _path(self, key: str) -> str:
        """Return the path of the agent for a call: the same in every life of the run, unless its work was finished."""
        first = f"{self._job.path}/{self._place.cell}.{key[:8]}"
        path, number = first, 1
        while path in self._taken or path in self._context.history.finished:
            number += 1
            path = f"{first}.{number}"
        self._taken.add(path)
        return path


async def _within(seconds: float | None, work: Awaitable[Any]) -> Any:
    """Await work for so long. Raises `TaskError` if it takes longer."""
    if seconds is None:
        return await work
    alarm = asyncio.timeout(seconds)
    try:
        async with alarm:
            return await work
    except TimeoutError as error:
        if not alarm.expired():
            raise
        raise TaskError("timeout", f"the task took more than {seconds:g} s", retryable=True) from error
