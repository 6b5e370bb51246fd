"""The parts of a run: four that follow from what happened, and those that code named."""

from typing import NamedTuple

from sonde.events import (
    ITEMS,
    ROOT,
    TURN,
    AgentFinished,
    AgentStarted,
    Answered,
    CallFinished,
    CallStarted,
    CellStarted,
    PhaseStarted,
    Record,
    RunFinished,
    RunResumed,
)

DISCOVERY, DECOMPOSITION, AGGREGATION, SYNTHESIS = "DISCOVERY", "DECOMPOSITION", "AGGREGATION", "SYNTHESIS"
MOST_NAMED = 1000


class Phase(NamedTuple):
    """A part of a run. `agent` named it; the four that every run can have belong to no agent. What code dispatched in
    it is counted by attempt. One without an end goes on."""

    name: str
    agent: str
    began: float
    ended: float | None
    items: int = 0
    done: int = 0
    failed: int = 0
    tokens: int = 0


class Phases:
    """A fold of records in order.

    A run is in DISCOVERY until code first dispatches work; in DECOMPOSITION until the last of that has ended; then in
    AGGREGATION until the step that gives the answer, which is SYNTHESIS. What did not happen is not there.
    """

    def __init__(self) -> None:
        self.named = Named()
        self._began: float | None = None
        self._first_item: float | None = None
        self._last_item_ended = 0.0
        self._items = _Count()
        self._tokens_before = 0
        self._tokens_since = 0
        """Of the root's turns since work was last dispatched; they turn out to be of a later part, or not."""
        self._step_began = 0.0
        self._step_tokens = 0
        self._final: float | None = None
        self._answered: float | None = None
        self._ended: float | None = None
        self._calls: dict[int, CallStarted] = {}

    @property
    def now(self) -> str:
        """The part that the run is in."""
        if self._answered is not None:
            return SYNTHESIS
        if self._first_item is None:
            return DISCOVERY
        return DECOMPOSITION if self._items.open else AGGREGATION

    @property
    def all(self) -> list[Phase]:
        """The parts so far, in order."""
        if self._began is None:
            return []
        end = self._answered or self._ended
        turn_tokens = 0 if self._answered is None else self._step_tokens
        rest = self._tokens_since + self._step_tokens - turn_tokens
        synthesis = self._synthesis_began()
        if self._first_item is None:
            found = [Phase(DISCOVERY, "", self._began, synthesis or end, tokens=rest)]
        else:
            # While nothing is under way it is not known whether there is more to come.
            spread = self._last_item_ended if not self._items.open else end
            if spread is not None and self._answered is not None:
                spread = min(spread, self._answered)  # work in the background is stopped after the answer
            found = [
                Phase(DISCOVERY, "", self._began, self._first_item, tokens=self._tokens_before),
                self._items.phase(DECOMPOSITION, "", self._first_item, spread),
            ]
            if spread is not None and not self._items.open:
                found.append(Phase(AGGREGATION, "", spread, synthesis or end, tokens=rest))
        if synthesis is not None:
            found.append(Phase(SYNTHESIS, "", synthesis, end, tokens=turn_tokens))
        return found

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case CallStarted() as started:
                self._start(started, record.at)
            case CallFinished() as finished if finished.call in self._calls:
                self._finish(finished, record.at)
            case CellStarted(agent=agent) if agent == ROOT:
                self._begin_step(record.at)
            case Answered(agent=agent) if agent == ROOT:
                self._answered = record.at
            case AgentStarted(agent=agent) if agent == ROOT and self._began is None:
                self._began = record.at
            case RunResumed():
                self._stop(record.at)
                self._ended = None
            case RunFinished():
                self._stop(record.at)
                self._ended = record.at
            case _:
                pass
        self.named.add(record)

    def _start(self, started: CallStarted, at: float) -> None:
        if started.function in ITEMS:
            if self._first_item is None:
                self._first_item = at
                self._tokens_before = self._tokens_since + self._step_tokens
            else:
                self._items.tokens += self._tokens_since + self._step_tokens
            self._tokens_since = self._step_tokens = 0
            self._items.open += 1
        elif started.function == TURN:
            if started.agent == ROOT:
                self._begin_step(at)
        elif started.function == "final" and started.agent == ROOT:
            self._final = at
            return
        else:
            return
        self._calls[started.call] = started

    def _finish(self, finished: CallFinished, at: float) -> None:
        started = self._calls.pop(finished.call)
        tokens = finished.usage.tokens
        if started.function in ITEMS:
            self._items.end(finished.status == "ok", tokens)
            self._last_item_ended = at
        elif started.agent == ROOT:
            self._step_tokens = tokens
        else:
            self._items.tokens += tokens

    def _begin_step(self, at: float) -> None:
        self._tokens_since += self._step_tokens
        self._step_began, self._step_tokens = at, 0

    def _stop(self, at: float) -> None:
        """What is under way will not come back."""
        if self._items.open:
            self._items.failed += self._items.open
            self._items.open = 0
            self._last_item_ended = at
        self._calls.clear()

    def _synthesis_began(self) -> float | None:
        if self._answered is None:
            return None
        within_one_cell = self._step_began < self._last_item_ended
        step = self._final if within_one_cell and self._final is not None else self._step_began
        return min(max(step, self._last_item_ended), self._answered)


