"""`sonde batch`: ask about each file on its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import click
import msgspec
from click.core import ParameterSource

from sonde.cli import batch_files, options
from sonde.cli.blocks import code_of
from sonde.cli.drive import Work
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
from sonde.documents.find import why_not
from sonde.documents.manifest import digest_of
from sonde.engine.estimate import PROMPT_TOKENS, REPLY_TOKENS
from sonde.engine.folder import find, new_id
from sonde.engine.result import Result
from sonde.engine.run import Surroundings, start
from sonde.engine.run import resume as take_up
from sonde.errors import InputError, RunCancelled, RunChoiceError, UsageError
from sonde.events import RunStarted, Usage
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.models.prices import prices_for
from sonde.spec import CHARS_PER_TOKEN, Limits, RunSpec

MOST_PARALLEL = 7
_ASK_ABOVE_USD = 1.0
_HASH_CHARS = 16
_PASSED_OVER = {"binary": "it is binary, not text", "empty": "it is empty", "unreadable": "it cannot be read"}


@click.command(short_help="Ask about each file on its own.")
@click.argument("prompt", required=False)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@options.profile
@options.models
@options.option(
    "--output-dir", type=click.Path(path_type=Path, file_okay=False), help="For the results.  [default: batch-RUN]"
)
@options.option(
    "--aggregate",
    type=click.Choice(["concat", "merge", "summarize"]),
    default="concat",
    show_default=True,
    help="All results under the names of their files; or their lines, each once and sorted; or a summary of them.",
)
@options.option(
    "--max-parallel",
    type=click.IntRange(1),
    default=AT_ONCE,
    show_default=True,
    help=f"Files that are asked about at once; at most {MOST_PARALLEL}.",
)
@options.option("--require-citations", is_flag=True, help="Take only answers that cite file and lines for each claim.")
@options.option("--no-cache", is_flag=True, help="Ask again what an earlier batch has asked, and keep no answers.")
@options.option("--cache-only", is_flag=True, help="Send nothing: a file that was not asked about before is an error.")
@window
@options.option("--force", is_flag=True, help="Do not ask before a batch that may cost more than $1.")
@click.option("--resume", "resumed", metavar="RUN", help="Go on with a batch that was cut short, and write its files.")
@options.limits
@options.running
@options.output
@click.pass_context
def batch(ctx: click.Context, /, prompt: str | None, inputs: tuple[str, ...], **given: Any) -> None:
    """Ask PROMPT about each file that an INPUT means, one request a file, and write the answers to files.

    An INPUT is a file, a folder, a quoted glob, NAME=PATH, or -. {file} in PROMPT stands for the file's name. Binary
    and empty files are passed over, and a file that fails does not stop the others: both are listed. A file that takes
    more than half of --window is not sent: `sonde fanout` cuts it up.

    \b
    sonde batch "What does {file} do? One sentence." "src/**/*.py" --model openai:gpt-5.5
    sonde batch "List the obligations." contracts/ --aggregate summarize --require-citations --model openai:gpt-5.5
    sonde batch --resume last

    The folder gets NAME.result.md for each file, aggregate.md, and report.md with the status: SUCCESS, PARTIAL or
    FAILED. Answers are kept: the same prompt about the same content, asked of the same model, costs nothing the next
    time.

    Exit codes: 0 completed (also PARTIAL), 2 usage error, 4 a limit was reached, 5 no file succeeded, or one is not in
    the cache under --cache-only; 130 cancelled.
    """
    if given["resumed"] is not None:
        if prompt is not None:
            raise UsageError("--resume goes on with a batch as it was begun", "Leave out the prompt and the inputs.")
        ctx.exit(_resume(ctx, given))
    if prompt is None or not inputs:
        raise UsageError("a batch needs a prompt and inputs", 'Write sonde batch "PROMPT" INPUT…, or --resume RUN.')
    ctx.exit(_begin(prompt, inputs, given))


def _begin(prompt: str, inputs: tuple[str, ...], given: Mapping[str, Any]) -> int:
    """Run a batch and return the exit code."""
    _check(given)
    around = surroundings_of(given)
    around = around._replace(run_id=around.run_id or new_id())
    readable, refused = _readable(inputs)
    with looked_at(readable, strict=given["strict"]) as attached:
        files = _files_of(attached, given["window"]) + refused
    folder = given["output_dir"] or Path(f"batch-{around.run_id}")
    spec = _spec(prompt, readable, given, files, folder)
    around = _confirmed(spec, around, given)
    batch_files.make(folder)
    try:
        return _driven(lambda place: start(spec, place), spec, around, given)
    finally:
        batch_files.drop_if_empty(folder)


def _resume(ctx: click.Context, given: Mapping[str, Any]) -> int:
    path = find(given["runs_dir"], given["resumed"])
    spec = _spec_in(path)
    said = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    limits = {name: given[name] for name in Limits.option_names() if ctx.get_parameter_source(name) in said}
    around = Surroundings(given["runs_dir"], path.name, limits=limits, record=given["record"])
    batch_files.make(Path(spec.args["folder"]))
    return _driven(lambda place: take_up(path, place), spec, around, given)


def _driven(work: Work, spec: RunSpec, around: Surroundings, given: Mapping[str, Any]) -> int:
    """Drive a batch, write its files, and return the exit code."""

    def shown(result: Result) -> Result:
        if result.answer is None:
            return result
        told = batch_files.write(result, spec)
        if spec.cache_only and told["missed"]:
            names = ", ".join(told["missed"])
            result = failed(result, f"not in the cache: {names}. Nothing was sent. Leave out --cache-only to ask.")
        elif told["status"] == "FAILED":
            first = next(each["error"] for each in told["files"] if each["error"])
            result = failed(result, f"none of {len(told['files']):,} files succeeded; the first: {first}")
        shown = told if given["as_json"] else batch_files.as_text(told)
        return msgspec.structs.replace(result, answer=shown)

    code, result = driven(work, shown, around, given)
    if result is None or result.answer is None:
        say(f"Its files are written by: sonde batch --resume {around.run_id}")
    else:
        if given["as_json"] and result.status == "completed" and result.answer["status"] == "PARTIAL":
            say("sonde: note: PARTIAL: not all of it succeeded")
        if not given["quiet"]:
            say(costs(result))
    return code


def _check(given: Mapping[str, Any]) -> None:
    if given["no_cache"] and given["cache_only"]:
        raise UsageError("--no-cache and --cache-only exclude each other", "Leave one out.")
    if given["max_parallel"] > MOST_PARALLEL:
        say(f"sonde: note: --max-parallel {given['max_parallel']}: {MOST_PARALLEL} files at once is the most")


def _readable(inputs: tuple[str, ...]) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Return the inputs without the files that cannot be asked about, which a shell's `*` may name too; and those."""
    readable: list[str] = []
    refused: list[dict[str, Any]] = []
    for each in inputs:
        reason = why_not(str(Path(each).resolve())) if Path(each).is_file() else None
        if reason in _PASSED_OVER:
            refused.append(
                {"name": "", "file": each, "hash": "", "lines": 0, "chars": 0, "error": _PASSED_OVER[reason]}
            )
        else:
            readable.append(each)
    if not readable:
        raise InputError(f"{refused[0]['file']} cannot be asked about: {refused[0]['error']}", "Name text files.")
    return tuple(readable), refused


