"""The totals of a run: status, usage, calls, coverage, time."""

import math
from collections import Counter

from sonde.events import (
    AgentStarted,
    Answered,
    CallFinished,
    CallRetried,
    CallReused,
    CallStarted,
    CellStarted,
    Fault,
    InputAttached,
    Record,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStatus,
    Stored,
    Usage,
    Warned,
)

ITEMS = frozenset({"llm"})
TURN = "turn"


class Summary:
    """A fold of records in order. Its size does not grow with the number of calls that went well.

    An item is a call that code dispatched for a piece of work. One that failed and is asked again is the same item: so
    the items done and failed always add up to all that are not still under way.
    """

    def __init__(self) -> None:
        self.run_id = ""
        self.spec = ""
        self.limits = ""
        """The limits as they were last changed, if they were."""
        self.status: RunStatus | None = None
        self.fault: Fault | None = None
        self.answer: Stored | None = None
        self.begun_seq = 0
        """The number of the record with which the work began."""
        self.started_at = 0.0
        self._seq = 0
        self.last_at = 0.0
        self.duration_s = 0.0
        self.lives = 0
        self.inputs: list[InputAttached] = []
        self.usage = Usage()
        self.models: dict[str, Usage] = {}
        self.costs: dict[str, float | None] = {}
        """Dollars by model; None where no price is known."""
        self.unreported_usd = 0.0
        self.turns = 0
        self.cells = 0
        self.ok = 0
        self.failed = 0
        self.refused = 0
        """Calls that a limit did not allow; they count as failed too."""
        self.reused = 0
        self.retries = 0
        self.replies_cut = 0
        self.max_depth = 0
        self.warnings: list[str] = []
        self.items_done = 0
        self._open: dict[int, CallStarted] = {}
        self._failed_items: Counter[tuple[str, str]] = Counter()

    @property
    def cost_usd(self) -> float | None:
        """What all did cost; None if a price is not known."""
        known = [cost for cost in self.costs.values() if cost is not None]
        return math.fsum(known) if self.costs and len(known) == len(self.costs) else None

    @property
    def items(self) -> int:
        """All items, those under way included."""
        return self.items_done + self.items_failed + self.items_open

    @property
    def items_failed(self) -> int:
        """Items whose last attempt failed."""
        return self._failed_items.total()

    @property
    def items_open(self) -> int:
        """Items under way."""
        return sum(started.function in ITEMS for started in self._open.values())

    def add(self, record: Record) -> None:
        """Take in the next record."""
        fact = record.fact
        self._seq = record.seq
        if isinstance(fact, RunStarted):
            self.run_id, self.spec = fact.run_id, fact.spec
            self.started_at = record.at
            self.lives = 1
        elif isinstance(fact, RunResumed):
            self._give_up_open()
            self.status, self.fault = None, None
            self.limits = fact.limits or self.limits
            self.lives += 1
        else:
            self.duration_s += record.at - (self.last_at or record.at)
        self.last_at = record.at
        self._add_fact(fact)

    def _add_fact(self, fact: object) -> None:
        match fact:
            case CallStarted():
                self._start(fact)
            case CallFinished():
                self._finish(fact)
            case CallReused():
                self.reused += 1
            case CallRetried():
                self.retries += 1
            case CellStarted():
                self.cells += 1
            case AgentStarted(depth=depth):
                self.begun_seq = self.begun_seq or self._seq
                self.max_depth = max(self.max_depth, depth)
            case InputAttached():
                self.inputs.append(fact)
            case Answered(value=value):
                self.answer = value
            case Warned(message=message):
                self.warnings.append(message)
            case RunFinished(status=status, fault=fault):
                self._give_up_open()
                self.status, self.fault = status, fault
            case _:
                pass

    def _start(self, started: CallStarted) -> None:
        self._open[started.call] = started
        if started.function == TURN:
            self.turns += 1
        elif self._failed_items[started.agent, started.key] > 0:
            self._failed_items[started.agent, started.key] -= 1

    def _finish(self, finished: CallFinished) -> None:
        started = self._open.pop(finished.call, None)
        self.usage += finished.usage
        if finished.usage.requests:
            self._count(finished)
        self.replies_cut += finished.cut
        if started is None or started.function not in ITEMS:
            return
        if finished.status == "ok":
            self.ok += not finished.cached
            self.reused += finished.cached
            self.items_done += 1
        else:
            self.failed += finished.status == "failed"
            self.refused += finished.fault is not None and finished.fault.kind == "budget"
            self._failed_items[started.agent, started.key] += 1

    def _count(self, finished: CallFinished) -> None:
        name, used = finished.model or "unknown", finished.usage
        self.models[name] = self.models.get(name, Usage()) + used
        self.unreported_usd += finished.unreported_usd
        if used.input_tokens or used.output_tokens:
            before, cost = self.costs.get(name, 0.0), finished.cost_usd
            self.costs[name] = None if before is None or cost is None else before + cost

    def _give_up_open(self) -> None:
        """Count the calls that will not come back as failed items."""
        for started in self._open.values():
            if started.function in ITEMS:
                self._failed_items[started.agent, started.key] += 1
        self._open.clear()
