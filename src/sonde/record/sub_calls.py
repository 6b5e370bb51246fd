"""`sub-calls/`: each piece of work that code dispatched, with what was asked and what came of it."""

from collections import Counter
from typing import Any

import msgspec

from sonde.events import CallStarted, Record
from sonde.journal.reader import Reader
from sonde.record.as_json import fault_as_json, quoted, raw, usage_as_json
from sonde.record.files import NewFolder
from sonde.record.names import moment
from sonde.views.calls import CallRow, Calls

ONE_FILE_EACH = 1000
"""Up to so many calls have a file each; more are put together, as many to a file."""


class SubCalls:
    """A fold of records that writes as it goes. It holds no more than the calls of one file."""

    def __init__(self, folder: NewFolder, reader: Reader) -> None:
        self.count = 0
        self._folder = folder
        self._reader = reader
        self._calls = Calls()
        self._rows: list[CallRow] = []
        self._files = 0

    def add(self, record: Record) -> None:
        """Take in the next record."""
        for row in self._calls.add(record):
            self._take(row)

    def finish(self) -> None:
        """Write what is left."""
        for row in self._calls.unfinished():
            self._take(row)
        if self._files:
            self._write_together()
            return
        seen: Counter[int] = Counter()
        for row in self._rows:
            call = row.asked.call
            seen[call] += 1
            # A repaired journal may have lost which numbers were taken.
            again = f"-{seen[call]}" if seen[call] > 1 else ""
            name = f"{call:06}-{row.asked.function}{again}.json"
            self._folder.put(name, msgspec.json.format(encoded(row, self._reader), indent=2) + b"\n")

    def _take(self, row: CallRow) -> None:
        if len(self._rows) == ONE_FILE_EACH:
            self._write_together()
        self._rows.append(row)
        self.count += 1

    def _write_together(self) -> None:
        if not self._rows:
            return
        self._files += 1
        lines = [encoded(row, self._reader) for row in self._rows]
        self._folder.put(f"calls-{self._files:04}.jsonl", b"\n".join([*lines, b""]))
        self._rows.clear()


def encoded(row: CallRow, reader: Reader) -> bytes:
    """Return a call as one line of JSON. Only what is known is part of it. Raises `JournalError`."""
    asked, finished = row.asked, row.finished
    plain: dict[str, Any] = {
        "call": asked.call,
        "agent": asked.agent,
        "cell": asked.cell,
        "depth": row.depth,
        "function": asked.function,
        "status": row.status,
    }
    if isinstance(asked, CallStarted):
        if asked.label:
            plain["label"] = quoted(asked.label)
        plain["request"] = quoted(reader.text(asked.request))
    else:
        plain["source"] = asked.source
    plain["began"] = moment(row.began)
    if row.ended is not None:
        plain["duration_s"] = round(row.ended - row.began, 6)
    if finished is not None:
        model = finished.model or (asked.model if isinstance(asked, CallStarted) else "")
        if model:
            plain["model"] = model
        if finished.value is not None:
            plain["value"] = raw(finished.value, reader)
        if finished.fault is not None:
            plain["error"] = fault_as_json(finished.fault)
        if finished.usage.requests or finished.usage.unreported_tokens:
            plain["usage"] = usage_as_json(finished.usage)
        if finished.cost_usd is not None:
            plain["cost_usd"] = finished.cost_usd
        if finished.cached:
            plain["cached"] = True
        if finished.cut:
            plain["cut"] = True
    return msgspec.json.encode(plain)
