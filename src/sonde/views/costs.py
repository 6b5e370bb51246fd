"""What model calls took: one by one, by model, by depth, and how unevenly."""

from collections import defaultdict
from typing import NamedTuple

from sonde.events import (
    ITEMS,
    ROOT,
    TURN,
    AgentStarted,
    CallFinished,
    CallStarted,
    Record,
    RunFinished,
    RunResumed,
    Usage,
)
from sonde.views.calls import Live
from sonde.views.distribution import Distribution

MOST_RECORDS = 10_000


class CostRecord(NamedTuple):
    """One call that asked a model, and what it took."""

    started: CallStarted
    depth: int
    """Of the agent that made it."""
    node: int
    """The call that this is a part of the work for: itself, or for a turn what asked for the agent; 0 for the root."""
    began: float
    ended: float
    finished: CallFinished


class Total:
    """What several calls took together."""

    def __init__(self) -> None:
        self.calls = 0
        self._usd: float | None = 0.0
        self._input = self._output = self._cached = self._reasoning = self._requests = self._unreported = 0

    @property
    def usage(self) -> Usage:
        """The usage of all of them."""
        return Usage(self._input, self._output, self._cached, self._reasoning, self._requests, self._unreported)

    @property
    def tokens(self) -> int:
        """The tokens of all of them, in and out."""
        return self._input + self._output

    @property
    def cost_usd(self) -> float | None:
        """What all did cost; None if a price is not known, or nothing is known to have been used."""
        return self._usd if self.tokens else None

    def add(self, used: Usage, cost_usd: float | None) -> None:
        """Count one call."""
        self.calls += 1
        self._input += used.input_tokens
        self._output += used.output_tokens
        self._cached += used.cached_tokens
        self._reasoning += used.reasoning_tokens
        self._requests += used.requests
        self._unreported += used.unreported_tokens
        if used.tokens:
            self._usd = None if self._usd is None or cost_usd is None else self._usd + cost_usd


class Costs:
    """A fold of records in order. What a subagent used is counted with each of its own calls, and for the percentiles
    also with the call that asked for it. Beyond `MOST_RECORDS` calls are only added up."""

    def __init__(self) -> None:
        self.records: list[CostRecord] = []
        self.root = Total()
        """The root's turns."""
        self.rest = Total()
        """All but those."""
        self.by_model = defaultdict[str, Total](Total)
        self.by_depth = defaultdict[int, Total](Total)
        self.sub_calls = 0
        self.tokens = Distribution()
        """Of each piece of work that code dispatched, with all below it."""
        self.dollars = Distribution()
        self._live = Live()
        self._open: dict[int, tuple[CallStarted, float]] = {}
        self._agents: dict[int, str] = {}
        self._below: dict[str, Total] = {}

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case CallStarted() as started:
                if started.function in ITEMS or started.function == TURN:
                    self._open[started.call] = started, record.at
                    self.sub_calls += started.function in ITEMS
            case CallFinished() as finished:
                if finished.call in self._open:
                    self._finish(finished, record.at)
            case AgentStarted(agent=agent, call=call):
                self._live.add(record)
                if agent != ROOT:
                    self._agents[call] = agent
                    self._below[agent] = Total()
            case RunResumed() | RunFinished():
                self._open.clear()
                self._agents.clear()
                self._below.clear()
            case _:
                self._live.add(record)

    def _finish(self, finished: CallFinished, at: float) -> None:
        started, began = self._open.pop(finished.call)
        agent = self._agents.pop(finished.call, None)
        below = self._below.pop(agent, None) if agent is not None else None
        if finished.usage.requests or finished.usage.unreported_tokens:
            self._count(started, finished, began, at)
        if started.function in ITEMS and not finished.cached:
            self._distribute(finished, below)

    def _count(self, started: CallStarted, finished: CallFinished, began: float, at: float) -> None:
        depth = self._live.depth(started.agent)
        if len(self.records) < MOST_RECORDS:
            node = self._live.call(started.agent) if started.function == TURN else started.call
            self.records.append(CostRecord(started, depth, node, began, at, finished))
        used, cost = finished.usage, finished.cost_usd
        is_root = started.function == TURN and started.agent == ROOT
        (self.root if is_root else self.rest).add(used, cost)
        self.by_model[finished.model or "unknown"].add(used, cost)
        self.by_depth[depth].add(used, cost)
        path = started.agent
        while self._below and path:
            if (total := self._below.get(path)) is not None:
                total.add(used, cost)
            path = path.rpartition("/")[0]

    def _distribute(self, finished: CallFinished, below: Total | None) -> None:
        used, cost = finished.usage, finished.cost_usd
        tokens = used.tokens
        if below is not None:
            cost = below.cost_usd if cost is None else cost + (below.cost_usd or 0.0)
            tokens += below.tokens
        if tokens:
            self.tokens.add(tokens)
            if cost is not None:
                self.dollars.add(cost)
