"""An agent for long contexts, row by row: its file, its patterns, and its limits."""

import math
import re
import shutil
from pathlib import Path

import pytest

from sonde.testing.server import (
    ChatRequest,
    Faults,
    Said,
    call_tool,
    run_code,
)
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.heard import Heard, delegate, depth_of, read, rooted, run_of, task_of

SEEDS = Path(__file__).parents[3] / "shared/seeds"
TWIN = """---
id: rlm-agent
name: Agent for Long Contexts
role: orchestrator
tier: reasoning
model: claude-opus-4-7
description: Takes long work apart and has others do the pieces
allowed-tools: Read, Grep, Glob, Bash, Task, Write, Edit
---

# Agent for Long Contexts

Search before you read; write down what you find.
"""
FIVE = """
m = grep('validatePassword', inputs['auth.ts'])[0]
found = [m.line, m.first, m.last]
# next
units = chunk(inputs['routes.py'], by='function')
told = await gather(*[llm('Unit: ' + str(unit)) for unit in units])
# next
papers = [name for name in inputs if name.startswith('paper')]
verdicts = await gather(*[task('Paper: ' + inputs[name][:], label=name) for name in papers])
save('verdicts', dict(zip(papers, verdicts)))
# next
import re
ends = await map_items(list(units), lambda unit: sorted(set(re.findall('/api/[0-9]+', unit))))
joined = await reduce_items(ends, lambda a, b: sorted({*a, *b}))
save('endpoints', joined)
# next
looked = []
def look(name):
    looked.append(name)
    return inputs[name].count('validatePassword')
hit = await prior_search(['auth.ts'], papers, look)
miss = await prior_search(['routes.py'], ['auth.ts', 'paper0.md'], look)
# next
FINAL([found, len(told), sorted(verdicts), len(joined), hit, looked, miss])
"""


@pytest.mark.parametrize("origin", ["the seed's", "a twin"])
def test_an_agent_file_made_for_another_program_is_taken_as_it_is(cli: Cli, serve: OpenServer, origin: str) -> None:
    file = cli.folder / ".sonde/agents/rlm-agent.md"
    file.parent.mkdir(parents=True)
    if origin == "a twin":
        file.write_text(TWIN, encoding="utf-8")
    elif not (own := sorted(SEEDS.glob("004_*.txt"))):
        pytest.skip("the seed's own file does not lie beside this checkout")
    else:
        shutil.copy(own[0], file)

    def reply(request: ChatRequest) -> Said | str:
        if task_of(request) == "Go." and request.turn == 0:
            return delegate(agent="rlm-agent", task="Look.")
        return "done"

    heard = Heard(reply)
    url = serve(heard).url
    models = f'[models]\n"claude-opus-4-7" = "openai:opus@{url}"\n'
    (cli.folder / "sonde.toml").write_text(models, encoding="utf-8")
    outcome = cli("agent", "Go.", "--model", f"openai:test@{url}", "--json", "--quiet")
    assert outcome.json["answer"] == "done", outcome.stderr
    assert "there is no tool Bash here" in outcome.stderr
    sub = heard.requests[1]
    assert sub.model == "opus", "the name that the file has for its model"
    tools = [tool["function"]["name"] for tool in sub.tools or []]
    assert sorted(tools) == sorted(["read_file", "grep", "glob", "task", "write_file", "edit_file"])
    body = file.read_text("utf-8").partition("\n---\n")[2].strip()
    assert sub.system.startswith(body)
    (cli.folder / "sonde.toml").unlink()
    outcome = cli("agent", "Go.", "--model", f"openai:test@{url}", "--agent", "rlm-agent", "--json", "--quiet")
    assert outcome.json["answer"] == "done"
    assert "no model is called 'claude-opus-4-7'" in outcome.stderr
    assert heard.requests[3].model == "test"


@pytest.mark.parametrize(("tokens", "is_little"), [(2000, True), (4095, True), (4096, False)])
def test_little_room_for_a_roots_code_is_told(cli: Cli, serve: OpenServer, tokens: int, is_little: bool) -> None:
    url = serve(rooted("FINAL(1)")).url
    outcome = cli("ask", "Go.", "--model", f"openai:test@{url}", "--reply-tokens", str(tokens))
    assert ("is little for a root model" in outcome.stderr) == is_little


