"""Subagents from code and from tools, through the command: what each is told, what comes back, how deep they go."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from sonde.testing.server import ChatRequest, FaultServer, Said, Script, Settings, ToolUse, call_tool, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

GENERAL = "You do one piece of work"
AGENT = """---
name: {name}
description: Does {name}.
{more}---
You are the {name}. Do what you are told.
"""


class Heard:
    """A script that remembers what it was asked."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.requests: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> Said | str:
        """Answer as the script does."""
        self.requests.append(request)
        return self._script(request)


def add_agent(cli: Cli, name: str, more: str = "") -> None:
    folder = cli.folder / ".sonde/agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(AGENT.format(name=name, more=more))


def is_root(request: ChatRequest) -> bool:
    return (
        len(request.messages) > 1
        and "Question: " in str(request.messages[1]["content"])
        and "Current depth: 0/" in request.system
    )


def rooted(cells: list[str], sub: Script) -> Script:
    """Return a script: the root runs these cells, and all others answer with `sub`."""
    return lambda request: run_code(cells[request.turn]) if is_root(request) else sub(request)


def test_a_task_is_an_agent_with_a_fresh_context_of_its_own(cli: Cli, serve: OpenServer) -> None:
    cell = "r = await task('Say hello to Ada.', label='greeting')\nFINAL(r)"
    heard = Heard(rooted([cell], lambda request: f"{len(request.messages)} messages, {request.prompt!r}"))
    server = serve(heard)
    outcome = cli.ask(server.url, "Greet.").json
    assert outcome["answer"] == "2 messages, 'Say hello to Ada.'"
    sub = heard.requests[1]
    assert sub.system.startswith(GENERAL)
    assert "greeting" not in json.dumps(sub.messages)
    assert "Greet." not in json.dumps(sub.messages)
    assert outcome["calls"] == {"total": 1, "ok": 1, "failed": 0, "cached": 0}
    assert outcome["max_depth_reached"] == 1


def test_a_task_runs_a_whole_loop_with_tools(cli: Cli, serve: OpenServer) -> None:
    def sub(request: ChatRequest) -> Said | str:
        steps = [
            call_tool("write_file", path="notes.md", content="one\ntwo\n"),
            call_tool("edit_file", path="notes.md", old="two", new="three"),
            call_tool("read_file", path="notes.md"),
        ]
        return steps[request.turn] if request.turn < 3 else "It says: " + request.prompt

    cell = "r = await task('Write notes.')\ntext = await tools.read_file(path='notes.md')\nFINAL([r, text])"
    answer = cli.ask(serve(rooted([cell], sub)).url, "Go.").json["answer"]
    assert "three" in answer[0]
    assert "three" in answer[1]


def test_a_task_with_a_schema_gives_data_and_repairs_once(cli: Cli, serve: OpenServer) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    replies = {"Good": ['{"n": 1}'], "Bad once": ["one", '{"n": 2}'], "Bad": ["one", "two", "three"] * 40}
    cell = (
        f"schema = {schema!r}\nresults = []\nfor name in ['Good', 'Bad once', 'Bad']:\n"
        "    try:\n        results.append((await task(name, response_schema=schema))['n'])\n"
        "    except TaskError as error:\n        results.append(error.kind)\nFINAL(results)"
    )

    def sub(request: ChatRequest) -> str:
        name = str(request.messages[1]["content"])
        return replies[name][request.turn]

    server = serve(rooted([cell], sub))
    assert cli.ask(server.url, "Go.").json["answer"] == [1, 2, "schema"]
    assert len(server.log) == 1 + 1 + 2 + 2


def test_unknown_agents_are_told_with_those_that_there_are(cli: Cli, serve: OpenServer) -> None:
    add_agent(cli, "verifier")
    cell = "kind = 'aud' + 'itor'\ntry:\n    await task('x', kind)\nexcept TaskError as error:\n    FINAL(str(error))"
    server = serve(rooted([cell], lambda _: "never"))
    answer = cli.ask(server.url, "Go.").json["answer"]
    assert "'auditor'" in answer
    assert "general-purpose" in answer
    assert "verifier" in answer
    assert len(server.log) == 1


def test_an_agent_of_ones_own_has_its_prompt_model_and_tools(cli: Cli, serve: OpenServer) -> None:
    add_agent(cli, "reader", "tools: read_file\n")
    heard = Heard(rooted(["FINAL(await task('x', 'reader'))"], lambda _: "read"))
    assert cli.ask(serve(heard).url, "Go.").json["answer"] == "read"
    assert heard.requests[1].system.startswith("You are the reader.")
    assert [tool["function"]["name"] for tool in heard.requests[1].tools or []] == ["read_file"]


