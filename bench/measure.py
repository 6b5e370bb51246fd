"""What the rows share: a model server beside us, and a process that is timed with all it started."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

REPLIES = Path(__file__).parent / "replies.py"


class Took(NamedTuple):
    """Seconds of wall time, and of processor time with all children."""

    wall: float
    cpu: float


@contextmanager
def model_server(latency: str = "0", log: Path | None = None) -> Generator[str]:
    """Run the fault server in a process of its own and yield its base address; `log` gets a line for each request."""
    command = [sys.executable, "-m", "sonde.testing.server", "--script", str(REPLIES), "--latency", latency]
    command += [] if log is None else ["--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def run(*command: str, environment: dict[str, str] | None = None, status: int = 0) -> Took:
    """Run a command to its end and return what it took. Raises `RuntimeError` if it ends with another status."""
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}
        )
        _, ended, usage = os.wait4(process.pid, 0)
        took = Took(time.perf_counter() - began, usage.ru_utime + usage.ru_stime)
        process.returncode = os.waitstatus_to_exitcode(ended)
        if process.returncode != status:
            output.seek(0)
            raise RuntimeError(f"{command} failed: {output.read().decode()[-2000:]}")
    return took


def python(script: Path, *arguments: object, environment: dict[str, str] | None = None) -> Took:
    """Run a script with this Python and return what it took."""
    return run(sys.executable, str(script), *map(str, arguments), environment=environment)


def median(measure: Callable[[], Took], times: int) -> Took:
    """Return the medians of several measurements."""
    took = [measure() for _ in range(times)]
    return Took(statistics.median(each.wall for each in took), statistics.median(each.cpu for each in took))
