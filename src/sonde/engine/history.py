"""What a run's earlier lives left behind: an index over the journal of what can be answered without asking again.

A cell that finished is run again to rebuild its variables, and each of its calls is given the answer it had, in the
order it had them. A cell that did not finish well leaves its paid results in a pool: each answers the next
identical call, once. The index holds numbers of records, not results, so that it stays small.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import NamedTuple

from sonde.events import (
    ITEMS,
    TURN,
    AgentStarted,
    CallFinished,
    CallReused,
    CallStarted,
    CellFinished,
    CellStarted,
    Escalated,
    FileWritten,
    PersonAnswered,
    Record,
    RunResumed,
    Stored,
)


class Past(NamedTuple):
    """An outcome in the journal: its call, the record that holds it, and when the code got it."""

    call: int
    seq: int
    at: float


class CellPast:
    """One run of a cell, and its calls: by key in the order they were made, and in the order they were answered."""

    def __init__(self, code: Stored, seq: int) -> None:
        self.code = code
        self.seq = seq
        """The number of the record with which it began."""
        self.finished: CellFinished | None = None
        self.met_limit = False
        """Whether a call was refused for a limit."""
        self.open: set[int] = set()
        """Calls whose end is not known."""
        self.made: defaultdict[str, deque[int]] = defaultdict(deque)
        self.answered: list[Past] = []
        self.paid: list[tuple[str, Past]] = []
        self.used: defaultdict[str, deque[Past]] = defaultdict(deque)
        """What came of tools, by key: what they did to files was done, whatever became of the cell."""

    @property
    def leaves_variables(self) -> bool:
        """Whether running it again gives the variables it left. A time-out or a kill left none."""
        return self.finished is not None and self.finished.status in {"ok", "error"}


class AgentHistory:
    """One agent's part of the index."""

    def __init__(self) -> None:
        self.turns: dict[int, tuple[str, Past]] = {}
        self.cells: dict[int, CellPast] = {}
        self.uses: dict[int, dict[str, deque[Past]]] = {}
        """Tools that the model itself used, by turn and key."""
        self.began = 0
        """The number of the record with which it began to work."""
        self.written: list[int] = []
        """The numbers of the records of files that it wrote."""
        self._pool: defaultdict[str, deque[Past]] = defaultdict(deque)

    def finished_cell(self, cell: int) -> CellPast | None:
        """Return a cell that finished, or None."""
        past = self.cells.get(cell)
        return past if past is not None and past.finished is not None else None

    def take(self, key: str) -> Past | None:
        """Return a paid result that no code has, or None. It is not given again."""
        pool = self._pool.get(key)
        return pool.popleft() if pool else None

    def take_use(self, turn: int, key: str) -> Past | None:
        """Return what came of a tool that the model used in a turn, or None. It is not given again."""
        uses = self.uses.get(turn, {}).get(key)
        return uses.popleft() if uses else None

    def begin(self, started: CellStarted, seq: int) -> None:
        """Note that a cell began to run, perhaps again."""
        self.release(started.cell)
        self.cells[started.cell] = CellPast(started.code, seq)

    def end(self, finished: CellFinished) -> None:
        """Note how a cell ended."""
        if finished.cell in self.cells:
            self.cells[finished.cell].finished = finished
        if finished.status != "ok":
            self.release(finished.cell)

    def release(self, cell: int) -> None:
        """Put what a cell paid for into the pool, unless it ended well."""
        past = self.cells.get(cell)
        if past is not None and (past.finished is None or past.finished.status != "ok"):
            for key, result in past.paid:
                self._pool[key].append(result)
            past.paid.clear()

    def forget(self, key: str, seq: int) -> None:
        """Take a result out of the pool: it was used."""
        self._pool[key] = deque(past for past in self._pool[key] if past.seq != seq)


