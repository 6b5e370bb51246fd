"""Read a document's rows: JSON lines, or CSV with a header."""

import csv
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .document import Document

_DELIMITERS = ",\t;|"


def read(document: "Document", kind: str | None) -> Iterator[dict[str, Any]]:
    """Yield rows as dicts. Raises `ValueError` for an unknown kind or a line that is not JSON."""
    first = next((line for line in document if line.strip()), "")
    kind = kind or ("jsonl" if first.lstrip().startswith("{") else "csv")
    if kind == "jsonl":
        return _json_rows(document)
    if kind == "csv":
        return _csv_rows(document, max(_DELIMITERS, key=first.count))
    raise ValueError(f'records({kind!r}): use "jsonl" or "csv"')


def _json_rows(document: "Document") -> Iterator[dict[str, Any]]:
    for number, line in document.numbered_lines():
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"line {number} of {document.name} is not JSON: {error}") from error
        yield row if isinstance(row, dict) else {"value": row}


def _csv_rows(document: "Document", delimiter: str) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(2**31 - 1)
    lines = (line + "\n" for line in document)
    yield from csv.DictReader(lines, delimiter=delimiter, restkey="extra")
