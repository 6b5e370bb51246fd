"""`sonde show`: what a run did and what it took."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from sonde import jsontext
from sonde.cli import options
from sonde.cli.output import as_json as result_as_json
from sonde.cli.output import dollars, fault_line, harmless, seconds, usage_as_json
from sonde.cli.show_calls import call_lines, calls_as_json, cell_lines, cells_as_json
from sonde.cli.show_session import session_as_json, session_lines, session_of
from sonde.engine.folder import find
from sonde.engine.result import Result, result_of
from sonde.errors import RunChoiceError, UsageError
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.record.cost import direct
from sonde.record.plan import Plan
from sonde.record.session import SessionName, read_reference
from sonde.record.summary import coverage_as_json, limits_as_json, now_of
from sonde.spec import RunSpec
from sonde.views.costs import Costs
from sonde.views.phases import Phase, Phases
from sonde.views.summary import Summary
from sonde.views.tree import AgentNode, Step, Tree

_MARKS = {"ok": "✓", "completed": "✓", "failed": "✗", "error": "✗", "running": "…"}


@click.command(short_help="Show what a run did and what it took.")
@click.argument("run")
@click.option("--tree", "view", flag_value="tree", help="Its agents, their turns and cells, and what each called.")
@click.option("--cost", "view", flag_value="cost", help="Tokens and requests of each model.")
@click.option("--calls", "view", flag_value="calls", help="Each piece of work that code dispatched, and the ledger.")
@click.option("--failed", "only_failed", is_flag=True, help="With --calls: only what failed.")
@click.option("--cells", "view", flag_value="cells", help="The code that ran, what it printed and came to.")
@click.option("--plan", "view", flag_value="plan", help="What was asked, the phases, the way the run went about it.")
@options.runs_dir
@options.as_json
def show(run: str, view: str | None, only_failed: bool, runs_dir: Path, as_json: bool) -> None:
    """Show RUN: an id, the beginning of one, or "last". It may still be running.

    A subagent is named by the reference that sent it: `sonde show session://RUN/CALL` prints what it was told and said.
    """
    if (name := read_reference(run)) is not None:
        if view is not None or only_failed:
            raise UsageError("a session has one view", "Leave the other flags out.")
        _show_session(name, runs_dir, as_json=as_json)
        return
    if only_failed and view not in {None, "calls"}:
        raise UsageError("--failed goes with --calls", "Leave one of them out.")
    view = "calls" if only_failed else view
    path = find(runs_dir, run)
    with Reader(path / FILE_NAME) as reader:
        folds = _Folds(reader)
        if not folds.summary.spec:
            raise RunChoiceError(
                f"run {path.name} has no beginning in its record", f"`sonde doctor {path.name}` tells more."
            )
        if as_json:
            for part in _json_parts(view, folds, path, only_failed=only_failed):
                click.echo(part, nl=False)
            click.echo()
            return
        for line in _lines(view, folds, path, only_failed=only_failed):
            click.echo(harmless(line))


def _show_session(name: SessionName, runs_dir: Path, *, as_json: bool) -> None:
    path = find(runs_dir, name.run)
    name = name._replace(run=path.name)
    with Reader(path / FILE_NAME) as reader:
        session = session_of(name, reader)
        if as_json:
            click.echo(session_as_json(name, session, reader))
            return
        for line in session_lines(name, session, reader):
            click.echo(harmless(line))


class _Folds:
    """What a run comes to."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.summary, self.tree, self.phases, self.plan, self.costs = Summary(), Tree(), Phases(), Plan(), Costs()
        for record in reader.records():
            for fold in (self.summary, self.tree, self.phases, self.plan, self.costs):
                fold.add(record)


