"""Coverage: the pieces of work that code dispatched, and what became of each."""

from collections import Counter
from typing import NamedTuple

from sonde.events import ITEMS, CallFinished, CallStarted, Fault, Record, RunFinished, RunResumed, Stored

MOST_LISTED = 1000
HEAD_CHARS = 200


class FailedItem(NamedTuple):
    """An item whose last attempt failed. `request` is what was asked, its head alone where it was long."""

    call: int
    agent: str
    function: str
    label: str
    request: Stored
    error: str


class Coverage:
    """A fold of records in order. An item that failed and is asked again is the same item: so those done and failed
    always add up to all that are not still under way. Only the first failed ones are listed."""

    def __init__(self) -> None:
        self.done = 0
        self._open: dict[int, CallStarted] = {}
        self._failed: Counter[tuple[str, str]] = Counter()
        self._listed: dict[tuple[str, str], list[FailedItem]] = {}
        self._listed_count = 0

    @property
    def items(self) -> int:
        """All items, those under way included."""
        return self.done + self.failed + self.open

    @property
    def failed(self) -> int:
        """Items whose last attempt failed."""
        return self._failed.total()

    @property
    def open(self) -> int:
        """Items under way."""
        return len(self._open)

    @property
    def percent(self) -> float | None:
        """How much of all that was dispatched is done; None if nothing was."""
        return None if not self.items else round(100 * self.done / self.items, 2)

    @property
    def failures(self) -> list[FailedItem]:
        """The items that failed, at most `MOST_LISTED`, in the order in which they were asked for."""
        return sorted(item for items in self._listed.values() for item in items)

    def is_open(self, call: int) -> bool:
        """Whether a call is an item under way."""
        return call in self._open

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case CallStarted() as started if started.function in ITEMS:
                self._open[started.call] = started
                self._forgive(started)
            case CallFinished() as finished if finished.call in self._open:
                started = self._open.pop(finished.call)
                if finished.status == "ok":
                    self.done += 1
                else:
                    self._blame(started, finished.fault, finished.status)
            case RunResumed() | RunFinished():
                for started in self._open.values():
                    self._blame(started, None, "the run stopped")
                self._open.clear()
            case _:
                pass

    def _forgive(self, started: CallStarted) -> None:
        where = started.agent, started.key
        if self._failed and self._failed[where] > 0:
            self._failed[where] -= 1
            if self._listed.get(where):
                self._listed[where].pop()
                self._listed_count -= 1

    def _blame(self, started: CallStarted, fault: Fault | None, otherwise: str) -> None:
        where = started.agent, started.key
        self._failed[where] += 1
        if self._listed_count < MOST_LISTED:
            request = started.request
            head = request[:HEAD_CHARS] if isinstance(request, str) else request
            error = otherwise if fault is None else fault.message
            item = FailedItem(started.call, started.agent, started.function, started.label, head, error)
            self._listed.setdefault(where, []).append(item)
            self._listed_count += 1
