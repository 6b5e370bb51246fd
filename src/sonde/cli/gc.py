"""`sonde gc`: drop old runs by age and size."""

import shutil
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from sonde.cli import options
from sonde.cli.output import harmless, print_json, say
from sonde.config.amounts import read_size, read_span, size_text, span_text
from sonde.engine.folder import RunFolder, is_driven, listed
from sonde.errors import JournalError, RunChoiceError
from sonde.events import RunFinished
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME

_NEVER_BEGAN_S = 86_400
_ASKING = ("older_than", "failed_older_than", "max_size", "dry_run", "as_json")


def _span(text: str) -> float:
    try:
        return read_span(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a span of time, such as 7d, 12h or 30m") from error


def _bytes(text: str) -> int:
    try:
        return read_size(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a size, such as 500MB or 2GB") from error


class _Run(NamedTuple):
    """A run as it lies there."""

    path: Path
    status: str
    age_s: float
    size: int


class _Dropped(NamedTuple):
    """A run that is to go, and why."""

    run: _Run
    reason: str


@click.command(short_help="Drop old runs by age and size.")
@options.option(
    "--older-than", type=_span, default="7d", show_default=True, help="Drop completed runs older than this."
)
@options.option(
    "--failed-older-than", type=_span, default="30d", show_default=True, help="Drop all others older than this."
)
@options.option("--max-size", type=_bytes, help="Then drop the oldest until all that is left takes no more than this.")
@click.option("--dry-run", is_flag=True, help="Only tell what would go.")
@options.runs_dir
@options.as_json
@click.pass_context
def gc(ctx: click.Context, /, runs_dir: Path, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Drop old runs: completed ones after 7 days, all others after 30. Their answers and records are gone for good.

    A run that a process drives is kept, and so is the newest one. Without any flag it asks first, in a terminal.

    \b
    sonde gc --dry-run
    sonde gc --older-than 1d --failed-older-than 7d
    sonde gc --max-size 2GB
    """
    runs = [run for path in listed(runs_dir) if (run := _look(path))]
    chosen = list(_old(runs[:-1], given["older_than"], given["failed_older_than"]))
    if given["max_size"] is not None:
        going = {each.run.path for each in chosen}
        chosen += _too_large([run for run in runs if run.path not in going], given["max_size"])
    if not as_json:
        _print_table(chosen)
    if chosen and not dry_run and not _is_sure(ctx):
        say("Nothing was dropped.")
        return
    failures = {} if dry_run else _drop(chosen)
    if not dry_run:
        _sweep(runs_dir)
    gone = [each for each in chosen if each.run.path.name not in failures]
    freed, total = sum(each.run.size for each in gone), sum(run.size for run in runs)
    if as_json:
        dropped = [_as_json(each) for each in gone]
        figures = {"freed_bytes": freed, "left_bytes": total - freed, "left_runs": len(runs) - len(gone)}
        print_json({"dry_run": dry_run, "dropped": dropped, "failed": failures, **figures})
    else:
        verb = "would free" if dry_run else "freed"
        click.echo(f"{verb} {size_text(freed)} of {size_text(total)}: {len(gone):,} of {len(runs):,} runs")
    for name, why in failures.items():
        say(f"sonde: run {name} is kept: {why}")
    ctx.exit(5 if failures else 0)


def _look(path: Path) -> _Run | None:
    """Tell how a run stands by the last fact in its record; None if it is just being removed."""
    try:
        with Reader(path / FILE_NAME) as reader:
            last = reader.last()
    except JournalError:
        last = None
    unfinished = "unreadable" if last is None else "interrupted"
    status = last.fact.status if last is not None and isinstance(last.fact, RunFinished) else unfinished
    try:
        at = (path / "lock").stat().st_mtime if last is None else last.at
        return _Run(path, "running" if is_driven(path) else status, max(0.0, time.time() - at), _size(path))
    except FileNotFoundError:
        return None


def _size(folder: Path) -> int:
    """Return the bytes of all files, but for SQLite's scratch file, which reading alone makes."""
    files = (path for path in folder.rglob("*") if not path.name.endswith("-shm"))
    return sum(status.st_size for path in files if stat.S_ISREG((status := path.lstat()).st_mode))


def _old(runs: list[_Run], completed_s: float, others_s: float) -> Iterator[_Dropped]:
    for run in runs:
        limit = completed_s if run.status == "completed" else others_s
        if run.age_s > limit and run.status != "running":
            yield _Dropped(run, f"older than {span_text(limit)}")


def _too_large(runs: list[_Run], most: int) -> Iterator[_Dropped]:
    """Yield runs, the oldest first, until the rest fits; the newest stays."""
    left = sum(run.size for run in runs)
    for run in runs[:-1]:
        if left <= most:
            return
        if run.status != "running":
            left -= run.size
            yield _Dropped(run, "the oldest of too much")


def _is_sure(ctx: click.Context) -> bool:
    """Whether to go on: with a flag it was said, and a script cannot be asked."""
    said = any(ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE for name in _ASKING)
    return said or not sys.stdin.isatty() or click.confirm("Drop these runs for good?", err=True)


def _drop(chosen: list[_Dropped]) -> dict[str, str]:
    """Remove the folders and return what went wrong, by run. Each is held meanwhile, so that nobody resumes it."""
    failures: dict[str, str] = {}
    for each in chosen:
        path = each.run.path
        try:
            if path.is_symlink():
                raise RunChoiceError("it is a link to another place")
            _remove(path)
        except (OSError, RunChoiceError, JournalError) as error:
            failures[path.name] = str(error)
    return failures


def _remove(path: Path) -> None:
    folder = RunFolder.open(path)
    try:
        folder.journal.unlink(missing_ok=True)  # first: without it this is no run any more, should we be stopped here
        shutil.rmtree(path)
    finally:
        folder.release()


def _sweep(runs_dir: Path) -> None:
    """Remove what is left of runs that never began, or that an earlier `gc` did not remove to the end."""
    for lock in runs_dir.glob("*/lock"):
        folder = lock.parent
        is_old = time.time() - lock.stat().st_mtime > _NEVER_BEGAN_S
        if is_old and not (folder / FILE_NAME).exists() and not folder.is_symlink() and not is_driven(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _print_table(chosen: list[_Dropped]) -> None:
    for run, reason in chosen:
        line = f"{run.path.name:24} {run.status:11} {span_text(run.age_s):>5} {size_text(run.size):>10}  {reason}"
        click.echo(harmless(line))


def _as_json(dropped: _Dropped) -> dict[str, Any]:
    run = dropped.run
    return {
        "run_id": run.path.name,
        "status": run.status,
        "age_s": round(run.age_s),
        "bytes": run.size,
        "reason": dropped.reason,
    }
