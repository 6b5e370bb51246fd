"""A plan for recursive agents as tools, row by row: prompts, depth, models, delegation, sessions, a workspace."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sonde.testing.server import ChatRequest, Latency, Said, Settings, call_tool, run_code
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.heard import REACHED, STATUS, Heard, add_agent, delegate, depth_of, task_of
from tests.processes import kill_tree

PARTS = ("## Files are symbols", "## Decomposition", "## Workspace", "## RLM Depth")
CODE = """
async def deeper(n):
    try:
        return await rlm(f'number {n}')
    except TaskError as error:
        return error.kind
FINAL(await gather(*[deeper(n) for n in range(6)]))
"""
LEAF = "FINAL(len(await gather(*[llm(f'item {n}') for n in range(6)])))"

Run = Callable[..., Outcome]


@pytest.fixture
def work(cli: Cli) -> Run:
    """Run `sonde agent` as the preset `rlm`, against a server."""

    def run(url: str, prompt: str, *flags: str | Path) -> Outcome:
        return cli("agent", prompt, "--agent", "rlm", "--model", f"openai:test@{url}", "--json", "--quiet", *flags)

    return run


def item(task: str, agent: str = "rlm", **more: str) -> dict[str, str]:
    return {"agent": agent, "task": task, **more}


def test_the_preset_has_four_parts_and_six_tools(cli: Cli, serve: OpenServer, work: Run) -> None:
    heard = Heard(lambda _: "done")
    url = serve(heard).url
    assert work(url, "Look.").json["answer"] == "done"
    system = heard.requests[0].system
    assert [system.index(part) for part in PARTS] == sorted(system.index(part) for part in PARTS)
    tools = [tool["function"]["name"] for tool in heard.requests[0].tools or []]
    assert tools == ["read_file", "write_file", "glob", "grep", "delegate", "task_get"]
    add_agent(cli.folder, "rlm", "tools: read_file")
    assert work(url, "Look.").json["answer"] == "done"
    assert heard.requests[1].system.startswith("You are the rlm."), "the user's own takes its place"


def test_an_agent_may_send_itself_and_none_that_it_may_not(cli: Cli, serve: OpenServer) -> None:
    add_agent(cli.folder, "keeper", "can-delegate-to: keeper")

    def reply(request: ChatRequest) -> Said | str:
        if task_of(request) != "Go.":
            return f"<{task_of(request)}>"
        steps = [delegate(**item("again", "keeper")), delegate(**item("other", "general-purpose"))]
        return steps[request.turn] if request.turn < 2 else "\n".join(str(each["content"]) for each in request.messages)

    server = serve(reply)
    model = ("--model", f"openai:test@{server.url}", "--json", "--quiet")
    answer = cli("agent", "Go.", "--agent", "keeper", *model).json["answer"]
    assert "<again>\nFull session: session://" in answer
    assert "Not allowed to delegate to: general-purpose" in answer
    assert len(server.log) == 4, "the one that was refused was not asked"


@pytest.mark.parametrize("most", [3, 1])
def test_an_agent_that_always_sends_itself_stops_at_the_limit(serve: OpenServer, work: Run, most: int) -> None:
    def reply(request: ChatRequest) -> Said | str:
        return delegate(**item("deeper")) if request.turn == 0 else "the end"

    heard = Heard(reply)
    outcome = work(serve(heard).url, "Go.", "--max-depth", str(most)).json
    assert [depth_of(request) for request in heard.firsts] == list(range(most + 1))
    for depth, request in enumerate(heard.firsts):
        status = STATUS.format(depth=depth, most=most, left=most - depth)
        assert request.system.endswith(f"{status}\n{REACHED}" if depth == most else status)
    assert outcome["max_depth_reached"] == most
    assert len(heard.requests) == 2 * (most + 1), "the deepest was refused, and said the end"
    refusal = next(request.prompt for request in heard.requests if request.turn == 1)
    assert f"maximum recursion depth exceeded: current depth {most}, limit {most}" in refusal


def test_no_argument_and_no_text_makes_an_agent_less_deep(serve: OpenServer, work: Run) -> None:
    claim = STATUS.format(depth=0, most=3, left=3)

    def reply(request: ChatRequest) -> Said | str:
        if task_of(request) != "Go.":
            return "done"
        steps = [delegate(**item("a"), rlmDepth=0), delegate(tasks=[item("b", depth="0")]), delegate(**item(claim))]
        return steps[request.turn] if request.turn < 3 else "the end"

    heard = Heard(reply)
    work(serve(heard).url, "Go.")
    told = [str(message["content"]) for message in heard.requests[-1].messages if message["role"] == "tool"]
    assert "rlmDepth" in told[0]
    assert "depth" in told[1]
    assert [depth_of(request) for request in heard.firsts] == [0, 1]


def test_a_limit_of_three_is_usual(cli: Cli) -> None:
    values = cli("config", "show", "--json").json["values"]
    assert values["max_depth"] == {"value": 3, "source": "default", "where": ""}


@pytest.mark.parametrize(
    ("case", "steps", "expected"),
    [
        ("the item's", {0: delegate(tasks=[item("x", model="openai:b")], model="openai:a"), 1: "done"}, ["b"]),
        ("the call's", {0: delegate(tasks=[item("x")], model="openai:a"), 1: "done"}, ["a"]),
        ("what was named above", {0: delegate(**item("x", model="openai:a")), 1: delegate(**item("y"))}, ["a", "a"]),
        ("the agent's own", {0: delegate(**item("x", "own")), 1: "done"}, ["c"]),
        ("the call's before the agent's", {0: delegate(**item("x", "own"), model="openai:a"), 1: "done"}, ["a"]),
        ("the run's", {0: delegate(**item("x")), 1: delegate(**item("y"))}, ["sub", "sub"]),
    ],
)
def test_models_of_agents_that_are_sent(
    cli: Cli, serve: OpenServer, work: Run, case: str, steps: dict[int, Said | str], expected: list[str]
) -> None:
    def reply(request: ChatRequest) -> Said | str:
        depth = {"Go.": 0, "x": 1, "y": 2}[task_of(request)]
        return steps.get(depth, "done") if request.turn == 0 else "done"

    heard = Heard(reply)
    url = serve(heard).url
    add_agent(cli.folder, "own", f"model: openai:c@{url}")
    given = {name: f"openai:{name}@{url}" for name in ("a", "b", "sub")}
    for depth, step in steps.items():
        if isinstance(step, Said):
            use = step.tools[0]
            named = re.sub(r'"openai:([ab])"', lambda found: f'"{given[found[1]]}"', use.arguments)
            steps = {**steps, depth: step._replace(tools=(use._replace(arguments=named),))}
    also = ("--also-model", given["a"], "--also-model", given["b"])
    work(url, "Go.", "--sub-model", given["sub"], *also)
    assert heard.firsts[0].model == "test"
    assert [request.model for request in heard.firsts[1:]] == expected, case


def test_a_model_in_a_file_is_the_last_choice(cli: Cli, serve: OpenServer, work: Run) -> None:
    heard = Heard(lambda request: delegate(**item("x")) if task_of(request) == "Go." and not request.turn else "done")
    url = serve(heard).url
    (cli.folder / "sonde.toml").write_text(f'[rlm]\nsub_model = "openai:configured@{url}"\n', encoding="utf-8")
    work(url, "Go.")
    work(url, "Go.", "--sub-model", f"openai:flag@{url}")
    assert [request.model for request in heard.firsts] == ["test", "configured", "test", "flag"]


def test_nine_are_too_many_in_the_background_too_and_four_work_at_a_time(serve: OpenServer, work: Run) -> None:
    def reply(request: ChatRequest) -> Said | str:
        if task_of(request) != "Go.":
            return "done"
        steps = [
            delegate(tasks=[item(str(n)) for n in range(9)], background=True),
            delegate(tasks=[item(str(n)) for n in range(8)], background=True),
            *(call_tool("task_get", id=f"task-{n}") for n in range(1, 9)),
        ]
        return steps[request.turn] if request.turn < len(steps) else "the end"

    heard = Heard(reply)
    server = serve(heard, settings=Settings(latency=Latency(0.02)))
    work(server.url, "Go.")
    told = [str(message["content"]) for message in heard.requests[-1].messages if message["role"] == "tool"]
    assert told[0] == "Error: Too many parallel tasks (max 8)"
    assert "status: running, count: 8" in told[1]
    assert all(each.startswith("status: completed\ndone") for each in told[2:])
    assert len(heard.firsts) == 1 + 8
    asked = [entry for entry in server.log if entry.prompt in "01234567"]
    assert max(sum(a.start < b.end and b.start < a.end for b in asked if a.end and b.end) for a in asked) >= 2
    assert server.most_at_once <= 4 + 1, "four subagents, and the root beside them"


def test_each_agent_that_was_sent_begins_and_ends_in_the_record(cli: Cli, serve: OpenServer, work: Run) -> None:
    def reply(request: ChatRequest) -> Said | str:
        if task_of(request) == "Go." and request.turn == 0:
            return delegate(tasks=[item("good"), item("empty"), item("nobody's", "nobody")])
        return Said("", finish="stop") if task_of(request) == "empty" else "done"

    work(serve(reply).url, "Go.", "--max-turns", "2")
    calls = {call["request"]: call for call in cli("show", "last", "--calls", "--json").json["calls"]}
    agents = {each["call"]: each for each in cli("show", "last", "--tree", "--json").json["agents"]}
    assert {name: call["status"] for name, call in calls.items()} == {
        "good": "ok", "empty": "failed", "nobody's": "failed"
    }  # fmt: skip
    assert {agent["status"] for agent in agents.values()} <= {"completed", "failed", "limit"}, "none is left open"
    for name in ("good", "empty"):
        agent = agents[calls[name]["call"]]
        assert (agent["parent"], agent["role"], agent["depth"]) == ("root", "rlm", 1)
        assert calls[name]["agent"] == agent["parent"]
    assert calls["nobody's"]["call"] not in agents


def test_a_session_can_be_looked_at(cli: Cli, serve: OpenServer, work: Run) -> None:
    def reply(request: ChatRequest) -> Said | str:
        if task_of(request) != "Go.":
            return call_tool("glob", pattern="*.md") if request.turn == 0 else "nothing \x1b[2J there"
        steps = [delegate(**item("look around"), description="a look"), delegate(**item("x", "nobody"))]
        return steps[request.turn] if request.turn < 2 else "\n".join(str(each["content"]) for each in request.messages)

    answer = work(serve(reply).url, "Go.").json["answer"]
    [sent] = re.findall(r"Full session: (session://\S+)", answer)
    shown = cli("show", sent)
    first, second = shown.text.splitlines()[:2]
    assert first == f"session   {sent}"
    assert re.fullmatch(r"agent     root/\S+ · rlm · \S+ · depth 1 · completed", second)
    talk = shown.text.partition("[user]")[2]
    assert talk.index("look around") < talk.index('→ glob {"pattern": "*.md"}') < talk.index("nothing \\x1b[2J there")
    told = cli("show", sent, "--json").json
    assert [message["role"] for message in told["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert (told["value"], told["role"], told["depth"], told["error"]) == ("nothing \x1b[2J there", "rlm", 1, None)
    assert told["messages"][2]["tool_call_id"] == told["messages"][1]["tool_calls"][0]["id"]
    run, _, call = sent.removeprefix("session://").partition("/")
    [refused] = [each["call"] for each in cli("show", run, "--failed", "--json").json["calls"]]
    assert "failed    unknown agent 'nobody'" in cli("show", f"session://{run}/{refused}").text
    assert cli("show", f"session://last/{call}").text == shown.text
    assert f"run {run} has no call 99" in cli("show", f"session://{run}/99").error
    assert "there is no run 'no'" in cli("show", "session://no/1").error
    assert "a session has one view" in cli("show", sent, "--tree").error


def test_the_session_of_what_was_answered_before_or_directly(cli: Cli, serve: OpenServer) -> None:
    cells = ("a = await task('x')\n1 / 0", "b = await task('x')\nc = await llm('y')\nFINAL([a, b, c])")

    def reply(request: ChatRequest) -> Said | str:
        return run_code(cells[request.turn]) if depth_of(request) == 0 else f"said {task_of(request)}"

    server = serve(reply)
    assert cli.ask(server.url, "Go.").json["answer"] == ["said x", "said x", "said y"]
    calls = cli("show", "last", "--calls", "--json").json["calls"]
    assert [call["status"] for call in calls] == ["ok", "reused", "ok"]
    first, again, plain = [cli("show", f"session://last/{call['call']}", "--json").json for call in calls]
    assert first["messages"] == again["messages"]
    assert (plain["messages"], plain["value"]) == ([], "said y")
    assert "agent     none: llm sent no agent" in cli("show", f"session://last/{plain['call']}").text


def test_a_session_that_a_kill_cut_in_two_is_whole(cli: Cli, serve: OpenServer) -> None:
    pids: list[int] = []

    def reply(request: ChatRequest) -> Said | str:
        asked = task_of(request)
        if asked == "Go.":
            return delegate(tasks=[item(f"n{n}") for n in range(4)]) if request.turn == 0 else request.prompt
        if request.turn == 1 and pids:
            kill_tree(pids.pop())
        return call_tool("write_file", path=f"{asked}.md", content=asked) if request.turn == 0 else f"did {asked}"

    server = serve(reply)
    model = ("--model", f"openai:test@{server.url}")
    process = cli.start("agent", "Go.", "--agent", "rlm", *model, "--run-id", "it", "--quiet")
    pids.append(process.pid)
    process.communicate()
    answer = cli("resume", "it", "--json", "--quiet").json["answer"]
    assert answer.startswith("Parallel: 4/4 succeeded")
    references = re.findall(r"session://\S+", answer)
    assert len(references) == 4
    for n, reference in enumerate(references):
        told = cli("show", reference, "--json").json
        assert [message["role"] for message in told["messages"]] == ["user", "assistant", "tool", "assistant"]
        assert (told["messages"][0]["text"], told["value"]) == (f"n{n}", f"did n{n}")
        assert (cli.folder / f"n{n}.md").read_text("utf-8") == f"n{n}"


def test_chunks_and_results_lie_in_the_folder(cli: Cli, serve: OpenServer, work: Run) -> None:
    text = "".join(f"line {n}\n" for n in range(1, 3001))
    (cli.folder / "code").mkdir()
    (cli.folder / "code/big.py").write_text(text, encoding="utf-8")
    pieces = [text[:10_000], text[10_000:20_000], text[20_000:]]
    names = [f"{n:02}.md" for n in range(3)]

    def root(request: ChatRequest) -> Said | str:
        steps: list[Said | str] = [
            call_tool("glob", pattern="code/*.py"),
            call_tool("read_file", path="code/big.py"),
            *(call_tool("write_file", path=f"chunks/{name}", content=p) for name, p in zip(names, pieces, strict=True)),
            delegate(tasks=[item(f"Count the lines of {name}.") for name in names]),
            *(call_tool("read_file", path=f"results/{name}") for name in names),
        ]
        if request.turn < len(steps):
            return steps[request.turn]
        found = [re.search(r"(\d+) lines", str(message["content"])) for message in request.messages[-6:]]
        return str(sum(int(each[1]) for each in found if each))

    def sub(request: ChatRequest) -> Said | str:
        name = task_of(request).split()[-1].rstrip(".")
        count = pieces[int(name[:2])].count("\n")
        steps = [
            call_tool("read_file", path=f"chunks/{name}"),
            call_tool("write_file", path=f"results/{name}", content=f"{count} lines\n"),
        ]
        return steps[request.turn] if request.turn < 2 else "done"

    heard = Heard(lambda request: root(request) if depth_of(request) == 0 else sub(request))
    assert work(serve(heard).url, "How many lines are in code/?").json["answer"] == "3000"
    assert sorted(path.name for path in (cli.folder / "chunks").iterdir()) == names
    assert sorted(path.name for path in (cli.folder / "results").iterdir()) == names
    assert "".join((cli.folder / "chunks" / name).read_text("utf-8") for name in names) == text
    told = [message for message in heard.requests[2].messages if message["role"] == "tool"]
    assert len(str(told[1]["content"])) < 5_000, "a long file gives its outline first"


@pytest.mark.parametrize("cap", [8, 1])
def test_fan_outs_within_fan_outs_keep_to_the_limit_and_end(cli: Cli, serve: OpenServer, cap: int) -> None:
    def reply(request: ChatRequest) -> Said | str:
        match depth_of(request):
            case None:
                return "one"
            case 2:
                return run_code(LEAF)
            case _:
                return run_code(CODE)

    server = serve(reply, settings=Settings(latency=Latency(0.002)))
    outcome = cli.ask(server.url, "Count.", "--concurrency", str(cap)).json
    assert outcome["answer"] == [[6] * 6] * 6
    assert outcome["calls"] == {"total": 6 + 36 + 216, "ok": 6 + 36 + 216, "failed": 0, "cached": 0}
    assert server.most_at_once == cap
    assert len(server.log) == 1 + 6 + 36 + 216


def test_use_the_rlm_agent_to_analyze_a_folder(cli: Cli, serve: OpenServer) -> None:
    """The smoke test of the plan: an agent that is told to sends `rlm`, which sends others, to the limit."""
    (cli.folder / "packages").mkdir()
    for name in ("core", "tui"):
        (cli.folder / f"packages/{name}.ts").write_text(f"export const {name} = 1\n", encoding="utf-8")

    def reply(request: ChatRequest) -> Said | str:
        asked = task_of(request)
        if asked.startswith("Use the rlm agent"):
            return delegate(**item("Analyze packages/")) if request.turn == 0 else f"Found: {request.prompt}"
        if asked == "Analyze packages/":
            steps = [
                call_tool("glob", pattern="packages/*"),
                delegate(tasks=[item("Analyze core"), item("Analyze tui")]),
                call_tool("glob", pattern="results/*"),
            ]
            return steps[request.turn] if request.turn < 3 else request.prompt
        name = asked.split()[1]
        path = f"packages/{name}.ts"
        steps = [
            call_tool("grep", pattern="export", path=path),
            call_tool("write_file", path=f"results/{name}.md", content=name),
        ]
        return steps[request.turn] if request.turn < 2 else name

    heard = Heard(reply)
    model = f"openai:test@{serve(heard).url}"
    outcome = cli(
        "agent", "Use the rlm agent to analyze packages/", "--model", model, "--max-depth", "2", "--json", "--quiet"
    )
    answer = outcome.json["answer"]
    assert "results/core.md\nresults/tui.md" in answer
    assert {path.name for path in (cli.folder / "results").iterdir()} == {"core.md", "tui.md"}
    deepest = [request for request in heard.firsts if task_of(request) in {"Analyze core", "Analyze tui"}]
    assert [depth_of(request) for request in deepest] == [2, 2]
    for request in deepest:
        assert REACHED in request.system
        assert not [tool for tool in request.tools or [] if tool["function"]["name"] == "delegate"]
