"""Every piece of work that was asked for, one row each, told when it ends."""

from collections.abc import Iterator
from typing import NamedTuple

from sonde.events import (
    ITEMS,
    AgentFinished,
    AgentStarted,
    CallFinished,
    CallReused,
    CallStarted,
    Record,
    RunFinished,
    RunResumed,
)


class CallRow(NamedTuple):
    """A call from its start to its end. One whose end is not known has none."""

    asked: CallStarted | CallReused
    depth: int
    """Of the agent that made it."""
    began: float
    ended: float | None
    finished: CallFinished | None

    @property
    def status(self) -> str:
        """How it ended: `reused` is one that an earlier result answered."""
        if isinstance(self.asked, CallReused):
            return "reused"
        return "unfinished" if self.finished is None else self.finished.status


class Live:
    """The agents at work: a fold of records in order. Of one whose beginning is not in the record its path tells."""

    def __init__(self) -> None:
        self._agents: dict[str, AgentStarted] = {}

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case AgentStarted() as started:
                self._agents[started.agent] = started
            case AgentFinished(agent=agent):
                if "/" in agent:
                    self._agents.pop(agent, None)
            case _:
                pass

    def depth(self, agent: str) -> int:
        """Return how deep an agent is."""
        started = self._agents.get(agent)
        return agent.count("/") if started is None else started.depth

    def call(self, agent: str) -> int:
        """Return the call that asked for an agent; 0 if none did."""
        started = self._agents.get(agent)
        return 0 if started is None else started.call


class Calls:
    """A fold of records in order that holds no more than the calls under way."""

    def __init__(self, functions: frozenset[str] = ITEMS) -> None:
        self._functions = functions
        self._live = Live()
        self._open: dict[int, tuple[CallStarted, float]] = {}

    def add(self, record: Record) -> list[CallRow]:
        """Take in the next record and return the calls that ended with it."""
        match record.fact:
            case CallStarted() as started:
                if started.function in self._functions:
                    self._open[started.call] = started, record.at
            case CallFinished() as finished:
                if finished.call in self._open:
                    return [self._row(finished.call, record.at, finished)]
            case CallReused() as reused:
                if reused.function in self._functions:
                    return [CallRow(reused, self._live.depth(reused.agent), record.at, record.at, None)]
            case RunResumed() | RunFinished():
                return list(self.unfinished())
            case _:
                self._live.add(record)
        return []

    def unfinished(self) -> Iterator[CallRow]:
        """Yield the calls that have not ended, and forget them."""
        for call in list(self._open):
            yield self._row(call, None, None)

    def _row(self, call: int, ended: float | None, finished: CallFinished | None) -> CallRow:
        started, began = self._open.pop(call)
        return CallRow(started, self._live.depth(started.agent), began, ended, finished)
