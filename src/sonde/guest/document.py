"""A document: text of any size behind a handle, sliced, searched and cut without ever being held whole.

This module and those it imports use the standard library alone, because the same code runs in the host and inside
the separate interpreter. Text is UTF-8; bytes that are not are kept as lone surrogates (surrogateescape), so every
slice is exact. The bytes are read in blocks of about a megabyte, each of which begins where a character
begins: so every block can be decoded on its own.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import pieces, records, search
from .lines import split_lines

WHOLE_LIMIT = 64 * 1024 * 1024
PEEK_CHARS = 200


class Index(NamedTuple):
    """For each block its first byte, and the characters and line ends before it; the last entry counts them all.

    `open_end` tells that the last line has no line end.
    """

    bytes: list[int]
    chars: list[int]
    lines: list[int]
    open_end: bool


class Document:
    """Text of any size. `len` and slices count characters; lines are numbered from 1, without their ends.

    Every method raises what `read` raises, should the file behind it have changed.
    """

    def __init__(self, name: str, read: Callable[[int, int], bytes], index: Index) -> None:
        self.name = name
        self.size = index.bytes[-1]
        self.read = read
        self.index = index
        self._cached: tuple[int, str] = (-1, "")
        self.line_count = index.lines[-1] + index.open_end

    def __len__(self) -> int:
        return self.index.chars[-1]

    def __repr__(self) -> str:
        return f"<Document {self.name!r}: {len(self):,} characters, {self.line_count:,} lines>"

    def __str__(self) -> str:
        if self.size > WHOLE_LIMIT:
            raise ValueError(f"{self!r} is too large to be one string: slice it, or use chunks()")
        return self.text(0, self.size)

    def __contains__(self, text: str) -> bool:
        return self.find(text) >= 0

    def __iter__(self) -> Iterator[str]:
        for _, line in self.numbered_lines():
            yield line

    def __getitem__(self, where: int | slice) -> str:
        if not isinstance(where, slice):
            position = where + len(self) if where < 0 else where
            if not 0 <= position < len(self):
                raise IndexError(f"character {where} of {self!r}")
            return self[position : position + 1]
        positions = range(*where.indices(len(self)))
        if not positions:
            return ""
        low, high = sorted((positions[0], positions[-1]))
        return self.text(self.byte_at(low), self.byte_at(high + 1))[:: positions.step]

    def text(self, start: int, end: int) -> str:
        """Return the bytes from `start` to `end` as text."""
        return self.read(start, end).decode("utf-8", "surrogateescape")

    def line(self, number: int) -> str:
        """Return one line."""
        return self.lines(number, number)[0]

    def lines(self, first: int = 1, last: int | None = None) -> list[str]:
        """Return the lines from `first` to `last`, both included. Raises `IndexError` outside the document."""
        last = self.line_count if last is None else last
        if first < 1 or last > self.line_count or first > last + 1:
            raise IndexError(f"lines {first} to {last} of {self!r}: lines are numbered from 1, both ends included")
        if first == last + 1:
            return []
        text = self.text(self.line_start(first), self.line_start(last + 1))
        return split_lines(text)

    def numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line's number and text."""
        for first, text in self.whole_lines():
            yield from enumerate(split_lines(text), first)

    def peek(self, chars: int = PEEK_CHARS) -> str:
        """Return a description with the first and last characters."""
        if len(self) <= 2 * chars:
            return f"{self!r}\n{self[:]}"
        return f"{self!r}\n{self[:chars]}\n[…]\n{self[-chars:]}"

    def find(self, what: search.Pattern, start: int = 0) -> int:
        """Return the first character of the first occurrence at or after `start`, or -1."""
        return search.find(self, what, start)

    def count(self, what: search.Pattern) -> int:
        """Return how often a text, or a compiled pattern, occurs."""
        return search.count(self, what)

    def grep(
        self,
        pattern: search.Pattern,
        before: int = 20,
        after: int = 20,
        limit: int | None = None,
    ) -> list["search.Match"]:
        """Return the lines where a regular expression matches; each one's `excerpt` has the lines around it."""
        return search.grep(self, pattern, (before, after), limit)

    def chunks(self, by: str = "lines", size: int | None = None, overlap: int = 0) -> "pieces.Pieces":
        """Cut into strings by "lines", "chars", "section", "function" or "auto", of at most `size` lines or chars."""
        return pieces.cut(self, by, size, overlap)

    def records(self, kind: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of a "jsonl" or "csv" document as dicts; without `kind` it is told by the first line."""
        return records.read(self, kind)

    def blocks(self, start: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the first and last byte of each block from byte `start` on."""
        starts = self.index.bytes
        for number in range(max(0, bisect_right(starts, start) - 1), len(starts) - 1):
            if max(start, starts[number]) < starts[number + 1]:
                yield max(start, starts[number]), starts[number + 1]

    def whole_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the text block by block, each cut after a line's end, with the number of its first line."""
        for first, content in self.whole_line_blocks():
            yield first, content.decode("utf-8", "surrogateescape")

    def whole_line_blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield what `whole_lines` does, as bytes."""
        first, held = 1, list[bytes]()
        for start, end in self.blocks():
            block = self.read(start, end)
            cut = block.rfind(b"\n") + 1
            if cut == 0:
                held.append(block)
                continue
            content = b"".join((*held, block[:cut])) if held else block[:cut]
            yield first, content
            first += content.count(b"\n")
            held = [block[cut:]] if cut < len(block) else []
        if held:
            yield first, b"".join(held)

    def byte_at(self, char: int) -> int:
        """Return the byte where a character begins."""
        index = self.index
        number = min(bisect_right(index.chars, char) - 1, len(index.bytes) - 2)
        if number < 0:
            return 0
        within = char - index.chars[number]
        if self._is_ascii(number):
            return index.bytes[number] + within
        return index.bytes[number] + len(self._block(number)[:within].encode("utf-8", "surrogateescape"))

    def char_at(self, byte: int) -> int:
        """Return how many characters begin before a byte."""
        index = self.index
        number = min(bisect_right(index.bytes, byte) - 1, len(index.bytes) - 2)
        if number < 0:
            return 0
        if self._is_ascii(number):
            return index.chars[number] + byte - index.bytes[number]
        return index.chars[number] + len(self.text(index.bytes[number], byte))

    def line_start(self, number: int) -> int:
        """Return the byte where a line begins; the line after the last begins at the end."""
        if number <= 1:
            return 0
        if number > self.index.lines[-1] + 1:
            return self.size
        index = self.index
        block = bisect_right(index.lines, number - 2) - 1
        start = index.bytes[block]
        content = self.read(start, index.bytes[block + 1])
        position = -1
        for _ in range(number - 1 - index.lines[block]):
            position = content.index(b"\n", position + 1)
        return start + position + 1

    def line_at(self, byte: int) -> int:
        """Return the number of the line that holds a byte."""
        number = min(bisect_right(self.index.bytes, byte) - 1, len(self.index.bytes) - 2)
        if number < 0:
            return 1
        before = self.read(self.index.bytes[number], byte)
        return self.index.lines[number] + before.count(b"\n") + 1

    def _is_ascii(self, number: int) -> bool:
        index = self.index
        chars = index.chars[number + 1] - index.chars[number]
        return chars == index.bytes[number + 1] - index.bytes[number]

    def _block(self, number: int) -> str:
        if self._cached[0] != number:
            index = self.index
            self._cached = (number, self.text(index.bytes[number], index.bytes[number + 1]))
        return self._cached[1]


def joined(name: str, documents: "list[Document]") -> Document:
    """Return one document of several, each under a line with its name."""
    parts: list[tuple[int, Callable[[int, int], bytes]]] = []
    index = Index([0], [0], [0], False)
    for document in documents:
        heading = ("\n" if index.open_end else "") + f"==> {document.name} <==\n"
        for part in (of_text(heading), document):
            parts.append((index.bytes[-1], part.read))
            for column, entries in zip(index[:3], part.index[:3], strict=True):
                before = column.pop()
                column.extend(before + entry for entry in entries)
            index = index._replace(open_end=part.index.open_end)
    return Document(name, _Joined(parts, index.bytes[-1]).read, index)


class _Joined:
    """Read across parts, each of which begins at a byte of the whole."""

    def __init__(self, parts: list[tuple[int, Callable[[int, int], bytes]]], size: int) -> None:
        self._starts = [start for start, _ in parts] + [size]
        self._reads = [read for _, read in parts]

    def read(self, start: int, end: int) -> bytes:
        content: list[bytes] = []
        number = bisect_right(self._starts, start) - 1
        while start < end:
            until = min(end, self._starts[number + 1])
            offset = self._starts[number]
            content.append(self._reads[number](start - offset, until - offset))
            start, number = until, number + 1
        return b"".join(content) if len(content) != 1 else content[0]


def of_text(text: str, name: str = "text") -> Document:
    """Return a document of a text that is held whole."""
    content = text.encode("utf-8", "surrogateescape")
    index = Index([0, len(content)], [0, len(text)], [0, text.count("\n")], text != "" and not text.endswith("\n"))
    return Document(name, lambda start, end: content[start:end], index)
