"""What schemas, budgets and saved workflows promise beyond the rows of one seed: through the command alone."""

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sonde.testing.server import ChatRequest, Latency, Said, Settings, call_tool, echo, run_code
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.heard import Heard, delegate, depth_of, read, rooted, run_of, task_of

HEADER = 'meta = {"name": "it", "description": "Do it."}\n'


def flow(cli: Cli, url: str, body: str, *flags: str | Path, interpreter: str = "python") -> Outcome:
    """Run a workflow with this body."""
    (cli.folder / "it.py").write_text(HEADER + body, encoding="utf-8")
    return cli("run", "it.py", "--model", f"openai:test@{url}", "--interpreter", interpreter, "--json", *flags)


# --- Schemas and what is counted -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flag", "most", "status"), [("tokens", 100_000, "ok"), ("calls", 6, "warning"), ("calls", 4, "exceeded")]
)
def test_the_budget_is_told_with_what_is_left(cli: Cli, serve: OpenServer, flag: str, most: int, status: str) -> None:
    server = serve(
        rooted("r = await gather(*[llm(f'n {n}') for n in range(5)], return_exceptions=True)\nFINAL(len(r))")
    )
    outcome = cli.ask(server.url, "Go.", f"--max-{flag}", str(most), "--reply-tokens", "50").json
    used = sum(entry.input_tokens + entry.output_tokens for entry in server.log) if flag == "tokens" else min(5, most)
    budget = read(run_of(outcome) / "cost.json")["budget"]
    told = {"limit": most, "used": used, "remaining": most - used, "used_pct": round(100 * used / most, 2)}
    assert (budget["status"], budget[flag]) == (status, told)
    assert (budget["warn_threshold_pct"], budget["abort_threshold_pct"]) == (80, 100)
    assert (outcome["status"] == "limit") == (status == "exceeded")
    assert outcome["answer"] == 5, "what was found is kept"


@pytest.mark.parametrize("flags", [(), ("--max-tokens", "9000000"), ("--max-usd", "9", "--price", "1,1")])
def test_a_run_that_would_be_large_says_so_unless_it_has_a_cap(
    cli: Cli, serve: OpenServer, flags: tuple[str, ...]
) -> None:
    (cli.folder / "in.txt").write_text("word " * 500_000, encoding="utf-8")
    server = serve(rooted("FINAL(1)"))
    model = ("--model", f"openai:test@{server.url}")
    planned = cli("plan", "How many?", "in.txt", *model, *flags)
    assert "tokens    some " in planned.text
    assert not server.log, "a plan sends nothing"
    for outcome in (planned, cli("ask", "How many?", "in.txt", *model, *flags)):
        assert outcome.code == 0, outcome.stderr
        assert ("and no limit is set (--max-tokens, --max-usd)" in outcome.stderr) == (not flags)


def test_the_nodes_of_the_tree_are_those_of_costs_and_steps(cli: Cli, serve: OpenServer) -> None:
    cells = (
        "await gather(llm('a'), task('b'), rlm('c'))\ntry:\n    await llm('broken')\nexcept TaskError:\n    FINAL(1)",
    )

    def reply(request: ChatRequest) -> Said | str:
        if depth_of(request) == 0:
            return run_code(*cells)
        return Said("half", finish="length") if request.prompt == "broken" else "yes"

    server = serve(reply)
    run = run_of(cli.ask(server.url, "Go.").json)
    tree = read(run / "state.json")["tree"]
    nodes = {node["node_id"]: node for node in tree["nodes"]}
    assert Counter(node["status"] for node in nodes.values()) == {"completed": 4, "failed": 1}
    [root] = [node for node in nodes.values() if node["parent_id"] is None]
    assert {node["parent_id"] for node in nodes.values()} == {None, root["node_id"]}
    assert set(root["children"]) == set(nodes) - {root["node_id"]}
    tokens = sum(entry.input_tokens + entry.output_tokens for entry in server.log)
    costs = read(run / "cost.json")["records"]
    assert {record["node_id"] for record in costs} == set(nodes)
    assert sum(record["total_tokens"] for record in costs) == tokens


def test_a_run_under_way_can_be_looked_at(cli: Cli, serve: OpenServer) -> None:
    """Its answer is a tool use that waits for nothing; what is seen is seen from within the script."""
    seen: dict[str, Any] = {}

    def reply(request: ChatRequest) -> Said | str:
        if request.turn == 0:
            return call_tool("glob", pattern="*")
        seen["runs"] = cli("runs", "--json").json["runs"]
        seen["show"] = cli("show", "last", "--json").json
        seen["tree"] = cli("show", "last", "--tree").text
        return "done"

    url = serve(reply).url
    assert cli("agent", "Look.", "--model", f"openai:test@{url}", "--quiet").text == "done\n"
    assert [each["status"] for each in seen["runs"]] == ["running"]
    assert seen["show"]["answer"] is None
    assert "turn 2 · running" in seen["tree"]


