"""`sonde resume`: go on with a run that was cut short."""

from pathlib import Path

import click

from sonde.cli import options
from sonde.cli.drive import drive
from sonde.engine.folder import find
from sonde.engine.run import Surroundings
from sonde.engine.run import resume as take_up


@click.command(short_help="Go on with a run that was cut short.")
@click.argument("run")
@options.runs_dir
@options.output
@click.pass_context
def resume(ctx: click.Context, /, run: str, runs_dir: Path, as_json: bool, quiet: bool) -> None:
    """Go on with RUN (an id, the beginning of one, or "last") where it was cut short.

    What was finished is not paid for again: its results are taken from the run's record. A run that was completed
    only prints its answer again.
    """
    path = find(runs_dir, run)
    ctx.exit(drive(lambda place: take_up(path, place), Surroundings(runs_dir), as_json=as_json, quiet=quiet))
