"""What a run leaves behind, row by row: its folder, phases, costs, schemas, and lines to train on."""

import math
import re
import signal
import statistics
import threading
from itertools import pairwise

import jsonschema_rs
import pytest

from sonde.record.published import NAMES, schema
from sonde.testing.server import (
    ChatRequest,
    Entry,
    Fault,
    Faults,
    FaultServer,
    Latency,
    Said,
    Settings,
    run_code,
)
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.heard import add_agent, depth_of, lines_of, read, rooted, run_of
from tests.processes import kill_tree

PROMISED = {
    "query-plan.md", "intermediate", "sub-calls", "final-result.md", "summary.json", "trajectory.jsonl", "cost.json",
    "state.json",
}  # fmt: skip
FOUR = ["DISCOVERY", "DECOMPOSITION", "AGGREGATION", "SYNTHESIS"]


def charged(log: list[Entry]) -> tuple[int, int]:
    return sum(entry.input_tokens for entry in log), sum(entry.output_tokens for entry in log)


def test_a_run_looks_queries_goes_deeper_and_ends(cli: Cli, serve: OpenServer) -> None:
    """The loop: look, write code that asks, see what came, go deeper, say that it is done."""
    cells = (
        "print(len(context))",
        "a = await llm('one')\na",
        "b = await rlm('deeper', context[:9])\nb",
        "FINAL(a + b)",
    )

    def reply(request: ChatRequest) -> Said | str:
        if not request.system:
            return "asked "
        return run_code(cells[request.turn] if depth_of(request) == 0 else "FINAL('deep')")

    (cli.folder / "in.txt").write_text("text\n" * 100, encoding="utf-8")
    outcome = cli.ask(serve(reply).url, "Go.", "in.txt").json
    assert outcome["answer"] == "asked deep"
    steps = lines_of(run_of(outcome) / "trajectory.jsonl")
    mine = [step for step in steps if step["agent"] == "root"]
    assert [step["kind"] for step in mine] == ["header", *["iteration"] * 4, "outcome"]
    assert [step["observation"].get("result") for step in mine[2:4]] == ["'asked '", "'deep'"]
    assert mine[1]["observation"]["stdout"] == "500\n"
    assert [step["kind"] for step in steps if step["agent"] != "root"] == ["header", "iteration", "outcome"]
    depths = [step["task_context"]["depth"] for step in steps if step["kind"] == "header"]
    assert depths == [0, 1], "how deep each was is written down"
    assert mine[-1]["outcome"]["final_result"] == "asked deep"


def test_the_folder_of_a_run_has_the_names_of_the_plan(cli: Cli, serve: OpenServer) -> None:
    cells = ("a = await gather(*[llm(f'n {n}') for n in range(4)])\nsave('found', a)", "FINAL('four')")
    outcome = cli.ask(serve(rooted(*cells)).url, "How many?").json
    run = run_of(outcome)
    assert run.parent == cli.folder / ".sonde/runs"
    assert {path.name for path in run.iterdir()} >= PROMISED
    assert len(list((run / "sub-calls").iterdir())) == 4, "a file a call"
    assert [read(path)["request"] for path in sorted((run / "sub-calls").iterdir())] == [f"n {n}" for n in range(4)]
    assert read(run / "intermediate/found.json") == ["yes"] * 4
    assert (run / "final-result.md").read_text("utf-8") == "four\n"
    plan = (run / "query-plan.md").read_text("utf-8")
    assert "> How many?" in plan
    assert "Calls: 4 llm." in plan


