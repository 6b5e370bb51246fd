"""Cut a document into strings along its lines, characters, sections or functions."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from .document import Document

_DEFAULT_SIZE = {"lines": 1000, "section": 1000, "function": 1000, "chars": 20_000}
_BOUNDARY = {
    "section": re.compile(r"^(?:#{1,6}[ \t]|(?:chapter|section|part|appendix)[ \t]+[\dIVXivx]+\b)", re.M | re.I),
    "function": re.compile(
        r"^(?:(?:export|default|public|private|protected|static|abstract|final|async|pub(?:\([a-z]+\))?|unsafe)[ \t]+)*"
        r"(?:def|class|function\*?|func|fn|struct|enum|trait|impl|interface|type|module|namespace)[ \t]+\w",
        re.M,
    ),
}
_LONG_LINE = 5000
_ENOUGH = 2


class Piece(str):
    """A part of a document, with where it stands in it."""

    __slots__ = ("first_line", "last_line", "source")

    source: str
    first_line: int
    last_line: int


class Pieces(Sequence[Piece]):
    """Parts of a document, each read when it is asked for."""

    def __init__(self, document: "Document", bounds: list[tuple[int, int, int]]) -> None:
        self._document = document
        self._bounds = bounds

    def __len__(self) -> int:
        return len(self._bounds)

    def __repr__(self) -> str:
        return f"<{len(self):,} pieces of {self._document!r}>"

    @overload
    def __getitem__(self, where: int) -> Piece: ...
    @overload
    def __getitem__(self, where: slice) -> "Pieces": ...
    def __getitem__(self, where: int | slice) -> "Piece | Pieces":
        if isinstance(where, slice):
            return Pieces(self._document, self._bounds[where])
        start, end, first_line = self._bounds[where]
        piece = Piece(self._document.text(start, end))
        piece.source = self._document.name
        piece.first_line = first_line
        piece.last_line = first_line + piece.count("\n") - piece.endswith("\n")
        return piece


def cut(document: "Document", by: str, size: int | None, overlap: int) -> Pieces:
    """Return the pieces. Raises `ValueError` for an unknown way to cut or sizes that cannot work."""
    by = _suggested(document) if by == "auto" else by
    if by not in _DEFAULT_SIZE:
        raise ValueError(f"chunks(by={by!r}): use one of auto, {', '.join(_DEFAULT_SIZE)}")
    size = _DEFAULT_SIZE[by] if size is None else size
    if size < 1 or not 0 <= overlap < size:
        raise ValueError(f"chunks(size={size}, overlap={overlap}): the size must be above 0 and the overlap")
    if by == "chars":
        return Pieces(document, list(_by_chars(document, size, overlap)))
    starts = [1]
    if by in _BOUNDARY:
        starts = sorted({1, *_boundary_lines(document, _BOUNDARY[by])})
    spans = list(_by_lines(starts, document.line_count, size, overlap))
    at = _line_bytes(document, sorted({number for span in spans for number in span}))
    return Pieces(document, [(at[first], at[after], first) for first, after in spans])


def _suggested(document: "Document") -> str:
    """Return the way to cut that a document's beginning suggests."""
    start, end = next(document.blocks(), (0, 0))
    text = document.text(start, end)
    sections, functions = (len(_BOUNDARY[by].findall(text)) for by in ("section", "function"))
    if functions >= _ENOUGH and 2 * functions >= sections:  # in code a comment looks like a heading
        return "function"
    if sections >= _ENOUGH:
        return "section"
    return "chars" if len(text) > _LONG_LINE * (text.count("\n") + 1) else "lines"


def _by_chars(document: "Document", size: int, overlap: int) -> Iterator[tuple[int, int, int]]:
    for first in range(0, max(1, len(document) - overlap), size - overlap):
        start, end = document.byte_at(first), document.byte_at(min(first + size, len(document)))
        if start < end:
            yield start, end, document.line_at(start)


def _by_lines(starts: list[int], total: int, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield spans of lines (first, the one after the last) that never cross a start and hold at most `size`."""
    for start, following in zip(starts, [*starts[1:], total + 1], strict=True):
        for first in range(start, max(start + 1, following - overlap), size - overlap):
            if first < following:
                yield first, min(first + size, following)


def _boundary_lines(document: "Document", boundary: re.Pattern[str]) -> Iterator[int]:
    for first, text in document.whole_lines():
        line, counted = first, 0
        for match in boundary.finditer(text):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            yield line


def _line_bytes(document: "Document", numbers: Sequence[int]) -> dict[int, int]:
    """Return where the lines with these ascending numbers begin, in one pass."""
    found = {1: 0, document.line_count + 1: document.size}
    line = 1  # the number of the line that the next line end closes
    for start, end in document.blocks():
        content = document.read(start, end)
        following = line + content.count(b"\n")
        wanted = numbers[bisect_left(numbers, line + 1) : bisect_left(numbers, following + 1)]
        if wanted:
            ends = [match.end() for match in re.finditer(b"\n", content)]
            found.update((number, start + ends[number - line - 1]) for number in wanted)
        line = following
    return found
