"""Read a run's record, finished or still being written."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from sonde import jsontext
from sonde.blobs import store
from sonde.errors import JournalError
from sonde.events import Blob, Fact, Record, Stored
from sonde.journal import explain, schema
from sonde.journal.whole import is_whole_row, is_whole_text

_AT_ONCE = 256
"""Rows read at once. None is held open between: the log could not be folded back while one waits."""


_DECODER: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(Fact)


class Reader:
    """A read-only view of a journal. Raises `JournalError` if the file cannot be read.

    What is read is as it was written: a row or text that is damaged, and a number that is not there, raise too.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = schema.connect_to_read(path)
        try:
            self._salt = schema.salt_of(self._database)
            self._lost = schema.lost_in(self._database)
        except sqlite3.Error as error:
            self._database.close()
            raise explain.cannot_read(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def lost(self) -> list[tuple[int, int]]:
        """The numbers that a repair could not save, as ranges."""
        return self._lost

    def records(self, after: int = 0) -> Iterator[Record]:
        """Yield the records numbered above `after` that are on the disk now.

        To follow a run, call again with the last number seen. Kinds of fact that a newer version wrote
        are passed over.
        """
        while rows := self._rows("WHERE seq > ? ORDER BY seq LIMIT ?", after, _AT_ONCE):
            for row in rows:
                if row[0] != after + 1 and not self._is_known_lost(after + 1, row[0] - 1):
                    raise explain.damaged(self._path, f"number {after + 1} is not there")
                after = row[0]
                if (record := self._record(row)) is not None:
                    yield record

    def first(self) -> Record | None:
        """Return the first record."""
        rows = self._rows("ORDER BY seq LIMIT ?", 1)
        return self._record(rows[0]) if rows else None

    def last(self) -> Record | None:
        """Return the last record of a known kind."""
        before = 1 << 62
        while rows := self._rows("WHERE seq < ? ORDER BY seq DESC LIMIT ?", before, _AT_ONCE):
            for row in rows:
                if (record := self._record(row)) is not None:
                    return record
            before = rows[-1][0]
        return None

    def fact(self, seq: int) -> Fact:
        """Return one fact. Raises `JournalError` if it is not there or not of a known kind."""
        rows = self._rows("WHERE seq = ?", seq)
        if not rows:
            raise JournalError(f"the run's record {self._path} lacks number {seq}")
        record = self._record(rows[0])
        if record is None:
            raise JournalError(
                f"number {seq} of the run's record {self._path} is of an unknown kind", "Upgrade Sonde to read it."
            )
        return record.fact

    def text(self, stored: Stored) -> str:
        """Return the whole of a text that a fact holds or names."""
        if isinstance(stored, str):
            return stored
        try:
            content = store.get(self._database, stored.blob)
        except sqlite3.Error as error:
            raise explain.cannot_read(self._path, error) from error
        if content is None:
            raise JournalError(
                f"the run's record {self._path} lacks the text {stored.blob}",
                f"`sonde doctor {self._path.parent.name} --repair` makes it fit to be resumed.",
            )
        if not is_whole_text(stored.blob, content):
            raise explain.damaged(self._path, f"the text {stored.blob} is not as it was written")
        return content.decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _rows(self, which: str, *values: int) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(
                f"SELECT seq, at, CAST(fact AS BLOB), crc FROM event {which}", values
            ).fetchall()
        except sqlite3.Error as error:
            raise explain.cannot_read(self._path, error) from error

    def _record(self, row: tuple[Any, ...]) -> Record | None:
        """Return a row's record, None if it is of a newer version's kind."""
        seq, at, fact, _ = row
        if not is_whole_row(self._salt, row):
            raise explain.damaged(self._path, f"number {seq} is not as it was written")
        try:
            return Record(seq, at, decode(fact))
        except msgspec.ValidationError:
            return None
        except msgspec.DecodeError as error:
            raise explain.damaged(self._path, f"number {seq} cannot be decoded: {error}") from error

    def _is_known_lost(self, first: int, last: int) -> bool:
        return any(low <= first and last <= high for low, high in self._lost)


def decode(fact: bytes) -> Fact:
    """Return a fact from its row. Raises `msgspec.DecodeError`; `ValidationError` for a kind that is not known."""
    try:
        return _DECODER.decode(fact)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeError):  # it may hold lone surrogates
        decoded: Fact = jsontext.decode(fact, Fact)
        return decoded


def texts_of(fact: Fact | None) -> Iterator[tuple[str, Blob]]:
    """Yield the texts that a fact names, by field."""
    for name in fact.__struct_fields__ if fact is not None else ():
        if isinstance(value := getattr(fact, name), Blob):
            yield name, value