def test_there_is_no_final_result_before_the_end(cli: Cli) -> None:
    """Whoever finds `final-result.md` can rely on it: not after a limit, a failure or a kill, only after the answer."""
    cells = ("a = await llm('one')", "FINAL(a)")
    pid = 0

    def reply(request: ChatRequest) -> Said | str:
        if request.system:
            return run_code(cells[request.turn])
        if pid:
            kill_tree(pid)
        return "yes"

    final = cli.folder / ".sonde/runs/it/final-result.md"
    with FaultServer(reply) as server:
        port = int(server.url.split(":")[2].removesuffix("/v1"))
        process = cli.start("ask", "Go?", "--model", f"openai:test@{server.url}", "--run-id", "it", "--quiet")
        pid = process.pid
        process.communicate()
    assert not final.exists(), "killed"
    pid = 0
    with FaultServer(reply, port=port):
        stopped = cli("resume", "it", "--max-turns", "1", "--json", "--quiet")
        assert (stopped.code, stopped.json["status"]) == (4, "limit")
        assert not final.exists(), "stopped by a limit"
        assert (final.parent / "summary.json").exists()
        done = cli("resume", "it", "--max-turns", "9", "--json", "--quiet")
    assert (done.code, done.json["answer"]) == (0, "yes")
    assert final.read_text("utf-8") == "yes\n"


def test_a_run_that_ctrl_c_stops_leaves_its_files_too(cli: Cli, serve: OpenServer) -> None:
    arrived = threading.Event()

    class Hang(Faults):
        """Answers the root and keeps all others waiting."""

        def draw(self, *, from_agent: bool) -> Fault | None:
            if not from_agent:
                arrived.set()
            return None if from_agent else "hang"

    server = serve(rooted("save('before', 1)\nFINAL(await llm('never'))"), faults=Hang())
    process = cli.start("ask", "Go?", "--model", f"openai:test@{server.url}", "--run-id", "it")
    assert arrived.wait(10)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    run = cli.folder / ".sonde/runs/it"
    assert process.returncode == 130
    assert {path.name for path in run.iterdir()} >= PROMISED - {"final-result.md"}
    assert not (run / "final-result.md").exists()
    assert read(run / "summary.json")["status"] == "cancelled"
    assert b"status     cancelled" in told
    assert b"artifacts  query-plan.md, intermediate/ (1 file)\n" in told


def test_what_a_run_took_is_what_the_server_charged(cli: Cli, serve: OpenServer) -> None:
    """Totals, the part of the sub-calls, percentiles and the comparison, worked out again from the server's log."""
    sizes = list(range(10, 210, 10))

    def reply(request: ChatRequest) -> Said | str:
        if request.system:
            return run_code(f"r = await gather(*[llm(f'n {{n}}') for n in {sizes}])\nFINAL(len(r))")
        return Said("y", input_tokens=int(request.prompt.split()[1]), output_tokens=1)

    (cli.folder / "in.txt").write_text("text\n" * 10_001, encoding="utf-8")
    server = serve(reply)
    outcome = cli.ask(server.url, "How many?", "in.txt", "--price", "2,5").json
    into, out = charged(server.log)
    below = charged([entry for entry in server.log if not entry.system])
    run = run_of(outcome)
    cost, summary = read(run / "cost.json"), read(run / "summary.json")
    assert outcome["cost_usd"] == pytest.approx((2 * into + 5 * out) / 1e6)
    assert cost["aggregates"]["effective_cost_usd"] == pytest.approx(outcome["cost_usd"])
    assert cost["aggregates"]["total_tokens"] == into + out
    assert cost["aggregates"]["sub_calls"]["total_tokens"] == sum(below)
    assert summary["sub_call_usage"]["total_cost_usd"] == pytest.approx((2 * below[0] + 5 * below[1]) / 1e6)
    records = [record for record in cost["records"] if record["function"] == "llm"]
    assert sorted(record["total_tokens"] for record in records) == [size + 1 for size in sizes]
    assert len(cost["records"]) == len(server.log), "each call is written down with its tokens"
    spread = cost["percentile_report"]["tokens"]
    took = [size + 1 for size in sizes]
    assert (spread["min"], spread["max"], spread["mean"]) == (11, 201, statistics.fmean(took))
    assert spread["std_dev"] == pytest.approx(statistics.pstdev(took))
    for percent in (25, 50, 75, 90, 95, 99):
        assert spread[f"p{percent}"] == took[math.ceil(len(took) * percent / 100) - 1], "so many do not exceed it"
    baseline = cost["baseline"]
    assert baseline["input_tokens"] == math.ceil(50_005 / 4)
    assert baseline["cost_usd"] == pytest.approx(baseline["input_tokens"] * 2 / 1e6)
    assert baseline["cost_ratio"] == pytest.approx(outcome["cost_usd"] / baseline["cost_usd"], abs=1e-4)
    assert baseline["is_estimate"] is True


