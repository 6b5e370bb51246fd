"""Save what is whole of a damaged journal: every row and text on any of its pages that is as it was written."""

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from sonde.journal import schema
from sonde.journal.log import USUAL_SIZE, Log, read_log
from sonde.journal.pages import Behind, Pages, Row, page_size_of
from sonde.journal.whole import crc_of, is_whole_row, is_whole_text

_EVENT = re.compile(rb"(?=[\x05-\x0d]\x00[\x01-\x09])")
_TEXT = re.compile(rb"(?=[\x03-\x0b][\x80-\xff]?[\x00-\x7f][\x80-\xff]{0,8}[\x00-\x7f]b2:)")
"""How the inside of a row of each table begins."""
_SAMPLE = 1000


def salvage(path: Path, into: sqlite3.Connection) -> None:
    """Copy what is whole of a journal and its log into a new database. Raises `OSError`, `sqlite3.Error`."""
    log = read_log(schema.log_of(path))
    with ExitStack() as stack:
        views = [stack.enter_context(pages) for pages in _views(path, log)]
        behind = stack.enter_context(Behind(path, log))
        salt = _salt_of([*views, behind])
        if salt is None:
            return
        saved = _Saved(into, salt)
        for pages in views:
            saved.take(pages)
        # What is behind a break of the log may be what came next, or left over from a write that was taken back.
        saved.end_here()
        saved.take(behind)


def salt_in_file(path: Path) -> int | None:
    """Return the salt of a journal as its file has it, without its log; None if nothing tells. Raises `OSError`."""
    with Pages(path, page_size_of(path)) as pages:
        return _salt_of([pages])


class _Saved:
    """What is saved so far."""

    def __init__(self, into: sqlite3.Connection, salt: int) -> None:
        if not into.execute("PRAGMA user_version").fetchone()[0]:
            schema.make_tables(into, salt)
        self._into = into
        self._salt = salt
        self._end = 0, -math.inf

    def end_here(self) -> None:
        """Take from now on only facts that go on where these end: of a higher number, and no earlier."""
        self._end = self._into.execute("SELECT seq, at FROM event ORDER BY seq DESC LIMIT 1").fetchone() or self._end

    def take(self, pages: Pages) -> None:
        """Save what is whole. Where not all is that a page lists, look for rows all over it."""
        for page in pages.all():
            listed = [row is not None and self._keep(row) for row in pages.rows(page)]
            if not listed or not all(listed):
                self._carve(pages, page)

    def _carve(self, pages: Pages, page: bytes) -> None:
        for form, is_table in ((_EVENT, True), (_TEXT, False)):
            for row in pages.carved(page, form, is_table=is_table):
                self._keep(row)

    def _keep(self, row: Row) -> bool:
        """Copy a row if it is whole, and return whether it is."""
        event = _event(row)
        if event is not None and is_whole_row(self._salt, event):
            if event[0] > self._end[0] and event[1] >= self._end[1]:
                self._into.execute("INSERT OR IGNORE INTO event VALUES (?, ?, CAST(? AS TEXT), ?)", event)
            return True
        match row.values:
            case (bytes(address), bytes(content)) if is_whole_text(address.decode("ascii", "replace"), content):
                self._into.execute("INSERT OR IGNORE INTO blob VALUES (CAST(? AS TEXT), ?)", (address, content))
                return True
            case _:
                return False


def _views(path: Path, log: Log) -> Iterator[Pages]:
    """Yield the pages of the file, then those with its log over them: which may be another journal's."""
    for size in dict.fromkeys([page_size_of(path), USUAL_SIZE]):
        yield Pages(path, size)
    if log.images:
        yield Pages(path, log.page_size, log)


def _event(row: Row) -> tuple[int, float, bytes, int] | None:
    match row.values:
        case (None, int() | float() as at, bytes(fact), int(crc)):
            return row.key, float(at), fact, crc
        case _:
            return None


def _salt_of(views: Sequence[Pages]) -> int | None:
    """Return the salt that two rows at least agree on. The file is heard before its log."""
    for pages in views:
        for salt, votes in Counter(islice(_salts(pages), _SAMPLE)).most_common(1):
            if votes > 1:
                return salt
    return None


def _salts(pages: Pages) -> Iterator[int]:
    """Yield the salt as it is kept, and as it follows from each fact."""
    for page in pages.all():
        for row in pages.rows(page):
            if row is not None and len(row.values) == 1 and isinstance(row.values[0], int):
                yield row.values[0]
            elif row is not None and (event := _event(row)) is not None:
                seq, at, fact, crc = event
                yield crc_of(crc, seq, at, fact)
