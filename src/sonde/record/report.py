"""The execution summary that a run ends with, as lines of text."""

from collections.abc import Iterator, Mapping
from typing import Any


def summary_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines for the content of a `summary.json`. They hold text of users and models as it is."""
    yield f"task       {' '.join(summary['question'].split())}"
    error = summary.get("error")
    yield f"status     {summary['status']}" + (f": {error['message']}" if error else "")
    inputs, calls, coverage = summary["inputs"], summary["calls"], summary["coverage"]
    yield f"inputs     {inputs['count']:,} analyzed, {inputs['chars']:,} characters"
    yield (
        f"work       {summary['sub_agents']:,} sub-agents, {calls['total']:,} calls, depth "
        f"{summary['max_depth_reached']}, {summary['duration_s']:.1f} s"
    )
    percent = f" ({coverage['percent']:g} %)" if "percent" in coverage else ""
    yield f"coverage   {coverage['done']:,} of {coverage['items']:,} items done{percent}, {coverage['failed']:,} failed"
    yield from (_phase_line(phase) for phase in summary["phases"])
    usage, below = summary["usage"], summary["sub_call_usage"]
    yield f"tokens     {usage['total_tokens']:,}, {below['total_tokens']:,} of them in sub-calls"
    yield from _cost_lines(summary)
    artifacts = summary["artifacts"]
    files = artifacts["intermediate"]["files"]
    yield f"artifacts  {artifacts['query_plan']}, intermediate/ ({files:,} {'file' if files == 1 else 'files'})" + (
        f", {artifacts['final_result']}" if artifacts["final_result"] else ""
    )


def _phase_line(phase: Mapping[str, Any]) -> str:
    took = f"{phase['duration_s']:.1f} s" if "duration_s" in phase else "under way"
    items = f", {phase['done']:,} of {phase['items']:,} sub-calls done" if phase["items"] else ""
    return f"phase      {phase['name']}: {took}{items}, {phase['tokens']:,} tokens"


def _cost_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    cost, baseline = summary["usage"].get("total_cost_usd"), summary.get("baseline")
    against = ""
    if baseline is not None:
        ratio = baseline.get("cost_ratio", baseline["tokens_ratio"])
        of = "the estimated cost" if "cost_ratio" in baseline else "the estimated tokens"
        against = f"{100 * ratio:,.0f} % of {of} of processing the inputs directly"
    if cost is not None:
        yield f"cost       ${cost:,.6f}" + (f", {against}" if against else "")
    else:
        yield "cost       unknown" + (f"; {against}" if against else "")
