"""`sonde runs`: list the runs."""

import shutil
import time
from pathlib import Path
from typing import NamedTuple

import click

from sonde.cli import options
from sonde.cli.output import harmless, print_json, seconds
from sonde.engine.folder import is_driven, listed
from sonde.errors import JournalError
from sonde.events import RunFinished, RunStarted
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.spec import RunSpec


class _Row(NamedTuple):
    run_id: str
    status: str
    started: float
    span_s: float
    question: str


@click.command(short_help="List the runs.")
@options.runs_dir
@options.as_json
def runs(runs_dir: Path, as_json: bool) -> None:
    """List the runs, the newest last. `sonde show ID` tells more about one."""
    rows = [_row(path) for path in listed(runs_dir)]
    if as_json:
        print_json({"runs": [row._asdict() for row in rows]})
        return
    if not rows:
        click.echo(f"There are no runs in {runs_dir}.")
    width = shutil.get_terminal_size().columns
    for row in rows:
        began = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.started))
        line = f"{row.run_id}  {row.status:11}  {began}  {seconds(row.span_s):>12}  {' '.join(row.question.split())}"
        click.echo(harmless(line)[:width])


def _row(path: Path) -> _Row:
    """Read no more than the ends of the record, which may be long."""
    try:
        with Reader(path / FILE_NAME) as reader:
            first, last = reader.first(), reader.last()
    except JournalError as error:
        return _Row(path.name, "unreadable", 0.0, 0.0, str(error))
    if first is None or last is None or not isinstance(first.fact, RunStarted):
        return _Row(path.name, "empty", 0.0, 0.0, "")
    unfinished = "running" if is_driven(path) else "interrupted"
    status = last.fact.status if isinstance(last.fact, RunFinished) else unfinished
    question = RunSpec.from_json(first.fact.spec).question
    return _Row(path.name, status, first.at, last.at - first.at, question)
