"""`summary.json`: how a run stands, in one object."""

from typing import Any

import msgspec

from sonde import jsontext
from sonde.events import Stored
from sonde.journal.reader import Reader
from sonde.record.as_json import cost_as_json, fault_as_json, quoted
from sonde.record.cost import direct
from sonde.record.names import VERSION, id_of, moment
from sonde.spec import Limits, RunSpec
from sonde.views.costs import Costs
from sonde.views.coverage import HEAD_CHARS, MOST_LISTED, Coverage
from sonde.views.phases import Phase, Phases
from sonde.views.summary import Summary


def now_of(summary: Summary, spec: RunSpec) -> Limits:
    """Return the limits of a run's last life."""
    return jsontext.decode(summary.limits, Limits) if summary.limits else spec.limits


def summary_as_file(summary: Summary, phases: Phases, costs: Costs, spec: RunSpec, reader: Reader) -> dict[str, Any]:
    """Return the content of `summary.json`, but for the artifacts. Raises `JournalError`."""
    plain: dict[str, Any] = {
        "version": VERSION,
        "run_id": summary.run_id,
        "state_id": id_of("state", summary.run_id),
        "question": quoted(spec.question),
        "status": summary.status or "running",
        "started_at": moment(summary.started_at),
        "last_at": moment(summary.last_at),
        "duration_s": round(summary.duration_s, 3),
        "lives": summary.lives,
        "inputs": {"count": len(summary.inputs), "chars": sum(each.chars for each in summary.inputs)},
        "turns": summary.turns,
        "cells": summary.cells,
        "sub_agents": summary.subagents,
        "max_depth_reached": summary.max_depth,
        "calls": {
            "total": summary.calls,
            "ok": summary.ok,
            "failed": summary.failed,
            "cached": summary.reused,
        },
        "coverage": coverage_as_json(summary.coverage, reader),
        "usage": cost_as_json(summary.usage, summary.cost_usd),
        "sub_call_usage": cost_as_json(costs.rest.usage, costs.rest.cost_usd),
        "retries": summary.retries,
        "phases": [_phase(phase) for phase in phases.all],
        "named_phases": [_phase(phase) for phase in phases.named.all],
        "notes": [quoted(message) for message in summary.warnings[:MOST_LISTED]],
        "config": config_as_json(spec, now_of(summary, spec)),
    }
    if phases.named.more:
        plain["named_phases_not_listed"] = phases.named.more
    if summary.fault is not None:
        plain["error"] = fault_as_json(summary.fault)
    if (baseline := direct(summary, costs, spec)) is not None:
        plain["baseline"] = baseline
    return plain


def coverage_as_json(coverage: Coverage, reader: Reader) -> dict[str, Any]:
    """Return the ledger of items, with those that failed. Raises `JournalError`."""
    failed = [
        {
            "call": item.call,
            "agent": item.agent,
            "function": item.function,
            "item": quoted(item.label or head(item.request, reader)),
            "error": quoted(item.error),
        }
        for item in coverage.failures
    ]
    plain: dict[str, Any] = {
        "items": coverage.items,
        "done": coverage.done,
        "failed": coverage.failed,
        "failed_items": failed,
    }
    if coverage.percent is not None:
        plain["percent"] = coverage.percent
    if coverage.failed > len(failed):
        plain["failed_items_not_listed"] = coverage.failed - len(failed)
    return plain


def head(stored: Stored, reader: Reader) -> str:
    """Return the beginning of a text, on one line. Raises `JournalError`."""
    return " ".join(reader.text(stored)[:HEAD_CHARS].split())


def config_as_json(spec: RunSpec, limits: Limits) -> dict[str, Any]:
    """Return what decided a run, in the words of the published schema. What was not set is not there."""
    plain: dict[str, Any] = {
        "max_depth": limits.max_depth,
        "max_sub_calls": limits.max_calls,
        "max_turns": limits.max_turns,
        "model": spec.models.root,
        "sub_model": spec.models.sub or spec.models.root,
        "parallel_sub_calls": limits.concurrency != 1,
        "timeout_per_subcall": limits.call_timeout_s,
        "completion_artifact": "final-result.md",
        "intermediate_dir": "intermediate/",
        "cost_tracking": True,
    }
    optional: dict[str, Any] = {
        "interpreter": spec.interpreter,
        "max_concurrency": limits.concurrency,
        "budget_tokens": limits.max_tokens,
        "budget_usd": limits.max_usd,
        "timeout": limits.timeout_s,
    }
    return plain | {name: value for name, value in optional.items() if value is not None}


def _phase(phase: Phase) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": quoted(phase.name),
        "began": moment(phase.began),
        "items": phase.items,
        "done": phase.done,
        "failed": phase.failed,
        "tokens": phase.tokens,
    }
    if phase.agent:
        plain["agent"] = phase.agent
    if phase.ended is not None:
        plain |= {"ended": moment(phase.ended), "duration_s": round(phase.ended - phase.began, 3)}
    return plain


def limits_as_json(limits: Limits) -> dict[str, Any]:
    """Return the limits that hold."""
    return {name: value for name, value in msgspec.structs.asdict(limits).items() if value is not None}