class Named:
    """The parts that code named, by agent: a fold of records in order. One named again goes on where it was. Beyond
    `MOST_NAMED` they are only counted, as `more`."""

    def __init__(self) -> None:
        self.more = 0
        self._phases: dict[tuple[str, str], _Count] = {}
        self._current: dict[str, _Count] = {}
        self._calls: dict[int, tuple[_Count, bool]] = {}

    @property
    def all(self) -> list[Phase]:
        """The parts so far, in the order in which they began."""
        return [count.phase(name, agent, count.began, count.ended) for (agent, name), count in self._phases.items()]

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case PhaseStarted(agent=agent, name=name):
                self._begin(agent, name, record.at)
            case CallStarted() as started if self._current:
                count = self._around(started.agent)
                if count is not None and started.function in ITEMS | {TURN}:
                    is_item = started.function in ITEMS
                    count.open += is_item
                    self._calls[started.call] = count, is_item
            case CallFinished() as finished if finished.call in self._calls:
                count, is_item = self._calls.pop(finished.call)
                tokens = finished.usage.tokens
                if is_item:
                    count.end(finished.status == "ok", tokens)
                else:
                    count.tokens += tokens
            case AgentFinished(agent=agent):
                self._end(agent, record.at)
            case RunResumed() | RunFinished():
                self._stop(record.at)
            case _:
                pass

    def _stop(self, at: float) -> None:
        for count, is_item in self._calls.values():
            count.open -= is_item
            count.failed += is_item
        self._calls.clear()
        for agent in list(self._current):
            self._end(agent, at)

    def _begin(self, agent: str, name: str, at: float) -> None:
        self._end(agent, at)
        count = self._phases.get((agent, name))
        if count is None:
            if len(self._phases) >= MOST_NAMED:
                self.more += 1
                return
            count = self._phases[agent, name] = _Count()
            count.began = at
        count.ended = None
        self._current[agent] = count

    def _end(self, agent: str, at: float) -> None:
        count = self._current.pop(agent, None)
        if count is not None:
            count.ended = at

    def _around(self, agent: str) -> "_Count | None":
        """Return the part that an agent works in: its own, or that of the nearest agent above it."""
        while agent:
            if agent in self._current:
                return self._current[agent]
            agent = agent.rpartition("/")[0]
        return None


class _Count:
    """What has been dispatched in a part, and what became of it."""

    def __init__(self) -> None:
        self.began = 0.0
        self.ended: float | None = None
        self.open = self.done = self.failed = self.tokens = 0

    def end(self, is_done: bool, tokens: int) -> None:
        self.open -= 1
        self.done += is_done
        self.failed += not is_done
        self.tokens += tokens

    def phase(self, name: str, agent: str, began: float, ended: float | None) -> Phase:
        return Phase(
            name, agent, began, ended, self.open + self.done + self.failed, self.done, self.failed, self.tokens
        )
