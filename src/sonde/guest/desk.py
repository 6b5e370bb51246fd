"""What documents can do, by name and over plain data: for code in a language that cannot hold them."""

import re
from collections.abc import Callable
from typing import Any

from .document import Document, of_text
from .inputs import whole_of
from .pieces import Pieces

_GROUP = re.compile(r"\(\?<(?![=!])")
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def described(document: Document) -> dict[str, Any]:
    """Return what code is told of a document beforehand."""
    return {"name": document.name, "length": len(document), "lines": document.line_count}


class Desk:
    """Documents by number; -1 is all of them as one, and a text stands for itself. A pattern is a text, or its source
    and flags as JavaScript has them."""

    def __init__(self, documents: list[Document]) -> None:
        self._documents = [*documents, whole_of(documents)]
        self._pieces: list[Pieces] = []
        self._operations: dict[str, Callable[..., Any]] = {
            "describe": described,
            "slice": self._slice,
            "lines": Document.lines,
            "find": self._find,
            "count": self._count,
            "grep": self._grep,
            "chunks": self._chunks,
            "piece": self._piece,
            "records": self._records,
            "peek": Document.peek,
        }

    def do(self, operation: str, number: int | str, arguments: list[Any]) -> Any:
        """Return what an operation gives. Raises what the document raises, `ValueError` for an unknown operation."""
        if operation not in self._operations:
            raise ValueError(f"a document cannot {operation!r}")
        document = of_text(number) if isinstance(number, str) else self._documents[number]
        return self._operations[operation](document, *arguments)

    def _slice(self, document: Document, start: int | None, end: int | None) -> str:
        return document[start:end]

    def _find(self, document: Document, what: Any, start: int) -> int:
        return document.find(_pattern(what), start)

    def _count(self, document: Document, what: Any) -> int:
        return document.count(_pattern(what))

    def _grep(self, document: Document, what: Any, before: int, after: int, limit: int | None) -> list[dict[str, Any]]:
        return [
            {"line": match.line, "text": match.text, "first": match.first, "last": match.last}
            for match in document.grep(_pattern(what), before, after, limit)
        ]

    def _chunks(self, document: Document, by: str, size: int | None, overlap: int) -> dict[str, int]:
        self._pieces.append(document.chunks(by, size, overlap))
        return {"pieces": len(self._pieces) - 1, "length": len(self._pieces[-1])}

    def _piece(self, document: Document, number: int, at: int) -> dict[str, Any]:
        piece = self._pieces[number][at]
        return {"text": str(piece), "first_line": piece.first_line, "last_line": piece.last_line}

    def _records(self, document: Document, kind: str | None) -> list[dict[str, Any]]:
        return list(document.records(kind))


def _pattern(what: Any) -> str | re.Pattern[str]:
    if isinstance(what, str):
        return what
    flags = 0
    for letter in what["flags"]:
        flags |= _FLAGS.get(letter, 0)
    return re.compile(_GROUP.sub("(?P<", what["source"]), flags)
