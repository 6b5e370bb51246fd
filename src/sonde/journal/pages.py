"""Read the rows of an SQLite file page by page, without its help: what it refuses as damaged is mostly whole.

Only the outer form is trusted here. Whether a row is as it was written, its checksum or its address tells.
The format: https://sqlite.org/fileformat2.html.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from sonde.journal.log import NO_LOG, USUAL_SIZE, Log

_LEAVES = {0x0D: 8, 0x0A: 8, 0x02: 12}
"""Pages that hold rows, and how long their header is: leaves of tables and indexes, and what is above the latter."""
_TABLE_LEAF, _INDEX_LEAF, _INDEX_NODE = 0x0D, 0x0A, 0x02
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_FIRST = b"SQLite format 3\0"
_LONGEST_HEAD = 18
"""Bytes before the inside of a row: how long it is and its number."""

Value = int | float | bytes | None


class Row(NamedTuple):
    """A row as it was found. `key` is its number in a table, 0 in an index; texts are bytes."""

    key: int
    values: tuple[Value, ...]


class Pages:
    """The pages of a file, with those that its log holds over them. Raises `OSError`."""

    def __init__(self, path: Path, size: int, log: Log = NO_LOG) -> None:
        self.size = size
        self._log = log
        self._file = path.open("rb")
        self._log_file = log.path.open("rb") if log.images else None
        self.count = max(-(-path.stat().st_size // size), max(log.images, default=0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
        if self._log_file is not None:
            self._log_file.close()

    def all(self) -> Iterator[bytes]:
        """Yield all pages."""
        for number in range(1, self.count + 1):
            yield self.page(number)

    def page(self, number: int) -> bytes:
        """Return a page, filled up with zeros where the file ends early."""
        if number in self._log.images:
            return self.image(self._log.images[number])
        self._file.seek((number - 1) * self.size)
        return self._file.read(self.size).ljust(self.size, b"\0")

    def image(self, place: int) -> bytes:
        """Return the image of a page that is at a place of the log."""
        assert self._log_file is not None, "places come from a log"
        self._log_file.seek(place)
        return self._log_file.read(self.size).ljust(self.size, b"\0")

    def rows(self, page: bytes) -> Iterator[Row | None]:
        """Yield the rows that a page says it has, None for one that cannot be read."""
        start = 100 if page.startswith(_FIRST) else 0
        kind = page[start]
        if kind not in _LEAVES:
            return
        at = start + _LEAVES[kind]
        for place in range(at, at + 2 * int.from_bytes(page[start + 3 : start + 5], "big"), 2):
            yield self._row(page, int.from_bytes(page[place : place + 2], "big"), kind)

    def carved(self, page: bytes, form: re.Pattern[bytes], *, is_table: bool) -> Iterator[Row]:
        """Yield what looks like a row anywhere on a page, whatever the page says. `form` is how its inside begins."""
        kind = _TABLE_LEAF if is_table else _INDEX_LEAF
        for found in form.finditer(page):
            for place in range(max(found.start() - _LONGEST_HEAD, 0), found.start()):
                if (row := self._row(page, place, kind)) is not None:
                    yield row

    def _row(self, page: bytes, place: int, kind: int) -> Row | None:
        try:
            if kind == _INDEX_NODE:
                place += 4
            length, place = _varint(page, place)
            key = 0
            if kind == _TABLE_LEAF:
                key, place = _varint(page, place)
                if key >> 63:
                    return None
            here = self._length_here(length, is_table=kind == _TABLE_LEAF)
            payload = page[place : place + here]
            if length > here:
                payload += self._overflow(length - here, int.from_bytes(page[place + here : place + here + 4], "big"))
            return Row(key, tuple(_values(payload)))
        except (IndexError, ValueError, struct.error):
            return None

    def _length_here(self, length: int, *, is_table: bool) -> int:
        """Return how much of a row is on its own page; the rest is on others."""
        most = self.size - 35 if is_table else (self.size - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (self.size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.size - 4)
        return here if here <= most else least

    def _overflow(self, length: int, number: int) -> bytes:
        needed = -(-length // (self.size - 4))
        if needed > self.count:
            raise ValueError("longer than the file")
        parts: list[bytes] = []
        for _ in range(needed):
            if not 1 < number <= self.count:
                raise ValueError("leads nowhere")
            page = self.page(number)
            parts.append(page[4:])
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)[:length]


class Behind(Pages):
    """The images of pages that a log has behind a break. Raises `OSError`."""

    def __init__(self, path: Path, log: Log) -> None:
        super().__init__(path, log.page_size, log._replace(images=log.images | dict(log.further)))
        self._places = [place for _, place in log.further]

    def all(self) -> Iterator[bytes]:
        """Yield all images, in the order in which they were written."""
        for place in self._places:
            yield self.image(place)


def page_size_of(path: Path) -> int:
    """Return the page size that a file states; the usual one if what it states cannot be. Raises `OSError`."""
    with path.open("rb") as file:
        stated = int.from_bytes(file.read(18)[16:], "big")
    size = 65536 if stated == 1 else stated
    return size if 512 <= size <= 65536 and size & (size - 1) == 0 else USUAL_SIZE


def user_version_of(path: Path) -> int:
    """Return the schema version that a file states. Raises `OSError`."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(64)[60:], "big")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for n in range(9):
        byte = data[place + n]
        if n == 8:
            return value << 8 | byte, place + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + n + 1
    raise ValueError("no number")


def _values(payload: bytes) -> Iterable[Value]:
    end, place = _varint(payload, 0)
    kinds: list[int] = []
    while place < end:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    for kind in kinds:
        value, place = _value(payload, place, kind)
        yield value


def _value(payload: bytes, place: int, kind: int) -> tuple[Value, int]:
    if kind in {0, 8, 9}:
        return (None, 0, 1)[max(kind - 7, 0)], place
    if kind == 7:
        return struct.unpack_from(">d", payload, place)[0], place + 8
    length = _INTEGERS.get(kind, (kind - 12) // 2 if kind >= 12 else -1)
    if length < 0 or place + length > len(payload):
        raise ValueError("no value")
    part = payload[place : place + length]
    return (int.from_bytes(part, "big", signed=True) if kind in _INTEGERS else part), place + length
