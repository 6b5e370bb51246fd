"""N `llm` calls in a stream, with an instant model in this process. Prints what each took, and the most memory.

Arguments: N RUNS_DIR.
"""

import json
import resource
import sys
from pathlib import Path
from statistics import median

import sonde
from sonde.testing.scripted import FunctionModel, code

CELL = """
total = 0
async for answer in pipeline(range({number}), lambda n: llm(f"Is item {{n}} about sport?")):
    total += len(answer)
FINAL(total)
"""


class Instant(FunctionModel):
    """Answers at once, and remembers nothing."""

    def __init__(self, number: int) -> None:
        super().__init__(
            lambda request: code(CELL.format(number=number)) if request.messages[0].role == "system" else "yes",
            remember=False,
        )


def spent() -> float:
    """Return the processor time so far, with that of interpreters which have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def ask(number: int, runs: Path) -> float:
    """Run it and return the processor time that it took."""
    began = spent()
    result = sonde.ask("Go.", model=Instant(number), route="rlm", runs_dir=runs, max_calls=number + 1, cell_cpu=10_000)
    assert result.answer == 3 * number, result
    return spent() - began


if __name__ == "__main__":
    number, runs = int(sys.argv[1]), Path(sys.argv[2])
    # Starting takes more than a thousand calls do, so both are measured often.
    none = median(ask(0, runs) for _ in range(11))
    took = median(ask(number, runs) for _ in range(max(1, min(15, 50_000 // number)))) - none
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps({"us": took / number * 1e6, "peak_mb": peak / 1024}))
