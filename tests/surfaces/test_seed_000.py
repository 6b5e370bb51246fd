"""Code works through inputs that no window holds: coverage, totals, models, and the trace of it all."""

import json
import re
import sys

import pytest

from sonde.testing.server import ChatRequest, Faults, Latency, Said, Settings, call_tool, digest_of, run_code
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.heard import Heard
from tests.scripts import add_agents, is_root, led_by, role_of

PAGES = 300
PAGE = re.compile(r"Summarize page (\d+)\.")
DISPATCH = {
    "python": """
pages = context.split('\\f')
results = await gather(*[task(description=f'Summarize page {n + 1}.\\n{page}', subagent_type='summarizer')
                         for n, page in enumerate(pages)])
FINAL(results)
""",
    "javascript": """
const pages = context.split("\\f").map((text, at) => ({ number: at + 1, text }));
const results = await Promise.all(pages.map(page =>
  task({ description: `Summarize page ${page.number}.\\n${page.text}`, subagentType: "summarizer" })
));
FINAL(results);
""",
}


def book(cli: Cli) -> str:
    """Write a book of so many pages, and return the name of its file."""
    text = "\f".join(f"page {n + 1} has the word w{n * 7919 % 1000:03d}" for n in range(PAGES))
    (cli.folder / "book.txt").write_text(text)
    add_agents(cli, "summarizer")
    return "book.txt"


def page_of(request: ChatRequest) -> int:
    asked = PAGE.match(request.prompt)
    assert asked is not None, request.prompt
    return int(asked[1])


def summary(request: ChatRequest) -> str:
    assert role_of(request) == "summarizer"
    return f"{page_of(request)}: {request.prompt[-4:]}"


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_each_of_300_pages_has_one_subagent(cli: Cli, serve: OpenServer, language: str) -> None:
    heard = Heard(led_by([DISPATCH[language]], summary))
    outcome = cli.ask(serve(heard).url, "What is in the book?", book(cli), "--interpreter", language).json
    assert outcome["answer"] == [f"{n + 1}: w{n * 7919 % 1000:03d}" for n in range(PAGES)]
    assert len(heard.requests) == 1 + PAGES
    assert sorted(page_of(each) for each in heard.requests[1:]) == list(range(1, PAGES + 1))
    assert outcome["coverage"] == {"items": PAGES, "done": PAGES, "failed": 0}


def test_a_page_that_fails_is_in_the_ledger(cli: Cli, serve: OpenServer) -> None:
    def sub(request: ChatRequest) -> str:
        if page_of(request) == 131:
            raise ValueError("this page cannot be read")
        return "fine"

    cell = (
        DISPATCH["python"].replace("gather(", "parallel(").replace("FINAL(results)", "FINAL(results.index(None) + 1)")
    )
    outcome = cli.ask(serve(led_by([cell], sub)).url, "What is in the book?", book(cli), "--retries", "0").json
    assert outcome["answer"] == 131
    assert outcome["coverage"] == {"items": PAGES, "done": PAGES - 1, "failed": 1}
    ledger = cli("show", "last", "--calls", "--json").json["coverage"]
    assert ledger["failed"] == 1
    assert "Summarize page 131." in json.dumps(ledger["failed_items"])
    assert "Summarize page 131." in cli("show", "last", "--failed").text


def test_the_mean_of_10_000_records_is_exact(cli: Cli, serve: OpenServer) -> None:
    """Each figure is in a reply, none is in the input; the sum is kept in code, over two cells."""
    sizes = [n * n % 99_991 for n in range(10_000)]
    (cli.folder / "calls.txt").write_text("".join(f"call {n:05d} was long\n" for n in range(10_000)))
    cells = [
        "sizes = await gather(*[llm('What was the deal size?\\n' + line) for line in context.splitlines()])",
        "FINAL([len(sizes), sum(map(int, sizes)) / len(sizes)])",
    ]
    server = serve(led_by(cells, lambda request: str(sizes[int(request.prompt.split()[-3])])))
    outcome = cli.ask(server.url, "What is the average deal size?", "calls.txt").json
    assert outcome["answer"] == [10_000, sum(sizes) / 10_000]
    assert outcome["calls"] == {"total": 10_000, "ok": 10_000, "failed": 0, "cached": 0}
    assert len(server.log) == 10_000 + len(cells)


PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def test_a_thousand_subagents_in_two_phases_take_little_memory(cli: Cli, serve: OpenServer) -> None:
    cell = (
        "phase('read')\nfound = await gather(*[task(f'number {n}') for n in range(COUNT)])\n"
        "phase('sum up')\nFINAL([len(set(found)), await llm('sum up')])"
    )
    cli.launcher = [sys.executable, "-c", PEAK]
    peaks: list[int] = []
    for count in (10, 1000):
        server = serve(led_by([cell.replace("COUNT", str(count))], lambda request: request.prompt))
        outcome = cli.ask(server.url, "Go.", "--run-id", f"of-{count}")
        assert outcome.json["answer"] == [count, "sum up"]
        assert len(server.log) == 1 + count + 1
        peaks.append(int(outcome.stderr.split()[-1]))
    assert peaks[1] - peaks[0] < 60_000, "kilobytes"
    cli.launcher = []
    phases = {each["name"]: each["items"] for each in cli("show", "of-1000", "--plan", "--json").json["phases"]}
    assert (phases["read"], phases["sum up"]) == (1000, 1)


