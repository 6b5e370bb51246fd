"""`sonde export`: a run's record as files."""

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import IO

import click

from sonde.cli import options
from sonde.cli.output import print_json, say
from sonde.engine.folder import find, is_driven
from sonde.errors import JournalError, RunChoiceError, UsageError
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.record.training import Training
from sonde.record.write import COST, QUERY_PLAN, SUMMARY, write


@click.command(short_help="Write a run's record to files.")
@click.argument("run")
@click.option("--trajectory", metavar="FILE", help="One JSON line for each model call, to train on; - is stdout.")
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="The run's directory, to a folder.")
@options.runs_dir
@options.as_json
def export(run: str, trajectory: str | None, folder: Path | None, runs_dir: Path, as_json: bool) -> None:
    """Export RUN: an id, the beginning of one, or "last". Say what to with --trajectory or --dir, or both."""
    if trajectory is None and folder is None:
        raise UsageError("nothing is named to export to", "Give --trajectory FILE or --dir FOLDER.")
    if trajectory == "-" and as_json:
        raise UsageError("--trajectory - and --json both want stdout", "Leave one of them out.")
    path = find(runs_dir, run)
    told: dict[str, object] = {"run_id": path.name}
    if folder is not None:
        _check(folder, path)
        written = write(path / FILE_NAME, folder)
        told |= {"dir": str(folder), "complete": written.is_complete}
        say(f"{folder} holds the run's record" + ("" if written.is_complete else "; it has no final result"))
    if trajectory is not None:
        count = _export_calls(path, trajectory)
        told |= {"trajectory": trajectory, "lines": count}
        say(f"{count:,} model calls written" + ("" if trajectory == "-" else f" to {trajectory}"))
    if as_json:
        print_json(told)


def _check(folder: Path, run: Path) -> None:
    """Raise `UsageError` for a folder whose files are none of ours."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", "Name another.")
    if folder.exists() and folder.samefile(run):
        if is_driven(run):
            raise RunChoiceError(f"run {run.name} is being driven by another process", "Wait until it ends.")
        return
    try:
        held = {each.name for each in folder.iterdir()} if folder.exists() else set[str]()
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}", "Name another.") from error
    if held and not {QUERY_PLAN, SUMMARY, COST} <= held:
        raise UsageError(f"{folder} holds other files", "Name a folder that is empty or not there yet.")


def _export_calls(run: Path, to: str) -> int:
    count = 0
    try:
        with Reader(run / FILE_NAME) as reader, _opened(to) as file:
            training = Training(reader)
            for record in reader.records():
                for line in training.lines(record):
                    file.write(line + b"\n")
                    count += 1
    except OSError as error:
        raise JournalError(f"cannot write {to}: {error.strerror}", "Name another file, or make room.") from error
    return count


@contextlib.contextmanager
def _opened(to: str) -> Generator[IO[bytes]]:
    """Open a file for its owner alone, or stdout."""
    if to == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with os.fdopen(os.open(to, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        yield file
