"""Look at processes and kill them, from outside."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """Return the processes below one, by parentage."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
    found = [pid]
    for each in found:
        found.extend(child for child, parent in parents.items() if parent == each)
    return found[1:]


def has_ended(pid: int) -> bool:
    """Whether a process has ended, even if nobody has asked how yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def kill_tree(pid: int) -> None:
    """Kill a process and all below it, as `kill -9` does."""
    for each in [pid, *descendants(pid)]:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


async def settled(holds: Callable[[], bool], within_s: float = 5) -> None:
    """Wait until something holds that will soon: a process that was killed may not be gone yet."""
    async with asyncio.timeout(within_s):
        while not holds():
            await asyncio.sleep(0.005)
