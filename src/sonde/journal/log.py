"""Read SQLite's write-ahead log, and take of it what SQLite would: its beginning, up to the last whole commit."""

import os
import struct
from collections import Counter
from pathlib import Path
from typing import BinaryIO, NamedTuple

_HEADER, _FRAME = struct.Struct(">8I"), struct.Struct(">6I")
_MAGIC = 0x377F0682
_MASK = 0xFFFFFFFF
USUAL_SIZE = 4096


class Log(NamedTuple):
    """What a log holds: images of pages, as their numbers and places in the file."""

    path: Path
    page_size: int
    images: dict[int, int]
    """The last committed image of each page."""
    committed: int
    """Images that SQLite takes."""
    further: list[tuple[int, int]]
    """Images that follow those: cut short, or damaged, or behind one that is."""


NO_LOG = Log(Path(), USUAL_SIZE, {}, 0, [])


def read_log(path: Path) -> Log:
    """Return what the log of a journal holds; `NO_LOG` if there is none. Raises `OSError`."""
    try:
        with path.open("rb") as file:
            return _read(file)
    except FileNotFoundError:
        return NO_LOG


def _read(file: BinaryIO) -> Log:
    head = file.read(_HEADER.size).ljust(_HEADER.size, b"\0")
    magic, _, size, _, *salts, sum_1, sum_2 = _HEADER.unpack(head)
    order = ">" if magic & 1 else "<"
    sums = _sums(head[:24], order, (0, 0))
    is_whole = magic & ~1 == _MAGIC and sums == (sum_1, sum_2)
    if not is_whole:
        size, salts = USUAL_SIZE, _usual_salts(file)
    images: dict[int, int] = {}
    pending: list[tuple[int, int]] = []
    committed = 0
    while len(frame := file.read(_FRAME.size + size)) > _FRAME.size:
        number, is_commit, *its_salts, its_1, its_2 = _FRAME.unpack_from(frame)
        is_whole = is_whole and its_salts == salts and len(frame) == _FRAME.size + size
        if is_whole:
            sums = _sums(frame[:8] + frame[_FRAME.size :], order, sums)
            is_whole = sums == (its_1, its_2)
        if its_salts == salts:  # else it was left over when the log began anew
            pending.append((number, file.tell() - len(frame) + _FRAME.size))
        if is_whole and is_commit:
            images.update(pending)
            committed += len(pending)
            pending.clear()
    return Log(Path(file.name), size, images, committed, pending)


def _usual_salts(file: BinaryIO) -> list[int]:
    """Return the salts that most images have, where the head of the log cannot tell."""
    seen: Counter[tuple[int, int]] = Counter()
    while len(head := file.read(_FRAME.size)) == _FRAME.size:
        seen[_FRAME.unpack(head)[2:4]] += 1
        file.seek(USUAL_SIZE, os.SEEK_CUR)
    file.seek(_HEADER.size)
    return [salt for salts, _ in seen.most_common(1) for salt in salts]


def _sums(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """Return SQLite's running checksum."""
    one, two = sums
    words = iter(struct.unpack(f"{order}{len(data) // 8 * 2}I", data[: len(data) // 8 * 8]))
    for word in words:
        one = (one + word + two) & _MASK
        two = (two + next(words) + one) & _MASK
    return one, two
