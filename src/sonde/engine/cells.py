"""The cells of one agent: run for real, or again for their variables, in an interpreter that may be replaced."""

import asyncio

import msgspec

from sonde.engine.calls import Answerable, LiveCalls
from sonde.engine.context import Context
from sonde.engine.history import AgentHistory, CellPast
from sonde.engine.recorder import Place
from sonde.engine.replayed import ReplayedCalls
from sonde.errors import InputChanged
from sonde.events import CellFinished, CellStarted, Fault, Warned
from sonde.guest.refusal import was_refused
from sonde.interpreters.protocol import CellError, CellResult, GuestWorld, Interpreter

_OUT_OF_MEMORY = frozenset({"MemoryError", "OutOfMemory"})


class Cells:
    """Runs an agent's cells, one after the other."""

    def __init__(self, context: Context, agent: Answerable, history: AgentHistory) -> None:
        assert agent.job.world is not None, "only agents that run code have cells"
        self.count = 0
        self._context = context
        self._agent = agent
        self._path = agent.job.path
        self._world: GuestWorld = agent.job.world
        self._history = history
        self._interpreter: Interpreter | None = None
        self._berth: asyncio.Semaphore | None = None

    async def open(self) -> Interpreter:
        """Return the interpreter, and open it first if it is not. Raises `InterpreterError`."""
        if self._interpreter is None:
            if self._berth is None:
                berth = self._context.berths[self._agent.job.depth]
                await berth.acquire()
                self._berth = berth
            self._interpreter = await self._context.backend.open(self._world)
        return self._interpreter

    async def close(self) -> None:
        """End the interpreter."""
        try:
            if self._interpreter is not None:
                await self._interpreter.close()
        finally:
            if self._berth is not None:
                self._berth.release()
                self._berth = None

    async def run(self, code: str) -> CellResult:
        """Return what a cell comes to. One that finished before is run again only for its variables."""
        self.count += 1
        past = self._history.finished_cell(self.count)
        if past is not None and self._context.reader.text(past.code) == code:
            if self._leaves_variables(past):
                await self._replay(self.count, past)
            return self._result_of(past)
        return await self._run_live(code)

    async def run_to_success(self, code: str) -> CellResult:
        """Return what a cell comes to that nobody can write anew: one that failed before is run again."""
        past = self._history.finished_cell(self.count + 1)
        if past is not None and past.finished is not None and past.finished.status != "ok":
            self.count += 1
            return await self._run_live(code)
        return await self.run(code)

    async def _run_live(self, code: str) -> CellResult:
        context, cell = self._context, self.count
        place = Place(self._path, cell)
        interpreter = await self.open()
        refusal = await context.approval.before_cell(place, code)
        if refusal is not None:
            return CellResult("error", error=CellError("Rejected", refusal))
        before = self._history.cells.get(cell)
        if before is not None and context.reader.text(before.code) != code:
            before = None
        context.journal.append(CellStarted(self._path, cell, context.journal.keep(code)))
        calls = LiveCalls(context, self._agent, self._history, place, before)
        result = await interpreter.run(code, calls, cpu_s=context.spec.limits.cell_cpu_s, number=cell)
        result = _one_name(result, context.spec.limits.cell_memory_mb)
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
        if self._interpreter is not None:
            await self._interpreter.close()
            self._interpreter = None
        for cell in range(1, self.count + 1):
            past = self._history.finished_cell(cell)
            if past is not None and self._leaves_variables(past):
                await self._replay(cell, past)

    def _leaves_variables(self, past: CellPast) -> bool:
        """Whether running a cell again gives variables: one that was refused unrun would now run for the first time."""
        traceback = None if past.finished is None else past.finished.traceback
        refused = traceback is not None and was_refused(self._context.reader.text(traceback))
        return past.leaves_variables and not refused

    async def _replay(self, cell: int, past: CellPast) -> None:
        context = self._context
        interpreter = await self.open()
        unforeseen = LiveCalls(context, self._agent, self._history, Place(self._path, cell))
        calls = ReplayedCalls(context, self._agent, past, unforeseen)
        cpu_s = 2 * context.spec.limits.cell_cpu_s
        code = context.reader.text(past.code)
        result = await interpreter.run(code, calls, cpu_s=cpu_s, replaying=True, number=cell)
        if past.finished is not None and result.status != past.finished.status:
            message = f"cell {cell} ended with {result.status!r} where it had ended otherwise"
            context.journal.append(Warned("replay", message))

    def _finished(self, result: CellResult) -> CellFinished:
        keep, error = self._context.journal.keep, result.error
        return CellFinished(
            self._path,
            self.count,
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


def _one_name(result: CellResult, most_mb: int) -> CellResult:
    """Return a result in which having too little memory is told alike in all languages, and with the limit."""
    error = result.error
    if error is None or error.type not in _OUT_OF_MEMORY:
        return result
    message = f"the cell needed more than its {most_mb:,} MB (--cell-memory): take the input in smaller parts"
    return msgspec.structs.replace(result, error=CellError("OutOfMemory", message, error.traceback))
