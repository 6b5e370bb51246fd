"""`sonde ask`: answer a question over inputs of any size."""

from typing import Any

import click

from sonde.cli import options
from sonde.cli.drive import drive
from sonde.cli.specs import spec_of, surroundings_of
from sonde.engine.run import start


@click.command(short_help="Answer a question over inputs of any size.")
@click.argument("question")
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@options.profile
@options.models
@options.route
@options.orchestration
@options.interpreter
@options.limits
@options.schema
@options.running
@options.output
@click.pass_context
def ask(ctx: click.Context, /, question: str, inputs: tuple[str, ...], **given: Any) -> None:
    """Answer QUESTION over inputs of any size.

    An INPUT is a file, a folder, a quoted glob, NAME=PATH to name it, or - for standard input. Files that end in .gz
    or .zst are read through. The inputs stay outside the model: code looks into them and asks a model about the pieces.
    Small inputs, of less than some 5,000 tokens, go with the question instead.

    \b
    sonde ask "How many reviews complain about delivery?" reviews.csv --model openai:gpt-5.5
    zcat app.log.gz | sonde ask "What failed first?" - --model ollama:qwen3-coder
    sonde ask "Which modules touch the network?" src/ --model openai:NAME@http://127.0.0.1:8000/v1

    Exit codes: 0 completed, 2 usage error, 3 needs a person, 4 a limit was reached, 5 failed, 130 cancelled.
    """
    spec = options.routed(spec_of(question, inputs, given), given)
    around = surroundings_of(given)
    ctx.exit(drive(lambda place: start(spec, place), around, as_json=given["as_json"], quiet=given["quiet"]))