PRIMITIVES = {
    "python": """
errors = [match.text for match in grep('ERROR')]
by_host = partition(context.splitlines(), by=lambda line: line.split()[1])
pieces = list(chunk(by='lines', size=100))
counts = await map_items(pieces, lambda piece: piece.count('ERROR'))
kept = [line for line in context.splitlines() if line.endswith('9')]
labels = await map_items(kept[:5], 'Which number ends this? {item}', {'type': 'integer'})
FINAL([len(errors), {host: len(lines) for host, lines in by_host.items()}, len(pieces),
    await reduce_items(counts, lambda a, b: a + b), len(kept), labels, 'at h0 ERROR 0' in inputs['log.txt'].peek()])
""",
    "javascript": """
const errors = grep(/ERROR/).map(match => match.text);
const byHost = partition(context.trimEnd().split("\\n"), { by: line => line.split(" ")[1] });
const pieces = [...chunk(context, { by: "lines", size: 100 })];
const counts = await mapItems(pieces, piece => piece.split("ERROR").length - 1);
const kept = context.trimEnd().split("\\n").filter(line => line.endsWith("9"));
const labels = await mapItems(kept.slice(0, 5), "Which number ends this? {item}", { schema: { type: "integer" } });
const entries = byHost instanceof Map ? [...byHost] : Object.entries(byHost);
FINAL([errors.length, Object.fromEntries(entries.map(([host, lines]) => [host, lines.length])), pieces.length,
  await reduceItems(counts, (a, b) => a + b), kept.length, labels, inputs["log.txt"].peek().includes("at h0 ERROR 0")]);
""",
}


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_an_input_is_searched_parted_mapped_and_reduced(cli: Cli, serve: OpenServer, language: str) -> None:
    lines = [f"at h{n % 3} {'ERROR' if n % 17 == 0 else 'fine'} {n}" for n in range(1000)]
    (cli.folder / "log.txt").write_text("".join(line + "\n" for line in lines))
    server = serve(
        led_by([PRIMITIVES[language]], lambda request: re.findall(r"ends this\? .* (\d+)", request.prompt)[0])
    )
    answer = cli.ask(server.url, "Go.", "log.txt", "--interpreter", language).json["answer"]
    hosts = {f"h{k}": sum(line.startswith(f"at h{k} ") for line in lines) for k in range(3)}
    errors = sum("ERROR" in line for line in lines)
    ending = [int(line.split()[-1]) for line in lines if line.endswith("9")]
    assert answer == [errors, hosts, 10, errors, len(ending), ending[:5], True]


def test_code_goes_on_one_by_one_or_at_once_or_not_at_all(cli: Cli, serve: OpenServer) -> None:
    cell = (
        "found = []\nfor n in range(3):\n    found.append(await llm(f'one {n}'))\n"
        "if 'never' in found:\n    await llm('not this')\nelse:\n"
        "    found += await gather(*[llm(f'all {n}') for n in range(3)])\nFINAL(found)"
    )
    server = serve(led_by([cell], lambda request: request.prompt), settings=Settings(latency=Latency(0.15)))
    assert cli.ask(server.url, "Go.").json["answer"] == ["one 0", "one 1", "one 2", "all 0", "all 1", "all 2"]
    steps = {entry.prompt: (entry.start, entry.end or 0) for entry in server.log if not entry.system}
    assert "not this" not in steps
    assert steps["one 0"][1] <= steps["one 1"][0] < steps["one 1"][1] <= steps["one 2"][0]
    assert max(steps[f"all {n}"][0] for n in range(3)) < min(steps[f"all {n}"][1] for n in range(3))


def test_three_ways_to_ask_send_three_kinds_of_requests(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "in.txt").write_text("the text")
    cell = "FINAL(await gather(llm('plain'), task('agent', 'worker'), rlm('deeper', context)))"
    add_agents(cli, "worker")
    heard = Heard(
        lambda request: (
            run_code(cell if "depth: 0/3" in request.system else "FINAL(context)")
            if "Current depth" in request.system and "`context`" in request.system
            else "said"
        )
    )
    assert cli.ask(serve(heard).url, "Go.", "in.txt").json["answer"] == ["said", "said", "the text"]
    told = {str(each.messages[-1]["content"])[:17]: each for each in heard.requests[1:]}
    plain, agent, deeper = told["plain"], told["agent"], told["Question: deeper\n"]
    assert (len(plain.messages), plain.tools) == (1, None)
    assert role_of(agent) == "worker"
    assert {"read_file", "grep"} <= {tool["function"]["name"] for tool in agent.tools or []}
    assert "Current depth: 1/3. Remaining: 2." in deeper.system
    assert [tool["function"]["name"] for tool in deeper.tools or []] == ["eval"]
    agents = cli("show", "last", "--tree", "--json").json["agents"]
    assert [each["depth"] for each in agents] == [0, 1, 1]


