"""`sonde fanout`: ask the same question about each piece of the inputs."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import click
import msgspec

from sonde.cli import options
from sonde.cli.blocks import code_of
from sonde.cli.output import say
from sonde.cli.specs import surroundings_of
from sonde.cli.spread import (
    AT_ONCE,
    calls_for,
    confirmed,
    costs,
    driven,
    failed,
    looked_at,
    window,
    workflow_of,
)
from sonde.documents.attach import Inputs
from sonde.documents.cut import STRATEGIES, cut, plan
from sonde.engine.estimate import PROMPT_TOKENS, REPLY_TOKENS
from sonde.engine.opening import PIECE_CHARS
from sonde.engine.result import Result
from sonde.engine.run import start
from sonde.errors import RunCancelled
from sonde.spec import CHARS_PER_TOKEN, RunSpec

BUDGET = 500_000
_LISTED = 20


class Piece(NamedTuple):
    """A piece of an input: its lines, and its characters from `start` up to `end`."""

    file: str
    first_line: int
    last_line: int
    start: int
    end: int


@click.command(short_help="Ask the same question about each piece of the inputs.")
@click.argument("question")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.profile
@options.models
@options.option(
    "--strategy", type=click.Choice(STRATEGIES), default="semantic", help="Where to cut.  [default: semantic]"
)
@options.option("--size", type=int, help="Lines of a piece, at most.  [default: so that it has some 30,000 characters]")
@options.option("--overlap", type=int, help="Lines that two neighbours share.  [default: as for `sonde chunk`]")
@options.option("--synthesize/--no-synthesize", default=True, help="Make one answer of all.  [default: yes]")
@window
@options.option(
    "--depth",
    type=click.IntRange(1, 3),
    default=3,
    show_default=True,
    help="Rounds of the synthesis, at most, where one window does not hold all results.",
)
@options.option("--budget", type=int, help=f"Tokens of the whole run: the same as --max-tokens.  [default: {BUDGET:,}]")
@options.limits
@options.running
@options.output
@click.pass_context
def fanout(ctx: click.Context, /, question: str, inputs: tuple[str, ...], **given: Any) -> None:
    """Ask QUESTION about each piece of each INPUT, and make one answer of what is found.

    The inputs are cut as `sonde chunk` cuts them. Each piece is asked about once, four at a time (--concurrency).
    Those in which nothing was found are listed, and so are those that failed. Then one answer is made of the results;
    each claim in it names the file and the lines it rests on. If the results are more than one window holds, parts of
    them are put together first, then what that gave.

    \b
    sonde fanout "Where is a password logged?" src/ --model openai:gpt-5.5
    sonde fanout "Which clauses limit liability?" contract.md --strategy by_section --model ollama:qwen3
    sonde fanout "What failed?" big.log --size 500 --no-synthesize --json --model openai:gpt-5.5

    A run that was cut short, or met its budget, goes on with `sonde resume`: nothing finished is paid again.

    Exit codes: 0 completed, 2 usage error, 4 a limit was reached, 5 failed (also if every piece did), 130 cancelled.
    """
    around = surroundings_of(given)
    with looked_at(inputs, strict=given["strict"]) as attached:
        pieces = list(pieces_of(attached, given))
    spec = _spec(question, inputs, given, pieces)
    if (note := _too_much(spec, pieces)) and not confirmed(note, around):
        raise RunCancelled("the run was not started")
    as_json = given["as_json"]

    def shown(result: Result) -> Result:
        told = result.answer
        if told is None:
            return result
        if told["failed"] and len(told["failed"]) == len(pieces):
            result = failed(result, f"all {len(pieces):,} pieces failed; the first: {told['failed'][0]['error']}")
        return result if as_json else msgspec.structs.replace(result, answer=_as_text(told))

    code, result = driven(lambda place: start(spec, place), shown, around, given)
    if result is not None and not given["quiet"]:
        say(f"{len(pieces):,} pieces; {costs(result)}")
    ctx.exit(code)


def pieces_of(inputs: Inputs, given: dict[str, Any]) -> Iterator[Piece]:
    """Yield the pieces of all inputs. One that is much longer than it should be, for its long lines, is divided."""
    size, most = given["size"], given["window"] // 2 * CHARS_PER_TOKEN
    if size is None:
        chars = sum(len(document) for document in inputs.documents)
        lines = sum(document.line_count for document in inputs.documents)
        target = min(PIECE_CHARS, most // 2)
        size, most = max(1, target * lines // max(1, chars)), 2 * target
    how = plan(given["strategy"], size, given["overlap"])
    for document, attached in zip(inputs.documents, inputs.all, strict=True):
        end = 0
        for first, last, overlap, *_, text in cut(document, how):
            end += len(text) - sum(len(line) + 1 for line in text.split("\n")[:overlap])
            yield from _divided(Piece(attached.name, first, last, end - len(text), end), text, most)


def _divided(piece: Piece, text: str, most: int) -> Iterator[Piece]:
    """Yield a piece, or parts of it that hold at most so many characters: they end with lines, where those do."""
    at, first = 0, piece.first_line
    while len(text) - at > most:
        end = text.rfind("\n", at, at + most) + 1 or at + most
        ends_line = text[end - 1] == "\n"
        last = first + text.count("\n", at, end) - ends_line
        yield Piece(piece.file, first, last, piece.start + at, piece.start + end)
        at, first = end, last + ends_line
    yield piece._replace(first_line=first, start=piece.start + at)


def _spec(question: str, inputs: tuple[str, ...], given: dict[str, Any], pieces: list[Piece]) -> RunSpec:
    concurrency = given["concurrency"] or AT_ONCE
    budget = given["budget"] or given["max_tokens"] or BUDGET
    calls = given["max_calls"] or calls_for(len(pieces))
    limits = {"concurrency": concurrency, "max_tokens": budget, "max_calls": calls}
    spec = workflow_of(question, inputs, given, limits, code_of("spread", "fanout"))
    args = {
        "verb": "fanout",
        "question": question,
        "pieces": [list(piece) for piece in pieces],
        "synthesize": given["synthesize"],
        "window": given["window"],
        "depth": given["depth"],
        "at_once": 2 * concurrency,
    }
    return msgspec.structs.replace(spec, args=args)


def _too_much(spec: RunSpec, pieces: list[Piece]) -> str:
    """Return what is to be said if the budget surely does not do; else nothing."""
    tokens = sum((piece.end - piece.start) // CHARS_PER_TOKEN + (PROMPT_TOKENS + REPLY_TOKENS) for piece in pieces)
    budget = spec.limits.max_tokens or math.inf
    if tokens <= budget:
        return ""
    return (
        f"{len(pieces):,} pieces take some {tokens:,} tokens, and the budget of {budget:,} ends before that "
        "(--budget, --max-tokens)"
    )


def _as_text(told: dict[str, Any]) -> str:
    """Return what was found as people read it."""
    lines: list[str] = []
    if told["answer"] is not None:
        lines += [told["answer"], ""]
    if not told["results"]:
        lines += ["Nothing was found.", ""]
    if told["results"]:
        lines.append(f"Found in {len(told['results']):,} pieces:")
        for each in told["results"]:
            at = ", ".join(map(str, each["relevant_lines"])) or "not said"
            lines += [f"  {_place(each)}  {each['confidence']}, lines {at}", *_indented(each["answer"])]
    for title, key in (("Without a match", "without_match"), ("Failed", "failed")):
        listed = told[key]
        if listed:
            lines.append(f"{title}: {len(listed):,} pieces")
        for each in listed if key == "failed" else listed[:_LISTED]:
            lines.append(f"  {_place(each)}" + (f"  {each['error']}" if "error" in each else ""))
        if key != "failed" and len(listed) > _LISTED:
            lines.append(f"  and {len(listed) - _LISTED:,} more, all of which --json lists")
    lines += [f"Note: {note}" for note in told["notes"]]
    return "\n".join(lines).rstrip()


def _place(each: dict[str, Any]) -> str:
    return f"{each['file']}:{each['first_line']}-{each['last_line']}"


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]