def test_files_with_the_same_name_are_kept_apart(cli: Cli, serve: OpenServer) -> None:
    def sub(request: ChatRequest) -> Said | str:
        if request.turn == 0:
            return call_tool("write_file", path="x.md", content=str(request.messages[1]["content"]))
        return "done"

    cell = (
        "await gather(task('first'), task('second'))\n"
        "names = await tools.glob(pattern='x*.md')\n"
        "FINAL(sorted([(await tools.read_file(path=n)) for n in names]))"
    )
    server = serve(rooted([cell], sub))
    outcome = cli.ask(server.url, "Go.").json
    assert len(outcome["answer"]) == 2
    assert "first" in "".join(outcome["answer"])
    assert "second" in "".join(outcome["answer"])
    assert "x.md" in cli("show", "last").text


def depth_of(request: ChatRequest) -> int:
    return int(request.system.partition("Current depth: ")[2][0])


@pytest.mark.parametrize("flags", [(), ("--no-fallback",)])
def test_recursion_stops_at_the_limit(cli: Cli, serve: OpenServer, flags: tuple[str, ...]) -> None:
    cell = (
        "try:\n    FINAL(await rlm('Deeper: ' + context, context))\nexcept TaskError as e:\n    FINAL(f'{e.kind}: {e}')"
    )

    def reply(request: ChatRequest) -> Said | str:
        return run_code(cell) if "Current depth" in request.system else "the bottom"

    (cli.folder / "in.txt").write_text("some text")
    heard = Heard(reply)
    outcome = cli.ask(serve(heard).url, "Go.", "in.txt", *flags).json
    depths = [depth_of(entry) for entry in heard.requests if "Current depth" in entry.system]
    assert depths == [0, 1, 2, 3]
    assert outcome["max_depth_reached"] == 3
    for entry, depth in zip(heard.requests, depths, strict=False):
        assert f"## RLM Depth\nCurrent depth: {depth}/3. Remaining: {3 - depth}." in entry.system
        assert ("MAX DEPTH REACHED. Process directly, do not delegate further." in entry.system) == (depth == 3)
    if flags:
        assert "depth" in outcome["answer"]
        assert "maximum recursion depth exceeded" in outcome["answer"]
        assert len(heard.requests) == 4
    else:
        assert outcome["answer"] == "the bottom"
        assert len(heard.requests) == 5
        assert "depth limit 3" in cli("show", "last").text


