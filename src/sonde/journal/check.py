"""Check a run's record: the file, each row and text, and whether what began has an end."""

import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from sonde.errors import JournalError
from sonde.events import (
    AgentStarted,
    Answered,
    CallFinished,
    CallReused,
    CallStarted,
    CellFinished,
    CellStarted,
    Fact,
    RunFinished,
    RunResumed,
    RunStarted,
    Warned,
)
from sonde.journal import explain, schema
from sonde.journal.log import read_log
from sonde.journal.reader import decode, texts_of
from sonde.journal.repair import spans
from sonde.journal.salvage import salt_in_file
from sonde.journal.whole import is_whole_row, is_whole_text

Standing = Literal["ok", "warning", "missing"]

REPAIR = "repair"
"""The code of the warning that ends a record as it was repaired."""
_UNFINISHED = "not finished"
_SOME = 5


class Finding(NamedTuple):
    """One thing that was looked at."""

    what: str
    standing: Standing
    detail: str


def check(path: Path) -> Iterator[Finding]:
    """Yield what there is to say of a journal. It is only read, and may be being written."""
    try:
        database = schema.connect_to_read(path)
    except JournalError as error:
        yield Finding("record", "missing", str(error))
        return
    try:
        yield Finding("record", "ok", f"{path.stat().st_size:,} bytes in {path}")
        yield from _log(path, schema.salt_of(database))
        yield from _integrity(database)
        rows = _Rows()
        rows.read(database)
        yield from rows.findings()
        yield from _texts(database, rows.texts)
        yield from rows.story.findings(path)
    except (sqlite3.Error, OSError) as error:
        yield Finding("reading", "missing", explain.cannot_read(path, error).what)
    finally:
        database.close()


class _Rows:
    """What all rows come to. A damaged file is read as far as SQLite can."""

    def __init__(self) -> None:
        self.count = self.last = self.backwards = self.unknown = 0
        self.gaps: list[tuple[int, int]] = []
        self.damaged: list[tuple[int, int]] = []
        self.texts: set[str] = set()
        self.story = Story()
        self._lost: list[tuple[int, int]] = []
        self._last_at = 0.0
        self._broken_off = ""
        self._opening_ends = math.inf

    def read(self, database: sqlite3.Connection) -> None:
        """Read all rows."""
        try:
            salt, self._lost = schema.salt_of(database), schema.lost_in(database)
            for row in database.execute("SELECT seq, at, CAST(fact AS BLOB), crc FROM event ORDER BY seq"):
                self._add(row, is_whole=is_whole_row(salt, row))
        except sqlite3.Error as error:
            self._broken_off = f"after number {self.last:,} SQLite cannot read on: {error}"

    def _add(self, row: tuple[Any, ...], *, is_whole: bool) -> None:
        seq, at, fact, _ = row
        if seq != self.last + 1:
            self.gaps.append((self.last + 1, seq - 1))
        self.count, self.last = self.count + 1, seq
        if not is_whole:
            _extend(self.damaged, seq)
            return
        self.backwards += at < self._last_at
        self._last_at = at
        try:
            decoded = decode(fact)
        except msgspec.ValidationError:
            self.unknown += 1
            return
        self.texts.update(blob.blob for _, blob in texts_of(decoded))
        self.story.add(decoded)
        if isinstance(decoded, AgentStarted):
            self._opening_ends = min(self._opening_ends, seq)

    def findings(self) -> Iterator[Finding]:
        """Tell of the rows."""
        fresh = [gap for gap in self.gaps if gap not in self._lost]
        if fresh or self._broken_off:
            told = [f"{spans(fresh)} not there"] if fresh else []
            yield Finding("numbers", "missing", "; ".join([*told, *filter(None, [self._broken_off])]))
        elif self.gaps:
            yield Finding("numbers", "warning", f"{spans(self.gaps)} were lost before the record was repaired")
        else:
            yield Finding("numbers", "ok", f"{self.count:,}, without a gap")
        if self.gaps and self.gaps[0][0] < self._opening_ends:
            told = "what the run was asked, or an input of it, is lost. It cannot be resumed: start it again"
            yield Finding("beginning", "missing", told)
        if self.backwards:
            yield Finding("times", "missing", f"{self.backwards:,} go back")
        if self.damaged:
            yield Finding("facts", "missing", f"{spans(self.damaged)} not as they were written")
        elif self.unknown:
            yield Finding("facts", "warning", f"{self.unknown:,} of a newer version's kind are passed over")
        else:
            yield Finding("facts", "ok", "each is as it was written")