def test_a_long_file_is_not_read_whole_unless_a_part_is_named(cli: Cli, serve: OpenServer) -> None:
    functions = "".join(f"def f{n}():\n" + "    pass\n" * 99 for n in range(100))
    (cli.folder / "long.py").write_text(functions, encoding="utf-8")
    (cli.folder / "short.py").write_text("x = 1\n" * 999, encoding="utf-8")
    uses = [
        call_tool("read_file", path="long.py"),
        call_tool("read_file", path="short.py"),
        call_tool("read_file", path="long.py", offset=142, limit=27),
    ]
    heard = Heard(lambda request: uses[request.turn] if request.turn < 3 else "done")
    cli("agent", "Read.", "--agent", "rlm", "--model", f"openai:test@{serve(heard).url}", "--quiet")
    long, short, part = [str(each["content"]) for each in heard.requests[-1].messages if each["role"] == "tool"]
    assert "10,000 lines" in long
    assert "def f99" in long, "its outline"
    assert long.count("    pass") < 200, "its first lines alone"
    assert short.count("x = 1") == 999
    assert re.findall(r"^\s*(\d+)", part, re.MULTILINE) == [str(n) for n in range(142, 169)]


def test_deeper_than_five_is_refused_and_five_is_the_end(cli: Cli, serve: OpenServer) -> None:
    def reply(_: ChatRequest) -> Said | str:
        return run_code("try:\n    FINAL(await rlm('deeper'))\nexcept TaskError as e:\n    FINAL(f'{e.kind}: {e}')")

    heard = Heard(reply)
    url = serve(heard).url
    assert "at most 5" in cli.ask(url, "Go.", "--max-depth", "6").error
    (cli.folder / "sonde.toml").write_text("[rlm]\nmax_depth = 6\n", encoding="utf-8")
    assert "rlm.max_depth must be a whole number, at least 1 and at most 5, not 6" in cli.ask(url, "Go.").error
    assert not heard.requests
    (cli.folder / "sonde.toml").write_text("[rlm]\nmax_depth = 5\nfallback_on_depth_limit = false\n", encoding="utf-8")
    outcome = cli.ask(url, "Go.").json
    assert [depth_of(request) for request in heard.requests] == [0, 1, 2, 3, 4, 5]
    assert "maximum recursion depth exceeded: current depth 5, limit 5" in outcome["answer"]


def test_the_five_patterns_over_a_folder_of_code(cli: Cli, serve: OpenServer) -> None:
    lines = [f"// line {n}" for n in range(1, 3001)]
    lines[141] = "export function validatePassword() {"
    (cli.folder / "auth.ts").write_text("\n".join(lines) + "\n", encoding="utf-8")
    module = "\n\n".join(f"def handler_{n}():\n    return '/api/{n}'" for n in range(12))
    (cli.folder / "routes.py").write_text(module + "\n", encoding="utf-8")
    for n in range(10):
        (cli.folder / f"paper{n}.md").write_text(
            f"# Paper {n}\nIt {'holds' if n % 3 else 'fails'}.\n", encoding="utf-8"
        )
    cells = [cell.strip() for cell in FIVE.split("# next")]

    def reply(request: ChatRequest) -> Said | str:
        if depth_of(request) == 0:
            return run_code(cells[request.turn])
        asked = task_of(request)
        return "holds" if "holds" in asked else "fails" if "fails" in asked else "a unit"

    server = serve(reply)
    outcome = cli.ask(server.url, "Analyze.", "auth.ts", "routes.py", *[f"paper{n}.md" for n in range(10)]).json
    found, told, verdicts, joined, hit, looked, miss = outcome["answer"]
    assert found == [142, 122, 162]
    assert told == 12, "a call for each function"
    assert verdicts == ["fails"] * 4 + ["holds"] * 6, "an agent for each paper"
    assert joined == 12
    assert (hit, miss) == ([["auth.ts", 1]], [["auth.ts", 1]])
    assert looked == ["auth.ts", "routes.py", "auth.ts", "paper0.md"], "the rest only where nothing was found"
    assert outcome["max_depth_reached"] == 1
    run = run_of(outcome)
    assert len(read(run / "intermediate/endpoints.json")) == 12
    plan = (run / "query-plan.md").read_text("utf-8")
    for strategy in ("grep('validatePassword'", "by='function'", "12 llm", "10 task"):
        assert strategy in plan, "the way it went is written down"


