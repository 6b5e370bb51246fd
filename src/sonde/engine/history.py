"""What a run's earlier lives left behind: an index over the journal of what can be answered without asking again.

A cell that finished is run again to rebuild its variables, and each of its calls is given the answer it had, in the
order it had them. A cell that did not finish well leaves its paid results in a pool: each answers the next
identical call, once. The index holds numbers of records, not results, so that it stays small.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import NamedTuple

from sonde.events import (
    CallFinished,
    CallReused,
    CallStarted,
    CellFinished,
    CellStarted,
    Record,
    Stored,
)

PAID = frozenset({"llm"})
TURN = "turn"


class Past(NamedTuple):
    """An outcome in the journal: its call, the record that holds it, and when the code got it."""

    call: int
    seq: int
    at: float


class CellPast:
    """One run of a cell, and its calls: by key in the order they were made, and in the order they were answered."""

    def __init__(self, code: Stored) -> None:
        self.code = code
        self.finished: CellFinished | None = None
        self.made: defaultdict[str, deque[int]] = defaultdict(deque)
        self.answered: list[Past] = []
        self.paid: list[tuple[str, Past]] = []

    @property
    def leaves_variables(self) -> bool:
        """Whether running it again gives the variables it left. A time-out or a kill left none."""
        return self.finished is not None and self.finished.status in {"ok", "error"}


class AgentHistory:
    """One agent's part of the index."""

    def __init__(self) -> None:
        self.turns: dict[int, tuple[str, Past]] = {}
        self.cells: dict[int, CellPast] = {}
        self._pool: defaultdict[str, deque[Past]] = defaultdict(deque)

    def finished_cell(self, cell: int) -> CellPast | None:
        """Return a cell that finished, or None."""
        past = self.cells.get(cell)
        return past if past is not None and past.finished is not None else None

    def take(self, key: str) -> Past | None:
        """Return a paid result that no code has, or None. It is not given again."""
        pool = self._pool.get(key)
        return pool.popleft() if pool else None

    def begin(self, started: CellStarted) -> None:
        """Note that a cell began to run, perhaps again."""
        self.release(started.cell)
        self.cells[started.cell] = CellPast(started.code)

    def end(self, finished: CellFinished) -> None:
        """Note how a cell ended."""
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
    """The index of a whole run, or of one agent's part of it with `only`."""

    def __init__(self, records: Iterable[Record], only: str | None = None) -> None:
        self.last_call = 0
        self.in_flight: dict[int, CallStarted] = {}
        self._agents: defaultdict[str, AgentHistory] = defaultdict(AgentHistory)
        self._results: dict[int, int] = {}
        for record in records:
            if only is None or getattr(record.fact, "agent", only) == only:
                self._add(record)
        for agent in self._agents.values():
            for cell in agent.cells:
                agent.release(cell)

    def agent(self, agent: str) -> AgentHistory:
        """Return an agent's part, empty if it is new."""
        return self._agents[agent]

    def _add(self, record: Record) -> None:
        match record.fact:
            case CellStarted() as started:
                self._agents[started.agent].begin(started)
            case CellFinished() as finished:
                self._agents[finished.agent].end(finished)
            case CallStarted() as started:
                self.in_flight[started.call] = started
                self._note_made(started)
            case CallReused() as reused:
                self._note_made(reused)
                self._results[reused.call] = self._results[reused.source]
                past = Past(reused.call, self._results[reused.source], record.at)
                self._agents[reused.agent].forget(reused.key, past.seq)
                self._note_answered(reused, past, paid=True)
            case CallFinished() as finished if finished.call in self.in_flight:
                started = self.in_flight.pop(finished.call)
                if finished.status != "cancelled":
                    self._results[finished.call] = record.seq
                    past = Past(finished.call, record.seq, record.at)
                    ok = finished.status == "ok"
                    self._note_answered(started, past, paid=ok and started.function in PAID)
            case _:
                pass

    def _note_made(self, made: CallStarted | CallReused) -> None:
        self.last_call = max(self.last_call, made.call)
        past = self._agents[made.agent].cells.get(made.cell)
        if past is not None and made.function != TURN:
            past.made[made.key].append(made.call)

    def _note_answered(self, made: CallStarted | CallReused, result: Past, *, paid: bool) -> None:
        agent = self._agents[made.agent]
        if made.function == TURN:
            agent.turns[made.cell] = (made.key, result)
        elif (past := agent.cells.get(made.cell)) is not None:
            past.answered.append(result)
            if paid:
                past.paid.append((made.key, result))
