"""What code in a Monty cell finds beside the words that every Python shares.

Monty runs this in one function with `vocabulary.py`, so cells can reach the words and nothing behind them. It keeps
to Monty's language; and Monty cannot wait for the host inside an operator or a loop's header, so a
document has methods where elsewhere it has slices and iteration. What goes to the host goes as JSON.
"""

import json
from typing import Any

host: Any  # host(way, function, JSON): the one way out
world: dict[str, Any]
documents: list[Any]
pipeline_list: Any  # of the vocabulary
final: Any

# Cells may use these names for themselves.
python_len = len
python_repr = repr
python_type = type

LONGEST_CALL = 16 * 1024 * 1024
LONGEST_SHOWN = 2_000_000


async def host_call(function: str, arguments: dict[str, Any]) -> Any:
    """Call the host and wait for its answer."""
    return await host("call", function, encoded(function, arguments))


def host_call_now(function: str, arguments: dict[str, Any]) -> Any:
    """Call the host and block until it answers."""
    return host("now", function, encoded(function, arguments))


def host_call_all_now(function: str, arguments: list[dict[str, Any]]) -> list[Any]:
    """Make many calls at once and block until all are answered."""
    return host("all", function, [encoded(function, each) for each in arguments])


def encoded(function: str, arguments: Any) -> str:
    """Return plain data as JSON. Raises `TypeError` if it is not, `ValueError` if it is too long."""
    try:
        text = json.dumps(arguments)
    except TypeError:
        text = json.dumps(plain(arguments))
    if python_len(text) > LONGEST_CALL:
        raise ValueError(f"{function} was given {python_len(text):,} bytes; at most {LONGEST_CALL:,} fit one call")
    return text


def plain(value: Any) -> Any:
    """Return a value with sets and the like as lists. Raises `TypeError` for what is not plain data."""
    kind = type(value).__name__
    if value is None or kind in ["str", "int", "float", "bool"]:
        return value
    if kind == "dict" or kind in ["Counter", "defaultdict", "OrderedDict"]:
        return {key: plain(value[key]) for key in value}
    if kind in ["list", "tuple", "set", "frozenset", "range", "deque"]:
        return [plain(each) for each in value]
    if kind in ["date", "datetime", "time", "Decimal"]:
        return str(value)
    raise TypeError(f"a {kind} is not plain data: pass text, numbers, lists or dicts")


class Match:
    """A line where a pattern matched."""

    def __init__(self, document: Any, told: dict[str, Any]) -> None:
        self.document = document
        self.line = told["line"]
        self.text = told["text"]
        self.first = told["first"]
        self.last = told["last"]

    def excerpt(self) -> str:
        """The lines from `first` to `last`."""
        return "\n".join(self.document.lines(self.first, self.last))

    def __repr__(self) -> str:
        return f"{self.line}: {self.text}"


