"""Find, count and grep in a document, block by block."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .lines import without_crlf

if TYPE_CHECKING:
    from .document import Document

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


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


def find(document: "Document", what: str | re.Pattern[str], start: int) -> int:
    """Return the first character of the first occurrence at or after character `start`, or -1."""
    needle = _encoded(what)
    if needle is None:
        return _find_pattern(document, _compiled(what), start)
    for offset, content in _overlapping(document, document.byte_at(start), len(needle) - 1):
        at = content.find(needle)
        if at >= 0:
            return document.char_at(offset + at)
    return -1


def count(document: "Document", what: str | re.Pattern[str]) -> int:
    """Return the number of occurrences that do not overlap."""
    needle = _encoded(what)
    if needle is None:
        expression = _compiled(what)
        return sum(1 for _, text in document.whole_lines() for _ in expression.finditer(text))
    if not needle:
        raise ValueError("cannot count an empty text")
    if any(needle.startswith(needle[-size:]) for size in range(1, len(needle))):
        return _count_one_by_one(document, needle)
    return sum(content.count(needle) for _, content in _overlapping(document, 0, len(needle) - 1))


def grep(
    document: "Document", pattern: str | re.Pattern[str], around: tuple[int, int], limit: int | None
) -> list[Match]:
    """Return the lines where `pattern` matches, at most `limit` of them."""
    found: list[Match] = []
    literal = pattern if isinstance(pattern, str) and not _SPECIAL.search(pattern) else None
    source, flags = (pattern, 0) if isinstance(pattern, str) else (pattern.pattern, pattern.flags)
    expression = re.compile(source, flags | re.MULTILINE)
    for first, text in document.whole_lines():
        text = without_crlf(text)
        starts = _literal_starts(text, literal) if literal else _line_starts(text, expression)
        for line, content in _lines_at(text, first, starts):
            if limit is not None and len(found) >= limit:
                return found
            found.append(Match(document, line, content, around))
    return found


def _encoded(what: str | re.Pattern[str]) -> bytes | None:
    """Return the bytes to look for, or None where only characters will do: a lone surrogate stands for a byte that
    may also be a part of another character."""
    if isinstance(what, re.Pattern):
        return None
    try:
        return what.encode()
    except UnicodeEncodeError:
        return None


def _compiled(what: str | re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(re.escape(what)) if isinstance(what, str) else what


def _find_pattern(document: "Document", expression: re.Pattern[str], start: int) -> int:
    before = 0
    for _, text in document.whole_lines():
        if start < before + len(text):
            match = expression.search(text, max(0, start - before))
            if match:
                return before + match.start()
        before += len(text)
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


def _literal_starts(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        at = text.find(literal, end + 1) if end >= 0 else -1


def _line_starts(text: str, expression: re.Pattern[str]) -> Iterator[int]:
    """Yield where each line begins in which `expression` matches within the line."""
    position = 0
    while position < len(text) and (match := expression.search(text, position)):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        end = len(text) if end < 0 else end
        if start < len(text) and (match.end() <= end or expression.search(text, start, end)):
            yield start
        position = end + 1


def _lines_at(text: str, first: int, starts: Iterator[int]) -> Iterator[tuple[int, str]]:
    line, counted = first, 0
    for start in starts:
        line += text.count("\n", counted, start)
        counted = start
        end = text.find("\n", start)
        yield line, text[start : end if end >= 0 else len(text)]
