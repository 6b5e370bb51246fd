"""`sonde grep`: find lines in inputs of any size."""

import os
import re
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import click

from sonde.cli import options
from sonde.cli.output import harmless, print_json, say
from sonde.documents.attach import opened
from sonde.errors import UsageError
from sonde.guest.document import Document
from sonde.guest.expressions import Expression, lines_with
from sonde.guest.lines import split_lines, without_crlf_bytes

_Lines = Callable[[bytes], Iterator[tuple[int, str]]]

_FOUND, _NOT_FOUND = 0, 1
_BLOCK_S, _BYTES_PER_S = 10.0, 10_000_000


class _Line(NamedTuple):
    """A line to print: one that matched, or one near it."""

    number: int
    text: str
    matched: bool


@click.command(short_help="Find lines in inputs of any size.")
@click.argument("pattern")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.option("--before", type=click.IntRange(0), default=20, show_default=True, help="Lines to show before a match.")
@options.option("--after", type=click.IntRange(0), default=20, show_default=True, help="Lines to show after it.")
@click.option("--limit", type=click.IntRange(1), help="Stop after this many matches.")
@click.option("--count", "only_count", is_flag=True, help="Print only how many lines match, for each input.")
@options.as_json
@click.pass_context
def grep(ctx: click.Context, /, pattern: str, inputs: tuple[str, ...], **given: Any) -> None:
    """Print the lines of each INPUT (a file, a folder, a quoted glob, or -) in which PATTERN matches, and those around.

    PATTERN is a regular expression as in Python, found in time that grows no faster than the input; (?i) at its
    beginning ignores case. A line that matches is printed as FILE:NUMBER:TEXT, one near it as FILE-NUMBER-TEXT.

    Exit codes: 0 something matched, 1 nothing did, 2 usage error.

    \b
    sonde grep "def validate_password" src/
    sonde grep "(?i)timeout" app.log.gz --before 0 --after 5
    sonde grep "ERROR" logs/ --count
    """
    lines = _line_finder(pattern)
    with opened(inputs, strict=False) as attached:
        try:
            for note in attached.notes:
                say(f"note: {note}")
            ctx.exit(_search(attached.documents, lines, pattern, given))
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the last flush fails again
            ctx.exit(_FOUND)


def _line_finder(pattern: str) -> _Lines:
    """Return what finds the lines in a block of text. Raises `UsageError`."""
    try:
        expression = Expression(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(
            f"{pattern!r} is not a regular expression: {error}", "Put a \\ before each sign that is meant as it is."
        ) from error
    if pattern.isalnum() and pattern.isascii():
        return lambda block: lines_with(block, pattern.encode())
    return expression.lines


class _Search:
    """One search through all inputs: what it counts, and how many matches it may still find."""

    def __init__(self, find: _Lines, around: tuple[int, int], limit: int | None) -> None:
        self._find = find
        self.before, self.after = around
        self.left = limit
        self.counts: dict[str, int] = {}

    def lines(self, document: Document) -> Iterator[_Line]:
        """Yield the lines that match and those around them, block by block."""
        unseen: deque[_Line] = deque(maxlen=self.before)
        until = self.counts[document.name] = 0
        for first, block in document.whole_line_blocks():
            content = without_crlf_bytes(block)
            matched = self._matches(document, first, content)
            if not matched and until < first:
                if self.left == 0:
                    return
                _keep_last(unseen, first, content)
                continue
            for number, text in enumerate(split_lines(content.decode("utf-8", "surrogateescape")), first):
                if number in matched:
                    yield from unseen
                    unseen.clear()
                    until = number + self.after
                    yield _Line(number, text, matched=True)
                elif number <= until:
                    yield _Line(number, text, matched=False)
                else:
                    unseen.append(_Line(number, text, matched=False))

    def count(self, document: Document) -> int:
        """Return how many lines match."""
        self.counts[document.name] = 0
        for first, block in document.whole_line_blocks():
            self._matches(document, first, without_crlf_bytes(block))
        return self.counts[document.name]

    def _matches(self, document: Document, first: int, content: bytes) -> set[int]:
        """Return the numbers of the lines that match. Raises `UsageError` for a pattern that takes exponential time."""
        if self.left == 0:
            return set()
        signal.setitimer(signal.ITIMER_REAL, _BLOCK_S + len(content) / _BYTES_PER_S)
        try:
            found = {first + number for number, _ in islice(self._find(content), self.left)}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.counts[document.name] += len(found)
        self.left = None if self.left is None else self.left - len(found)
        return found


def _keep_last(unseen: deque[_Line], first: int, content: bytes) -> None:
    """Keep the last lines of a block where nothing matched: they may be before a match in the next one."""
    if not unseen.maxlen:
        return
    last = split_lines(b"\n".join(content.rsplit(b"\n", unseen.maxlen + 1)[1:]).decode("utf-8", "surrogateescape"))
    after = first + content.count(b"\n") + (not content.endswith(b"\n"))
    unseen.extend(_Line(number, text, matched=False) for number, text in enumerate(last, after - len(last)))


def _search(documents: list[Document], find: _Lines, pattern: str, given: dict[str, Any]) -> int:
    search = _Search(find, (given["before"], given["after"]), given["limit"])
    signal.signal(signal.SIGALRM, _takes_too_long)
    if given["only_count"]:
        for document in documents:
            search.count(document)
        shown: dict[str, Any] = {}
    elif given["as_json"]:
        shown = _found(search, documents)
    else:
        shown = {}
        _print_lines(search, documents)
    counted = {"count": sum(search.counts.values()), "files": search.counts, "limited": search.left == 0}
    if given["as_json"]:
        print_json({"pattern": pattern, **counted, **shown})
    elif given["only_count"]:
        for name, number in search.counts.items():
            _write(f"{name}:{number}")
    if search.left == 0:
        say(f"stopped after {given['limit']:,} matches; there may be more")
    return _FOUND if counted["count"] else _NOT_FOUND


def _found(search: _Search, documents: list[Document]) -> dict[str, Any]:
    matches: list[dict[str, Any]] = []
    excerpts: list[dict[str, Any]] = []
    for document in documents:
        for line in search.lines(document):
            near = {"first_line": max(1, line.number - search.before)}
            near["last_line"] = min(document.line_count, line.number + search.after)
            if line.matched:
                matches.append({"file": document.name, "line": line.number, "text": line.text, **near})
            last = excerpts[-1] if excerpts else None
            if last and last["file"] == document.name and last["last_line"] == line.number - 1:
                last["last_line"] = line.number
                last["lines"].append(line.text)
            else:
                span = {"first_line": line.number, "last_line": line.number}
                excerpts.append({"file": document.name, **span, "lines": [line.text]})
    return {"matches": matches, "excerpts": excerpts}


def _print_lines(search: _Search, documents: list[Document]) -> None:
    is_first = True
    for document in documents:
        before = -1
        for line in search.lines(document):
            if line.number != before + 1 and not is_first and search.before + search.after:
                _write("--")
            before, is_first = line.number, False
            mark = ":" if line.matched else "-"
            _write(f"{document.name}{mark}{line.number}{mark}{line.text}")


def _write(text: str) -> None:
    """Print a line: harmless on a terminal, byte for byte elsewhere."""
    if sys.stdout.isatty():
        text = harmless(text)
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape") + b"\n")


def _takes_too_long(*_: object) -> None:
    raise UsageError(
        f"the pattern took more than {_BLOCK_S:.0f} s for a part of the input",
        "Take out repeats within repeats, look-around and back-references: without these it is quick.",
    )