def test_the_four_phases_come_in_their_order_with_their_counts(cli: Cli, serve: OpenServer) -> None:
    cells = (
        "print(len(context))",
        "r = await gather(*[llm(f'n {n}') for n in range(7)])",
        "save('joined', r)",
        "FINAL(len(r))",
    )
    (cli.folder / "in.txt").write_text("text\n" * 100, encoding="utf-8")
    server = serve(rooted(*cells))
    outcome = cli("ask", "How many?", "in.txt", "--model", f"openai:test@{server.url}")
    assert (outcome.code, outcome.text) == (0, "7\n")
    summary = read(next((cli.folder / ".sonde/runs").glob("*/summary.json")))
    phases = summary["phases"]
    assert [phase["name"] for phase in phases] == FOUR
    assert [phase["items"] for phase in phases] == [0, 7, 0, 0]
    assert all(one["ended"] == after["began"] for one, after in pairwise(phases))
    into, out = charged(server.log)
    assert sum(phase["tokens"] for phase in phases) == into + out
    said = [line.split()[1].rstrip(":") for line in outcome.stderr.splitlines() if line.startswith("phase ")]
    assert said == FOUR
    assert "DECOMPOSITION" in outcome.stderr
    assert "7 of 7 sub-calls done" in outcome.stderr


def test_a_run_ends_with_a_summary_that_the_server_bears_out(cli: Cli, serve: OpenServer) -> None:
    cells = (
        "a = await gather(*[llm(f'n {n}') for n in range(5)])\nb = await gather(*[task(f't {n}') for n in range(3)])",
        "save('a', a)\nsave('b', b)\nFINAL(len(a + b))",
    )

    def reply(request: ChatRequest) -> Said | str:
        return run_code(cells[request.turn]) if depth_of(request) == 0 else "yes"

    for name in ("x.txt", "y.txt"):
        (cli.folder / name).write_text("text\n" * 1000, encoding="utf-8")
    server = serve(reply)
    model = ("--model", f"openai:test@{server.url}", "--price", "2,5")
    outcome = cli("ask", "How many?", "x.txt", "y.txt", *model)
    told = outcome.stderr
    summary = read(next((cli.folder / ".sonde/runs").glob("*/summary.json")))
    into, out = charged(server.log)
    subs = charged(
        [entry for entry in server.log if "Question:" not in entry.prompt and entry.prompt[:2] in {"n ", "t "}]
    )
    assert summary["usage"]["total_tokens"] == into + out
    assert summary["usage"]["requests"] == len(server.log) == 2 + 5 + 3
    assert summary["sub_call_usage"]["total_tokens"] == sum(subs)
    assert (summary["sub_agents"], summary["max_depth_reached"]) == (3, 1)
    for line in (
        "task       How many?",
        "status     completed",
        "inputs     2 analyzed, 10,000 characters",
        "work       3 sub-agents, 8 calls, depth 1, ",
        "coverage   8 of 8 items done (100 %), 0 failed",
        f"tokens     {into + out:,}, {sum(subs):,} of them in sub-calls",
        f"cost       ${(2 * into + 5 * out) / 1e6:,.6f}, ",
        "artifacts  query-plan.md, intermediate/ (2 files), final-result.md",
    ):
        assert any(each.startswith(line) for each in told.splitlines()), (line, told)
    assert "% of the estimated cost of processing the inputs directly" in told
    for flag in ("--quiet", "--json"):
        assert "artifacts" not in cli("ask", "How many?", "x.txt", *model, flag).stderr


