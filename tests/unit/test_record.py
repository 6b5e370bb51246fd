"""The run directory: what is written, that it fits the schemas, and what failing to write does."""

import json
import os
import resource
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

import sonde
from sonde.errors import JournalError, RunChoiceError
from sonde.events import Fact, RunFinished, Saved
from sonde.journal.reader import Reader
from sonde.models.protocol import Reply, Request
from sonde.record.names import safe_name
from sonde.record.published import NAMES, schema
from sonde.record.report import summary_lines
from sonde.record.training import Training
from sonde.record.write import write
from sonde.spec import ModelChoice, RunSpec
from sonde.testing.scripted import FunctionModel, ScriptedModel, code
from tests.journals import CHILD, ROOT, begun, interrupted, llm, many, said, tale, turn, write_journal

UNPRICED = RunSpec("How many?", ModelChoice("openai:big"))


def written(folder: Path, facts: list[Fact]) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(write_journal(folder / "journal.db", facts), folder)
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def assert_fits(folder: Path) -> None:
    """Every file that has a schema fits it."""
    checks = {name: jsonschema_rs.Draft202012Validator(schema(name)) for name in NAMES}
    contents = [
        ("task-state", [read(folder / "state.json")]),
        ("cost", [read(folder / "cost.json")]),
        ("config", [read(folder / "summary.json")["config"]]),
        ("trajectory", lines(folder / "trajectory.jsonl")),
    ]
    for name, values in contents:
        for value in values:
            wrong = [f"{list(error.instance_path)}: {error.message}" for error in checks[name].iter_errors(value)]
            assert not wrong, (name, wrong)


