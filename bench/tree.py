"""The memory of a process together with all that it has started."""

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_LOOK_S = 0.3


class Held(NamedTuple):
    """What a command printed, and the most that it and its children held at once; shared memory is counted once."""

    printed: str
    peak_mb: float
    processes: int


def held_by(command: list[str], folder: Path) -> Held:
    """Run a command in a folder, and look again and again at what its processes hold. Raises `CalledProcessError`."""
    peak_mb, processes = 0.0, 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        while process.poll() is None:
            all_there_are = list(_tree(process.pid))
            peak_mb = max(peak_mb, sum(map(_memory_mb, all_there_are)))
            processes = max(processes, len(all_there_are))
            time.sleep(_LOOK_S)
        assert process.stdout is not None
        printed = process.stdout.read()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command, printed)
    return Held(printed, peak_mb, processes)


def _tree(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _tree(int(child))


def _memory_mb(pid: int) -> float:
    """Return a process's own memory and its share of what it has in common with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