class History:
    """The index of a whole run, up to the record numbered `seq`."""

    def __init__(self) -> None:
        self.seq = 0
        self.last_call = 0
        self.live = False
        """Whether what is read now is of this life."""
        self.in_flight: dict[int, CallStarted] = {}
        self.finished: set[str] = set()
        """The paths of subagents whose work is in the answer to a call."""
        self.said: dict[Escalated, str] = {}
        """What a person answered, by what they were asked."""
        self._asked: Escalated | None = None
        self._sent: dict[int, str] = {}
        self._agents: defaultdict[str, AgentHistory] = defaultdict(AgentHistory)
        self._results: dict[int, int] = {}

    def read(self, records: Iterable[Record]) -> None:
        """Take in the records that follow."""
        for record in records:
            self.seq = record.seq
            self._add(record)

    def give_up(self) -> None:
        """Take what had not finished as lost with the process that drove it. So are cells of which a part of the record
        was lost; and those that met a limit, as it may be higher now."""
        for agent in self._agents.values():
            for cell, past in agent.cells.items():
                if past.met_limit or past.open:
                    past.finished = None
                agent.release(cell)

    def hear(self, said: str) -> None:
        """Take in what a person says to the question that waits for an answer, if one does."""
        if self._asked is not None:
            self.said[self._asked], self._asked = said, None

    def agent(self, agent: str) -> AgentHistory:
        """Return an agent's part, empty if it is new."""
        return self._agents[agent]

    def forget(self, agent: str) -> None:
        """Drop the part of an agent that nothing will ask for again."""
        self._agents.pop(agent, None)

    def _add(self, record: Record) -> None:
        match record.fact:
            case RunResumed():
                self.give_up()
            case CellStarted() as started:
                self._agents[started.agent].begin(started, record.seq)
            case CellFinished() as finished:
                self._agents[finished.agent].end(finished)
            case CallStarted() as started:
                self.in_flight[started.call] = started
                self._note_made(started)
            case CallReused() as reused if reused.source not in self._results:
                self._note_made(reused)
            case CallReused() as reused:
                self._note_made(reused)
                self._results[reused.call] = self._results[reused.source]
                self._note_end(reused)
                past = Past(reused.call, self._results[reused.source], record.at)
                self._agents[reused.agent].forget(reused.key, past.seq)
                self._note_answered(reused, past)
            case CallFinished() as finished if finished.call in self.in_flight:
                started = self.in_flight.pop(finished.call)
                self._note_end(started)
                if (sent := self._sent.pop(finished.call, None)) is not None and finished.status == "ok":
                    self.finished.add(sent)
                    self.forget(sent)
                if finished.status != "cancelled":
                    self._results[finished.call] = record.seq
                    past = Past(finished.call, record.seq, record.at)
                    self._note_answered(started, past, finished)
            case _:
                self._add_less(record)

    def _add_less(self, record: Record) -> None:
        """Take in a record that is about no cell and no call."""
        match record.fact:
            case AgentStarted(agent=agent, call=call) if call:
                self._sent[call] = agent
                self._agents[agent].began = self._agents[agent].began or record.seq
            case FileWritten(agent=agent):
                self._agents[agent].written.append(record.seq)
            case Escalated() as asked:
                self._asked = asked
            case PersonAnswered(text=said):
                self.hear(said)
            case _:
                pass

    def _note_made(self, made: CallStarted | CallReused) -> None:
        self.last_call = max(self.last_call, made.call)
        past = self._cell_of(made)
        if past is not None:
            past.made[made.key].append(made.call)
            past.open.add(made.call)

    def _note_end(self, made: CallStarted | CallReused) -> None:
        past = self._cell_of(made)
        if past is not None:
            past.open.discard(made.call)

    def _cell_of(self, made: CallStarted | CallReused) -> CellPast | None:
        """Return the cell that made a call; None for one that the model itself made."""
        if made.function == TURN or (isinstance(made, CallStarted) and made.native):
            return None
        return self._agents[made.agent].cells.get(made.cell)

    def _note_answered(
        self, made: CallStarted | CallReused, result: Past, finished: CallFinished | None = None
    ) -> None:
        """Note what a call was answered with; `finished` tells how it ended, if it was not reused."""
        ok = finished is None or finished.status == "ok"
        agent = self._agents[made.agent]
        if made.function == TURN:
            if ok:
                agent.turns[made.cell] = (made.key, result)
        elif isinstance(made, CallStarted) and made.native:
            if not self.live and finished is not None and not _met_limit(finished):
                agent.uses.setdefault(made.cell, {}).setdefault(made.key, deque()).append(result)
        elif (past := self._cell_of(made)) is not None:
            past.answered.append(result)
            past.met_limit |= finished is not None and _met_limit(finished)
            if ok and made.function in ITEMS:
                past.paid.append((made.key, result))
            elif ok and made.function == "tool":
                past.used[made.key].append(result)


def _met_limit(finished: CallFinished) -> bool:
    return finished.fault is not None and finished.fault.kind == "budget"
