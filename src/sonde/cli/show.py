"""`sonde show`: what a run did and what it took."""

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from sonde.cli import options
from sonde.cli.output import as_json as result_as_json
from sonde.cli.output import dollars, fault_line, harmless, print_json, seconds, usage_as_json
from sonde.engine.folder import find
from sonde.engine.result import Result
from sonde.engine.run import standing
from sonde.errors import RunChoiceError
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.spec import RunSpec
from sonde.views.summary import Summary
from sonde.views.tree import AgentNode, Step, Tree

_MARKS = {"ok": "✓", "completed": "✓", "failed": "✗", "error": "✗", "running": "…"}


@click.command(short_help="Show what a run did and what it took.")
@click.argument("run")
@click.option("--tree", "view", flag_value="tree", help="Its turns and cells, and what each cell called.")
@click.option("--cost", "view", flag_value="cost", help="Tokens and requests of each model.")
@options.runs_dir
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(run: str, view: str | None, runs_dir: Path, as_json: bool) -> None:
    """Show RUN: an id, the beginning of one, or "last". It may still be running."""
    path = find(runs_dir, run)
    summary, tree = Summary(), Tree()
    with Reader(path / FILE_NAME) as reader:
        for record in reader.records():
            summary.add(record)
            tree.add(record)
    if not summary.spec:
        raise RunChoiceError(
            f"run {path.name} has no beginning in its record", f"`sonde doctor {path.name}` tells more."
        )
    if view == "cost":
        costs = {
            name: {**usage_as_json(usage), "cost_usd": summary.costs.get(name)}
            for name, usage in summary.models.items()
        }
        lines = _cost_lines(summary)
        plain: object = {
            "run_id": summary.run_id,
            "cost_usd": summary.cost_usd,
            "models": costs,
            "unreported": {"tokens": summary.usage.unreported_tokens, "usd": summary.unreported_usd},
        }
    elif view == "tree":
        lines = _tree_lines(tree)
        plain = {
            "run_id": summary.run_id,
            "agents": [_agent_as_json(agent) for agent in tree.agents.values()],
        }
    else:
        result = standing(path)
        lines = _summary_lines(summary, result)
        plain = result_as_json(result)
    if as_json:
        print_json(plain)
    else:
        for line in lines:
            click.echo(harmless(line))


def _summary_lines(summary: Summary, result: Result) -> Iterator[str]:
    spec = RunSpec.from_json(summary.spec)
    yield f"run       {summary.run_id}"
    yield f"question  {spec.question}"
    yield f"status    {summary.status or 'not finished'}" + (f": {fault_line(summary.fault)}" if summary.fault else "")
    yield f"model     {spec.models.root}" + (f", below it {spec.models.sub}" if spec.models.sub else "")
    for each in summary.inputs[:10]:
        yield f"input     {each.source}: {each.chars:,} characters, {each.lines:,} lines"
    if len(summary.inputs) > 10:
        yield f"input     … and {len(summary.inputs) - 10:,} more"
    yield f"work      {summary.turns:,} turns, {summary.cells:,} cells, {result.calls.total:,} calls"
    yield (
        f"coverage  {summary.items:,} items: {summary.items_done:,} done, {summary.items_failed:,} failed, "
        f"{summary.items_open:,} under way"
    )
    calls, usage = result.calls, summary.usage
    yield f"calls     {calls.ok:,} ok, {calls.failed:,} failed, {calls.cached:,} answered from the record"
    yield f"usage     {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, {summary.retries:,} retries"
    yield f"cost      {dollars(summary.cost_usd)}"
    yield f"time      {seconds(summary.duration_s)} in {summary.lives:,} {'life' if summary.lives == 1 else 'lives'}"
    for message in summary.warnings[:10]:
        yield f"note      {message}"
    if result.answer is not None:
        answer = result.answer if isinstance(result.answer, str) else msgspec.json.encode(result.answer).decode()
        yield f"answer    {answer}"


def _cost_lines(summary: Summary) -> Iterator[str]:
    yield f"{'model':40} {'requests':>9} {'tokens in':>12} {'cached':>12} {'tokens out':>12} {'dollars':>12}"
    costs = [*((name, usage, summary.costs.get(name)) for name, usage in summary.models.items())]
    for name, usage, cost in [*costs, ("all", summary.usage, summary.cost_usd)]:
        yield (
            f"{name:40} {usage.requests:>9,} {usage.input_tokens:>12,} {usage.cached_tokens:>12,}"
            f" {usage.output_tokens:>12,} {dollars(cost):>12}"
        )
    if summary.usage.unreported_tokens:
        more = f" and {dollars(summary.unreported_usd)}" if summary.unreported_usd else ""
        yield f"not reported by any server: at the most {summary.usage.unreported_tokens:,} tokens{more} more"


def _tree_lines(tree: Tree) -> Iterator[str]:
    for agent in tree.agents.values():
        yield f"{_MARKS.get(agent.status, '·')} {agent.path} · {agent.model} · {agent.status}"
        for number, step in enumerate(agent.steps):
            last = number == len(agent.steps) - 1
            yield f"{'└─' if last else '├─'} {_step_line(step)}"
            for failure in step.failures:
                yield f"{'  ' if last else '│ '}    ✗ {failure}"


def _step_line(step: Step) -> str:
    parts = [f"{_MARKS.get(step.status, '·')} {step.kind} {step.number}", step.status]
    if step.ended is not None:
        parts.append(seconds(step.ended - step.began))
    if step.kind == "cell":
        total = step.calls.total()
        counts = ", ".join(f"{count:,} {status}" for status, count in step.calls.items())
        parts.append(f"{total:,} calls: {counts}" if total else "no calls")
    if step.usage.requests:
        parts.append(f"{step.usage.input_tokens:,} tokens in, {step.usage.output_tokens:,} out")
    if step.fault is not None:
        parts.append(f"{step.fault.kind}: {fault_line(step.fault)}".removeprefix(": "))
    return " · ".join(parts)


def _agent_as_json(agent: AgentNode) -> dict[str, object]:
    steps = [
        {
            "kind": step.kind,
            "number": step.number,
            "status": step.status,
            "duration_s": None if step.ended is None else round(step.ended - step.began, 3),
            "usage": usage_as_json(step.usage),
            "calls": dict(step.calls),
            "failures": step.failures,
            "error": None if step.fault is None else step.fault.message,
        }
        for step in agent.steps
    ]
    return {"agent": agent.path, "model": agent.model, "status": agent.status, "steps": steps}
