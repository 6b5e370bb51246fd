"""What the host does with documents for code in Monty, which cannot hold them.

The code asks by name and over plain data. It cannot be trusted, and the work is done in our process: so what one
call can give is bounded, expressions take time that is linear in the text, and all of it can be given up.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from sonde.errors import InputChanged
from sonde.guest.document import Document, of_text
from sonde.guest.expressions import LinearExpression
from sonde.guest.files import Files
from sonde.guest.inputs import documents_of, fits_one_string, marks_of, whole_of
from sonde.guest.pieces import Pieces
from sonde.interpreters.protocol import GuestWorld

MOST_CHARS = 16 * 1024 * 1024
MOST_ITEMS = 100_000
_MOST_PIECES = 1_000_000
_DEFAULT_SIZE = 100
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()\n]")

Cut = tuple[int | str, str, int | None, int]


class GivenUp(BaseException):
    """The cell that asked has been ended."""


class Documents:
    """The inputs as documents by number; -1 is all of them as one."""

    def __init__(self, world: GuestWorld) -> None:
        self.changed_input: str | None = None
        """What was found changed, whether or not the code minded."""
        self.given_up = False
        self._files = Files(marks_of(world.inputs), world.open_file, self._note_change)
        inputs = documents_of(world.inputs, self._files)
        self._numbered = [*inputs, whole_of(inputs)]
        self._cut: tuple[Cut, Pieces] | None = None
        self._rows: tuple[int | str, str | None, int, Iterator[dict[str, Any]]] | None = None
        self._operations: dict[str, Callable[..., Any]] = {
            "slice": self._slice,
            "lines": self._lines,
            "find": self._find,
            "count": self._count,
            "grep": self._grep,
            "chunks": self._chunks,
            "records": self._records,
            "peek": self._peek,
        }
        for document in self._numbered:
            document.read = self._unless_given_up(document.read)

    @property
    def described(self) -> list[dict[str, Any]]:
        """What code is told of each, the whole of them last."""
        return [{"name": each.name, "chars": len(each), "lines": each.line_count} for each in self._numbered]

    @property
    def one_string(self) -> str | None:
        """The text of all inputs, if that is what `context` is."""
        return str(self._numbered[-1]) if fits_one_string(self._numbered[:-1]) else None

    def do(self, operation: str, asked: Any) -> Any:
        """Return what an operation gives. Raises what the document raises, `ValueError` for what is too much."""
        number, given = asked  # a text of the code's own stands for itself
        if operation not in self._operations:
            raise ValueError(f"a document cannot {operation!r}")
        document = self._document(number)
        return self._operations[operation](number, document, *given)

    def _document(self, number: int | str) -> Document:
        return of_text(number) if isinstance(number, str) else self._numbered[number]

    def close(self) -> None:
        """Close the files."""
        self._files.close()

    def _note_change(self, what: str) -> InputChanged:
        self.changed_input = what
        return InputChanged(what)

    def _unless_given_up(self, read: Callable[[int, int], bytes]) -> Callable[[int, int], bytes]:
        def checked(start: int, end: int) -> bytes:
            if self.given_up:
                raise GivenUp
            return read(start, end)

        return checked

    def _slice(self, number: int | str, document: Document, start: int | None, end: int | None) -> str:
        first, last, _ = slice(start, end).indices(len(document))
        _refuse_more_than(MOST_CHARS, last - first, f"{document!r}: take slices")
        return document[first:last]

    def _lines(self, number: int | str, document: Document, first: int, last: int | None) -> list[str]:
        last = document.line_count if last is None else last
        if document.size > MOST_CHARS and 1 <= first <= last <= document.line_count:
            size = document.line_start(last + 1) - document.line_start(first)
            _refuse_more_than(MOST_CHARS, size, f"lines {first:,} to {last:,}: take fewer")
        return document.lines(first, last)

    def _find(self, number: int | str, document: Document, what: Any, start: int) -> int:
        return document.find(_text_or_expression(what), start)

    def _count(self, number: int | str, document: Document, what: Any) -> int:
        return document.count(_text_or_expression(what))

    def _grep(
        self, number: int | str, document: Document, what: Any, before: int, after: int, limit: int | None
    ) -> list[dict[str, Any]]:
        source, flags = _source(what)
        pattern = LinearExpression(source, flags) if flags or _SPECIAL.search(source) else source
        matches = document.grep(pattern, before, after, MOST_ITEMS + 1 if limit is None else min(limit, MOST_ITEMS))
        _refuse_more_than(MOST_ITEMS, len(matches), "matches: narrow the pattern, or say how many with limit=")
        return [{"line": match.line, "text": match.text, "first": match.first, "last": match.last} for match in matches]

    def _chunks(
        self,
        number: int | str,
        document: Document,
        by: str,
        size: int | None,
        overlap: int,
        part: tuple[int, int | None],
    ) -> list[str]:
        skip, limit = part
        pieces = self._pieces(document, (number, by, size, overlap))
        texts: list[str] = []
        total = 0
        for at in range(*slice(skip, None if limit is None else skip + limit).indices(len(pieces))):
            texts.append(str(pieces[at]))
            total += len(texts[-1])
            _refuse_more_than(MOST_CHARS, total, f"{len(pieces):,} chunks: take them in turn, with skip= and limit=")
        return texts

    def _pieces(self, document: Document, cut: Cut) -> Pieces:
        """Cut a document; the last cut is kept, since it is asked for part by part."""
        if self._cut is None or self._cut[0] != cut:
            _, by, size, overlap = cut
            step = max(1, (size or _DEFAULT_SIZE) - overlap)
            expected = (len(document) if by == "chars" else document.line_count) // step
            _refuse_more_than(_MOST_PIECES, expected, "chunks: give a larger size=")
            self._cut = cut, document.chunks(by, size, overlap)
        return self._cut[1]

    def _records(
        self, number: int | str, document: Document, kind: str | None, skip: int, limit: int | None
    ) -> list[dict[str, Any]]:
        rows = self._rows_after(document, (number, kind), max(0, skip))
        most = MOST_ITEMS + 1 if limit is None else max(0, min(limit, MOST_ITEMS))
        taken: list[dict[str, Any]] = []
        total = 0
        for row in islice(rows, most):
            taken.append(row)
            total += sum(len(value) if isinstance(value, str) else 8 for value in row.values())
            _refuse_more_than(MOST_CHARS, total, "of records: take them in turn, with skip= and limit=")
        _refuse_more_than(MOST_ITEMS, len(taken), "records: take them in turn, with skip= and limit=")
        self._rows = number, kind, max(0, skip) + len(taken), rows
        return taken

    def _rows_after(
        self, document: Document, wanted: tuple[int | str, str | None], skip: int
    ) -> Iterator[dict[str, Any]]:
        """Return the rows from a place on; asked for in turn, they are read once."""
        kept, self._rows = self._rows, None
        if kept is not None and kept[:3] == (*wanted, skip):
            return kept[3]
        rows = document.records(wanted[1])
        next(islice(rows, skip, skip), None)
        return rows

    def _peek(self, number: int | str, document: Document, chars: int) -> str:
        _refuse_more_than(MOST_CHARS, 2 * chars, "characters: peek at fewer")
        return document.peek(chars)


def _refuse_more_than(most: int, asked: int, what: str) -> None:
    if asked > most:
        raise ValueError(f"{asked:,} is more than the {most:,} that one call gives: {what}")


def _text_or_expression(what: Any) -> Any:
    return what if isinstance(what, str) else LinearExpression(*_source(what))


def _source(what: Any) -> tuple[str, int]:
    """Return an expression's source and flags: a text, or what a compiled one holds."""
    return (what, 0) if isinstance(what, str) else (str(what[0]), int(what[1]) & ~re.UNICODE)