def _lines(view: str | None, folds: _Folds, path: Path, *, only_failed: bool) -> Iterable[str]:
    match view:
        case "cost":
            return _cost_lines(folds)
        case "tree":
            return _tree_lines(folds.tree)
        case "calls":
            return call_lines(folds.reader, folds.summary, only_failed=only_failed)
        case "cells":
            return cell_lines(folds.reader)
        case "plan":
            return folds.plan.as_lines(folds.summary, folds.phases, folds.reader)
        case _:
            return _summary_lines(folds, result_of(folds.summary, folds.reader, path))


def _json_parts(view: str | None, folds: _Folds, path: Path, *, only_failed: bool) -> Iterable[str]:
    """Return the parts of one JSON object."""
    reader, summary = folds.reader, folds.summary
    match view:
        case "calls":
            return calls_as_json(reader, coverage_as_json(summary.coverage, reader), only_failed=only_failed)
        case "cells":
            return cells_as_json(reader)
        case "cost":
            plain: object = _cost_as_json(folds)
        case "tree":
            agents = [_agent_as_json(agent) for agent in folds.tree.agents.values()]
            plain = {"run_id": summary.run_id, "agents": agents}
        case "plan":
            plain = _plan_as_json(folds)
        case _:
            plain = result_as_json(result_of(summary, reader, path.absolute()))
    return [json.dumps(plain)]


def _cost_as_json(folds: _Folds) -> dict[str, object]:
    summary = folds.summary
    costs = {name: {**usage_as_json(total.usage), "cost_usd": total.cost_usd} for name, total in summary.models.items()}
    return {
        "run_id": summary.run_id,
        "cost_usd": summary.cost_usd,
        "models": costs,
        "unreported": {"tokens": summary.usage.unreported_tokens, "usd": summary.unreported_usd},
        "baseline": direct(summary, folds.costs, RunSpec.from_json(summary.spec)),
    }


def _plan_as_json(folds: _Folds) -> dict[str, object]:
    summary = folds.summary
    spec = RunSpec.from_json(summary.spec)
    return {
        "run_id": summary.run_id,
        "question": spec.question,
        "inputs": [{"source": each.source, "chars": each.chars, "lines": each.lines} for each in summary.inputs],
        "limits": limits_as_json(now_of(summary, spec)),
        "phases": [phase._asdict() for phase in (*folds.phases.all, *folds.phases.named.all)],
        "calls": dict(folds.plan.calls),
    }


def _summary_lines(folds: _Folds, result: Result) -> Iterator[str]:
    summary = folds.summary
    spec = RunSpec.from_json(summary.spec)
    yield f"run       {summary.run_id}"
    yield f"question  {spec.question}"
    yield f"status    {summary.status or 'not finished'}" + (f": {fault_line(summary.fault)}" if summary.fault else "")
    yield f"model     {spec.models.root}" + (f", below it {spec.models.sub}" if spec.models.sub else "")
    for each in summary.inputs[:10]:
        yield f"input     {each.source}: {each.chars:,} characters, {each.lines:,} lines"
    if len(summary.inputs) > 10:
        yield f"input     … and {len(summary.inputs) - 10:,} more"
    agents = f", {summary.subagents:,} subagents to depth {summary.max_depth}" if summary.subagents else ""
    yield f"work      {summary.turns:,} turns, {summary.cells:,} cells, {result.calls.total:,} calls{agents}"
    items = summary.coverage
    yield f"coverage  {items.items:,} items: {items.done:,} done, {items.failed:,} failed, {items.open:,} under way"
    calls, usage = result.calls, summary.usage
    yield f"calls     {calls.ok:,} ok, {calls.failed:,} failed, {calls.cached:,} answered from the record"
    yield f"usage     {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, {summary.retries:,} retries"
    yield f"cost      {dollars(summary.cost_usd)}"
    if phases := ", ".join(_phase_words(phase) for phase in folds.phases.all):
        yield f"phases    {phases}"
    yield f"time      {seconds(summary.duration_s)} in {summary.lives:,} {'life' if summary.lives == 1 else 'lives'}"
    for message in summary.warnings[:10]:
        yield f"note      {message}"
    if summary.asks is not None:
        yield f"asks      {summary.asks.question}"
    if result.answer is not None:
        answer = result.answer if isinstance(result.answer, str) else jsontext.encode(result.answer).decode()
        yield f"answer    {answer}"


