"""Subagents from code, as seed 002 tells of them: how they are sent and told, what a cell may take, what it is told."""

import json
from importlib.metadata import metadata

import pytest

from sonde.testing.server import ChatRequest
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.heard import Heard
from tests.scripts import add_agents, below, led_by, role_of, shown

LANGUAGES = pytest.mark.parametrize("language", ["python", "javascript"])


def work(cli: Cli, url: str, prompt: str, *flags: str) -> Outcome:
    """Do a piece of work in the folder."""
    return cli("agent", prompt, "--model", f"openai:test@{url}", "--json", "--quiet", *flags)


def tools_of(request: ChatRequest) -> list[str]:
    return [tool["function"]["name"] for tool in request.tools or []]


@LANGUAGES
def test_task_is_a_word_unless_it_is_switched_off(cli: Cli, serve: OpenServer, language: str) -> None:
    cell = "await task('x')" if language == "python" else "await task({description: 'x'})"
    unknown = "NameError" if language == "python" else "ReferenceError"
    for flags in ((), ("--no-code-subagents",)):
        heard = Heard(led_by([cell], lambda _: "done"))
        work(cli, serve(heard).url, "Go.", "--interpreter", language, *flags)
        [told] = shown(heard)
        assert "task" in tools_of(heard.requests[0]), "a model may use the tool either way"
        assert ("workflow" in heard.requests[0].system) != bool(flags)
        assert (f'<error type="{unknown}">' in told) == bool(flags)
        assert ("done" in told) != bool(flags)
        assert len(below(heard)) == (0 if flags else 1)


def test_a_subagent_is_told_the_description_and_nothing_else(cli: Cli, serve: OpenServer) -> None:
    add_agents(cli, "reviewer")
    description = "Review src/a.ts.\n\n  Cite lines — all of them. "
    cells = [
        f"a = await task({description!r}, 'reviewer', label='a name for people')",
        (
            f"b = await task({{'description': {description!r}, 'subagentType': 'reviewer', 'responseSchema': "
            "{'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'required': ['n']}})"
        ),
        "FINAL([a, b['n'] + 1])",
    ]
    heard = Heard(led_by(cells, lambda request: '{"n": 41}' if "JSON" in request.system else "text"))
    assert work(cli, serve(heard).url, "A prompt of the parent.").json["answer"] == ["text", 42]
    for request in below(heard):
        assert [(message["role"], message["content"]) for message in request.messages[1:]] == [("user", description)]
        assert role_of(request) == "reviewer"
        assert "a name for people" not in json.dumps(request.messages)
        assert "A prompt of the parent." not in json.dumps(request.messages)
    assert cli("show", "last", "--calls", "--json").json["calls"][0]["label"] == "a name for people"


def test_the_word_workflow_has_the_work_done_from_code(cli: Cli, serve: OpenServer) -> None:
    """The rule is part of what the model is always told, so that nothing else changes with the word."""
    told: list[list[dict[str, object]]] = []
    for prompt in ("Run a workflow that reviews src/.", "Review src/."):
        heard = Heard(led_by([], lambda _: "never"))
        work(cli, serve(heard).url, prompt)
        told.append(heard.requests[0].messages)
        assert heard.requests[0].messages[1] == {"role": "user", "content": prompt}
    assert told[0][0] == told[1][0]
    system = " ".join(str(told[0][0]["content"]).split())
    assert 'asked for a "workflow", send subagents from code with `task`, not one tool call at a time' in system


def test_the_prompt_teaches_how_to_send_subagents_well(cli: Cli, serve: OpenServer) -> None:
    heard = Heard(led_by(["r = await task('x')"], lambda _: "done"))
    work(cli, serve(heard).url, "Go.")
    system = " ".join(heard.requests[0].system.split())
    for advice in (
        "list and search first",
        "a subagent is best given paths, not texts",
        "a context of its own",
        "Variables last from cell to cell",
    ):
        assert advice in system
    assert "as short as it can be" in below(heard)[0].system


def test_subagents_are_seen_grouped_by_the_cell_that_sent_them(cli: Cli, serve: OpenServer) -> None:
    def sub(request: ChatRequest) -> str:
        if "bad" in request.prompt:
            raise ValueError("it broke")
        return "fine"

    add_agents(cli, "reader")
    cells = [
        "a = await gather(*[task(f'first {n}', 'reader', label=f'page {n}') for n in range(3)])",
        "phase('second look')\nb = await parallel(task('a good one'), task('a bad one'))",
    ]
    server = serve(led_by(cells, sub))
    flags = ("--model", f"openai:test@{server.url}", "--retries", "0")
    assert "phase: second look" in cli("agent", "Go.", *flags).stderr
    calls = cli("show", "last", "--calls", "--json").json["calls"]
    seen = {(call["cell"], call.get("label") or call["request"], call["status"]) for call in calls}
    assert seen == {
        (1, "page 0", "ok"),
        (1, "page 1", "ok"),
        (1, "page 2", "ok"),
        (2, "a good one", "ok"),
        (2, "a bad one", "failed"),
    }
    assert all(call["duration_s"] >= 0 for call in calls)
    assert "it broke" in next(json.dumps(call) for call in calls if call["status"] == "failed")
    agents = cli("show", "last", "--tree", "--json").json["agents"][1:]
    assert {each["call"] for each in agents} == {call["call"] for call in calls}
    assert [each["role"] for each in agents] == ["reader"] * 3 + ["general-purpose"] * 2
    assert [each["agent"].partition("/")[2][0] for each in agents] == ["1", "1", "1", "2", "2"]
    phases = {each["name"]: each for each in cli("show", "last", "--plan", "--json").json["phases"]}
    assert (phases["second look"]["items"], phases["second look"]["failed"]) == (2, 1)


@pytest.mark.parametrize("way", ["eval", "dispatch"])
def test_no_subagent_is_sent_before_a_person_agrees(cli: Cli, serve: OpenServer, way: str) -> None:
    cell = "r = await gather(*[task(f'Review {n}.') for n in range(5)])\nFINAL(r)"
    heard = Heard(led_by([cell], lambda _: "fine"))
    server = serve(heard)
    first = work(cli, server.url, "Run a workflow.", "--approve", way)
    assert (first.code, first.json["status"], len(server.log)) == (3, "escalated", 1)
    asked = first.json["error"]["message"]
    assert ("gather(*[task(" if way == "eval" else "Review 0.") in asked
    final = cli("resume", "last", "--answer", "yes", "--json", "--quiet").json
    assert final["answer"] == ["fine"] * 5
    assert len(below(heard)) == 5, "one approval lets a whole cell dispatch"


def test_this_python_is_new_enough() -> None:
    assert metadata("sonde")["Requires-Python"] == ">=3.11"