def test_no_phase_ends_before_it_began(cli: Cli, serve: OpenServer) -> None:
    """Not even where the answer comes while subagents work in the background."""

    def reply(request: ChatRequest) -> Said | str:
        if task_of(request) != "Go.":
            return "done"
        tasks = [{"agent": "general-purpose", "task": f"n{n}"} for n in range(6)]
        return delegate(tasks=tasks, background=True) if request.turn == 0 else "the end"

    server = serve(reply, settings=Settings(latency=Latency(0.02)))
    told = cli("agent", "Go.", "--model", f"openai:test@{server.url}", "--json")
    outcome = told.json
    assert outcome["answer"] == "the end"
    assert "tasks in the background had not ended when the agent answered, and were stopped" in told.stderr
    assert outcome["coverage"]["done"] + outcome["coverage"]["failed"] == outcome["coverage"]["items"]
    phases = read(run_of(outcome) / "summary.json")["phases"]
    assert all(phase["duration_s"] >= 0 for phase in phases)
    assert all(one["ended"] == after["began"] for one, after in pairwise(phases))


# --- The tool `delegate` -------------------------------------------------------------------------------------------


def test_delegate_tells_how_to_use_it_and_takes_what_it_says(cli: Cli, serve: OpenServer) -> None:
    heard = Heard(lambda _: "done")
    cli("agent", "Go.", "--model", f"openai:test@{serve(heard).url}", "--quiet")
    [tool] = [each["function"] for each in heard.requests[0].tools or [] if each["function"]["name"] == "delegate"]
    assert set(tool["parameters"]["properties"]) == {
        "agent", "task", "tasks", "chain", "description", "background", "model"
    }  # fmt: skip
    assert set(tool["parameters"]["properties"]["tasks"]["items"]["properties"]) == {"agent", "task", "model"}
    assert "exactly one of agent+task, tasks" in tool["description"]
    assert "Do not delegate what a single read would tell" in tool["description"]
    assert "say in it all that it needs" in tool["description"]
    known = tool["parameters"]["properties"]["agent"]["enum"]
    assert {"general-purpose", "rlm", "research-specialist", "code-writer", "critic"} <= set(known)


def test_a_chain_hands_on_every_result_and_an_empty_one_first(cli: Cli, serve: OpenServer) -> None:
    tasks = ["<{previous}>", "{previous}-{previous}", "last {previous}"]

    def reply(request: ChatRequest) -> Said | str:
        if task_of(request) == "Go.":
            chain = [{"agent": "general-purpose", "task": each} for each in tasks]
            return delegate(chain=chain) if request.turn == 0 else request.prompt
        return task_of(request)

    heard = Heard(reply)
    cli("agent", "Go.", "--model", f"openai:test@{serve(heard).url}", "--quiet")
    assert [task_of(request) for request in heard.firsts[1:]] == ["<>", "<>-<>", "last <>-<>"]


# --- Saved workflows -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interpreter", ["python", "monty"])
def test_a_pipeline_has_no_barrier_and_keeps_order_and_the_places_of_the_dead(
    cli: Cli, serve: OpenServer, interpreter: str
) -> None:
    body = """
async def first(n):
    return await llm(f'first {n}')
async def second(said):
    if said == 'first 3':
        raise ValueError('no three')
    return await llm('second of ' + said)
return await pipeline(range(12), first, second)
"""
    server = serve(echo, settings=Settings(latency=Latency(0.005, 0.05, "uniform")))
    answer = flow(cli, server.url, body, "--concurrency", "12", interpreter=interpreter).json["answer"]
    assert answer == [None if n == 3 else f"second of first {n}" for n in range(12)]
    first, second = ([entry for entry in server.log if entry.prompt.startswith(w)] for w in ("first", "second"))
    assert (len(first), len(second)) == (12, 11)
    assert min(entry.start for entry in second) < max(entry.end or 0 for entry in first), "nobody waits for all"


def test_parallel_waits_for_all_and_never_fails(cli: Cli, serve: OpenServer) -> None:
    body = """
async def breaks():
    raise ValueError('no')
async def asks():
    return await llm('hello')
return [await parallel([asks, breaks, llm('there')]), await parallel([])]
"""
    assert flow(cli, serve(echo).url, body).json["answer"] == [["hello", None, "there"], []]


