"""The totals of a run: status, usage, calls, coverage, time."""

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
        self.status: RunStatus | None = None
        self.fault: Fault | None = None
        self.answer: Stored | None = None
        self.started_at = 0.0
        self.last_at = 0.0
        self.duration_s = 0.0
        self.lives = 0
        self.inputs: list[InputAttached] = []
        self.usage = Usage()
        self.models: dict[str, Usage] = {}
        self.cost_usd: float | None = None
        self.turns = 0
        self.cells = 0
        self.ok = 0
        self.failed = 0
        self.reused = 0
        self.retries = 0
        self.replies_cut = 0
        self.max_depth = 0
        self.warnings: list[str] = []
        self.items_done = 0
        self._open: dict[int, CallStarted] = {}
        self._failed_items: Counter[tuple[str, str]] = Counter()

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
        if isinstance(fact, RunStarted):
            self.run_id, self.spec = fact.run_id, fact.spec
            self.started_at = record.at
            self.lives = 1
        elif isinstance(fact, RunResumed):
            self._give_up_open()
            self.status, self.fault = None, None
            self.lives += 1
        else:
            self.duration_s += record.at - self.last_at
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
            name = finished.model or "unknown"
            self.models[name] = self.models.get(name, Usage()) + finished.usage
        self.replies_cut += finished.cut
        if started is None or started.function not in ITEMS:
            return
        if finished.status == "ok":
            self.ok += 1
            self.items_done += 1
        else:
            self.failed += 1
            self._failed_items[started.agent, started.key] += 1

    def _give_up_open(self) -> None:
        """Count the calls that will not come back as failed items."""
        for started in self._open.values():
            if started.function in ITEMS:
                self._failed_items[started.agent, started.key] += 1
        self._open.clear()