def test_a_function_is_read_and_not_the_file_around_it(cli: Cli, serve: OpenServer) -> None:
    lines = [f"// {n}: " + "x" * 40 for n in range(1, 3001)]
    lines[141], lines[167] = "export function validatePassword(word) {", "}"
    (cli.folder / "auth.ts").write_text("\n".join(lines) + "\n", encoding="utf-8")
    cells = (
        "print(await tools.grep(pattern='validatePassword', path='inputs/auth.ts'))",
        "print(await tools.read_file(path='inputs/auth.ts', offset=140, limit=35))",
        "FINAL('142-168')",
    )
    heard = Heard(rooted(*cells))
    outcome = cli.ask(serve(heard).url, "Where is validatePassword?", "auth.ts").json
    told = str(heard.requests[-1].messages[-1]["content"])
    assert re.findall(r"^\s*(\d+)", told, re.MULTILINE) == [str(n) for n in range(140, 175)]
    baseline = read(run_of(outcome) / "summary.json")["baseline"]
    size = (cli.folder / "auth.ts").stat().st_size
    assert baseline["input_tokens"] == math.ceil(size / 4)
    used = outcome["usage"]["input_tokens"] + outcome["usage"]["output_tokens"]
    assert baseline["tokens_ratio"] == round(used / baseline["input_tokens"], 4) < 0.2


def test_the_profile_sends_twenty_and_refuses_the_next(cli: Cli, serve: OpenServer) -> None:
    cells = (
        "r = await gather(*[llm(f'n {n}') for n in range(21)], return_exceptions=True)",
        "FINAL([str(each) for each in r if isinstance(each, TaskError)])",
    )
    server = serve(rooted(*cells))
    outcome = cli.ask(server.url, "Go.", "--profile", "rlm-agent", "--sub-model", f"openai:small@{server.url}")
    assert (outcome.code, outcome.json["status"]) == (4, "limit")
    assert [re.sub(" Allow.*", "", each) for each in outcome.json["answer"]] == [
        "budget: the limit of 20 calls is reached."
    ]
    assert [entry.model for entry in server.log if not entry.system] == ["small"] * 20
    config = read(run_of(outcome.json) / "summary.json")["config"]
    assert {name: config[name] for name in ("max_depth", "max_sub_calls", "parallel_sub_calls")} == {
        "max_depth": 5, "max_sub_calls": 20, "parallel_sub_calls": True
    }  # fmt: skip
    assert (config["intermediate_dir"], config["completion_artifact"]) == ("intermediate/", "final-result.md")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('intermediate_dir = "work"', "one of intermediate"),
        ('completion_artifact = "done.md"', "one of final-result.md"),
    ],
)
def test_names_that_cannot_be_chosen_are_not_passed_over(cli: Cli, line: str, told: str) -> None:
    (cli.folder / "sonde.toml").write_text(f"[rlm]\n{line}\n", encoding="utf-8")
    outcome = cli("config", "show")
    assert outcome.code == 2
    assert told in outcome.error


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ((), ""),
        (("--profile", "large-file"), "Cut large inputs by function, in pieces of at most 1,000 lines."),
        (("--chunk-strategy", "fixed_size", "--chunk-size", "50"), "fixed size, in pieces of at most 50 lines."),
    ],
)
def test_the_way_to_cut_is_told_to_the_model(cli: Cli, serve: OpenServer, flags: tuple[str, ...], told: str) -> None:
    heard = Heard(rooted("FINAL(1)"))
    cli.ask(serve(heard).url, "Go.", *flags)
    assert told in heard.requests[0].prompt
    assert ("Cut large inputs" in heard.requests[0].prompt) == bool(flags)


@pytest.mark.parametrize("way", ["flag", "file"])
def test_calls_do_not_overlap_where_that_is_not_wanted(cli: Cli, serve: OpenServer, way: str) -> None:
    server = serve(rooted("FINAL(len(await gather(*[llm(f'n {n}') for n in range(6)])))"))
    if way == "file":
        (cli.folder / "sonde.toml").write_text("[rlm]\nparallel_sub_calls = false\n", encoding="utf-8")
    flags = ["--no-parallel-sub-calls"] if way == "flag" else []
    assert cli.ask(server.url, "Go.", *flags).json["answer"] == 6
    assert server.most_at_once == 1


def test_answers_are_kept_for_the_next_run_if_the_settings_say_so(cli: Cli, serve: OpenServer) -> None:
    server = serve(rooted("FINAL(len(await gather(*[llm(f'n {n}') for n in range(6)])))"))
    (cli.folder / "sonde.toml").write_text("[rlm]\ncache_intermediate = true\n", encoding="utf-8")
    assert cli.ask(server.url, "Go.").json["calls"]["cached"] == 0
    sent = len(server.log)
    again = cli.ask(server.url, "Go.").json
    assert again["calls"] == {"total": 6, "ok": 0, "failed": 0, "cached": 6}
    assert [entry.system for entry in server.log[sent:]] == [True], "the root alone was asked"


