"""The tool `delegate`: one subagent, several at once, one after the other, or in the background."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from sonde import jsontext
from sonde.engine.context import Context
from sonde.engine.errands import Errands
from sonde.engine.words import TaskCall
from sonde.events import Warned
from sonde.interpreters.protocol import Answer
from sonde.models.protocol import Tool

DELEGATE = "delegate"
TASK_GET = "task_get"
MOST_TASKS = 8
MOST_AT_ONCE = 4
MOST_TASK_CHARS = 1_000_000
_SUBJECT_CHARS = 60
_PREVIOUS = "{previous}"
_ONE_MODE = "Specify exactly one mode: agent+task, tasks[], or chain[]"


class _Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One subagent and its task."""

    agent: str
    task: str
    model: str | None = None


class _Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `delegate` is given."""

    agent: str | None = None
    task: str | None = None
    tasks: list[_Item] = []
    chain: list[_Item] = []
    description: str = ""
    background: bool = False
    model: str | None = None


class _Done(NamedTuple):
    """What came of one item."""

    answer: Answer
    call: int

    @property
    def text(self) -> str:
        """Its result, or why there is none."""
        if self.answer.failure is not None:
            return f"Error: {self.answer.failure.message}"
        value = self.answer.value
        return value if isinstance(value, str) else jsontext.encode(value).decode()

    @property
    def failed(self) -> bool:
        """Whether there is no result."""
        return self.answer.failure is not None


class Delegation:
    """Serves `delegate` and `task_get` for one agent. What goes wrong is told in the result, never raised."""

    def __init__(self, context: Context) -> None:
        self._run_id = context.world.seed
        self._journal = context.journal
        self._background: dict[str, asyncio.Task[_Done]] = {}

    async def delegate(self, errands: Errands, arguments: dict[str, Any]) -> str:
        """Return what the subagents' work comes to, or the ids of those that go on in the background."""
        try:
            given = msgspec.convert(arguments, _Given)
        except msgspec.ValidationError as error:
            return f"Error: {error}"
        problem = _problem_of(given)
        if problem:
            return f"Error: {problem}"
        if given.chain:
            return await self._chain(errands, given)
        items = given.tasks or [_Item(given.agent or "", given.task or "")]
        if given.background:
            return self._start(errands, items, given)
        if not given.tasks:
            return self._told(await self._send(errands, items[0], given))
        return await self._parallel(errands, items, given)

    async def task_get(self, arguments: dict[str, Any]) -> str:
        """Return what came of a task in the background, once it has ended; or how it stands, if that is wanted."""
        task = self._background.get(str(arguments.get("id")))
        if task is None:
            return f"Error: there is no task {arguments.get('id')!r}; known: {', '.join(self._background) or 'none'}"
        if arguments.get("wait", True):
            await asyncio.wait({task})
        if not task.done():
            return "status: running"
        done = task.result()
        return f"status: {'failed' if done.failed else 'completed'}\n{self._told(done)}"

    async def close(self) -> None:
        """Stop what still works in the background, and say so."""
        left = sum(not task.done() for task in self._background.values())
        if left:
            what = f"{left} tasks in the background had not ended when the agent answered, and were stopped"
            self._journal.append(Warned("background", what))
        for task in self._background.values():
            task.cancel()
        await asyncio.gather(*self._background.values(), return_exceptions=True)

    async def _chain(self, errands: Errands, given: _Given) -> str:
        previous, told = "", list[str]()
        for item in given.chain:
            chars = len(item.task) + item.task.count(_PREVIOUS) * len(previous)
            if chars > MOST_TASK_CHARS:
                what = f"Error: with the results before it a task has {chars:,} characters (max {MOST_TASK_CHARS:,})"
                return "\n\n".join((f"The chain stopped at {len(told)} of {len(given.chain)}.", *told, what))
            item = msgspec.structs.replace(item, task=item.task.replace(_PREVIOUS, previous))
            done = await self._send(errands, item, given)
            told.append(self._told(done))
            if done.failed:
                return "\n\n".join((f"The chain stopped at {len(told)} of {len(given.chain)}.", *told))
            previous = done.text
        return "\n\n".join(told[-1:])

    async def _parallel(self, errands: Errands, items: list[_Item], given: _Given) -> str:
        free = asyncio.Semaphore(MOST_AT_ONCE)
        sent = [asyncio.create_task(_in_turn(free, self._sending(errands, item, given))) for item in items]
        try:
            done = await asyncio.gather(*sent)
        finally:
            for each in sent:
                each.cancel()  # when one has stopped the run
        good = sum(not each.failed for each in done)
        return "\n\n".join((f"Parallel: {good}/{len(items)} succeeded", *map(self._told, done)))

    def _start(self, errands: Errands, items: list[_Item], given: _Given) -> str:
        free = asyncio.Semaphore(MOST_AT_ONCE)
        lines = [f"status: running, count: {len(items)}"]
        for item in items:
            name = f"task-{len(self._background) + 1}"
            self._background[name] = asyncio.create_task(_in_turn(free, self._sending(errands, item, given)))
            subject = given.description or item.task
            lines.append(f"{name}: {subject if len(subject) <= _SUBJECT_CHARS else subject[:_SUBJECT_CHARS] + '...'}")
        return "\n".join((*lines, f"{TASK_GET} tells what came of them."))

    def _sending(self, errands: Errands, item: _Item, given: _Given) -> Callable[[], Awaitable[_Done]]:
        return lambda: self._send(errands, item, given)

    async def _send(self, errands: Errands, item: _Item, given: _Given) -> _Done:
        call = TaskCall(item.task, item.agent, label=given.description or None, model=item.model or given.model)
        return _Done(*await errands.native_task(call))

    def _told(self, done: _Done) -> str:
        return done.text if done.failed else f"{done.text}\nFull session: session://{self._run_id}/{done.call}"