def test_what_a_run_writes_fits_the_four_schemas(cli: Cli, serve: OpenServer) -> None:
    cells = (
        "phase('Look')\nsave('big', 'x' * 20_000)\na = await gather(llm('n'), task('t'), return_exceptions=True)",
        "1 / 0",
        "FINAL({'a': a[0]})",
    )

    def reply(request: ChatRequest) -> Said | str:
        return run_code(cells[request.turn]) if depth_of(request) == 0 else "yes"

    (cli.folder / "in.txt").write_text("text\n" * 100, encoding="utf-8")
    add_agent(cli.folder, "extra")
    outcome = cli.ask(serve(reply).url, "Go.", "in.txt", "--max-tokens", "100000", "--price", "1,2").json
    run = run_of(outcome)
    contents = {
        "task-state": [read(run / "state.json")],
        "cost": [read(run / "cost.json")],
        "config": [read(run / "summary.json")["config"]],
        "trajectory": lines_of(run / "trajectory.jsonl"),
    }
    assert set(contents) == set(NAMES)
    for name, values in contents.items():
        for value in values:
            assert not [str(error) for error in jsonschema_rs.validator_for(schema(name)).iter_errors(value)], name
    variables = {each["name"]: each for each in contents["task-state"][0]["variables"]}
    assert variables["prompt"]["read_only"] is True
    assert (variables["big"]["type"], variables["big"]["value"]) == ("file_path", "file:intermediate/big.txt")
    assert variables["Final"]["value"] == {"a": "yes"}
    ids = re.findall(r'"(?:state|tree|task|traj)-([^"]*)"', (run / "state.json").read_text("utf-8"))
    assert ids
    assert all(re.fullmatch("[a-f0-9]{8}", each) for each in ids)


def test_many_calls_at_once_take_as_long_as_their_rounds(cli: Cli, serve: OpenServer) -> None:
    """The time from the first request to the last answer, one at a time and all together: as a ratio."""
    delay, calls = 0.03, 16
    script = rooted(f"FINAL(len(await gather(*[llm(f'n {{n}}') for n in range({calls})])))")
    spans: dict[int, float] = {}
    for at_once in (1, calls):
        server = serve(script, settings=Settings(latency=Latency(delay)))
        assert cli.ask(server.url, "Go.", "--concurrency", str(at_once)).json["answer"] == calls
        asked = [entry for entry in server.log if not entry.system]
        spans[at_once] = max(entry.end or 0 for entry in asked) - min(entry.start for entry in asked)
    assert spans[1] >= calls * delay
    assert spans[1] / spans[calls] > calls / 4


def test_there_is_a_line_for_each_call_to_train_on(cli: Cli, serve: OpenServer) -> None:
    cells = ("a = await gather(llm('good'), llm('short'), task('t'), return_exceptions=True)", "FINAL(3)")

    def reply(request: ChatRequest) -> Said | str:
        if depth_of(request) == 0:
            return run_code(cells[request.turn])
        return Said("half", finish="length") if request.prompt == "short" else "yes"

    server = serve(reply)
    cli.ask(server.url, "Go.")
    cli("export", "last", "--trajectory", "calls.jsonl")
    lines = lines_of(cli.folder / "calls.jsonl")
    assert len(lines) == len(server.log) == 5
    for line in lines:
        assert {"prompt", "response", "model", "tokens", "duration_s", "success"} <= line.keys()
    into, out = charged(server.log)
    assert sum(line["tokens"]["input"] for line in lines) == into
    assert sum(line["tokens"]["output"] for line in lines) == out
    by_prompt = {line["prompt"]: line for line in lines if isinstance(line["prompt"], str)}
    assert (by_prompt["good"]["success"], by_prompt["good"]["response"]) == (True, "yes")
    assert by_prompt["short"]["success"] is False
