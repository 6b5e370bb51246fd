"""`sonde run`: run a saved workflow."""

import json
from pathlib import Path
from typing import Any, cast

import click
import msgspec
from click.core import ParameterSource

from sonde.cli import options
from sonde.cli.drive import drive
from sonde.cli.output import harmless, print_json, say
from sonde.cli.specs import spec_of, surroundings_of
from sonde.engine.run import start
from sonde.errors import UsageError
from sonde.spec import RunSpec
from sonde.workflows.find import code_in, find, known, language_of
from sonde.workflows.meta import Workflow, read

MOST_CALLS, MOST_ITEMS = 1000, 4096


@click.command(short_help="Run a saved workflow.")
@click.argument("workflow", required=False)
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@options.profile
@options.option("--args", "args", help="What the workflow is given: a JSON object, or @FILE that holds one.")
@options.option("--max-items", type=click.IntRange(1), help=f"Items of one fan-out.  [default: {MOST_ITEMS}]")
@click.option("--list", "lists", is_flag=True, help="List the workflows that can be run by name, and leave.")
@click.option("--show", "--dry-run", "shows", is_flag=True, help="Show header, phases and code, and leave.")
@options.models
@options.orchestration
@options.interpreter
@options.limits
@options.schema
@options.running
@options.output
@click.pass_context
def run(ctx: click.Context, /, workflow: str | None, inputs: tuple[str, ...], **given: Any) -> None:
    """Run WORKFLOW over inputs: a .py or .js file, or the name of a saved one.

    Code takes the place of the root model: it sends the calls, and what it returns is the answer. Names are looked for
    in .sonde/workflows, in ~/.config/sonde/workflows, and among those that come with Sonde. An INPUT is what it is for
    `sonde ask`. A workflow may dispatch 1,000 calls unless --max-calls says otherwise.

    \b
    sonde run --list
    sonde run review-code src/ --args '{"focus": "security"}' --model openai:gpt-5.5
    sonde run triage.js tickets.jsonl --args @triage.json --model ollama:qwen3-coder --dry-run
    """
    if given["lists"]:
        _list(as_json=given["as_json"])
        return
    if workflow is None:
        raise UsageError("no workflow was named", "Give a file or a name; `sonde run --list` lists them.")
    found = find(workflow)
    if given["shows"]:
        _show(found, as_json=given["as_json"])
        return
    spec = _spec(ctx, found, inputs, given)
    if spec.approve is not None:
        say("\n".join(_header(found)))
    around = surroundings_of(given)._replace(workflows=code_in(lambda: language_of(spec.interpreter)))
    ctx.exit(drive(lambda place: start(spec, place), around, as_json=given["as_json"], quiet=given["quiet"]))


def _spec(ctx: click.Context, workflow: Workflow, inputs: tuple[str, ...], given: dict[str, Any]) -> RunSpec:
    args = _args(workflow, given["args"])
    spec = spec_of(workflow.meta.description, inputs, given)
    limits = spec.limits
    if given["max_calls"] is None:
        limits = msgspec.structs.replace(limits, max_calls=MOST_CALLS)
    return msgspec.structs.replace(
        spec,
        mode="workflow",
        workflow=workflow.code,
        args=args,
        most_items=given["max_items"] or MOST_ITEMS,
        limits=limits,
        interpreter=_interpreter(ctx, workflow, given["interpreter"]),
    )


def _interpreter(ctx: click.Context, workflow: Workflow, wanted: str | None) -> str | None:
    """Return what runs a workflow: what its language needs, whatever is usual for other runs. Raises `UsageError`."""
    if language_of(wanted) == workflow.language:
        return wanted
    if ctx.get_parameter_source("interpreter") is ParameterSource.COMMANDLINE:
        raise UsageError(f"{wanted} does not run {workflow.path}", "Leave --interpreter out.")
    return "javascript" if workflow.language == "javascript" else None


def _args(workflow: Workflow, text: str | None) -> Any:
    """Return what the workflow is given. Raises `UsageError` if that is not what its header tells."""
    args: Any = {} if text is None else _read_args(text)
    told = workflow.meta.args
    if told is None:
        return args
    if not isinstance(args, dict):
        raise UsageError(f"--args must be an object: {workflow.meta.name} takes {_names(told)}", 'Write {"NAME": …}.')
    given = cast("dict[str, Any]", args)
    missing = [name for name in workflow.meta.needed if given.get(name) is None]
    if missing:
        raise UsageError(
            f"{workflow.meta.name} needs the argument {missing[0]}: {told[missing[0]]}",
            f"Give --args '{json.dumps(dict.fromkeys(missing, '…'), ensure_ascii=False)}'.",
        )
    unknown = [name for name in given if name not in told]
    if unknown:
        raise UsageError(f"{workflow.meta.name} takes no argument {unknown[0]!r}", f"It takes {_names(told)}.")
    return given


def _read_args(text: str) -> Any:
    where = "--args"
    if text.startswith("@"):
        where = text[1:]
        try:
            text = Path(where).read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot read the arguments {where}: {error.strerror}", "Check the path.") from error
        except ValueError as error:
            raise UsageError(f"the arguments {where} are not UTF-8 text", "Mend the file.") from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: this is not JSON: {error}", "Write '{\"NAME\": …}', or @FILE.") from error


def _names(told: dict[str, str]) -> str:
    return ", ".join(told) or "none"


def _list(*, as_json: bool) -> None:
    rows: list[dict[str, str]] = []
    for each in known():
        try:
            about = read(each.path).meta.description
        except UsageError as error:
            about = f"cannot be read: {error.what}"
        rows.append({"name": each.name, "from": each.owner, "description": about, "path": str(each.path)})
    if as_json:
        print_json({"workflows": rows})
        return
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        click.echo(harmless(f"{row['name']:{width}}  {row['from']:7}  {row['description']}"))


def _show(workflow: Workflow, *, as_json: bool) -> None:
    meta = workflow.meta
    if as_json:
        told = {"path": str(workflow.path), "language": workflow.language, "meta": msgspec.to_builtins(meta)}
        print_json({**told, "code": workflow.code})
        return
    click.echo(harmless("\n".join((*_header(workflow), "", workflow.code.rstrip("\n")))))


def _header(workflow: Workflow) -> list[str]:
    """Return what a workflow says of itself, line by line."""
    meta = workflow.meta
    lines = [f"{meta.name}: {meta.description}", f"file: {workflow.path}"]
    lines += [f"when: {meta.when_to_use}"] if meta.when_to_use else []
    lines += [f"argument {name}: {about}" for name, about in (meta.args or {}).items()]
    for number, phase in enumerate(meta.phases, 1):
        detail = f": {phase.detail}" if phase.detail else ""
        model = f" ({phase.model})" if phase.model else ""
        lines.append(f"phase {number}. {phase.title}{detail}{model}")
    return lines
