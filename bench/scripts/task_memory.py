"""Hold the requests of N subagents open until all are there, and print what each takes of our memory, in KB.

Arguments: N RUNS_DIR [schema]. Run it as a module.
"""

import asyncio
import gc
import resource
import sys
from pathlib import Path

from bench.scripts.task import model

import sonde
from sonde.models.protocol import Reply, Request
from sonde.testing.scripted import FunctionModel


class AllAtOnce(FunctionModel):
    """Answers the root at once, and the subagents when all have asked, and not before."""

    def __init__(self, number: int, *, typed: bool) -> None:
        super().__init__(lambda _: "", remember=False)
        self._said = model(number, typed=typed)
        self._number = number
        self._open = -1
        self._all_open = asyncio.Event()
        self._before = 0
        self.taken = 0

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        self._open += 1
        if self._open == 0:
            gc.collect()
            self._before = resident()
            return await self._said.complete(request, timeout_s)
        if self._open == self._number:
            self.taken = resident() - self._before
            self._all_open.set()
        await self._all_open.wait()
        return await self._said.complete(request, timeout_s)


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main(number: int, runs: str, *, typed: bool) -> None:
    """Measure in a new process: what an earlier run has freed would be taken again."""
    held = AllAtOnce(number, typed=typed)
    result = sonde.ask("Go.", model=held, route="rlm", runs_dir=runs, concurrency=number)
    assert (result.status, result.answer) == ("completed", number), result
    print(held.taken / number / 1024)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], typed="schema" in sys.argv)
