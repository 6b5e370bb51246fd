"""Regular expressions over blocks of bytes, in time that grows no faster than the text.

The language is Python's. RE2 does the work wherever it finds the same; Python's own engine does the rest: look-around
and back-references, which RE2 lacks, and classes such as \\w in text that is not ASCII. Only that rest can be slow.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, AnyStr

import re2

_LONGEST_LINEAR = 10_000
_UNICODE_MATTERS = re.compile(r"\\[wWdDsSbB]")
_MEANS_SOMETHING_ELSE = re.compile(r"\[\[:|\{,|\\[0-7]")
_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}
_KNOWN_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.UNICODE


_engine: Any = re2  # it has no types


class Expression:
    """An expression, made ready. Raises `re.error` if it is not one."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._exact = re.compile(source, flags)
        self._exact_lines = re.compile(source, flags | re.MULTILINE)
        self._fast = _re2(self._exact, one_line=False)
        self._fast_lines = _re2(self._exact_lines, one_line=True)
        self._ascii_only = bool(_UNICODE_MATTERS.search(source) or self._exact.flags & re.IGNORECASE)

    def lines(self, block: bytes) -> Iterator[tuple[int, str]]:
        """Yield the lines in which it matches: how many line ends come before each, and its text."""
        if self._fast_lines is not None and self._is_fast_on(block):
            for number, line in _lines_at(block, b"\n", _starts(block, b"\n", self._fast_lines.search)):
                yield number, line.decode("utf-8", "surrogateescape")
        else:
            text = block.decode("utf-8", "surrogateescape")
            yield from _lines_at(text, "\n", _starts(text, "\n", self._exact_lines.search))

    def count(self, block: bytes) -> int:
        """Return the number of matches that do not overlap."""
        if self._fast is not None and self._is_fast_on(block):
            matches = [match.end() > match.start() for match in self._fast.finditer(block)]
            if all(matches):  # the engines count empty matches differently
                return len(matches)
        return sum(1 for _ in self._exact.finditer(block.decode("utf-8", "surrogateescape")))

    def first(self, block: bytes, start: int) -> int:
        """Return the first byte of the first match at or after byte `start`, or -1."""
        if self._fast is not None and self._is_fast_on(block):
            match = self._fast.search(block, start)
            return match.start() if match else -1
        text = block.decode("utf-8", "surrogateescape")
        before = len(block[:start].decode("utf-8", "surrogateescape"))
        match = self._exact.search(text, before)
        return len(text[: match.start()].encode("utf-8", "surrogateescape")) if match else -1

    def _is_fast_on(self, block: bytes) -> bool:
        return block.isascii() or (not self._ascii_only and _is_utf8(block))


class LinearExpression(Expression):
    """An expression that never falls back: for a process that nobody can interrupt. Its classes know ASCII alone, and
    ^ and $ are always a line's."""

    def __init__(self, source: str, flags: int = 0) -> None:
        if len(source) > _LONGEST_LINEAR:
            raise ValueError(f"an expression of {len(source):,} characters is too long: {_LONGEST_LINEAR:,} at most")
        super().__init__(source, flags | re.MULTILINE)
        if self._fast is None or self._fast_lines is None:
            raise ValueError(f"{source!r} has look-around, a back-reference or another form that cannot be used here")

    def count(self, block: bytes) -> int:
        """Return the number of matches that do not overlap."""
        return sum(1 for _ in self._fast.finditer(block))

    def _is_fast_on(self, block: bytes) -> bool:
        return True


def lines_with(block: bytes, needle: bytes) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold a text, which has no line end: how many line ends come before each, and its text."""

    def starts() -> Iterator[int]:
        at = block.find(needle)
        while at >= 0:
            yield block.rfind(b"\n", 0, at) + 1
            end = block.find(b"\n", at)
            at = block.find(needle, end + 1) if end >= 0 else -1

    for number, line in _lines_at(block, b"\n", starts()):
        yield number, line.decode("utf-8", "surrogateescape")


def _lines_at(text: AnyStr, newline: AnyStr, starts: Iterator[int]) -> Iterator[tuple[int, AnyStr]]:
    """Yield each line that begins at one of `starts`, and how many line ends come before it."""
    number = counted = 0
    for start in starts:
        number += text.count(newline, counted, start)
        counted = start
        end = text.find(newline, start)
        yield number, text[start : end if end >= 0 else len(text)]


def _starts(text: AnyStr, newline: AnyStr, search: Callable[..., Any]) -> Iterator[int]:
    """Yield where each line begins in which `search` finds something within the line."""
    position = 0
    while position < len(text) and (match := search(text, position)):
        start = text.rfind(newline, 0, match.start()) + 1
        end = text.find(newline, match.start())
        end = len(text) if end < 0 else end
        if start < len(text) and (match.end() <= end or search(text, start, end)):
            yield start
        position = end + 1


def _is_utf8(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _re2(expression: re.Pattern[str], *, one_line: bool) -> Any:
    """Return RE2's form of an expression, or None where it has none that means the same."""
    if expression.flags & ~_KNOWN_FLAGS or _MEANS_SOMETHING_ELSE.search(expression.pattern):
        return None
    if "$" in expression.pattern and not expression.flags & re.MULTILINE:
        return None  # Python's also matches before a last line end
    letters = "".join(letter for flag, letter in _FLAGS.items() if expression.flags & flag)
    options = _engine.Options()
    options.log_errors = False
    options.never_nl = one_line
    try:
        return _engine.compile(f"(?{letters}:{expression.pattern})" if letters else expression.pattern, options)
    except (_engine.error, UnicodeEncodeError):
        return None
