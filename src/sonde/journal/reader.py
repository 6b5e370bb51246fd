"""Read a run's record, finished or still being written."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from sonde import jsontext
from sonde.blobs import store
from sonde.errors import JournalError
from sonde.events import Fact, Record, Stored
from sonde.journal import schema


class Reader:
    """A read-only view of a journal. Raises `JournalError` if the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = schema.connect_to_read(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def records(self, after: int = 0) -> Iterator[Record]:
        """Yield the records numbered above `after` that are on the disk now.

        To follow a run, call again with the last number seen. Kinds of fact that a newer version wrote
        are passed over.
        """
        yield from self._select("WHERE seq > ? ORDER BY seq", after)

    def first(self) -> Record | None:
        """Return the first record."""
        return next(self._select("ORDER BY seq LIMIT 1"), None)

    def last(self) -> Record | None:
        """Return the last record."""
        return next(self._select("ORDER BY seq DESC LIMIT 1"), None)

    def fact(self, seq: int) -> Fact:
        """Return one fact. Raises `JournalError` if it is not there or not of a known kind."""
        try:
            row = self._database.execute("SELECT fact FROM event WHERE seq = ?", (seq,)).fetchone()
        except sqlite3.Error as error:
            raise JournalError(f"cannot read the run's record {self._path}: {error}") from error
        if row is None:
            raise JournalError(f"the run's record {self._path} lacks number {seq}")
        try:
            return _decode(row[0])
        except msgspec.ValidationError as error:
            raise JournalError(f"number {seq} of the run's record {self._path} cannot be read: {error}") from error

    def text(self, stored: Stored) -> str:
        """Return the whole of a text that a fact holds or names."""
        if isinstance(stored, str):
            return stored
        try:
            content = store.get(self._database, stored.blob)
        except sqlite3.Error as error:
            raise JournalError(f"cannot read the run's record {self._path}: {error}") from error
        if content is None:
            raise JournalError(f"the run's record {self._path} lacks the text {stored.blob}")
        return content.decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _select(self, which: str, *values: int) -> Iterator[Record]:
        try:
            for seq, at, text in self._database.execute(f"SELECT seq, at, fact FROM event {which}", values):
                try:
                    yield Record(seq, at, _decode(text))
                except msgspec.ValidationError:
                    continue
        except sqlite3.Error as error:
            raise JournalError(f"cannot read the run's record {self._path}: {error}") from error


def _decode(text: str) -> Fact:
    fact: Fact = jsontext.decode(text, Fact)
    return fact
