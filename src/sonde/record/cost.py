"""`cost.json`: what each call took, all of it together, against what was allowed, and against asking directly."""

from typing import Any

from sonde.record.as_json import cost_as_json
from sonde.record.names import VERSION, id_of, moment, task_id
from sonde.spec import CHARS_PER_TOKEN, Limits, RunSpec
from sonde.views.costs import MOST_RECORDS, CostRecord, Costs, Total
from sonde.views.distribution import Distribution
from sonde.views.summary import Summary

_WARN_PERCENT, _ABORT_PERCENT = 80, 100


def cost_as_file(summary: Summary, costs: Costs, spec: RunSpec, limits: Limits) -> dict[str, Any]:
    """Return the content of `cost.json`."""
    plain: dict[str, Any] = {
        "version": VERSION,
        "run_id": summary.run_id,
        "tree_id": id_of("tree", summary.run_id),
        "aggregates": aggregates(summary, costs, spec),
        "budget": _budget(summary, limits),
        "records": [_record(summary.run_id, record) for record in costs.records],
    }
    if (calls := costs.root.calls + costs.rest.calls) > MOST_RECORDS:
        plain["records_not_listed"] = calls - MOST_RECORDS
    report = {
        name: _distribution(figures)
        for name, figures in (("tokens", costs.tokens), ("cost_usd", costs.dollars))
        if figures.count
    }
    if report:
        plain["percentile_report"] = {"of": "sub-calls, each with all below it", **report}
    if (baseline := direct(summary, costs, spec)) is not None:
        plain["baseline"] = baseline
    return plain


def aggregates(summary: Summary, costs: Costs, spec: RunSpec) -> dict[str, Any]:
    """Return the totals of a run."""
    plain = cost_as_json(costs.root.usage + costs.rest.usage, None)
    if summary.cost_usd is not None:
        # What providers asked for: tokens they had in their cache are in it at the price of cached ones.
        plain["effective_cost_usd"] = summary.cost_usd
    return plain | {
        "node_count": 1 + costs.sub_calls,
        "sub_call_count": costs.sub_calls,
        "answered_from_record": summary.reused,
        "depth_max": summary.max_depth,
        "root_model": spec.models.root,
        "sub_model": spec.models.sub or spec.models.root,
        "by_model": {name: _total(total) for name, total in costs.by_model.items()},
        "by_depth": {str(depth): _total(total) for depth, total in sorted(costs.by_depth.items())},
        "root": _total(costs.root),
        "sub_calls": cost_as_json(costs.rest.usage, None),
    }


def direct(summary: Summary, costs: Costs, spec: RunSpec) -> dict[str, Any] | None:
    """Return what it may have cost to send all inputs to the root's model at once; None if there are none."""
    chars = sum(each.chars for each in summary.inputs)
    if not chars:
        return None
    tokens = -(-chars // CHARS_PER_TOKEN)
    plain: dict[str, Any] = {
        "is_estimate": True,
        "input_tokens": tokens,
        "tokens_from": f"characters of all inputs / {CHARS_PER_TOKEN}",
        "tokens_ratio": round((costs.root.tokens + costs.rest.tokens) / tokens, 4),
    }
    price, source = _price_of_input(costs, spec)
    if price is None:
        return plain
    cost = tokens * price
    plain |= {"cost_usd": cost, "price_from": source}
    if cost and summary.cost_usd is not None:
        plain["cost_ratio"] = round(summary.cost_usd / cost, 4)
    return plain


def _price_of_input(costs: Costs, spec: RunSpec) -> tuple[float | None, str]:
    """Return the dollars for a token of the root's model, and how that is known."""
    tokens = costs.root.tokens
    if costs.root.cost_usd is None or not tokens:
        return None, ""
    if spec.price is not None and not costs.root.cost_usd:
        return None, ""
    if spec.price is not None:
        return spec.price[0] / 1_000_000, "the price that was given"
    return costs.root.cost_usd / tokens, "what the root's turns did cost for each token, in and out"


def _budget(summary: Summary, limits: Limits) -> dict[str, Any]:
    """Return what was allowed and how much of it is used. What was not limited is not there."""
    parts: dict[str, Any] = {}
    for name, most, spent in (
        ("calls", limits.max_calls, summary.calls_made),
        ("tokens", limits.max_tokens, summary.most_tokens),
        ("usd", limits.max_usd, summary.most_usd),
    ):
        if most is not None:
            percent = round(100 * spent / most, 2) if most else 100.0
            parts[name] = {"limit": most, "used": spent, "remaining": max(0, most - spent), "used_pct": percent}
    highest = max((part["used_pct"] for part in parts.values()), default=0.0)
    reached = highest >= _ABORT_PERCENT or summary.status == "limit"
    status = "exceeded" if reached else "warning" if highest >= _WARN_PERCENT else "ok"
    return {
        "enforcement": "abort",
        "warn_threshold_pct": _WARN_PERCENT,
        "abort_threshold_pct": _ABORT_PERCENT,
        "status": status,
        **parts,
    }


def _record(run_id: str, record: CostRecord) -> dict[str, Any]:
    started, finished = record.started, record.finished
    plain: dict[str, Any] = {
        "node_id": task_id(run_id, started.agent, record.node),
        "call": started.call,
        "agent": started.agent,
        "function": started.function,
        "depth": record.depth,
        "model": finished.model or started.model or "unknown",
        **cost_as_json(finished.usage, None),
        "started_at": moment(record.began),
        "completed_at": moment(record.ended),
        "duration_ms": round(1000 * (record.ended - record.began)),
    }
    return plain if finished.cost_usd is None else plain | {"cost_usd": finished.cost_usd}


def _total(total: Total) -> dict[str, Any]:
    return {"calls": total.calls, **cost_as_json(total.usage, total.cost_usd)}


def _distribution(figures: Distribution) -> dict[str, Any]:
    percentiles = {f"p{percent}": figure for percent, figure in figures.percentiles().items()}
    return {
        "count": figures.count,
        **percentiles,
        "mean": figures.mean,
        "std_dev": figures.deviation,
        "min": figures.least,
        "max": figures.most,
        "exact": figures.is_exact,
    }
