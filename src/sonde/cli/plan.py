"""`sonde plan`: what a question would take, without sending anything."""

from typing import Any

import click

from sonde.cli import options
from sonde.cli.output import dollars, print_json, say
from sonde.cli.specs import spec_of
from sonde.documents.attach import opened
from sonde.engine.estimate import estimate, large
from sonde.models.prices import prices_for


@click.command(short_help="Tell what a question would take; send nothing.")
@click.argument("question")
@click.argument("inputs", nargs=-1, metavar="INPUT...", required=True)
@options.profile
@options.models
@options.route
@options.orchestration
@options.interpreter
@options.limits
@options.schema
@options.running
@options.output
def plan(question: str, inputs: tuple[str, ...], **given: Any) -> None:
    """Tell what answering QUESTION over INPUTs would come to: the inputs, the route, pieces, requests, tokens, dollars.

    It is a guess from the sizes, for a run that asks about every piece once. Nothing is sent.

    \b
    sonde plan "What do customers complain about?" calls/ --model openai:gpt-5.5
    """
    spec = options.routed(spec_of(question, inputs, given), given)
    with opened(inputs, strict=spec.strict) as attached:
        guess = estimate(spec, attached, prices_for(spec.price))
        told = [(each.name, each.mark.size, each.found.blocks.chars[-1]) for each in attached.all]
    for note in attached.notes:
        say(f"sonde: note: {note}")
    if given["as_json"]:
        listed = [{"name": name, "bytes": size, "chars": chars} for name, size, chars in told]
        print_json({"inputs": listed, **guess._asdict(), "tokens": guess.tokens})
        return
    click.echo(
        f"inputs    {len(told):,}, {sum(chars for *_, chars in told):,} characters, some {guess.input_tokens:,} tokens"
    )
    click.echo(f"route     {guess.route}")
    click.echo(f"pieces    {guess.pieces:,}")
    click.echo(f"requests  some {guess.requests:,}")
    click.echo(f"tokens    some {guess.tokens_in:,} in, {guess.tokens_out:,} out")
    click.echo(f"cost      {dollars(guess.dollars)}; all in one request: {dollars(guess.baseline_dollars)}")
    if note := large(spec, guess):
        say(f"sonde: note: {note}")