def test_what_a_subagent_goes_through_stays_out_of_its_parents_sight(cli: Cli, serve: OpenServer) -> None:
    detail = "a detail of the work, " * 50

    def sub(request: ChatRequest) -> Said | str:
        return call_tool("write_file", path="notes.md", content=detail) if request.turn == 0 else "It is short."

    heard = Heard(led_by(["r = await task('Look into it.')\nr", "FINAL(r)"], sub))
    assert cli.ask(serve(heard).url, "Go.").json["answer"] == "It is short."
    roots = [each for each in heard.requests if is_root(each)]
    assert len(roots) == 2
    assert "It is short." in roots[1].prompt
    assert "a detail of the work" not in json.dumps([each.messages for each in roots])
    assert cli("export", "last", "--dir", "out").code == 0
    kept = [path for path in (cli.folder / "out").rglob("*") if path.is_file()]
    assert any(detail.strip() in path.read_text(encoding="utf-8", errors="replace") for path in kept)


def test_two_servers_and_three_models_each_get_their_own_requests(cli: Cli, serve: OpenServer) -> None:
    def far(request: ChatRequest) -> str:
        return f"{request.model}: {request.prompt}"

    frontier = serve(lambda _: run_code(cell), settings=Settings(models=("frontier",)))
    open_weight = serve(far, settings=Settings(models=("small", "smaller")))
    smaller = f"openai:smaller@{open_weight.url}"
    cell = (
        "some = await gather(*[task(f'task {n}') for n in range(20)])\n"
        f"some += await gather(*[llm(f'llm {{n}}', model={smaller!r}) for n in range(10)])\nFINAL(some)"
    )
    flags = ("--model", f"openai:frontier@{frontier.url}", "--sub-model", f"openai:small@{open_weight.url}")
    outcome = cli("ask", "Go.", *flags, "--also-model", smaller, "--json", "--quiet").json
    assert outcome["answer"] == [f"small: task {n}" for n in range(20)] + [f"smaller: llm {n}" for n in range(10)]
    assert [entry.model for entry in frontier.log] == ["frontier"]
    assert sorted(entry.model for entry in open_weight.log) == ["small"] * 20 + ["smaller"] * 10
    assert all(entry.status == 200 for entry in open_weight.log)
    costs = cli("show", "last", "--cost", "--json").json["models"]
    assert sorted(costs[name]["requests"] for name in costs) == [1, 10, 20]


def test_one_command_without_set_up_does_a_workflow(cli: Cli, serve: OpenServer) -> None:
    """No agent of one's own, no flag for the interpreter: code and the general agent are there."""
    (cli.folder / "src").mkdir()
    for name in "abc":
        (cli.folder / f"src/{name}.ts").write_text("x")
    cell = (
        "files = await tools.glob(pattern='src/*.ts')\n"
        "risks = await gather(*[task(f'Review {f}.', subagent_type='general-purpose') for f in files])\n"
        "FINAL('; '.join(risks))"
    )
    server = serve(led_by([cell], lambda request: f"no risk in {request.prompt[7:-1]}"))
    del cli.environment["SONDE_ROUTE"]
    asked = "Run a workflow that reviews every file in src/ and summarizes the top risks."
    outcome = cli("agent", asked, "--model", f"openai:test@{server.url}", "--quiet")
    assert outcome.text == "; ".join(f"no risk in src/{name}.ts" for name in "abc") + "\n"


def test_every_request_is_in_the_trace(cli: Cli, serve: OpenServer) -> None:
    def sub(request: ChatRequest) -> Said | str:
        is_task = "task" in str(request.messages[-1]["content"])
        return call_tool("ls") if is_task and request.turn == 0 else f"said {request.prompt}"

    cells = [
        "r = await gather(*[llm(f'llm {n}') for n in range(20)], *[task(f'task {n}') for n in range(5)])",
        "FINAL(1)",
    ]
    faults = Faults(0.2, ("500",), seed=3)
    server = serve(led_by(cells, sub), faults=faults)
    cli.ask(server.url, "Go.", "--retry-base", "0.01", "--retries", "9")
    assert cli("export", "last", "--trajectory", "calls.jsonl", "--json").code == 0
    lines = [json.loads(line) for line in (cli.folder / "calls.jsonl").read_text().splitlines()]
    answered = [entry for entry in server.log if entry.status == 200]
    assert len(server.log) > len(answered) == len(lines)
    asked = [line["prompt"] if line["function"] == "llm" else line["prompt"][-1]["text"] for line in lines]
    assert sorted(map(digest_of, asked)) == sorted(entry.digest for entry in answered)
    assert sum(line["tokens"]["input"] for line in lines) == sum(entry.input_tokens for entry in answered)
    assert f" {len(server.log) - len(answered)} retries" in cli("show", "last").text
