"""Folds of facts: coverage, phases, costs, the tree, and how figures are spread."""

import math
import statistics
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.events import (
    AgentFinished,
    AgentStarted,
    Answered,
    CallFinished,
    CallStarted,
    CellFinished,
    CellStarted,
    Escalated,
    Fact,
    Logged,
    PersonAnswered,
    PhaseStarted,
    RunFinished,
    RunResumed,
)
from sonde.views.calls import Calls
from sonde.views.costs import Costs
from sonde.views.coverage import MOST_LISTED, Coverage
from sonde.views.distribution import Distribution
from sonde.views.phases import MOST_NAMED, Phases
from sonde.views.summary import Summary
from sonde.views.tree import Tree
from tests.journals import CHILD, ROOT, answered, begun, failed, interrupted, llm, many, records, said, tale, turn

T = TypeVar("T", Coverage, Phases, Costs, Summary, Tree)


def folded(fold: T, facts: list[Fact]) -> T:
    for record in records(facts):
        fold.add(record)
    return fold


def parts(facts: list[Fact]) -> list[str]:
    return [phase.name for phase in folded(Phases(), facts).all]


def test_the_four_phases_follow_from_what_happened() -> None:
    phases = folded(Phases(), tale())
    assert [phase.name for phase in phases.all] == ["DISCOVERY", "DECOMPOSITION", "AGGREGATION", "SYNTHESIS"]
    assert phases.now == "SYNTHESIS"
    for before, after in zip(phases.all, phases.all[1:], strict=False):
        assert before.ended == after.began
    _, decomposition, _, synthesis = phases.all
    assert (decomposition.items, decomposition.done, decomposition.failed) == (3, 2, 1)
    assert sum(phase.tokens for phase in phases.all) == folded(Costs(), tale()).root.tokens + 135
    assert synthesis.ended is not None


def test_a_run_that_dispatches_nothing_only_discovers_and_answers() -> None:
    facts = [*begun(), turn(1, 1), said(1, "42"), Answered(ROOT, '"42"'), RunFinished("completed")]
    assert parts(facts) == ["DISCOVERY", "SYNTHESIS"]
    assert folded(Phases(), facts).all[1].tokens == 120, "the turn itself was the answer"
    assert parts(begun()) == ["DISCOVERY"]
    assert parts([]) == []


def test_within_one_cell_the_answer_begins_where_it_is_given() -> None:
    final = CallStarted(9, ROOT, 1, "final", "f")
    work = [llm(2, "a"), answered(2, "x"), llm(3, "b"), answered(3, "y")]
    facts = [*begun(), CellStarted(ROOT, 1, ""), *work, Logged(ROOT, "adding"), final, Answered(ROOT, "1")]
    phases = folded(Phases(), facts)
    assert [phase.name for phase in phases.all] == ["DISCOVERY", "DECOMPOSITION", "AGGREGATION", "SYNTHESIS"]
    aggregation, synthesis = phases.all[2:]
    assert aggregation.ended is not None
    assert aggregation.ended - aggregation.began == 2, "from the last result to FINAL"
    assert synthesis.began == aggregation.ended


def test_more_work_takes_a_run_back_to_decomposition() -> None:
    first = [*begun(), CellStarted(ROOT, 1, ""), llm(2, "a"), answered(2, "x"), turn(3, 2), said(3, "more")]
    assert folded(Phases(), first).now == "AGGREGATION"
    phases = folded(Phases(), [*first, llm(4, "b")])
    assert phases.now == "DECOMPOSITION"
    assert [phase.name for phase in phases.all] == ["DISCOVERY", "DECOMPOSITION"]
    assert phases.all[1].ended is None
    assert phases.all[1].tokens == 135, "the turn between belongs to it"


def test_named_phases_hold_what_is_dispatched_in_them_and_below() -> None:
    reading, adding = folded(Phases(), tale()).named.all
    assert (reading.name, reading.items, reading.done, reading.failed, reading.tokens) == ("Reading", 3, 2, 1, 135)
    assert (adding.name, adding.agent, adding.items) == ("Adding", ROOT, 0)
    assert reading.ended == adding.began
    again = folded(Phases(), [*tale()[:-2], PhaseStarted(ROOT, 2, "Reading"), llm(9, "x"), RunFinished("cancelled")])
    reading, _ = again.named.all
    assert (reading.items, reading.failed) == (4, 2), "one named again goes on, and what was lost has failed"
    assert reading.ended is not None


def test_phases_beyond_a_thousand_are_counted() -> None:
    phases = folded(Phases(), [*begun(), *(PhaseStarted(ROOT, 1, str(n)) for n in range(MOST_NAMED + 5))])
    assert len(phases.named.all) == MOST_NAMED
    assert phases.named.more == 5


def test_the_ledger_lists_what_failed_until_it_is_done() -> None:
    coverage = folded(Coverage(), tale())
    assert (coverage.items, coverage.done, coverage.failed, coverage.percent) == (3, 2, 1, 66.67)
    (item,) = coverage.failures
    assert (item.call, item.function, item.request) == (4, "llm", "page 3")
    coverage = folded(Coverage(), [*tale()[:-1], llm(9, "page 3"), answered(9, "birds")])
    assert (coverage.items, coverage.done, coverage.failed, coverage.failures) == (3, 3, 0, [])


def test_what_was_under_way_when_a_run_stopped_has_failed_until_it_is_asked_again() -> None:
    cut = [*begun(), llm(2, "a"), llm(3, "b"), RunFinished("cancelled")]
    coverage = folded(Coverage(), cut)
    assert [item.error for item in coverage.failures] == ["the run stopped"] * 2
    coverage = folded(Coverage(), [*cut, RunResumed("tale", "1.0"), llm(4, "a"), answered(4, "x")])
    assert (coverage.items, coverage.done, coverage.failed, coverage.open) == (2, 1, 1, 0)


