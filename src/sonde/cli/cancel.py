"""`sonde cancel`: stop a live run from another terminal."""

import time
from pathlib import Path

import click

from sonde.cli import options
from sonde.cli.output import finish, say
from sonde.commands import Cancel
from sonde.engine.folder import find, is_driven
from sonde.engine.run import standing
from sonde.errors import RunChoiceError
from sonde.journal.inbox import put

_LOOK_S = 0.05
_LONGEST_S = 30.0


@click.command(short_help="Stop a run that another process drives.")
@click.argument("run")
@options.runs_dir
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: how the run stands.")
def cancel(run: str, runs_dir: Path, as_json: bool) -> None:
    """Stop RUN (an id, the beginning of one, or "last"), which another process drives, and wait until it has stopped.

    No new request is sent, those on the wire are broken off, and all that is finished is kept: `sonde resume` goes on.
    """
    path = find(runs_dir, run)
    if not is_driven(path):
        raise RunChoiceError(f"no process drives run {path.name}", "There is nothing to stop; `sonde runs` lists them.")
    put(path, Cancel())
    deadline = time.monotonic() + _LONGEST_S
    while is_driven(path):
        if time.monotonic() > deadline:
            raise RunChoiceError(f"run {path.name} has not stopped", "Stop its process: see `ps`.")
        time.sleep(_LOOK_S)
    if as_json:
        finish(standing(path), as_one_object=True)
    else:
        say(f"run {path.name} has stopped. Nothing finished is lost: sonde resume {path.name}")
