"""Find, count and grep in a document, block by block."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .expressions import Expression, lines_with
from .lines import without_crlf_bytes

if TYPE_CHECKING:
    from .document import Document

Pattern = str | re.Pattern[str] | Expression

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()\n]")


class Match:
    """A line where a pattern matched. `excerpt` is the text of the lines around it."""

    __slots__ = ("_document", "first", "last", "line", "text")

    def __init__(self, document: "Document", line: int, text: str, around: tuple[int, int]) -> None:
        self._document = document
        self.line = line
        self.text = text
        self.first = max(1, line - around[0])
        self.last = min(document.line_count, line + around[1])

    @property
    def excerpt(self) -> str:
        """The lines from `first` to `last`."""
        return "\n".join(self._document.lines(self.first, self.last))

    def __repr__(self) -> str:
        return f"{self.line}: {self.text}"


def find(document: "Document", what: Pattern, start: int) -> int:
    """Return the first character of the first occurrence at or after character `start`, or -1."""
    needle = _encoded(what)
    if needle is None:
        return _find_expression(document, _expression(what, as_text=True), start)
    for offset, content in _overlapping(document, document.byte_at(start), len(needle) - 1):
        at = content.find(needle)
        if at >= 0:
            return document.char_at(offset + at)
    return -1


def count(document: "Document", what: Pattern) -> int:
    """Return the number of occurrences that do not overlap."""
    needle = _encoded(what)
    if needle is None:
        expression = _expression(what, as_text=True)
        return sum(expression.count(content) for _, content in document.whole_line_blocks())
    if not needle:
        raise ValueError("cannot count an empty text")
    if any(needle.startswith(needle[-size:]) for size in range(1, len(needle))):
        return _count_one_by_one(document, needle)
    return sum(content.count(needle) for _, content in _overlapping(document, 0, len(needle) - 1))


def grep(document: "Document", pattern: Pattern, around: tuple[int, int], limit: int | None) -> list[Match]:
    """Return the lines where `pattern` matches, at most `limit` of them."""
    found: list[Match] = []
    lines = _line_finder(pattern)
    for first, content in document.whole_line_blocks():
        for number, text in lines(without_crlf_bytes(content)):
            if limit is not None and len(found) >= limit:
                return found
            found.append(Match(document, first + number, text, around))
    return found


def _line_finder(pattern: Pattern) -> Callable[[bytes], Iterator[tuple[int, str]]]:
    needle = None if not isinstance(pattern, str) or _SPECIAL.search(pattern) else _encoded(pattern)
    if not needle:
        return _expression(pattern, as_text=False).lines
    return lambda block: lines_with(block, needle)


def _encoded(what: Pattern) -> bytes | None:
    """Return the bytes to look for, or None where only characters will do: a lone surrogate stands for a byte that
    may also be a part of another character."""
    if not isinstance(what, str):
        return None
    try:
        return what.encode()
    except UnicodeEncodeError:
        return None


def _expression(what: Pattern, *, as_text: bool) -> Expression:
    if isinstance(what, Expression):
        return what
    if isinstance(what, str):
        return Expression(re.escape(what) if as_text else what)
    return Expression(what.pattern, what.flags)


def _find_expression(document: "Document", expression: Expression, start: int) -> int:
    wanted, before = document.byte_at(start), 0
    for _, content in document.whole_line_blocks():
        if wanted < before + len(content):
            at = expression.first(content, max(0, wanted - before))
            if at >= 0:
                return document.char_at(before + at)
        before += len(content)
    return -1


def _overlapping(document: "Document", start: int, overlap: int) -> Iterator[tuple[int, bytes]]:
    """Yield blocks from byte `start` on, each led by the last `overlap` bytes of the one before."""
    tail = b""
    for first, last in document.blocks(start):
        content = tail + document.read(first, last)
        yield first - len(tail), content
        tail = content[-overlap:] if overlap > 0 else b""


def _count_one_by_one(document: "Document", needle: bytes) -> int:
    """Count a text that can overlap itself, such as "aa"."""
    total = free_from = 0
    for offset, content in _overlapping(document, 0, len(needle) - 1):
        at = content.find(needle, max(0, free_from - offset))
        while at >= 0:
            total += 1
            free_from = offset + at + len(needle)
            at = content.find(needle, free_from - offset)
    return total
