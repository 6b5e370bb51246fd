"""The programs of seed 002 run as they are printed, where that document lies beside the project."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from sonde.testing.server import ChatRequest
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.heard import Heard
from tests.scripts import END, add_agents, below, led_by, role_of, shown

SEEDS = Path(__file__).parents[3] / "shared/seeds"
PROGRAMS = [
    dedent(program)
    for seed in sorted(SEEDS.glob("002_*.txt"))
    for program in re.findall(r"```javascript[^\n]*\n(.*?)```", seed.read_text(encoding="utf-8"), re.DOTALL)
]
pytestmark = pytest.mark.skipif(not PROGRAMS, reason="the document is not part of the project, and not beside it")

AGENTS = (
    "reviewer", "verifier", "bug-fixer", "feature-analyst", "support-agent", "architect", "writer", "judge", "analyzer",
)  # fmt: skip
LEFT_OPEN = """
const text = { type: "string" };
const listOf = (properties) => ({ type: "array", items: { type: "object", properties } });
const objectOf = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const tickets = Array.from({ length: 30 }, (_, n) =>
  ({ category: ["bug", "feature", "question"][n * n % 3], text: `ticket ${n}` }));
const issuesSchema = objectOf({ issues: listOf({ file: text, line: { type: "integer" }, severity: text }) });
const finding = { id: text, file: text, line: { type: "integer" }, description: text };
const findingsSchema = objectOf({ findings: listOf(finding) });
const verdictSchema = objectOf({ confirmed: { type: "boolean" } });
const designSchema = objectOf({ design: text, tradeoffs: text });
const pickSchema = objectOf({ winner: { type: "string", enum: ["A", "B"] } });
const itemsSchema = objectOf({ items: listOf({ id: text, file: text }) });
const score = (proposal) => ({ third: 1, first: 3, second: 2 })[proposal.design];
"""
NTH = ("first", "second", "third")


def review(asked: str) -> object:
    if asked.startswith("Audit"):
        return {"findings": [{"id": f"f{n}", "file": "pay.ts", "line": n, "description": "a hole"} for n in range(4)]}
    levels = enumerate(("high", "low"))
    return {"issues": [{"file": asked.split()[1], "line": n, "severity": severity} for n, severity in levels]}


def judge(asked: str) -> object:
    """Prefer the second variant to all others, and else the second of the two."""
    return {"winner": "A" if "variant 2" in asked.partition("\n\nB:\n")[0] else "B"}


def analyze(asked: str) -> object:
    return {"items": [{"id": f"d{n}", "file": "a.ts"} for n in range(4 if "d0" in asked else 3)]}


PLAYED: dict[str, Callable[[str], object]] = {
    "reviewer": review,
    "verifier": lambda asked: {"confirmed": ":1 " in asked or ":3 " in asked},
    "architect": lambda asked: {"design": NTH[int(asked[9]) - 1], "tradeoffs": "none"},
    "judge": judge,
    "analyzer": analyze,
}


def reply(request: ChatRequest) -> str:
    """Play all the subagents that the programs send."""
    played = PLAYED.get(role_of(request))
    return f"done: {request.prompt}" if played is None else json.dumps(played(request.prompt))


def program(holding: str) -> str:
    """Return the one program that holds a text."""
    [found] = [each for each in PROGRAMS if holding in each]
    return found


def run(cli: Cli, serve: OpenServer, code: str) -> tuple[Heard, list[str]]:
    """Run a program as the second cell of an agent in a folder; return what was heard, and what the agent was shown."""
    for name in ("a.ts", "b/c.ts", "b/notes.md"):
        path = cli.folder / "src/routes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    add_agents(cli, *AGENTS)
    heard = Heard(led_by([LEFT_OPEN, code], reply))
    model = f"openai:test@{serve(heard).url}"
    outcome = cli("agent", "Run a workflow.", "--model", model, "--interpreter", "javascript", "--json", "--quiet")
    assert outcome.json["answer"] == END
    return heard, shown(heard)


def roles(heard: Heard) -> Counter[str]:
    return Counter(map(role_of, below(heard)))


def test_there_are_seven() -> None:
    assert len(PROGRAMS) == 7


def test_how_it_works(cli: Cli, serve: OpenServer) -> None:
    heard, told = run(cli, serve, program("src/auth/login.ts") + "\nJSON.stringify(critical);")
    assert "login.ts" in told[1]
    assert "high" in told[1]
    assert "low" not in told[1]
    assert roles(heard) == {"reviewer": 1}


def test_classify_and_act(cli: Cli, serve: OpenServer) -> None:
    heard, told = run(cli, serve, program("const SPECIALIST"))
    kinds = [("bug-fixer", "feature-analyst", "support-agent")[n * n % 3] for n in range(30)]
    assert roles(heard) == Counter(kinds)
    names = {"bug-fixer": "bug", "feature-analyst": "feature", "support-agent": "question"}
    prompts = [f"Handle this {names[kind]}:\nticket {n}" for n, kind in enumerate(kinds)]
    assert sorted(request.prompt for request in below(heard)) == sorted(prompts)
    assert [int(n) for n in re.findall(r"ticket (\d+)\"", told[1])] == list(range(30)), "in the order of the tickets"


def test_fan_out_and_synthesize(cli: Cli, serve: OpenServer) -> None:
    heard, told = run(cli, serve, program("tools.glob"))
    assert roles(heard) == {"reviewer": 2}
    assert re.findall(r'file: "(.*?)", line: (\d)', told[1]) == [
        ("src/routes/a.ts", "0"), ("src/routes/a.ts", "1"), ("src/routes/b/c.ts", "0"), ("src/routes/b/c.ts", "1"),
    ]  # fmt: skip


def test_adversarial_verification(cli: Cli, serve: OpenServer) -> None:
    """As it is printed it sends an agent that is not configured: that is told with those that are."""
    printed = program("Audit the payments module")
    heard, told = run(cli, serve, printed)
    assert below(heard) == []
    assert "unknown agent 'auditor'" in told[1]
    assert all(name in told[1] for name in (*AGENTS, "general-purpose"))
    heard, told = run(cli, serve, printed.replace('"auditor"', '"reviewer"'))
    assert roles(heard) == {"reviewer": 1, "verifier": 4}
    assert re.findall(r'id: "(f\d)"', told[1]) == ["f1", "f3"]


def test_generate_and_filter(cli: Cli, serve: OpenServer) -> None:
    heard, told = run(cli, serve, program("const proposals"))
    assert roles(heard) == {"architect": 3}
    assert 'design: "first"' in told[1]


def test_tournament(cli: Cli, serve: OpenServer) -> None:
    heard, told = run(cli, serve, program("let bracket"))
    assert roles(heard) == {"writer": 5, "judge": 4}
    assert told[1] == '<result>\n"done: Rewrite processOrder for readability (variant 2)."\n</result>'
    pairs = [re.findall(r"variant (\d)", request.prompt) for request in below(heard) if role_of(request) == "judge"]
    assert pairs == [["1", "2"], ["3", "4"], ["2", "4"], ["2", "5"]]


def test_loop_until_done(cli: Cli, serve: OpenServer) -> None:
    heard, told = run(cli, serve, program("while (true)"))
    assert roles(heard) == {"analyzer": 3}
    assert re.findall(r'id: "(d\d)"', told[1]) == ["d0", "d1", "d2", "d3"]
    assert [request.prompt for request in below(heard)] == [
        f"Find dead code. Already found: {found}." for found in ("(none)", "d0, d1, d2", "d0, d1, d2, d3")
    ]
