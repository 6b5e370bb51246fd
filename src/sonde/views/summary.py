"""The totals of a run: status, usage, calls, coverage, time."""

import math
from collections import defaultdict

from sonde.events import (
    ITEMS,
    ROOT,
    TURN,
    AgentStarted,
    Answered,
    CallFinished,
    CallRetried,
    CallReused,
    CallStarted,
    CellStarted,
    Escalated,
    Fault,
    InputAttached,
    PersonAnswered,
    Record,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStatus,
    Stored,
    Usage,
    Warned,
)
from sonde.views.costs import Total
from sonde.views.coverage import Coverage


class Summary:
    """A fold of records in order. Its size does not grow with the number of calls that went well.

    An item is a call that code dispatched for a piece of work; `coverage` tells what became of them.
    """

    def __init__(self) -> None:
        self.run_id = ""
        self.spec = ""
        self.limits = ""
        """The limits as they were last changed, if they were."""
        self.status: RunStatus | None = None
        self.fault: Fault | None = None
        self.answer: Stored | None = None
        """The root's answer, as JSON."""
        self.asks: Escalated | None = None
        """What the run waits for a person to answer."""
        self.begun_seq = 0
        """The number of the record with which the work began."""
        self.started_at = 0.0
        self._seq = 0
        self.last_at = 0.0
        self.duration_s = 0.0
        self.lives = 0
        self.inputs: list[InputAttached] = []
        self.usage = Usage()
        self.models = defaultdict[str, Total](Total)
        self.unreported_usd = 0.0
        self.turns = 0
        """Model turns of all agents."""
        self.cells = 0
        self.subagents = 0
        self.ok = 0
        self.failed = 0
        self.refused = 0
        """Calls that a limit did not allow; they count as failed too."""
        self.reused = 0
        self.retries = 0
        self.max_depth = 0
        self.warnings: list[str] = []
        self.coverage = Coverage()

    @property
    def cost_usd(self) -> float | None:
        """What all did cost; None if a price is not known."""
        costs = [total.cost_usd for total in self.models.values() if total.tokens]
        known = [cost for cost in costs if cost is not None]
        return math.fsum(known) if costs and len(known) == len(costs) else None

    @property
    def calls(self) -> int:
        """All calls that code dispatched and that have ended."""
        return self.ok + self.failed + self.reused

    @property
    def calls_made(self) -> int:
        """Those that count against the limit."""
        return self.ok + self.failed - self.refused

    @property
    def most_tokens(self) -> int:
        """The tokens of all, with those that nobody reported."""
        return self.usage.tokens + self.usage.unreported_tokens

    @property
    def most_usd(self) -> float:
        """The dollars of all that has a price, with what nobody reported."""
        return (self.cost_usd or 0.0) + self.unreported_usd

    def add(self, record: Record) -> None:
        """Take in the next record."""
        fact = record.fact
        self._seq = record.seq
        if isinstance(fact, RunStarted):
            self.run_id, self.spec = fact.run_id, fact.spec
            self.started_at = record.at
            self.lives = 1
        elif isinstance(fact, RunResumed):
            self.status, self.fault, self.asks = None, None, None
            self.limits = fact.limits or self.limits
            self.lives += 1
        else:
            self.duration_s += record.at - (self.last_at or record.at)
        self.last_at = record.at
        self._add_fact(fact)
        self.coverage.add(record)

    def _add_fact(self, fact: object) -> None:
        match fact:
            case CallStarted(function=function):
                self.turns += function == TURN
            case CallFinished():
                self._finish(fact)
            case CallReused(function=function):
                self.reused += function in ITEMS
            case CallRetried():
                self.retries += 1
            case CellStarted():
                self.cells += 1
            case AgentStarted(agent=agent, depth=depth):
                self.begun_seq = self.begun_seq or self._seq
                self.subagents += agent != ROOT
                self.max_depth = max(self.max_depth, depth)
            case Answered(agent=agent, value=value):
                self.answer = value if agent == ROOT else self.answer
            case _:
                self._add_rare(fact)

    def _add_rare(self, fact: object) -> None:
        match fact:
            case InputAttached():
                self.inputs.append(fact)
            case Warned(message=message):
                self.warnings.append(message)
            case Escalated():
                self.asks = fact
            case PersonAnswered():
                self.asks = None
            case RunFinished(status=status, fault=fault):
                self.status, self.fault = status, fault
            case _:
                pass

    def _finish(self, finished: CallFinished) -> None:
        self.usage += finished.usage
        if finished.usage.requests:
            self.models[finished.model or "unknown"].add(finished.usage, finished.cost_usd)
            self.unreported_usd += finished.unreported_usd
        if not self.coverage.is_open(finished.call):
            return
        if finished.status == "ok":
            self.ok += not finished.cached
            self.reused += finished.cached
        else:
            self.failed += finished.status == "failed"
            self.refused += finished.fault is not None and finished.fault.kind == "budget"