def _problem_of(given: _Given) -> str:
    """Return what is wrong with what `delegate` was given, if something is."""
    single = given.agent is not None or given.task is not None
    whole = given.agent is not None and given.task is not None
    if single + bool(given.tasks) + bool(given.chain) != 1 or (single and not whole):
        return _ONE_MODE
    if len(given.tasks) > MOST_TASKS:
        return f"Too many parallel tasks (max {MOST_TASKS})"
    if given.chain and given.background:
        return "A chain cannot work in the background"
    return ""


async def _in_turn(free: asyncio.Semaphore, send: Callable[[], Awaitable[_Done]]) -> _Done:
    async with free:
        return await send()


def delegate_tools(agents: list[str]) -> tuple[Tool, Tool]:
    """Return `delegate` and `task_get` as a model is offered them."""
    item = {
        "type": "object",
        "properties": {
            "agent": {"type": "string", "enum": agents},
            "task": {"type": "string"},
            "model": {"type": "string"},
        },
        "required": ["agent", "task"],
        "additionalProperties": False,
    }
    items = {"type": "array", "items": item}
    fields = {
        "agent": {"type": "string", "enum": agents},
        "task": {"type": "string"},
        "tasks": {**items, "description": f"Up to {MOST_TASKS}, {MOST_AT_ONCE} at a time."},
        "chain": {**items, "description": f"One after the other; {_PREVIOUS} stands for the result before."},
        "description": {"type": "string", "description": "A few words for people who watch."},
        "background": {"type": "boolean"},
        "model": {"type": "string"},
    }
    about = (
        "Send subagents: exactly one of agent+task, tasks (at the same time) or chain (one after the other). Each sees "
        "its task and nothing else, so say in it all that it needs. Do not delegate what a single read would tell."
    )
    get = {"id": {"type": "string"}, "wait": {"type": "boolean", "description": "Wait until it has ended (default)."}}
    return (
        Tool(DELEGATE, about, {"type": "object", "properties": fields, "additionalProperties": False}),
        Tool(
            TASK_GET,
            "Get what came of a task in the background.",
            {"type": "object", "properties": get, "required": ["id"], "additionalProperties": False},
        ),
    )