def test_a_call_that_hangs_fails_at_its_limit_and_the_run_goes_on(cli: Cli, serve: OpenServer) -> None:
    cells = (
        "r = await gather(*[llm(f'n {n}') for n in range(8)], return_exceptions=True)",
        "FINAL([each.kind if isinstance(each, TaskError) else each for each in r])",
    )
    server = serve(rooted(*cells), faults=Faults(0.5, ("hang",), seed=1, spare_agents=True))
    (cli.folder / "sonde.toml").write_text("retries = 0\n[rlm]\ntimeout_per_subcall = 0.5\n", encoding="utf-8")
    outcome = cli.ask(server.url, "Go.").json
    hung = sum(entry.fault == "hang" for entry in server.log)
    assert 0 < hung < 8
    assert (outcome["status"], sorted(outcome["answer"])) == ("completed", ["timeout"] * hung + ["yes"] * (8 - hung))
    assert outcome["coverage"] == {"items": 8, "done": 8 - hung, "failed": hung}
    failed = cli("show", "last", "--failed", "--json").json["calls"]
    assert [call["error"]["kind"] for call in failed] == ["timeout"] * hung


@pytest.mark.parametrize(
    ("tokens", "question", "is_direct"),
    [
        (4_000, "How many in all?", True),
        (10_000, "What does it say on cats?", True),
        (10_000, "How many are there?", False),
        (25_000, "What does it say?", False),
    ],
)
def test_the_size_decides_which_way_a_question_goes(
    cli: Cli, serve: OpenServer, tokens: int, question: str, is_direct: bool
) -> None:
    (cli.folder / "in.txt").write_text("cat\n" * tokens, encoding="utf-8")
    heard = Heard(lambda request: run_code("FINAL(len(context))") if request.tools else "direct")
    answer = cli.ask(serve(heard).url, question, "in.txt", "--route", "auto").json["answer"]
    assert answer == ("direct" if is_direct else 4 * tokens)
    assert len(heard.requests) == 1
    assert bool(heard.requests[0].tools) != is_direct
    told = (run_of(cli("show", "last", "--json").json) / "query-plan.md").read_text("utf-8")
    assert f"- route: auto, so {'direct' if is_direct else 'rlm'}\n" in told


@pytest.mark.parametrize(
    ("files", "lines", "flags", "is_direct"),
    [
        (11, 2_000, (), False),
        (10, 2_000, (), True),
        (1, 10_001, (), False),
        (1, 1_000, ("--direct-below", "400"), True),
        (1, 1_000, ("--direct-below", "400", "--code-above", "900"), False),
    ],
)
def test_many_files_and_many_lines_need_code(
    cli: Cli, serve: OpenServer, files: int, lines: int, flags: tuple[str, ...], is_direct: bool
) -> None:
    """With the same words in the question, and between the two sizes, which can be chosen."""
    for n in range(files):
        (cli.folder / f"{n}.txt").write_text("cat\n" * (lines // files), encoding="utf-8")
    if lines > 10_000:
        (cli.folder / "0.txt").write_text("c\n" * lines, encoding="utf-8")
    server = serve(lambda request: run_code("FINAL('code')") if request.tools else "direct")
    flags = flags or ("--direct-below", "1000")
    names = [f"{n}.txt" for n in range(files)]
    answer = cli.ask(server.url, "What is odd?", *names, "--route", "auto", *flags).json["answer"]
    assert answer == ("direct" if is_direct else "code")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("large-file", {"rlm.chunk_strategy": "by_function", "rlm.max_depth": 2}),
        ("multi-file", {"rlm.parallel_sub_calls": True, "rlm.max_sub_calls": 50}),
        ("corpus", {"rlm.max_depth": 3, "rlm.cache_intermediate": True}),
        ("refactor", {"rlm.chunk_strategy": "auto", "rlm.cost_tracking": True}),
        ("rlm-agent", {"rlm.max_depth": 5, "rlm.max_sub_calls": 20}),
    ],
)
def test_profiles_are_shown_with_their_values(cli: Cli, name: str, values: dict[str, object]) -> None:
    shown = cli("config", "show", "--profile", name, "--json").json["values"]
    for key, value in values.items():
        assert shown[key] == {"value": value, "source": "profile", "where": name}, key
    usual = cli("config", "show", "--json").json["values"]
    assert usual["rlm.timeout_per_subcall"]["value"] == 300
    assert usual["rlm.chunk_size"]["value"] == 1000
    assert usual["rlm.fallback_on_depth_limit"]["value"] is True
