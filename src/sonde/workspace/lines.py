"""The lines of a file of any size, block by block."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sonde.guest.expressions import LinearExpression
from sonde.guest.lines import without_crlf_bytes
from sonde.workspace.protocol import Source
from sonde.workspace.stopping import go_on

BLOCK = 1 << 20
LONGEST_LINE = 4 << 20
MOST_ENTRIES = 100

_ENTRY = (
    r"^(?:#{1,6}[ \t]+\S"
    r"|[ \t]*(?:(?:export|default|public|private|protected|static|abstract|final|async|pub|unsafe)[ \t]+)*"
    r"(?:def|class|function|func|fn|struct|enum|trait|impl|interface|module|namespace)[ \t]+[A-Za-z_])"
)
_OUTLINED = 64 << 20


class Block(NamedTuple):
    """Whole lines, the first of which has the number `first`. Only a line of many megabytes is cut: what follows of it
    `continues` it."""

    first: int
    content: bytes
    continues: bool

    def lines(self) -> list[str]:
        """The lines without their ends."""
        lines = self.content.decode("utf-8", "surrogateescape").split("\n")
        if not lines[-1]:
            lines.pop()
        return lines


class Shape(NamedTuple):
    """How a text is made: its lines, and those that head a part of it, as far as there is room."""

    lines: int
    entries: tuple[tuple[int, str], ...]


def blocks(source: Source) -> Iterator[Block]:
    """Yield a file's lines with plain line ends, about a megabyte at a time."""
    first, held, continues = 1, b"", False
    for start in range(0, source.size, BLOCK):
        go_on()
        content = held + source.read(start, min(start + BLOCK, source.size))
        is_last = start + BLOCK >= source.size
        cut = len(content) if is_last else content.rfind(b"\n") + 1
        if not cut and len(content) >= LONGEST_LINE:
            cut = len(content)
        held = content[cut:]
        if cut:
            yield Block(first, without_crlf_bytes(content[:cut]), continues)
            first += content.count(b"\n", 0, cut)
            continues = content[cut - 1] != 0x0A


def some_lines(source: Source, first: int, number: int) -> list[str]:
    """Return some lines, as many as there are from `first` on; a line of many megabytes is cut."""
    found: list[str] = []
    for block in blocks(source):
        following = block.first + block.content.count(b"\n")
        if following < first:
            continue
        lines = block.lines()
        skipped = max(int(block.continues), first - block.first)
        found.extend(lines[skipped : skipped + number - len(found)])
        if len(found) >= number:
            break
    return found


def count(source: Source, most: int | None = None) -> int:
    """Return the number of lines, or, if there are more than `most`, a number above it."""
    ends, last = 0, b"\n"
    for start in range(0, source.size, BLOCK):
        go_on()
        content = source.read(start, min(start + BLOCK, source.size))
        ends, last = ends + content.count(b"\n"), content[-1:]
        if most is not None and ends > most:
            return ends
    return ends + (last != b"\n")


def shape(source: Source) -> Shape:
    """Return how many lines a file has, and its outline: headings, and where functions and classes begin."""
    expression = LinearExpression(_ENTRY, re.MULTILINE)
    entries: list[tuple[int, str]] = []
    read = 0
    for block in blocks(source):
        read += len(block.content)
        if len(entries) >= MOST_ENTRIES or read > _OUTLINED:
            break
        entries.extend((block.first + number, text) for number, text in expression.lines(block.content))
    return Shape(count(source), tuple(entries[:MOST_ENTRIES]))
