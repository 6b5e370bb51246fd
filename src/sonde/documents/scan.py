"""Read a file once to learn its size in characters and lines, and whether it is text."""

import re
from collections.abc import Callable
from typing import NamedTuple

from sonde.guest.document import Index

BLOCK = 1 << 20
_KEPT_BYTE = re.compile("[\udc80-\udcff]")


class Scan(NamedTuple):
    """What one pass over a file found."""

    blocks: Index
    invalid_bytes: int


def looks_binary(head: bytes) -> bool:
    """Whether the beginning of a file tells that it is not text."""
    return b"\0" in head


def scan(read: Callable[[int, int], bytes], size: int) -> Scan:
    """Return where the blocks of a file begin, and how many of its bytes are not UTF-8."""
    index = Index([0], [0], [0], False)
    invalid = 0
    content = b"\n"
    while index.bytes[-1] < size:
        start = index.bytes[-1]
        content = read(start, min(start + BLOCK, size))
        if start + len(content) < size:
            content = content[: _cut(content)]
        chars, kept = _measure(content)
        invalid += kept
        index.bytes.append(start + len(content))
        index.chars.append(index.chars[-1] + chars)
        index.lines.append(index.lines[-1] + content.count(b"\n"))
    return Scan(index._replace(open_end=not content.endswith(b"\n")), invalid)


def _measure(content: bytes) -> tuple[int, int]:
    """Return the number of characters, and of bytes that are not UTF-8."""
    if content.isascii():
        return len(content), 0
    try:
        return len(content.decode()), 0
    except UnicodeDecodeError:
        text = content.decode("utf-8", "surrogateescape")
        return len(text), len(_KEPT_BYTE.findall(text))


def _cut(content: bytes) -> int:
    """Return where the block may end: before a byte that begins a character. A character has at most three
    bytes that do not, so after four of them in a row any place will do."""
    for position in range(len(content) - 1, max(0, len(content) - 5), -1):
        if content[position] & 0xC0 != 0x80:
            return position
    return len(content)
