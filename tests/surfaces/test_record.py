"""`show`, `diff` and `export` over the record of a run with subagents, from outside."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from sonde.events import CellStarted, Fact, Saved
from sonde.spec import Limits, ModelChoice, RunSpec
from tests.cli import Cli
from tests.journals import CHILD, ROOT, as_run, begun, interrupted, llm, many, tale

OTHER = RunSpec("How many \x1b[31mbirds?", ModelChoice("openai:bigger", "openai:small"), limits=Limits(max_tokens=9))


@pytest.fixture
def runs(cli: Cli) -> Path:
    """Three runs: a whole one, one that went another way, one that is under way."""
    folder = cli.folder / ".sonde" / "runs"
    as_run(folder, "tale", tale())
    as_run(folder, "twist", [_other(fact) for fact in tale("twist", OTHER)])
    as_run(folder, "young", [*begun("young"), CellStarted(ROOT, 1, "x = 1\n"), llm(5, "one \x1b]0;two")])
    return folder


def _other(fact: Fact) -> Fact:
    if isinstance(fact, CellStarted) and fact.cell == 2:
        return msgspec.structs.replace(fact, code="FINAL(11)")
    if isinstance(fact, Saved):
        return msgspec.structs.replace(fact, name="sum")
    return fact


@pytest.mark.usefixtures("runs")
def test_the_tree_nests_agents(cli: Cli) -> None:
    lines = cli("show", "tale", "--tree").text.splitlines()
    assert lines[0] == "✓ root · openai:big · completed"
    assert any("(2 llm, 1 task)" in line for line in lines)
    child = next(line for line in lines if CHILD in line)
    assert child == f"   ✓ {CHILD} · general-purpose · openai:big · completed"
    agents = cli("show", "tale", "--tree", "--json").json["agents"]
    assert [(agent["agent"], agent["parent"], agent["depth"], agent["call"]) for agent in agents] == [
        (ROOT, None, 0, None), (CHILD, ROOT, 1, 3)
    ]  # fmt: skip


@pytest.mark.usefixtures("runs")
def test_calls_are_listed_with_the_ledger(cli: Cli) -> None:
    shown = cli("show", "tale", "--calls").text
    assert "✓ 3 task · root · ok · two · 7.0 s" in shown
    assert "✗ 4 llm · root · failed · page 3 · 8.0 s · the server \\x1b[2J broke" in shown
    assert "· 7 llm · root · reused · answered with the result of 2" in shown
    assert "coverage  3 items: 2 done (66.67 %), 1 failed, 0 under way" in shown
    told = cli("show", "tale", "--calls", "--json").json
    assert [call["call"] for call in told["calls"]] == [3, 2, 4, 7]
    assert told["coverage"]["failed_items"][0]["item"] == "page 3"
    failed = cli("show", "tale", "--failed", "--json").json
    assert [call["call"] for call in failed["calls"]] == [4]
    assert "… 5 llm · root · unfinished" in cli("show", "young", "--calls").text
    assert "--failed goes with --calls" in cli("show", "tale", "--tree", "--failed").error


@pytest.mark.usefixtures("runs")
def test_cells_are_shown_with_their_code_and_what_came_of_it(cli: Cli) -> None:
    shown = cli("show", "tale", "--cells").text
    assert "✓ root · cell 1 · ok · 18.0 s\n    parts = context\n    rest\n  printed:\n" in shown
    assert "[cut: 4,000 of 8,000 characters shown; --json has all]" in shown
    cells = cli("show", "tale", "--cells", "--json").json["cells"]
    assert len(cells[0]["stdout"]) == 8000
    assert cells[1]["code"] == "FINAL(10)"
    assert "cell 1 · not finished" in cli("show", "young", "--cells").text


@pytest.mark.usefixtures("runs")
def test_the_plan_and_the_summary_tell_the_phases(cli: Cli) -> None:
    assert "## Strategy, as it was seen" in cli("show", "tale", "--plan").text
    phases = cli("show", "tale", "--plan", "--json").json["phases"]
    assert [phase["name"] for phase in phases[:4]] == ["DISCOVERY", "DECOMPOSITION", "AGGREGATION", "SYNTHESIS"]
    shown = cli("show", "tale").text
    assert "phases    DISCOVERY 5.0 s, DECOMPOSITION 10.0 s, AGGREGATION 9.0 s, SYNTHESIS 5.0 s" in shown
    assert "1 subagents to depth 1" in shown
    assert cli("show", "tale", "--cost", "--json").json["baseline"]["input_tokens"] == 1000


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("view", ["--tree", "--calls", "--cells", "--plan", "--cost", None])
def test_no_view_steers_a_terminal(cli: Cli, view: str | None) -> None:
    for run in ("tale", "young"):
        outcome = cli("show", run, *([view] if view else []))
        assert outcome.code == 0, outcome.stderr
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", outcome.text)


@pytest.mark.usefixtures("runs")
def test_two_runs_are_compared(cli: Cli) -> None:
    shown = cli("diff", "tale", "twist").text
    assert "spec models.root         openai:big  →  openai:bigger" in shown
    assert "spec limits.max_tokens   1,000  →  9" in shown
    assert "first cell that differs: root, cell 2\n    @@ -1 +1 @@\n    -FINAL(10)\n    +FINAL(11)" in shown
    told = cli("diff", "tale", "young", "--json").json
    assert told["runs"] == ["tale", "young"]
    assert told["figures"]["status"] == ["completed", "not finished"]
    assert told["calls"]["task"] == [1, 0]
    assert told["first_cell_that_differs"]["code"] == ["parts = context\nrest", "x = 1\n"]
    assert "They do not differ." in cli("diff", "tale", "ta").text
    assert "there is no run 'none'" in cli("diff", "tale", "none").error


@pytest.mark.usefixtures("runs")
def test_a_run_is_exported_to_a_folder(cli: Cli) -> None:
    outcome = cli("export", "tale", "--dir", "out", "--json")
    assert outcome.json == {"run_id": "tale", "dir": "out", "complete": True}
    assert (cli.folder / "out" / "final-result.md").exists()
    assert cli("export", "tale", "--dir", "out").code == 0, "over what was exported before"
    (cli.folder / "mine").mkdir()
    (cli.folder / "mine" / "thesis.md").write_text("do not touch")
    assert "mine holds other files" in cli("export", "tale", "--dir", "mine").error
    assert "is not a folder" in cli("export", "tale", "--dir", "mine/thesis.md").error
    outcome = cli("export", "young", "--dir", ".sonde/runs/young")
    assert outcome.code == 0, "its own folder"
    assert "it has no final result" in outcome.stderr


@pytest.mark.usefixtures("runs")
def test_model_calls_are_exported_as_lines(cli: Cli) -> None:
    assert cli("export", "tale", "--trajectory", "calls.jsonl", "--json").json["lines"] == 4
    lines = [json.loads(line) for line in (cli.folder / "calls.jsonl").read_text().splitlines()]
    assert {"prompt", "response", "model", "tokens", "duration_s", "success"} <= lines[0].keys()
    assert (cli.folder / "calls.jsonl").stat().st_mode & 0o777 == 0o600
    piped = cli("export", "tale", "--trajectory", "-")
    assert [json.loads(line) for line in piped.text.splitlines()] == lines
    assert "Name another file" in cli("export", "tale", "--trajectory", "no/such/folder").error


@pytest.mark.usefixtures("runs")
def test_an_export_without_a_place_says_what_to_give(cli: Cli) -> None:
    outcome = cli("export", "tale")
    assert outcome.code == 2
    assert "Give --trajectory FILE or --dir FOLDER" in outcome.error


def test_large_and_resumed_runs_can_be_looked_at(cli: Cli) -> None:
    as_run(cli.folder / ".sonde" / "runs", "many", list(many(2000)))
    as_run(cli.folder / ".sonde" / "runs", "again", interrupted("again"))
    assert len(cli("show", "many", "--calls", "--json").json["calls"]) == 2000
    assert cli("export", "many", "--dir", "out").code == 0
    assert len(list((cli.folder / "out" / "sub-calls").iterdir())) == 2
    for view in ("--tree", "--calls", "--cells", "--plan"):
        assert cli("show", "again", view).code == 0
