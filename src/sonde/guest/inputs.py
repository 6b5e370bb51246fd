"""Documents over numbered files, as an interpreter is told of them."""

from collections.abc import Iterable
from typing import Any

from .document import WHOLE_LIMIT, Document, Index, joined
from .files import Files, Mark


def documents_of(inputs: Iterable[tuple[str, Any, Any]], files: Files) -> list[Document]:
    """Return a document for each input: its name, its mark and its index."""
    return [
        Document(name, lambda start, end, n=number: files.read(n, start, end), Index(*index))
        for number, (name, _, index) in enumerate(inputs)
    ]


def marks_of(inputs: Iterable[tuple[str, Any, Any]]) -> list[Mark]:
    """Return what each input's file was when it was attached."""
    return [Mark(*mark) for _, mark, _ in inputs]


def whole_of(documents: list[Document]) -> Document:
    """Return all inputs as one document."""
    return documents[0] if len(documents) == 1 else joined("context", documents)


def fits_one_string(documents: list[Document]) -> bool:
    """Whether `context` is the text itself: of one input, or none, that is not too large."""
    return len(documents) < 2 and sum(document.size for document in documents) <= WHOLE_LIMIT