def _files_of(attached: Inputs, window: int) -> list[dict[str, Any]]:
    """Return what the workflow is told of each file: an error for one that is too large for one request."""
    told: list[dict[str, Any]] = []
    for note in attached.notes:
        say(f"sonde: note: {note}")
    for each, document in zip(attached.all, attached.documents, strict=True):
        file = "stdin" if each.source == "standard input" else each.source
        about: dict[str, Any] = {"name": each.name, "file": file, "hash": digest_of(document)[:_HASH_CHARS]}
        about |= {"lines": document.line_count, "chars": len(document)}
        tokens = len(document) // CHARS_PER_TOKEN
        if tokens > window // 2:
            size = f"it has some {tokens:,} tokens, more than half of --window {window:,}"
            about["error"] = f"{size}; `sonde fanout QUESTION {file}` cuts it up"
        told.append(about)
    return told


def _spec(
    prompt: str, inputs: tuple[str, ...], given: Mapping[str, Any], files: list[dict[str, Any]], folder: Path
) -> RunSpec:
    at_once = min(given["max_parallel"], MOST_PARALLEL, given["concurrency"] or MOST_PARALLEL)
    limits = {"concurrency": at_once, "max_calls": given["max_calls"] or calls_for(len(files))}
    spec = workflow_of(prompt, inputs, given, limits, code_of("spread", "batch"))
    args = {
        "verb": "batch",
        "prompt": prompt,
        "files": [about | {"number": number} for number, about in enumerate(files)],
        "aggregate": given["aggregate"],
        "citations": given["require_citations"],
        "window": given["window"],
        "at_once": 2 * at_once,
        "folder": str(folder.absolute()),
    }
    return msgspec.structs.replace(spec, args=args, cache=not given["no_cache"], cache_only=given["cache_only"])


def _confirmed(spec: RunSpec, around: Surroundings, given: Mapping[str, Any]) -> Surroundings:
    """Ask about a batch that may cost much, and return what the run finds around it: it is not asked twice. Raises
    `RunCancelled` if somebody does not want it."""
    dollars = _dollars(spec)
    if dollars <= _ASK_ABOVE_USD or spec.cache_only:
        return around
    if given["force"]:
        return around._replace(confirm=None)
    if not confirmed(f"this may cost some ${dollars:,.2f}, less what is in the cache", around):
        raise RunCancelled("the batch was not started")
    return around._replace(confirm=None)


def _dollars(spec: RunSpec) -> float:
    """Return what a batch may cost; 0 if no price is known."""
    price = prices_for(spec.price)(spec.models.sub or spec.models.root)
    sizes = [about["chars"] // CHARS_PER_TOKEN for about in spec.args["files"] if "error" not in about]
    if price is None:
        return 0.0
    dollars = sum(price.cost(Usage(size + PROMPT_TOKENS, REPLY_TOKENS)) for size in sizes)
    if spec.args["aggregate"] == "summarize":
        dollars += price.cost(Usage(len(sizes) * REPLY_TOKENS, REPLY_TOKENS))
    return dollars


def _spec_in(path: Path) -> RunSpec:
    """Return what a batch was asked to do. Raises `RunChoiceError` if the run is none."""
    with Reader(path / FILE_NAME) as reader:
        first = next((record.fact for record in reader.records() if isinstance(record.fact, RunStarted)), None)
    spec = None if first is None else RunSpec.from_json(first.spec)
    args: Any = None if spec is None else spec.args
    if spec is None or not isinstance(args, dict) or cast("dict[str, Any]", args).get("verb") != "batch":
        raise RunChoiceError(f"run {path.name} is no batch", "`sonde resume` goes on with all others.")
    return spec