class Story:
    """A fold of facts that tells whether what began has an end, and what has an end began."""

    def __init__(self) -> None:
        self.run_id = ""
        self.status = ""
        self.is_answered = False
        self._calls = 0
        self._open: set[int] = set()
        self._ended: set[int] = set()
        self._cells: set[tuple[str, int]] = set()
        self._strays: list[str] = []
        self._is_repaired = False

    @property
    def lacks_answer(self) -> bool:
        """Whether the run came to an end whose answer is not there."""
        return self.status == "completed" and not self.is_answered

    def add(self, fact: Fact) -> None:
        """Take in the next fact."""
        self._is_repaired = isinstance(fact, Warned) and fact.code == REPAIR
        match fact:
            case RunStarted(run_id=run_id):
                self.run_id, self.status = run_id, _UNFINISHED
            case RunResumed():
                self.status = _UNFINISHED
                self._open.clear()
            case RunFinished(status=status):
                self.status = status
            case Answered():
                self.is_answered = True
            case CellStarted(agent=agent, cell=cell):
                self._cells.add((agent, cell))
            case CellFinished(agent=agent, cell=cell) if (agent, cell) not in self._cells:
                self._strays.append(f"cell {cell} of {agent}")
            case CallStarted() | CallFinished() | CallReused():
                self._add_call(fact)
            case _:
                pass

    def _add_call(self, fact: CallStarted | CallFinished | CallReused) -> None:
        if isinstance(fact, CallStarted):
            self._calls += 1
            self._open.add(fact.call)
            return
        began = fact.source if isinstance(fact, CallReused) else fact.call
        if began not in self._open and began not in self._ended:
            self._strays.append(f"call {began}")
        self._open.discard(began)
        self._ended |= {began, fact.call}

    def findings(self, path: Path) -> Iterator[Finding]:
        """Tell of calls and cells, and how the run stands whose journal is at `path`."""
        if self._strays:
            some = ", ".join(self._strays[:_SOME]) + (" …" if len(self._strays) > _SOME else "")
            yield Finding("calls", "warning", f"the beginning of {len(self._strays):,} is not there: {some}")
        else:
            yield Finding("calls", "ok", f"{self._calls:,} made, {len(self._open):,} of them without an end")
        if not self.run_id:
            yield Finding("status", "warning", "unknown, as the beginning of the run is not there")
        elif self.run_id != path.parent.name:
            yield Finding("status", "warning", f"this is the record of the run {self.run_id}")
        elif self.lacks_answer:
            yield Finding("status", "missing", "completed, but the answer is not there")
        elif self.status == "completed":
            yield Finding("status", "ok", "completed")
        elif self.status == _UNFINISHED and not self._is_repaired and not schema.has_log(path):
            told = f"{schema.log_of(path).name} may have been left behind when the folder was copied"
            yield Finding("status", "warning", f"{_UNFINISHED}, yet its log is not there: {told}")
        else:
            yield Finding("status", "ok", f"{self.status}; `sonde resume {self.run_id}` goes on with it")


def _log(path: Path, salt: int) -> Iterator[Finding]:
    log = read_log(schema.log_of(path))
    if log.images and salt_in_file(path) not in {None, salt}:
        yield Finding("log", "missing", f"{schema.log_of(path).name} is another journal's")
    elif log.further:
        told = f"its last {len(log.further):,} of {log.committed + len(log.further):,} pages were cut off or damaged"
        yield Finding("log", "warning", f"{told}. Until the run goes on, --repair saves what is whole of them")
    elif log.committed:
        yield Finding("log", "ok", f"{log.committed:,} pages wait to be folded in")


def _integrity(database: sqlite3.Connection) -> Iterator[Finding]:
    try:
        told = [line for (line,) in database.execute(f"PRAGMA integrity_check({_SOME})")]
    except sqlite3.Error as error:
        told = [str(error)]
    if told == ["ok"]:
        yield Finding("integrity", "ok", "SQLite finds nothing wrong")
    else:
        yield Finding("integrity", "missing", "; ".join(" ".join(line.split()) for line in told))


def _texts(database: sqlite3.Connection, named: set[str]) -> Iterator[Finding]:
    """Look at the texts apart from facts: each once, however many name it."""
    count, wrong, lacking = 0, 0, set(named)
    try:
        for address, content in database.execute("SELECT address, content FROM blob"):
            count += 1
            lacking.discard(address)
            wrong += not is_whole_text(address, content)
    except sqlite3.Error as error:
        yield Finding("texts", "missing", f"after {count:,} SQLite cannot read on: {error}")
        return
    if wrong or lacking:
        told = f"{wrong:,} of {count:,} not as they were written, {len(lacking):,} more not there"
        yield Finding("texts", "missing", told)
    else:
        yield Finding("texts", "ok", f"{count:,}, each as it was written")


def _extend(numbers: list[tuple[int, int]], number: int) -> None:
    if numbers and numbers[-1][1] == number - 1:
        numbers[-1] = numbers[-1][0], number
    else:
        numbers.append((number, number))