def test_the_folder_has_the_promised_names_for_its_owner_alone(tmp_path: Path) -> None:
    run = written(tmp_path / "run", tale())
    names = {path.name for path in run.iterdir() if not path.name.startswith("journal.db")}
    assert names == {
        "query-plan.md", "intermediate", "sub-calls", "final-result.md", "summary.json", "trajectory.jsonl",
        "cost.json", "state.json",
    }  # fmt: skip
    for path in [run, *run.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert (run / "final-result.md").read_bytes() == b"Ten \\ud800 birds\n"


@pytest.mark.parametrize(
    "facts",
    [tale(), interrupted(), tale()[:12], begun(), tale(spec=UNPRICED), list(many(40)), interrupted()[:11]],
    ids=["whole", "resumed", "running", "begun", "unpriced", "many", "interrupted"],
)
def test_what_is_written_fits_the_published_schemas(tmp_path: Path, facts: list[Fact]) -> None:
    assert_fits(written(tmp_path, facts))


def test_the_published_schemas_are_schemas_with_the_ids_of_what_they_describe() -> None:
    for name in NAMES:
        published = schema(name)
        jsonschema_rs.meta.validate(published)
        assert published["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    refused = {"node_id": "task-root001"}
    node = schema("task-state")["$defs"]["node"]["properties"]["node_id"]
    assert not jsonschema_rs.is_valid(node, refused["node_id"])


def test_a_real_run_fits_the_published_schemas(tmp_path: Path) -> None:
    cells = ("a = await gather(llm('one'), llm('two'))\na", "FINAL({'all': a})")
    model = ScriptedModel(*map(code, cells), answer=lambda request: request.messages[-1].text.upper())
    result = sonde.ask("What?", model=model, route="rlm", runs_dir=tmp_path)
    to = tmp_path / "out"
    told = write(Path(result.run_dir) / "journal.db", to)
    assert told.is_complete
    assert_fits(to)
    assert read(to / "summary.json")["calls"] == {"total": 2, "ok": 2, "failed": 0, "cached": 0}
    assert len(list((to / "sub-calls").iterdir())) == 2
    assert (to / "final-result.md").read_text() == '```json\n{\n  "all": [\n    "ONE",\n    "TWO"\n  ]\n}\n```\n'
    steps = [line for line in lines(to / "trajectory.jsonl") if line["kind"] == "iteration"]
    assert [step["action"]["tool"] for step in steps] == ["eval", "eval"]
    assert steps[0]["observation"]["result"] == "['ONE', 'TWO']"


def test_a_real_run_with_subagents_fits_the_published_schemas(tmp_path: Path) -> None:
    def answer(request: Request) -> Reply:
        if not any("Big one?" in message.text for message in request.messages if message.role == "user"):
            return Reply("seven")
        if any(message.role == "assistant" for message in request.messages):
            return code("FINAL(a)")
        return code("phase('Look')\na = [await task('count', label='c'), await rlm('inner')]\nsave('mid', a)")

    result = sonde.ask("Big one?", model=FunctionModel(answer), route="rlm", runs_dir=tmp_path)
    assert result.answer == ["seven", "seven"]
    to = tmp_path / "out"
    write(Path(result.run_dir) / "journal.db", to)
    assert_fits(to)
    nodes = read(to / "state.json")["tree"]["nodes"]
    assert [(node.get("function"), node["depth"]) for node in nodes] == [(None, 0), ("task", 1), ("rlm", 1)]
    assert json.loads((to / "intermediate" / "mid.json").read_text()) == ["seven", "seven"]


def test_there_is_no_final_result_until_the_run_is_completed(tmp_path: Path) -> None:
    run = written(tmp_path, [*tale()[:-1], RunFinished("limit")])
    assert not (run / "final-result.md").exists()
    assert read(run / "summary.json")["artifacts"]["final_result"] is None
    final = read(run / "state.json")["variables"][-1]
    assert (final["name"], final["value"], final["type"]) == ("Final", None, "null")
    (run / "final-result.md").write_text("of an earlier time")
    write(run / "journal.db", run)
    assert not (run / "final-result.md").exists()


def test_writing_again_replaces_what_was_there(tmp_path: Path) -> None:
    run = written(tmp_path, tale())
    (run / "sub-calls" / "stale.json").touch()
    (run / ".intermediate.new").mkdir()
    before = (run / "summary.json").read_bytes()
    write(run / "journal.db", run)
    assert not (run / "sub-calls" / "stale.json").exists()
    assert (run / "summary.json").read_bytes() == before
    assert not list(run.glob(".*"))


def test_saved_values_have_safe_files_and_lose_nothing(tmp_path: Path) -> None:
    names = [
        "../../etc/passwd",
        "/abs",
        "a b",
        "A",
        "a",
        "con/../x",
        "report.md",
        "",
        ".hidden",
        "ü" * 200,
        "data.json",
    ]
    facts = [*begun(), *(Saved(ROOT, name, json.dumps(f"value {n}")) for n, name in enumerate(names))]
    facts += [Saved(CHILD, "a", '"of the child"'), Saved(ROOT, "list", "[1, 2]"), Saved(ROOT, "list", "[3]")]
    run = written(tmp_path / "run", facts)
    files = {path.name: path.read_text() for path in (run / "intermediate").iterdir()}
    assert len(files) == len({name.lower() for name in files}) == len(names) + 2
    assert {f"value {n}" for n in range(len(names))} | {"of the child"} <= set(files.values())
    assert files["report.md"] == "value 6"
    assert json.loads(files["list.json"]) == [3], "the last one of a name counts"
    assert {path.name for path in tmp_path.iterdir()} == {"run"}
    by_name = {variable["name"]: variable for variable in read(run / "state.json")["variables"]}
    assert by_name["list"]["times_saved"] == 2
    for variable in by_name.values():
        assert "file" not in variable or (run / variable["file"]).is_file()


def test_large_values_are_references_to_their_files(tmp_path: Path) -> None:
    run = written(
        tmp_path, [*begun(), Saved(ROOT, "small", f'"{"x" * 10_238}"'), Saved(ROOT, "big", f'"{"x" * 10_239}"')]
    )
    small, big = read(run / "state.json")["variables"][1:3]
    assert (small["type"], len(small["value"])) == ("text", 10_238)
    assert (big["type"], big["value"], big["size_bytes"]) == ("file_path", "file:intermediate/big.txt", 10_241)


def test_up_to_a_thousand_calls_have_a_file_each_and_more_go_together(tmp_path: Path) -> None:
    run = written(tmp_path / "few", list(many(1000)))
    files = sorted((run / "sub-calls").iterdir())
    assert len(files) == 1000
    assert files[0].name == "000002-llm.json"
    assert read(files[0])["value"] == "On page 2 there are birds."
    run = written(tmp_path / "more", list(many(2001)))
    files = sorted((run / "sub-calls").iterdir())
    assert [file.name for file in files] == [f"calls-000{n}.jsonl" for n in (1, 2, 3)]
    calls = [call["call"] for file in files for call in lines(file)]
    assert sorted(calls) == list(range(2, 2003))
    assert [len(lines(file)) for file in files] == [1000, 1000, 1]


def test_a_call_is_told_with_all_that_is_known_and_no_more(tmp_path: Path) -> None:
    run = written(tmp_path, tale())
    first = read(run / "sub-calls" / "000002-llm.json")
    assert first == {
        "call": 2, "agent": ROOT, "cell": 1, "depth": 0, "function": "llm", "status": "ok", "label": "first",
        "request": "page 1", "began": "2001-09-09T01:46:47.000+00:00", "duration_s": 9.0, "model": "small",
        "value": {"birds": 3}, "cost_usd": 0.01,
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "cached_tokens": 0, "requests": 1},
    }  # fmt: skip
    broken = read(run / "sub-calls" / "000004-llm.json")
    assert broken["error"]["kind"] == "model_error"
    assert not {"value", "usage", "cost_usd", "model", "label"} & broken.keys()
    assert read(run / "sub-calls" / "000007-llm.json")["source"] == 2


def test_the_tree_and_the_trajectory_and_the_costs_name_the_same_work_alike(tmp_path: Path) -> None:
    run = written(tmp_path, tale())
    nodes = {node["node_id"]: node for node in read(run / "state.json")["tree"]["nodes"]}
    root = next(node for node in nodes.values() if node["parent_id"] is None)
    assert [nodes[child]["function"] for child in root["children"]] == ["llm", "task", "llm"]
    assert root["decomposition_strategy"] == "parallel"
    headers = [line for line in lines(run / "trajectory.jsonl") if line["kind"] == "header"]
    assert [header["task_context"]["task_id"] in nodes for header in headers] == [True, True]
    assert headers[1]["task_context"]["parent_task_id"] == root["node_id"]
    assert headers[1]["task_context"]["task_prompt"] == "count page 2"
    assert {record["node_id"] for record in read(run / "cost.json")["records"]} <= nodes.keys()


def test_a_trajectory_is_thought_action_observation(tmp_path: Path) -> None:
    steps = [line for line in lines(written(tmp_path, tale()) / "trajectory.jsonl") if line["kind"] == "iteration"]
    looked, final = [step for step in steps if step["agent"] == ROOT]
    assert looked["thought"] == {"content": "I look first."}
    assert looked["action"]["parameters"] == {"cell": 1, "code": "parts = context\nrest"}
    assert looked["observation"]["result"] == "'ok'"
    assert (len(looked["observation"]["stdout"]), looked["observation"]["stdout_chars"]) == (4000, 8000)
    assert (final["iteration_number"], final["turn"]) == (2, 2)
    (child,) = [step for step in steps if step["agent"] == CHILD]
    assert child["action"]["tool"] == "answer"


def test_a_cell_that_was_cut_short_is_a_step_of_its_own(tmp_path: Path) -> None:
    told = lines(written(tmp_path, interrupted()) / "trajectory.jsonl")
    root = [line for line in told if line["kind"] == "iteration" and line["agent"] == ROOT]
    assert [step["observation"]["status"] for step in root] == ["partial", "success", "success"]
    assert [step["iteration_number"] for step in root] == [1, 2, 3]


def test_costs_are_compared_with_direct_processing(tmp_path: Path) -> None:
    cost = read(written(tmp_path / "priced", tale()) / "cost.json")
    assert cost["baseline"]["input_tokens"] == 1000, "4,000 characters"
    assert cost["baseline"]["cost_usd"] == pytest.approx(1.0), "the root paid a thousandth for each token"
    assert cost["baseline"]["cost_ratio"] == pytest.approx(0.37)
    assert cost["budget"]["tokens"] == {"limit": 1000, "used": 375, "remaining": 625, "used_pct": 37.5}
    assert cost["percentile_report"]["tokens"]["p50"] == 15
    facts = [
        msgspec.structs.replace(fact, cost_usd=None) if hasattr(fact, "cost_usd") else fact
        for fact in tale(spec=UNPRICED)
    ]
    cost = read(written(tmp_path / "unpriced", facts) / "cost.json")
    assert cost["baseline"]["tokens_ratio"] == 0.375
    assert "cost_usd" not in cost["baseline"]
    assert "effective_cost_usd" not in cost["aggregates"]
    assert "tokens" not in cost["budget"], "it was not limited"


def test_the_plan_tells_the_way_and_never_steers_a_terminal(tmp_path: Path) -> None:
    plan = (written(tmp_path, tale()) / "query-plan.md").read_text()
    assert "\x1b" not in plan
    assert "- root, cell 1: `parts = context` (2 llm, 1 task)" in plan
    assert "Calls: 3 llm, 1 task." in plan
    assert "- max_tokens: 1,000" in plan
    for phase in ("DISCOVERY", "DECOMPOSITION", "AGGREGATION", "SYNTHESIS", "Reading of root"):
        assert f"- {phase}: " in plan


def test_the_execution_summary_has_all_that_it_should(tmp_path: Path) -> None:
    told = "\n".join(summary_lines(read(written(tmp_path, tale()) / "summary.json")))
    promised = (
        "completed", "1 sub-agents", "depth 1", "2 of 3 items done (66.67 %), 1 failed", "375, 135 of them",
        "37 % of the estimated cost", "query-plan.md", "intermediate/ (3 files)", "final-result.md",
    )  # fmt: skip
    for part in promised:
        assert part in told
    unfinished = "\n".join(summary_lines(read(written(tmp_path / "begun", begun(spec=UNPRICED)) / "summary.json")))
    assert "cost       " in unfinished
    assert "final-result.md" not in unfinished


def training(run: Path) -> Iterator[Any]:
    with Reader(run / "journal.db") as reader:
        fold = Training(reader)
        for record in reader.records():
            yield from map(json.loads, fold.lines(record))


def test_training_lines_hold_prompt_response_model_tokens_duration_success(tmp_path: Path) -> None:
    facts = [*tale()[:-1], llm(30, "\ud800"), turn(31, 3, news="again"), said(31, "x\ud800")]
    write_journal(tmp_path / "journal.db", facts)
    told = list(training(tmp_path))
    assert [(line["function"], line["agent"], line["depth"]) for line in told] == [
        ("turn", ROOT, 0), ("turn", CHILD, 1), ("llm", ROOT, 0), ("turn", ROOT, 0), ("turn", ROOT, 0)
    ]  # fmt: skip
    assert told[2]["prompt"] == "page 1"
    assert told[2]["response"] == {"birds": 3}
    assert [message["text"] for message in told[4]["prompt"]] == ["How many birds?", "<result>", "again"]
    assert told[1]["prompt"] == [{"role": "user", "text": "count page 2"}], "a subagent sees nothing of its parent's"
    assert told[0]["tokens"] == {"input": 100, "output": 20, "cached": 10}
    assert all(line["success"] and line["duration_s"] > 0 and line["model"] for line in told)


def test_what_cannot_be_written_is_one_typed_error_and_leaves_the_journal_alone(tmp_path: Path) -> None:
    journal = write_journal(tmp_path / "journal.db", tale())
    (tmp_path / "taken").touch()
    with pytest.raises(JournalError, match=r"cannot be written to .*taken.*The run itself is kept"):
        write(journal, tmp_path / "taken")
    with Reader(journal) as reader:
        assert len(list(reader.records())) == len(tale())


def test_a_full_disk_leaves_no_halves(tmp_path: Path) -> None:
    journal = write_journal(tmp_path / "journal.db", tale())
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        try:
            write(journal, tmp_path / "out")
        except JournalError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    assert not [path for path in (tmp_path / "out").rglob("*") if path.name in {"final-result.md", "summary.json"}]
    assert not list((tmp_path / "out").glob(".*"))


def test_a_run_without_a_beginning_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunChoiceError, match="no beginning"):
        write(write_journal(tmp_path / "journal.db", [llm(1, "x")]), tmp_path / "out")


def test_a_large_run_is_written_quickly_and_in_little_memory(tmp_path: Path) -> None:
    journal = write_journal(tmp_path / "journal.db", many(20_000))
    before = time.process_time()
    write(journal, tmp_path / "out")
    assert time.process_time() - before < 5, "a call takes some 30 microseconds"
    state = read(tmp_path / "out" / "state.json")["tree"]
    assert (len(state["nodes"]), state["nodes_not_listed"], state["total_nodes"]) == (10_000, 10_001, 20_001)
    assert read(tmp_path / "out" / "cost.json")["records_not_listed"] == 10_001
    assert read(tmp_path / "out" / "summary.json")["coverage"]["done"] == 20_000


def test_names_that_are_safe_stay_and_others_tell_that_they_were_changed() -> None:
    assert safe_name("notes-2.v1") == "notes-2.v1"
    for name in ("", ".", "..", "a/b", "-rf", "x\0", "\ud800"):
        assert safe_name(name) not in {name, ""}
        assert not safe_name(name).startswith((".", "-"))
    assert safe_name("a/b") != safe_name("a\\b")
