"""Many stories, one after the other; nothing may grow while they are told."""

import os
import threading
import time
from pathlib import Path

from tests.processes import descendants
from tests.soak.story import Toll, tell

_WARM_UP = 3
_MOST_GROWTH_MB = 32


def soak(seconds: float, seed: int) -> str:
    """Tell stories for so long, and return what they came to. Raises `AssertionError` with the seed of a bad one."""
    deadline = time.monotonic() + seconds
    tolls: list[Toll] = []
    at_first: tuple[float, int, int] | None = None
    while time.monotonic() < deadline or len(tolls) <= _WARM_UP:
        try:
            tolls.append(tell(seed + len(tolls)))
        except AssertionError as error:
            raise AssertionError(f"the story with seed {seed + len(tolls)}: {error}") from error
        assert not descendants(os.getpid()), "processes are left behind"
        if len(tolls) == _WARM_UP:
            at_first = _belongings()
    assert at_first is not None
    memory, descriptors, threads = _belongings()
    assert memory - at_first[0] < _MOST_GROWTH_MB, f"memory grew from {at_first[0]:.0f} to {memory:.0f} MB"
    assert (descriptors, threads) == at_first[1:], "descriptors or threads were left behind"
    lives, requests, results = (sum(each) for each in zip(*tolls, strict=True))
    told = f"{len(tolls)} runs in {lives} lives, {requests:,} requests, {results:,} results"
    kept = f"{memory:.0f} MB, {descriptors} descriptors and {threads} threads, as at first"
    return f"{told}: none lost, none paid for twice, no limit passed; {kept}"


def _belongings() -> tuple[float, int, int]:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    return pages * os.sysconf("SC_PAGESIZE") / 1e6, descriptors, threading.active_count()
