"""A document of a gigabyte in a cell: `document.py FOLDER` prints how soon it is ready and how fast it is."""

import asyncio
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from sonde.documents.attach import attach
from sonde.interpreters.choose import choose
from sonde.interpreters.confined.backend import ConfinedInterpreter
from sonde.interpreters.protocol import EMPTY_WORLD, GuestInput, NoCalls, Settings

SIZE = 1_000_000_000
WORDS = ("INFO", "WARN", "ERROR", "user", "login", "failed", "timeout", "from", "10.0.0.1", "12345")
SEARCHES = {
    "literal": "context.count('ERROR 12345 WARN')",
    "grep_literal": "len(context.grep('no such line'))",
    "simple": r"len(context.grep(r'\d{2}:59:5\d INFO INFO WARN'))",
    "hostile": "len(context.grep(r'(a+)+$'))",
}


def write(path: Path) -> None:
    """Write a log of about a gigabyte."""
    chance = random.Random(1)
    lines = (
        f"2026-11-19 06:{n % 60:02d}:{n * 7 % 60:02d} {' '.join(chance.choices(WORDS, k=12))}\n" for n in range(100_000)
    )
    block = "".join(lines).encode()
    with path.open("wb") as file:
        for _ in range(SIZE // len(block) + 1):
            file.write(block)


def private_mb(interpreter: ConfinedInterpreter) -> float:
    """Return the private memory of its process."""
    rollup = Path(f"/proc/{interpreter.pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_")) / 1024


async def main(folder: Path) -> dict[str, Any]:
    path = folder / "big.log"
    write(path)
    began = time.perf_counter()
    inputs = attach([str(path)], folder / "spool", strict=False)
    figures = {"attach_s": time.perf_counter() - began}
    described = [GuestInput(each.name, each.mark, each.found.blocks) for each in inputs.all]
    world = EMPTY_WORLD._replace(inputs=described, open_file=inputs.open_file)
    backend = choose("python", Settings())
    try:
        empty = await backend.open(EMPTY_WORLD)
        await empty.run("1", NoCalls(), cpu_s=60)
        began = time.perf_counter()
        interpreter = await backend.open(world)
        await interpreter.run("len(context), context[500_000_000:500_000_100]", NoCalls(), cpu_s=60)
        figures["ready_s"] = time.perf_counter() - began
        assert isinstance(empty, ConfinedInterpreter)
        assert isinstance(interpreter, ConfinedInterpreter)
        for name, code in SEARCHES.items():
            began = time.perf_counter()
            result = await interpreter.run(code, NoCalls(), cpu_s=60)
            assert result.status == "ok", result
            figures[f"{name}_mb_s"] = path.stat().st_size / 1e6 / (time.perf_counter() - began)
        figures["private_mb"] = private_mb(interpreter) - private_mb(empty)
    finally:
        await backend.close()
    return figures


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
