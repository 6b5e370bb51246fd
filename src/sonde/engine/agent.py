"""One agent: a turn of the model, the cells it asks for, and so on until there is an answer."""

from typing import Any

import msgspec

from sonde import jsontext
from sonde.engine.calls import LiveCalls, ReplayedCalls
from sonde.engine.context import Context
from sonde.engine.history import TURN, AgentHistory, CellPast
from sonde.engine.recorder import Asked, Place, key_of
from sonde.engine.transcript import Cell, Closing, Transcript
from sonde.errors import InputChanged, LimitReached, ModelError, RunError, TaskError
from sonde.events import Answered, CellFinished, CellStarted, Fault, Warned
from sonde.interpreters.protocol import CellError, CellResult, Interpreter
from sonde.models.protocol import Reply
from sonde.tasks.dispatch import Tally
from sonde.tasks.schemas import Shape

_LOOK_FIRST = "Look at the input first: run some code on it, then answer."
_EMPTY = "Your reply was empty. Run code, or give the answer."
_CUT = "Your reply was cut at its length limit. Run code, or give a shorter answer."


class _Turn(msgspec.Struct):
    """A model's turn as it is recorded, with the way in which it was asked for code."""

    reply: Reply
    native: bool


class Agent:
    """Works on one question, with its own transcript and interpreter."""

    def __init__(self, context: Context, path: str, transcript: Transcript) -> None:
        self.answered = False
        self.answer: object = None
        self._context = context
        self._path = path
        self._transcript = transcript
        self._history: AgentHistory = context.history.agent(path)
        self._shape = None if context.spec.schema is None else Shape(context.spec.schema)
        self._interpreter: Interpreter | None = None
        self._cells = 0
        self._told_to_look = not context.world.inputs

    async def work(self) -> object:
        """Return the answer. Raises `LimitReached` when the turns are used up, or what stops the run."""
        turns = self._context.spec.limits.max_turns
        self._interpreter = await self._context.backend.open(self._context.world)
        try:
            for turn in range(1, turns + 1):
                reply = await self._take_turn(turn)
                step = self._transcript.read(reply)
                if isinstance(step, Closing):
                    await self._close_with(step, reply)
                else:
                    await self._run_all(step)
                if self.answered:
                    self._context.journal.append(Answered(self._path, self._keep(self.answer)))
                    return self.answer
        finally:
            await self._interpreter.close()
        raise LimitReached("max-turns", f"no answer after {turns:,} turns", "Allow more with --max-turns.")

    def accept(self, value: object) -> None:
        """Take the final answer, if it is the first. Raises `TaskError` if it does not fit the schema."""
        if self._shape is not None:
            self._shape.check(value)
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
                self._warn("resume", f"turn {turn} is asked again: what leads up to it has changed")
            asked = Asked(Place(self._path, turn), TURN, key, jsontext.encode(news).decode())
            answer = await self._context.recorder.perform(asked, self._ask)
        if answer.failure is not None:
            raise RunError(answer.failure.message)
        taken = msgspec.convert(answer.value, _Turn)
        self._transcript.native = taken.native
        return taken.reply

    async def _ask(self, tally: Tally) -> Any:
        model = self._context.models.root
        try:
            reply = await self._context.dispatcher.ask(tally, model, self._transcript.request())
        except ModelError as error:
            if error.fault != "tools":
                raise
            self._transcript.native = False
            reply = await self._context.dispatcher.ask(tally, model, self._transcript.request())
        return msgspec.to_builtins(_Turn(reply, self._transcript.native))

    async def _close_with(self, closing: Closing, reply: Reply) -> None:
        """Take a reply without code as the answer, unless something speaks against it."""
        if closing.variable:
            result = await self._run(f"FINAL_VAR({closing.variable!r})")
            if not self.answered:
                self._transcript.show(Cell(""), result)
        elif not reply.text.strip():
            self._transcript.tell(_EMPTY)
        elif reply.finish == "length":
            self._transcript.tell(_CUT)
        elif self._cells == 0 and not self._told_to_look:
            self._told_to_look = True
            self._transcript.tell(_LOOK_FIRST)
        else:
            self._accept_text(closing.answer)

    def _accept_text(self, answer: object) -> None:
        try:
            if self._shape is not None and isinstance(answer, str):
                answer = self._shape.read(answer)
            self.accept(answer)
        except TaskError as error:
            self._transcript.tell(f"That is not a valid answer: {error}.")

    async def _run_all(self, cells: list[Cell]) -> None:
        for cell in cells:
            self._transcript.show(cell, None if cell.problem else await self._run(cell.code))
            if self.answered:
                return

    async def _run(self, code: str) -> CellResult:
        """Return what a cell comes to. One that finished before is run again only for its variables."""
        self._cells += 1
        past = self._history.finished_cell(self._cells)
        if past is not None and self._context.reader.text(past.code) == code:
            if past.leaves_variables:
                await self._replay(self._cells, past)
            return self._result_of(past)
        return await self._run_live(code)

    async def _run_live(self, code: str) -> CellResult:
        context, cell = self._context, self._cells
        context.journal.append(CellStarted(self._path, cell, context.journal.keep(code)))
        calls = LiveCalls(context, self, self._history, Place(self._path, cell))
        result = await self._in_interpreter().run(code, calls, cpu_s=context.spec.limits.cell_cpu_s)
        context.journal.append(self._finished(result))
        await context.journal.saved()
        if result.changed_input is not None:
            raise InputChanged(result.changed_input, "Work on a copy, or pipe it in with -, and start again.")
        if result.status != "ok":
            context.history.read(context.reader.records(context.history.seq))
        if result.status in {"timeout", "killed"}:
            await self._rebuild()
        return result

    async def _rebuild(self) -> None:
        """Open a new interpreter and bring back the variables of the cells that finished."""
        await self._in_interpreter().close()
        self._interpreter = await self._context.backend.open(self._context.world)
        for cell in range(1, self._cells + 1):
            past = self._history.finished_cell(cell)
            if past is not None and past.leaves_variables:
                await self._replay(cell, past)

    async def _replay(self, cell: int, past: CellPast) -> None:
        context = self._context
        unforeseen = LiveCalls(context, self, self._history, Place(self._path, cell))
        calls = ReplayedCalls(context, self, past, unforeseen)
        cpu_s = 2 * context.spec.limits.cell_cpu_s
        code = context.reader.text(past.code)
        result = await self._in_interpreter().run(code, calls, cpu_s=cpu_s, replaying=True)
        if past.finished is not None and result.status != past.finished.status:
            self._warn("replay", f"cell {cell} ended with {result.status!r} where it had ended otherwise")

    def _in_interpreter(self) -> Interpreter:
        assert self._interpreter is not None, "opened before the first turn"
        return self._interpreter

    def _finished(self, result: CellResult) -> CellFinished:
        keep, error = self._context.journal.keep, result.error
        return CellFinished(
            self._path,
            self._cells,
            result.status,
            value=None if result.value is None else keep(result.value),
            stdout=keep(result.stdout) if result.stdout else None,
            fault=None if error is None else Fault("cell", error.message, error.type),
            traceback=keep(error.traceback) if error is not None and error.traceback else None,
        )

    def _result_of(self, past: CellPast) -> CellResult:
        """Return a cell's result as it was shown before."""
        finished, text = past.finished, self._context.reader.text
        assert finished is not None, "only finished cells are asked for"
        error = None
        if finished.fault is not None:
            traceback = "" if finished.traceback is None else text(finished.traceback)
            error = CellError(finished.fault.kind, finished.fault.message, traceback)
        return CellResult(
            finished.status,
            None if finished.value is None else text(finished.value),
            "" if finished.stdout is None else text(finished.stdout),
            error,
        )

    def _keep(self, value: object) -> Any:
        return self._context.journal.keep(jsontext.encode(value).decode())

    def _warn(self, code: str, message: str) -> None:
        self._context.journal.append(Warned(code, message))
