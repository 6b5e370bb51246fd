"""Cut a document into pieces of lines along what it consists of, in one pass and without ever holding it whole."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sonde.errors import UsageError
from sonde.guest.document import Document

RLM_STRATEGIES = ("auto", "by_function", "by_section", "fixed_size")
"""Those that a model can be told to use."""
STRATEGIES = ("semantic", "fixed", "adaptive", *RLM_STRATEGIES)
_SIZE, _RLM_SIZE, _OVERLAP = 200, 1000, 20
_USUAL_LINE = 80
_LABEL_CHARS = 120
_SAMPLE_LINES = 2000

_SECTION = re.compile(r"#{1,6}[ \t]+\S|(?:chapter|section|part|appendix)[ \t]+[\dIVX]+\b", re.IGNORECASE)
_FUNCTION = re.compile(
    r"(?:(?:export|default|public|private|protected|static|abstract|final|async|pub(?:\([a-z]+\))?|unsafe)[ \t]+)*"
    r"(?:def|class|function\*?|func|fn|struct|enum|trait|impl|interface|type|module|namespace)[ \t]+\w"
)
_ATTACHED = re.compile(r"@\w|#\[|//|/\*|[ ]\*|#(?!!)")
_FENCE = re.compile(r"[ ]{0,3}(?:```|~~~)")
_RANKS = {"paragraph": 1, "function": 2, "section": 3}


class Plan(NamedTuple):
    """How to cut: at most `size` lines a piece, of which `overlap` are the last ones of the piece before."""

    strategy: str
    size: int
    overlap: int


class Cut(NamedTuple):
    """One piece. Its first `overlap_start` lines end the piece before, its last `overlap_end` begin the one after."""

    first_line: int
    last_line: int
    overlap_start: int
    overlap_end: int
    boundary_type: str
    """What begins here: section, function, paragraph, lines (the size was reached) or start (of the document)."""
    boundary_label: str
    text: str


def plan(strategy: str, size: int | None = None, overlap: int | None = None) -> Plan:
    """Return how to cut, with what is usual for a strategy. Raises `UsageError` for sizes that cannot work."""
    in_rlm = strategy in RLM_STRATEGIES
    size = (_RLM_SIZE if in_rlm else _SIZE) if size is None else size
    overlap = (0 if in_rlm else min(_OVERLAP, size // 10)) if overlap is None else overlap
    if size < 1 or not 0 <= overlap < size:
        raise UsageError(
            f"pieces of {size:,} lines cannot overlap by {overlap:,}", "Give a size above 0 and above the overlap."
        )
    return Plan(strategy, size, overlap)


def cut(document: Document, how: Plan) -> Iterator[Cut]:
    """Yield the pieces of a document, in order."""
    cutter = _Cutter(how, _looks_for(document, how.strategy))
    for line in _lines(document):
        yield from cutter.add(line)
    yield from cutter.rest()


class _Mark(NamedTuple):
    """A place where a piece may begin: before the line with this index."""

    at: int
    kind: str
    label: str


class _Cutter:
    """Holds the lines of one piece at a time."""

    def __init__(self, how: Plan, kinds: frozenset[str]) -> None:
        self._size = how.size
        self._overlap = how.overlap
        self._most_chars = how.size * _USUAL_LINE if how.strategy == "adaptive" else None
        self._always_at = {"by_function": "function", "by_section": "section", "auto": "*"}.get(how.strategy, "")
        self._kinds = kinds
        self._first = 1
        self._lines: list[str] = []
        self._chars = 0
        self._carried = 0
        self._marks: list[_Mark] = []
        self._begins = _Mark(0, "start", "")
        self._after_blank = self._in_fence = False

    def add(self, line: str) -> Iterator[Cut]:
        """Take the next line; yield a piece if one is full."""
        mark = self._mark(line)
        self._lines.append(line)
        self._chars += len(line)
        if mark is not None:
            if mark.at == 0:
                self._begins = mark
            elif mark.at > self._carried and (self._always_at in {mark.kind, "*"}) and mark.kind != "paragraph":
                yield self._cut(mark, 0)
            else:
                self._marks.append(mark)
        if len(self._lines) > max(1, self._carried) and self._is_full():
            best = self._best()
            yield self._cut(best, min(self._overlap, best.at - 1))

    def rest(self) -> Iterator[Cut]:
        """Yield the last piece."""
        if self._lines:
            yield self._cut(_Mark(len(self._lines), "", ""), 0)

    def _is_full(self) -> bool:
        if len(self._lines) > self._size:
            return True
        has_own = len(self._lines) > self._carried + 1
        return self._most_chars is not None and self._chars > self._most_chars and has_own

    def _best(self) -> _Mark:
        """Return where to cut: at the strongest mark in the second half, or at any, or before the last line."""
        marks = [mark for mark in self._marks if mark.at > self._carried]
        late = [mark for mark in marks if mark.at > len(self._lines) // 2]
        usual = _Mark(len(self._lines) - 1, "lines", "")
        return max(late or marks, key=lambda mark: (_RANKS[mark.kind], mark.at), default=usual)

    def _cut(self, mark: _Mark, overlap: int) -> Cut:
        lines, keep_from = self._lines, mark.at - overlap
        last = self._first + mark.at - 1
        piece = Cut(
            self._first, last, self._carried, overlap, self._begins.kind, self._begins.label, "".join(lines[: mark.at])
        )
        self._lines = lines[keep_from:]
        self._chars = sum(map(len, self._lines))
        self._first += keep_from
        self._carried = overlap
        self._begins = mark
        self._marks = [each._replace(at=each.at - keep_from) for each in self._marks if each.at > mark.at]
        return piece

    def _mark(self, line: str) -> _Mark | None:
        """Return the mark that a line is, if it is one."""
        after_blank, self._after_blank = self._after_blank, not line.strip()
        if not self._kinds or self._after_blank:
            return None
        if "section" in self._kinds and _FENCE.match(line):
            self._in_fence = not self._in_fence
        index, label = len(self._lines), line.strip()[:_LABEL_CHARS]
        if "section" in self._kinds and not self._in_fence and _SECTION.match(line):
            return _Mark(index, "section", label)
        if "function" in self._kinds and _FUNCTION.match(line):
            while index > self._carried and _ATTACHED.match(self._lines[index - 1]):
                index -= 1
            return _Mark(index, "function", label)
        return _Mark(index, "paragraph", label) if after_blank and index and not self._in_fence else None


def _lines(document: Document) -> Iterator[str]:
    """Yield the lines with their ends."""
    for _, text in document.whole_lines():
        *whole, last = text.split("\n")
        for line in whole:
            yield line + "\n"
        if last:
            yield last


def _looks_for(document: Document, strategy: str) -> frozenset[str]:
    """Return what kinds of places count in this document: a # begins a heading in prose, and a comment in code."""
    if strategy in {"by_function", "by_section"}:
        return frozenset({strategy.removeprefix("by_"), "paragraph"})
    if strategy in {"fixed", "fixed_size"}:
        return frozenset()
    functions = sections = 0
    for line in document.lines(1, min(_SAMPLE_LINES, document.line_count)):
        functions += _FUNCTION.match(line) is not None
        sections += _SECTION.match(line) is not None
    is_prose = document.name.lower().endswith((".md", ".markdown", ".rst", ".txt", ".adoc"))
    if strategy == "auto" and not functions + sections:
        return frozenset()
    return frozenset({"section" if is_prose or not functions else "function", "paragraph"})
