"""What a run came to, as callers and scripts get it."""

from pathlib import Path
from typing import Any

import msgspec

from sonde import jsontext
from sonde.events import Fault, RunStatus, Usage
from sonde.journal.reader import Reader
from sonde.views.summary import Summary


class Calls(msgspec.Struct, frozen=True):
    """Calls that code dispatched: `cached` were answered with a result that was paid for before."""

    total: int
    ok: int
    failed: int
    cached: int


class Coverage(msgspec.Struct, frozen=True):
    """Pieces of work: all of them, and how they ended."""

    items: int
    done: int
    failed: int


class Result(msgspec.Struct, frozen=True):
    """How a run ended, with its answer and what it took."""

    run_id: str
    status: RunStatus
    answer: Any
    usage: Usage
    cost_usd: float | None
    calls: Calls
    coverage: Coverage
    max_depth_reached: int
    duration_s: float
    run_dir: str
    error: Fault | None


def result_of(summary: Summary, reader: Reader, folder: Path) -> Result:
    """Return the result that a summary tells. A run that never ended counts as failed. Raises `JournalError`."""
    return Result(
        run_id=summary.run_id,
        status=summary.status or "failed",
        answer=None if summary.answer is None else jsontext.decode(reader.text(summary.answer), object),
        usage=summary.usage,
        cost_usd=None if summary.cost_usd is None else round(summary.cost_usd, 9),
        calls=Calls(summary.calls, summary.ok, summary.failed, summary.reused),
        coverage=Coverage(summary.coverage.items, summary.coverage.done, summary.coverage.failed),
        max_depth_reached=summary.max_depth,
        duration_s=round(summary.duration_s, 3),
        run_dir=str(folder),
        error=summary.fault,
    )