def test_a_budget_is_one_for_all_that_runs_within(cli: Cli, serve: OpenServer) -> None:
    inner = """
done = 0
try:
    for n in range(9):
        await llm(f'inner {n}')
        done += 1
except TaskError as error:
    return [done, error.kind, budget.remaining().calls]
"""
    folder = cli.folder / ".sonde/workflows"
    folder.mkdir(parents=True)
    (folder / "inner.py").write_text(HEADER + inner, encoding="utf-8")
    body = """
before = [budget.total.calls, budget.spent().calls, budget.remaining().tokens > 10 ** 12]
await gather(*[llm(f'outer {n}') for n in range(3)])
return [before, budget.spent().calls, await workflow('inner')]
"""
    server = serve(echo)
    outcome = flow(cli, server.url, body, "--max-calls", "5")
    assert outcome.json["answer"] == [[5, 0, True], 3, [2, "budget", 0]]
    assert (outcome.code, outcome.json["status"]) == (4, "limit"), "and the run says that something was refused"
    assert len(server.log) == 5


def test_phases_and_lines_are_told_while_a_workflow_runs(cli: Cli, serve: OpenServer) -> None:
    body = "phase('Find')\nlog('three to go')\na = await llm('x')\nphase('Tell')\nreturn a"
    outcome = flow(cli, serve(echo).url, body)
    told = outcome.stderr
    assert told.index("phase: Find") < told.index("three to go") < told.index("phase: Tell")
    phases = read(run_of(outcome.json) / "summary.json")["named_phases"]
    assert [(phase["name"], phase["items"]) for phase in phases] == [("Find", 1), ("Tell", 0)]


def test_agents_of_a_workflow_have_kinds_schemas_labels_and_models(cli: Cli, serve: OpenServer) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    body = f"""
first = await task('count', response_schema={schema!r}, label='the count', model=args['model'])
try:
    await task('x', 'nobody' + '')
except TaskError as error:
    kind = error.kind
broken = await parallel([task('broken', response_schema={schema!r})])
return [first['n'], kind, broken]
"""

    def reply(request: ChatRequest) -> str:
        return "no data" if task_of(request) == "broken" else '{"n": 4}'

    server = serve(reply)
    model = f"openai:other@{server.url}"
    given = ("--args", json.dumps({"model": model}), "--also-model", model)
    assert flow(cli, server.url, body, *given).json["answer"] == [4, "unknown_agent", [None]]
    assert [entry.model for entry in server.log] == ["other", "test", "test"], "one repair, then it fails"
    calls = cli("show", "last", "--calls", "--json").json["calls"]
    assert [call.get("label") for call in calls if call["request"] == "count"] == ["the count"]


def test_a_workflow_reads_no_clock_that_resume_would_not(cli: Cli, serve: OpenServer) -> None:
    """Time and chance are the run's: what a cut run has seen of them, it sees again."""
    body = """
import random, time
seen = [random.random(), time.time()]
await llm(f'seen {seen}')
return [seen, await llm('second')]
"""
    server = serve(echo)
    first = flow(cli, server.url, body, "--max-calls", "1")
    assert (first.code, first.json["status"]) == (4, "limit")
    again = cli("resume", "last", "--max-calls", "2", "--json", "--quiet")
    assert again.code == 0, again.stderr
    assert [entry.prompt for entry in server.log] == [f"seen {again.json['answer'][0]}", "second"]


def test_a_workflow_has_no_files_no_network_and_no_processes(cli: Cli, serve: OpenServer) -> None:
    body = """
told = []
for line in ("open('/etc/passwd')", "__import__('socket').create_connection(('127.0.0.1', 9))",
             "__import__('subprocess').run(['true'])"):
    try:
        eval(line)
        told.append('did it')
    except Exception as error:
        told.append(type(error).__name__)
return told
"""
    told = flow(cli, serve(echo).url, body).json["answer"]
    assert len(told) == 3
    assert "did it" not in told


def test_each_run_keeps_its_workflow(cli: Cli, serve: OpenServer) -> None:
    """The code is part of the record: what the file says later changes nothing."""
    server = serve(echo)
    flow(cli, server.url, "a = await llm('one')\nb = await llm('two')\nreturn a + b", "--max-calls", "1")
    (cli.folder / "it.py").write_text("this is no workflow any more", encoding="utf-8")
    again = cli("resume", "last", "--max-calls", "9", "--json", "--quiet").json
    assert again["answer"] == "onetwo"
    assert [entry.prompt for entry in server.log] == ["one", "two"]
    cells = cli("show", "last", "--cells", "--json").json["cells"]
    assert re.search(r"await llm\('two'\)", cells[0]["code"])
