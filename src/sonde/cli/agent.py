"""`sonde agent`: do a piece of work in a folder, with tools, code and subagents."""

from pathlib import Path
from typing import Any

import click
import msgspec

from sonde.cli import options
from sonde.cli.drive import drive
from sonde.cli.specs import spec_of, surroundings_of, with_presets
from sonde.engine.run import start


@click.command(short_help="Do a piece of work in a folder, with tools, code and subagents.")
@click.argument("prompt")
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@options.profile
@options.models
@options.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="Where it works; it cannot leave it.  [default: the working directory]",
)
@options.option("--agent", help="The kind of agent that works: one of --agents, or one that comes with Sonde.")
@options.orchestration
@options.interpreter
@options.limits
@options.schema
@options.running
@options.output
@click.pass_context
def agent(ctx: click.Context, /, prompt: str, inputs: tuple[str, ...], **given: Any) -> None:
    """Do what PROMPT says in a folder: read and change its files, run code, send subagents.

    Code runs in the interpreter, apart from the folder, and reaches the files only through the tools. An INPUT is what
    it is for `sonde ask`. The word "workflow" in the prompt has the work done from code.

    \b
    sonde agent "Run a workflow that reviews every file in src/ and tells the top risks." --model openai:gpt-5.5
    sonde agent "Analyze packages/" --agent rlm --model openai:gpt-5.5

    Exit codes: 0 completed, 2 usage error, 3 needs a person, 4 a limit was reached, 5 failed, 130 cancelled.
    """
    spec = spec_of(prompt, inputs, given)
    name = given["agent"]
    spec = msgspec.structs.replace(
        spec,
        mode="agent",
        folder=str(given["folder"].absolute()),
        role=name,
        subagents=with_presets(spec.subagents, name),
    )
    around = surroundings_of(given)
    ctx.exit(drive(lambda place: start(spec, place), around, as_json=given["as_json"], quiet=given["quiet"]))
