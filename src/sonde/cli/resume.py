"""`sonde resume`: go on with a run that was cut short."""

from pathlib import Path
from typing import Any

import click

from sonde.cli import options
from sonde.cli.drive import drive
from sonde.engine.folder import find
from sonde.engine.run import Surroundings
from sonde.engine.run import resume as take_up
from sonde.spec import Limits
from sonde.workflows.find import code_in, language_of_run


@click.command(short_help="Go on with a run that was cut short.")
@click.argument("run")
@options.option("--answer", help="What you say to the question that the run stopped with.")
@options.limits
@options.record
@options.runs_dir
@options.output
@click.pass_context
def resume(ctx: click.Context, /, run: str, **given: Any) -> None:
    """Go on with RUN (an id, the beginning of one, or "last") where it was cut short.

    What was finished is not paid for again: its results are taken from the run's record. A run that was completed
    only prints its answer again. A limit that is named here replaces the run's own; one that is not stays as it was.

    \b
    sonde resume last
    sonde resume last --max-usd 20
    sonde resume last --answer yes
    """
    runs_dir: Path = given["runs_dir"]
    path = find(runs_dir, run)
    limits = {name: given[name] for name in Limits.option_names()}
    around = Surroundings(
        runs_dir,
        answer=given["answer"],
        limits=limits,
        record=given["record"],
        workflows=code_in(lambda: language_of_run(path)),
    )
    ctx.exit(drive(lambda place: take_up(path, place), around, as_json=given["as_json"], quiet=given["quiet"]))