def test_only_the_first_failed_items_are_listed() -> None:
    facts: list[Fact] = [*begun()]
    for call in range(MOST_LISTED + 10):
        facts += [llm(call, f"{call}"), failed(call, "no")]
    coverage = folded(Coverage(), facts)
    assert coverage.failed == MOST_LISTED + 10
    assert len(coverage.failures) == MOST_LISTED


def test_a_summary_knows_agents_and_waits_for_people() -> None:
    summary = folded(Summary(), tale())
    assert (summary.subagents, summary.max_depth) == (1, 1)
    assert summary.answer == '"Ten \\ud800 birds"', "the root's, not the subagent's"
    assert (summary.ok, summary.failed, summary.reused, summary.coverage.items) == (2, 1, 1, 3)
    asked = [*begun(), Escalated(ROOT, "Run this?"), RunFinished("escalated")]
    summary = folded(Summary(), asked)
    assert summary.asks is not None
    assert (summary.asks.question, summary.status) == ("Run this?", "escalated")
    assert folded(Summary(), [*asked, RunResumed("tale", "1.0"), PersonAnswered("yes")]).asks is None


def test_costs_are_told_by_depth_and_model_and_count_nothing_twice() -> None:
    costs = folded(Costs(), tale())
    summary = folded(Summary(), tale())
    assert costs.root.usage + costs.rest.usage == summary.usage
    assert {depth: total.tokens for depth, total in costs.by_depth.items()} == {0: 255, 1: 120}
    used = {name: total.usage for name, total in summary.models.items()}
    assert {name: total.usage for name, total in costs.by_model.items()} == used
    assert (costs.sub_calls, costs.tokens.count, costs.tokens.most) == (3, 2, 120), "a task holds its turns"
    assert [(record.started.function, record.node) for record in costs.records] == [
        ("turn", 0), ("turn", 3), ("llm", 2), ("turn", 0)
    ]  # fmt: skip


def test_calls_are_told_when_they_end() -> None:
    calls = Calls()
    rows = [row for record in records(tale()) for row in calls.add(record)]
    assert [(row.asked.call, row.asked.function, row.status, row.depth) for row in rows] == [
        (3, "task", "ok", 0), (2, "llm", "ok", 0), (4, "llm", "failed", 0), (7, "llm", "reused", 0)
    ]  # fmt: skip
    calls = Calls()
    rows = [row for record in records(interrupted()) for row in calls.add(record)]
    assert [row.status for row in rows[:1]] == ["unfinished"]


def test_a_tree_nests_agents_and_counts_every_kind_of_call() -> None:
    native = CallStarted(20, ROOT, 2, "tool", "k", "read_file", native=True)
    facts = [*tale()[:-8], native, CallFinished(20, "ok", '"text"')]
    tree = folded(Tree(), facts)
    assert [node.path for node in tree.children("")] == [ROOT]
    (child,) = tree.children(ROOT)
    assert (child.path, child.parent, child.role, child.call, child.status) == (
        CHILD, ROOT, "general-purpose", 3, "completed"
    )  # fmt: skip
    first, cell, second, *_ = tree.agents[ROOT].steps
    assert (first.kind, cell.kind, second.kind) == ("turn", "cell", "turn")
    assert cell.functions == {"llm": 2, "task": 1}
    assert second.functions == {"tool": 1}, "the model used it itself"


def test_a_tree_keeps_the_steps_of_an_agent_that_goes_on_in_a_later_life() -> None:
    child = AgentStarted(CHILD, "general-purpose", "m", 1, 3)
    facts = [*begun(), child, turn(5, 1, CHILD), said(5, "x"), RunResumed("tale", "1.0"), child, turn(6, 2, CHILD)]
    assert [step.number for step in folded(Tree(), facts).agents[CHILD].steps] == [1, 2]


def test_folds_hold_through_a_large_run() -> None:
    facts = list(many(3000))
    assert folded(Coverage(), facts).done == 3000
    assert folded(Costs(), facts).tokens.percentiles() == dict.fromkeys((25, 50, 75, 90, 95, 99), 15)
    assert folded(Tree(), [*facts, CellFinished(ROOT, 1, "ok"), AgentFinished(ROOT, "completed")]).agents[ROOT]


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=300))
def test_a_spread_of_a_few_is_exact(figures: list[float]) -> None:
    spread = Distribution()
    for figure in figures:
        spread.add(figure)
    ranked = sorted(figures)
    assert spread.is_exact
    assert spread.percentiles()[50] == ranked[math.ceil(len(ranked) / 2) - 1]
    assert (spread.least, spread.most) == (ranked[0], ranked[-1])
    assert spread.mean == pytest.approx(statistics.fmean(figures), abs=1e-6)
    assert spread.deviation == pytest.approx(statistics.pstdev(figures), rel=1e-6, abs=1e-3)


def test_a_spread_of_many_is_nearly_exact() -> None:
    spread = Distribution()
    figures = [0.0, *(1.0005**n for n in range(30_000))]
    for figure in figures:
        spread.add(figure)
    assert not spread.is_exact
    for percent, figure in spread.percentiles().items():
        assert figure == pytest.approx(figures[math.ceil(len(figures) * percent / 100) - 1], rel=0.01)


def test_a_spread_of_nothing_has_no_percentiles() -> None:
    assert Distribution().percentiles() == {}