@pytest.mark.parametrize(
    ("bottom", "answer"),
    [
        (["one", '{"n": 2}'], {"n": 2}),
        (["one", "two"], "schema"),
        ([Said("half", finish="length")], "model_error"),
    ],
)
def test_what_is_asked_directly_at_the_limit_is_held_to_its_form(
    cli: Cli, serve: OpenServer, bottom: list[Said | str], answer: object
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    cell = f"try:\n    FINAL(await task('x', response_schema={schema}))\nexcept TaskError as e:\n    FINAL(e.kind)"
    server = serve(lambda request: run_code(cell) if is_root(request) else bottom[request.turn])
    assert cli.ask(server.url, "Go.", "--max-depth", "0").json["answer"] == answer


def test_a_deeper_limit_than_five_is_refused(cli: Cli) -> None:
    assert "--max-depth 6" in cli.ask("http://127.0.0.1:1/v1", "Go.", "--max-depth", "6").error


def test_rlm_looks_into_a_slice_or_an_input_by_handle(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "a.txt").write_text("alpha " * 1000)
    (cli.folder / "b.txt").write_text("beta " * 1000)

    def reply(request: ChatRequest) -> Said | str:
        if depth_of(request) == 0:
            doc = "inputs['b.txt']"
            return run_code(f"FINAL(await gather(rlm('One', {doc}), rlm('Two', {doc}[:10]), rlm('Three')))")
        return run_code("FINAL([len(context), context[:4], sorted(inputs)])")

    answer = cli.ask(serve(reply).url, "Go.", "a.txt", "b.txt").json["answer"]
    assert answer[0] == [5000, "beta", ["b.txt"]]
    assert answer[1] == [10, "beta", ["context"]]
    assert answer[2][2] == ["a.txt", "b.txt"]
    assert (cli.folder / "b.txt").exists()
    assert (cli.folder / "a.txt").exists()


def test_models_go_by_call_then_agent_then_what_was_named_above_then_the_run(cli: Cli, serve: OpenServer) -> None:
    servers = [serve(lambda _, n=n: f"from {n}") for n in range(3)]
    names = [f"openai:m{n}@{server.url}" for n, server in enumerate(servers)]
    add_agent(cli, "own", f"model: {names[1]}\n")
    deep = "FINAL([await llm('x'), await task('x'), await task('x', 'own')])"
    cell = (
        f"a = [await llm('x'), await llm('x', model={names[2]!r}), await task('x', 'own'),\n"
        f"  await task('x', 'own', model={names[2]!r})]\n"
        "b = await rlm('deep')\n"
        f"FINAL(a + b)"
    )

    def reply(request: ChatRequest) -> Said | str:
        return run_code(cell if depth_of(request) == 0 else deep)

    root = serve(reply)
    given = ("--sub-model", names[0], "--also-model", names[2], "--also-model", f"openai:test@{root.url}")
    cell = cell.replace("rlm('deep')", f"rlm('deep', model='openai:test@{root.url}')")
    deep = f"FINAL([await llm('x', model={names[2]!r}), await task('x', 'own')])"
    answer = cli.ask(root.url, "Go.", *given).json["answer"]
    assert answer == ["from 0", "from 2", "from 1", "from 2", "from 2", "from 1"]


def test_a_finished_task_is_not_paid_again_and_an_unfinished_one_goes_on(cli: Cli) -> None:
    """The account is used up in the middle: of three tasks of two turns, some turns are paid and some are not."""
    cell = "FINAL(await gather(*[task(f'number {n}') for n in range(3)]))"

    def sub(request: ChatRequest) -> Said | str:
        task = str(request.messages[1]["content"])
        return call_tool("write_file", path=f"{task}.md", content=task) if request.turn == 0 else f"done {task}"

    heard = Heard(rooted([cell], sub))
    with FaultServer(heard, settings=Settings(quota=5)) as server:
        port = int(server.url.split(":")[2].removesuffix("/v1"))
        first = cli.ask(server.url, "Go.").json
        assert first["status"] == "limit", first
        paid = sum(entry.status == 200 for entry in server.log)
    assert paid == 5
    with FaultServer(heard, port=port) as server:
        resumed = cli("resume", "last", "--json", "--quiet").json
        assert resumed["answer"] == [f"done number {n}" for n in range(3)]
        assert len(server.log) == 2


def agent(cli: Cli, url: str, prompt: str, *flags: str | Path) -> dict[str, object]:
    return cli("agent", prompt, "--model", f"openai:test@{url}", "--json", "--quiet", *flags).json


def delegating(arguments: Mapping[str, object], sub: Script) -> Script:
    def reply(request: ChatRequest) -> Said | str:
        if request.system.startswith(GENERAL):
            return sub(request)
        if request.turn == 0:
            return Said(tools=(ToolUse("delegate", json.dumps(arguments)),), finish="tool_calls")
        return "said: " + request.prompt

    return reply


def item(task: str, agent: str = "general-purpose") -> dict[str, object]:
    return {"agent": agent, "task": task}


def test_delegate_sends_one_agent(cli: Cli, serve: OpenServer) -> None:
    server = serve(delegating(item("count"), lambda request: f"<{request.prompt}>"))
    answer = str(agent(cli, server.url, "Go.")["answer"])
    assert answer.startswith("said: <count>\nFull session: session://")


def test_delegate_sends_eight_at_most_and_four_at_a_time(cli: Cli, serve: OpenServer) -> None:
    server = serve(delegating({"tasks": [item(str(n)) for n in range(9)]}, lambda _: "x"))
    assert "Too many parallel tasks (max 8)" in str(agent(cli, server.url, "Go.")["answer"])
    assert len(server.log) == 2
    items = [item(str(n)) for n in range(7)] + [item("x", "nobody")]
    server = serve(delegating({"tasks": items}, lambda request: f"<{request.prompt}>"))
    answer = str(agent(cli, server.url, "Go.")["answer"])
    assert "Parallel: 7/8 succeeded" in answer
    assert "unknown agent 'nobody'" in answer
    assert [answer.index(f"<{n}>") for n in range(7)] == sorted(answer.index(f"<{n}>") for n in range(7))
    assert server.most_at_once <= 4


def test_delegate_chains_and_stops_at_the_first_error(cli: Cli, serve: OpenServer) -> None:
    chain = {"chain": [item("a"), item("{previous}b{previous}"), item("[{previous}]")]}
    answer = str(agent(cli, serve(delegating(chain, lambda request: request.prompt)).url, "Go.")["answer"])
    assert "[aba]" in answer
    chain = {"chain": [item("a"), item("b", "nobody"), item("c")]}
    server = serve(delegating(chain, lambda request: request.prompt))
    answer = str(agent(cli, server.url, "Go.")["answer"])
    assert "stopped at 2 of 3" in answer
    assert "unknown agent" in answer
    assert len(server.log) == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "Specify exactly one mode: agent+task, tasks[], or chain[]"),
        ({"agent": "x"}, "Specify exactly one mode"),
        ({**item("x"), "tasks": [item("y")]}, "Specify exactly one mode"),
        ({"chain": [item("x")], "background": True}, "chain"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_delegate_tells_what_is_wrong(cli: Cli, serve: OpenServer, arguments: dict[str, object], problem: str) -> None:
    server = serve(delegating(arguments, lambda _: "never"))
    assert problem in str(agent(cli, server.url, "Go.")["answer"])
    assert len(server.log) == 2


def test_delegate_in_the_background(cli: Cli, serve: OpenServer) -> None:
    def reply(request: ChatRequest) -> Said | str:
        if request.system.startswith(GENERAL):
            return f"<{request.prompt}>"
        steps = [
            Said(tools=(ToolUse("delegate", json.dumps({**item("x" * 100), "background": True})),)),
            call_tool("task_get", id="task-1"),
        ]
        return steps[request.turn] if request.turn < 2 else "said: " + request.prompt

    heard = Heard(reply)
    answer = str(agent(cli, serve(heard).url, "Go.")["answer"])
    assert answer.startswith("said: status: completed\n<xxx")
    told = heard.requests[-1].messages[3]["content"]
    assert "status: running, count: 1" in told
    assert "task-1: " + "x" * 60 + "..." in told


def test_the_tools_of_an_agent_work_in_its_folder(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "src").mkdir()
    (cli.folder / "src/a.py").write_text("x = 1\n")

    def reply(request: ChatRequest) -> Said | str:
        steps = [
            call_tool("glob", pattern="src/**/*.py"),
            call_tool("edit_file", path="src/a.py", old="x = 1", new="x = 2"),
            call_tool("write_file", path="../outside.py", content="x"),
            run_code("print(await tools.read_file(path='src/a.py'))"),
        ]
        return steps[request.turn] if request.turn < 4 else "done"

    heard = Heard(reply)
    outcome = agent(cli, serve(heard).url, "Change x to 2.")
    assert outcome["answer"] == "done"
    assert (cli.folder / "src/a.py").read_text() == "x = 2\n"
    assert not (cli.folder.parent / "outside.py").exists()
    messages = [str(message["content"]) for message in heard.requests[-1].messages]
    assert "src/a.py" in messages[3]
    assert "<error" in messages[7]
    assert "x = 2" in messages[9]


def test_an_agent_of_the_seed_form_works_as_the_root(cli: Cli, serve: OpenServer) -> None:
    heard = Heard(lambda _: "done")
    assert agent(cli, serve(heard).url, "Analyze packages/", "--agent", "rlm")["answer"] == "done"
    tools = {tool["function"]["name"] for tool in heard.requests[0].tools or []}
    assert {"read_file", "write_file", "glob", "grep", "delegate"} <= tools
    assert "Current depth: 0/3. Remaining: 3." in heard.requests[0].system


def test_a_cell_that_was_refused_before_it_ran_does_not_run_on_resume(cli: Cli) -> None:
    cells = ["x = 1", "await llm('one', promt=2)", "await llm('two')\nFINAL(x)"]
    asked = Heard(lambda request: run_code(cells[request.turn]) if request.system else "yes")
    with FaultServer(asked, settings=Settings(quota=3)) as server:
        port = int(server.url.split(":")[2].removesuffix("/v1"))
        assert cli.ask(server.url, "Go.").json["status"] == "limit"
    assert "promt" in asked.requests[2].prompt
    assert "Nothing was run" in asked.requests[2].prompt
    with FaultServer(asked, port=port) as server:
        assert cli("resume", "last", "--json", "--quiet").json["answer"] == 1
        assert [entry.prompt for entry in server.log if not entry.system] == ["two"]