def _phase_words(phase: Phase) -> str:
    return f"{phase.name} " + ("under way" if phase.ended is None else seconds(phase.ended - phase.began))


def _cost_lines(folds: _Folds) -> Iterator[str]:
    summary = folds.summary
    yield f"{'model':40} {'requests':>9} {'tokens in':>12} {'cached':>12} {'tokens out':>12} {'dollars':>12}"
    costs = [(name, total.usage, total.cost_usd) for name, total in summary.models.items()]
    for name, usage, cost in [*costs, ("all", summary.usage, summary.cost_usd)]:
        yield (
            f"{name:40} {usage.requests:>9,} {usage.input_tokens:>12,} {usage.cached_tokens:>12,}"
            f" {usage.output_tokens:>12,} {dollars(cost):>12}"
        )
    if summary.usage.unreported_tokens:
        more = f" and {dollars(summary.unreported_usd)}" if summary.unreported_usd else ""
        yield f"not reported by any server: at the most {summary.usage.unreported_tokens:,} tokens{more} more"


def _tree_lines(tree: Tree) -> Iterator[str]:
    """Yield the agents, each indented below the one that asked for it."""
    waiting = [(node, "") for node in reversed(tree.children(""))]
    while waiting:
        agent, indent = waiting.pop()
        role = f" · {agent.role}" if agent.role not in {"", "root"} else ""
        yield f"{indent}{_MARKS.get(agent.status, '·')} {agent.path}{role} · {agent.model} · {agent.status}"
        for number, step in enumerate(agent.steps):
            last = number == len(agent.steps) - 1
            yield f"{indent}{'└─' if last else '├─'} {_step_line(step)}"
            for failure in step.failures:
                yield f"{indent}{'  ' if last else '│ '}    ✗ {failure}"
        waiting += [(node, f"{indent}   ") for node in reversed(tree.children(agent.path))]


def _step_line(step: Step) -> str:
    parts = [f"{_MARKS.get(step.status, '·')} {step.kind} {step.number}", step.status]
    if step.ended is not None:
        parts.append(seconds(step.ended - step.began))
    if step.kind == "cell":
        total = step.calls.total()
        counts = ", ".join(f"{count:,} {status}" for status, count in step.calls.items())
        parts.append(f"{total:,} calls: {counts}{_kinds(step)}" if total else "no calls")
    if step.usage.requests:
        parts.append(f"{step.usage.input_tokens:,} tokens in, {step.usage.output_tokens:,} out")
    if step.fault is not None:
        parts.append(f"{step.fault.kind}: {fault_line(step.fault)}".removeprefix(": "))
    return " · ".join(parts)


def _kinds(step: Step) -> str:
    """Return what was called, where it was not `llm` alone."""
    if set(step.functions) <= {"llm"}:
        return ""
    return f" ({', '.join(f'{count:,} {function}' for function, count in sorted(step.functions.items()))})"


def _agent_as_json(agent: AgentNode) -> dict[str, object]:
    steps = [
        {
            "kind": step.kind,
            "number": step.number,
            "status": step.status,
            "duration_s": None if step.ended is None else round(step.ended - step.began, 3),
            "usage": usage_as_json(step.usage),
            "calls": dict(step.calls),
            "functions": dict(step.functions),
            "failures": step.failures,
            "error": None if step.fault is None else step.fault.message,
        }
        for step in agent.steps
    ]
    return {
        "agent": agent.path,
        "parent": agent.parent or None,
        "role": agent.role,
        "depth": agent.depth,
        "call": agent.call or None,
        "model": agent.model,
        "status": agent.status,
        "steps": steps,
    }