class Document:
    """Text of any size, which the host reads. Lines are numbered from 1."""

    def __init__(self, number: int | str, told: dict[str, Any]) -> None:
        self.number = number
        self.name = told["name"]
        self.chars = told["chars"]
        self.line_count = told["lines"]

    def __repr__(self) -> str:
        return f"<Document {self.name!r}: {self.chars:,} characters, {self.line_count:,} lines>"

    def ask(self, operation: str, given: list[Any]) -> Any:
        """Have the host do something with the document."""
        return host("document", operation, encoded(operation, [self.number, given]))

    def size(self) -> int:
        """The number of characters."""
        return self.chars

    def slice(self, start: int | None = 0, end: int | None = None) -> str:
        """Return the characters from `start` up to `end`."""
        return self.ask("slice", [start, end])

    def line(self, number: int) -> str:
        """Return one line."""
        return self.ask("lines", [number, number])[0]

    def lines(self, first: int = 1, last: int | None = None) -> list[str]:
        """Return the lines from `first` to `last`, both included."""
        return self.ask("lines", [first, last])

    def find(self, what: Any, start: int = 0) -> int:
        """Return the first character of the first occurrence at or after `start`, or -1."""
        return self.ask("find", [pattern(what), start])

    def count(self, what: Any) -> int:
        """Return how often a text, or a compiled pattern, occurs."""
        return self.ask("count", [pattern(what)])

    def grep(self, what: Any, before: int = 20, after: int = 20, limit: int | None = None) -> list[Match]:
        """Return the lines where a regular expression matches."""
        return [Match(self, told) for told in self.ask("grep", [pattern(what), before, after, limit])]

    def chunks(
        self, by: str = "lines", size: int | None = None, overlap: int = 0, skip: int = 0, limit: int | None = None
    ) -> list[str]:
        """Cut into strings; without the first `skip` of them, and at most `limit`."""
        return self.ask("chunks", [by, size, overlap, [skip, limit]])

    def records(self, kind: str | None = None, skip: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """Return rows of JSON lines or CSV; without the first `skip` of them, and at most `limit`."""
        return self.ask("records", [kind, skip, limit])

    def peek(self, chars: int = 200) -> str:
        """Return a description with the first and last characters."""
        return self.ask("peek", [chars])


def document_number(document: Any) -> int | None:
    """Return the number of a document of the host's, or None."""
    return document.number if isinstance(document, Document) and python_type(document.number) is int else None


def document_of(source: Any) -> Document:
    """Return a document of a text, or of all inputs. A text of the code's own goes to the host with each question."""
    if source is None or (isinstance(source, str) and source == world["context"]):
        return documents[-1]
    if isinstance(source, Document):
        return source
    if not isinstance(source, str):
        raise TypeError(f"this takes a str or a Document, not {python_type(source).__name__}")
    lines = source.count("\n") + (0 if source == "" or source.endswith("\n") else 1)
    return Document(source, {"name": "text", "chars": python_len(source), "lines": lines})


def pattern(what: Any) -> Any:
    """Return a pattern as the host is told it: a compiled one in a list of its own."""
    return what if isinstance(what, str) else [what.pattern, what.flags]


class Inputs:
    """The inputs by name."""

    def __init__(self, documents: list[Document]) -> None:
        self.by_name = {document.name: document for document in documents}

    def __getitem__(self, name: str) -> Document:
        if name not in self.by_name:
            known = ", ".join([repr(each) for each in self.by_name][:20]) or "there are none"
            raise KeyError(f"no input {name!r}; known: {known}")
        return self.by_name[name]

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def __iter__(self) -> Any:
        return iter(list(self.by_name))

    def __repr__(self) -> str:
        return repr(self.by_name)

    def size(self) -> int:
        """How many there are."""
        return len(self.by_name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an input, or the default."""
        return self.by_name.get(name, default)

    def keys(self) -> Any:
        """Return the names."""
        return self.by_name.keys()

    def values(self) -> Any:
        """Return the documents."""
        return self.by_name.values()

    def items(self) -> Any:
        """Return names and documents."""
        return self.by_name.items()


async def pipeline(items: Any, *stages: Any) -> list[Any]:
    """Take each item through the stages, with no barrier between them; return the values in order."""
    return await pipeline_list(items, stages)


def final_var(sonde_variable_: str) -> None:
    """Finish the run with the value of a variable."""
    if not sonde_variable_.isidentifier():
        raise NameError(f"FINAL_VAR: {sonde_variable_!r} is not the name of a variable")
    final(eval(sonde_variable_))


def length(value: Any) -> int:
    """Return what `len` does, of documents and inputs too: Monty knows no `__len__`."""
    return value.size() if isinstance(value, (Document, Inputs)) else python_len(value)


def show(value: Any) -> Any:
    """Return a cell's value as the host shows it, and its length; None if there is none."""
    if value is None:
        return None
    text = value if python_type(value) is str and "\n" in value else python_repr(value)
    return [text[:LONGEST_SHOWN], python_len(text)]
