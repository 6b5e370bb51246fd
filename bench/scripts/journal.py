"""Append N facts to a journal, and print the microseconds of processor time each took. Arguments: N FILE."""

import asyncio
import sys
import time
from pathlib import Path

from sonde.events import CallFinished, CallStarted, Usage
from sonde.journal.writer import Journal


async def main(number: int, path: Path) -> None:
    """Append pairs of facts, as calls do, and wait for the disk after each hundred."""
    journal = Journal(path)
    began = time.process_time()
    for n in range(number // 2):
        journal.append(CallStarted(n, "root", 1, "llm", f"{n:024x}", request="x" * 200))
        journal.append(CallFinished(n, "ok", '"yes"', Usage(50, 1, requests=1), "bench"))
        if n % 100 == 99:
            await journal.saved()
    await journal.saved()
    print((time.process_time() - began) / number * 1e6)
    await journal.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2])))
