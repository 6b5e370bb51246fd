"""One agent: a turn of the model, the code and tools it asks for, and so on until there is an answer."""

import asyncio
from typing import Any

import msgspec

from sonde import jsontext
from sonde.engine.cells import Cells
from sonde.engine.context import Context
from sonde.engine.history import AgentHistory
from sonde.engine.job import Job
from sonde.engine.recorder import Asked, Place, key_of
from sonde.engine.transcript import Cell, Closing, Transcript, Use
from sonde.engine.uses import Uses
from sonde.errors import LimitReached, ModelError, RunError, TaskError
from sonde.events import TURN, Answered, Warned
from sonde.interpreters.protocol import TaskFailure
from sonde.models.protocol import Reply
from sonde.tasks.dispatch import Tally

_LOOK_FIRST = "Look at the input first: run some code on it, then answer."
_EMPTY = "Your reply was empty. Go on, or give the answer."
_NO_TOOLS = '<error type="UnknownTool">\nThere are no tools here: answer in text.\n</error>'
_CUT = "Your reply was cut at its length limit. Go on in smaller steps, or give a shorter answer."


class TurnFailed(RunError):
    """A model's turn failed for good."""

    def __init__(self, failure: TaskFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class _Turn(msgspec.Struct):
    """A model's turn as it is recorded, with the way in which it was asked for code."""

    reply: Reply
    native: bool


class Agent:
    """Does one job, with its own transcript and interpreter."""

    def __init__(self, context: Context, job: Job) -> None:
        self.job = job
        self.answered = False
        self.answer: object = None
        self._context = context
        self._history: AgentHistory = context.history.agent(job.path)
        self._cells = Cells(context, self, self._history) if job.world is not None else None
        self._uses = Uses(context, job, self._history) if job.uses_tools else None
        tools = self._uses.tools if self._uses is not None else ()
        self._transcript = Transcript(job.prompts, job.first, tools, runs_code=self._cells is not None)
        self._misfits = 0
        self._told_to_look = job.world is None or not job.world.inputs

    async def work(self) -> object:
        """Return the answer. Raises `LimitReached` when the turns are used up, `TurnFailed`, `TaskError` if what a
        subagent answers does not fit its schema, or what stops the run."""
        turns = self._context.spec.limits.max_turns
        try:
            if self._cells is not None and self.job.depth == 0:
                await self._cells.open()
            for turn in range(1, turns + 1):
                reply = await self._take_turn(turn)
                step = self._transcript.read(reply)
                if isinstance(step, Closing):
                    await self._close_with(step, reply)
                else:
                    await self._do_all(turn, step)
                if self.answered:
                    journal = self._context.journal
                    journal.append(Answered(self.job.path, journal.keep_value(self.answer)))
                    return self.answer
        finally:
            if self._uses is not None:
                await self._uses.close()
            if self._cells is not None:
                await self._cells.close()
        raise LimitReached("max-turns", f"no answer after {turns:,} turns", "Allow more with --max-turns.")

    def accept(self, value: object) -> None:
        """Take the final answer, if it is the first. Raises `TaskError` if it does not fit the schema."""
        if self.job.shape is not None:
            self.job.shape.check(value)
        if not self.answered:
            self.answered, self.answer = True, value

    async def _take_turn(self, turn: int) -> Reply:
        """Return the model's reply, from the record if it was given before."""
        news = self._transcript.unsent()
        key = key_of(TURN, self._transcript.messages)
        before = self._history.turns.get(turn)
        if before is not None and before[0] == key:
            answer = self._context.recorder.recall(before[1])
        else:
            if before is not None:
                message = f"turn {turn} is asked again: what leads up to it has changed"
                self._context.journal.append(Warned("resume", message))
            request = jsontext.encode(news).decode()
            asked = Asked(Place(self.job.path, turn), TURN, key, request, model=self.job.model)
            answer = await self._context.recorder.perform(asked, self._ask)
        if answer.failure is not None:
            raise TurnFailed(answer.failure)
        taken = msgspec.convert(answer.value, _Turn)
        self._transcript.native = taken.native
        return taken.reply

    async def _ask(self, tally: Tally) -> Any:
        model = self._context.models.named(self.job.model)
        shape = self.job.shape
        schema = None if shape is None else shape.schema
        try:
            reply = await self._context.dispatcher.ask(tally, model, self._transcript.request(schema))
        except ModelError as error:
            if error.fault != "tools":
                raise
            self._transcript.native = False
            reply = await self._context.dispatcher.ask(tally, model, self._transcript.request(schema))
        return msgspec.to_builtins(_Turn(reply, self._transcript.native))

    async def _close_with(self, closing: Closing, reply: Reply) -> None:
        """Take a reply without code as the answer, unless something speaks against it."""
        if closing.variable and self._cells is not None:
            result = await self._cells.run(f"FINAL_VAR({closing.variable!r})")
            if not self.answered:
                self._transcript.show(Cell(""), result)
        elif not reply.text.strip():
            self._transcript.tell(_EMPTY)
        elif reply.finish == "length":
            self._transcript.tell(_CUT)
        elif self._cells is not None and self._cells.count == 0 and not self._told_to_look:
            self._told_to_look = True
            self._transcript.tell(_LOOK_FIRST)
        else:
            self._accept_text(closing.answer)

    def _accept_text(self, answer: object) -> None:
        try:
            if self.job.shape is not None and isinstance(answer, str):
                answer = self.job.shape.read(answer)
            self.accept(answer)
        except TaskError as error:
            self._misfits += 1
            if self._misfits > 1 and self.job.depth > 0:
                raise
            self._transcript.tell(f"That is not a valid answer: {error}. Answer again.")

    async def _do_all(self, turn: int, steps: list[Cell | Use]) -> None:
        """Do what a reply asks for, in order; subagents that are sent one after the other work at the same time."""
        sent: list[tuple[Use, asyncio.Task[str]]] = []
        for step in steps:
            if isinstance(step, Use) and self._uses is not None and self._uses.may_overlap(step):
                sent.append((step, asyncio.create_task(self._uses.use(turn, step))))
                continue
            await self._show_all(sent)
            if isinstance(step, Use):
                self._transcript.show_use(step, await self._uses.use(turn, step) if self._uses else _NO_TOOLS)
            else:
                result = None if step.problem or self._cells is None else await self._cells.run(step.code)
                self._transcript.show(step, result)
            if self.answered:
                return
        await self._show_all(sent)

    async def _show_all(self, sent: list[tuple[Use, asyncio.Task[str]]]) -> None:
        """Add what came of tools to the transcript, once all have ended."""
        try:
            for use, task in sent:
                self._transcript.show_use(use, await task)
        finally:
            for _, task in sent:
                task.cancel()
            sent.clear()
