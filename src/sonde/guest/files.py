"""Read files in place, and notice when one is no longer what it was.

Plain reads at an offset, not a memory map: a mapped file that shrinks kills the process that touches it, and
a read costs little more. Standard library only: the separate interpreter uses this too.
"""

import os
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

_OPEN_AT_ONCE = 64


class Mark(NamedTuple):
    """What a file was when it was attached."""

    name: str
    size: int
    changed_ns: int


def size_and_time(descriptor: int) -> tuple[int, int]:
    """Return an open file's size, and when it was changed, in nanoseconds."""
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns


class Files:
    """Reads numbered files. `open_file` gives a descriptor for one, `fault` is what to raise when one has changed, and
    `stat` tells a descriptor's size and time of change."""

    def __init__(
        self,
        marks: list[Mark],
        open_file: Callable[[int], int],
        fault: Callable[[str], Exception],
        stat: Callable[[int], tuple[int, int]] = size_and_time,
    ) -> None:
        self._marks = marks
        self._open_file = open_file
        self._fault = fault
        self._stat = stat
        self._descriptors: OrderedDict[int, int] = OrderedDict()

    def read(self, number: int, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end` of a file. Raises the fault if it is not as it was attached."""
        descriptor = self._descriptor(number)
        content = os.pread(descriptor, end - start, start)
        while 0 < len(content) < end - start:
            more = os.pread(descriptor, end - start - len(content), start + len(content))
            if not more:
                break
            content += more
        self._check(number, descriptor)
        return content

    def close(self) -> None:
        """Close every file."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def _descriptor(self, number: int) -> int:
        if number in self._descriptors:
            self._descriptors.move_to_end(number)
            return self._descriptors[number]
        mark = self._marks[number]
        try:
            descriptor = self._open_file(number)
        except OSError as error:
            raise self._fault(f"{mark.name} cannot be read any more: {error.strerror or error}") from error
        self._descriptors[number] = descriptor
        if len(self._descriptors) > _OPEN_AT_ONCE:
            os.close(self._descriptors.popitem(last=False)[1])
        return descriptor

    def _check(self, number: int, descriptor: int) -> None:
        mark = self._marks[number]
        size, changed_ns = self._stat(descriptor)
        if size < mark.size:
            raise self._fault(f"{mark.name} shrank from {mark.size:,} to {size:,} bytes while it was read")
        if (size, changed_ns) != (mark.size, mark.changed_ns):
            raise self._fault(f"{mark.name} was changed while it was read")
