"""Every example of the page about patterns runs in both languages, and comes to the same."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from sonde.guest.manual import manual
from sonde.testing.server import ChatRequest
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.heard import Heard
from tests.scripts import add_agents, below, led_by, role_of, shown

PAGE = (Path(__file__).parents[2] / "docs/patterns.md").read_text(encoding="utf-8")
EXAMPLE = r"^{language}:\n\n((?:    .*\n|\n)+)"
NAMES = ["handled", "issues", "confirmed", "best", "winner", "unused"]
TICKETS = ["it crashes", "please add a button", "how do I print", "it crashes again"]
KINDS = {"it crashes": "bug", "please add a button": "Feature", "how do I print": "question"}


def examples(language: str) -> list[str]:
    return [dedent(code).strip() for code in re.findall(EXAMPLE.format(language=language), PAGE, re.MULTILINE)]


def triage(asked: str) -> object:
    return KINDS.get(asked, "bug")


def review(asked: str) -> object:
    if "lose money" in asked:
        return {"findings": ["line 1: it rounds", "line 2: it is dear"]}
    file = asked.split()[1]
    return {"issues": [{"file": file, "line": 3, "severity": 2 + ("pay" in file)}] * 2}


def judge(asked: str) -> object:
    return {"winner": "A" if "number 2" in asked.partition("\n\nB:")[0] else "B"}


PLAYED: dict[str, Callable[[str], object]] = {
    "triage": triage,
    "support": lambda _: "question",
    "judge-of-tickets": lambda asked: asked.split()[-3],
    "reviewer": review,
    "verifier": lambda asked: {"confirmed": "rounds" in asked},
    "namer": lambda asked: "x" * (9 - int(asked[6])),
    "judge": judge,
    "searcher": lambda asked: {"names": ["f1", "f2"] if "none" in asked else ["f2", "f3"]},
}


def reply(request: ChatRequest) -> str:
    role, asked = role_of(request), request.prompt
    said = PLAYED[role](asked) if role in PLAYED else f"{role} did {asked}"
    return said if isinstance(said, str) else json.dumps(said)


def shape_of(phase: str) -> str:
    return re.sub(r"\d+", "1", phase)


def test_there_is_one_for_each_pattern_in_each_language() -> None:
    sections = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert len(examples("Python")) == len(examples("JavaScript")) == len(sections) == 7


@pytest.mark.parametrize(
    ("language", "interpreter"), [("Python", "python"), ("Python", "monty"), ("JavaScript", "javascript")]
)
def test_the_examples_run(cli: Cli, serve: OpenServer, language: str, interpreter: str) -> None:
    (cli.folder / "tickets.txt").write_text("".join(f"{ticket}\n" for ticket in TICKETS))
    for name in ("pay", "send/mail"):
        path = cli.folder / f"src/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    roles = [*PLAYED, "bug-fixer", "analyst", "writer"]
    add_agents(cli, *roles)
    last = "settledKinds" if language == "JavaScript" else "settled_kinds"
    heard = Heard(led_by([*examples(language), f"FINAL([{', '.join([*NAMES, last])}])"], reply))
    flags = ("--model", f"openai:test@{serve(heard).url}", "--interpreter", interpreter, "--json", "--quiet")
    outcome = cli("agent", "Run a workflow.", "tickets.txt", *flags).json
    assert not [told for told in shown(heard) if "<error" in told]
    handled, issues, confirmed, best, winner, unused, settled = outcome["answer"]
    assert handled == [
        "bug-fixer did it crashes",
        "analyst did please add a button",
        "question",
        "bug-fixer did it crashes again",
    ]
    assert issues == [{"file": f"src/{n}.py", "line": 3, "severity": s} for n, s in (("pay", 3), ("send/mail", 2))]
    assert confirmed == ["line 1: it rounds"]
    assert best == ["xxxxxx"]
    assert winner == "writer did Write the first line of README.md, in your way number 2."
    assert unused == ["f1", "f2", "f3"]
    assert settled == ["bug", "Feature", "question", "bug"]
    sent = Counter(map(role_of, below(heard)))
    assert sent == {
        "triage": 8, "support": 5, "bug-fixer": 2, "analyst": 1, "judge-of-tickets": 3, "reviewer": 3, "verifier": 6,
        "namer": 3, "writer": 5, "judge": 4, "searcher": 3,
    }  # fmt: skip
    phases = [phase["name"] for phase in cli("show", "last", "--plan", "--json").json["phases"] if phase["agent"]]
    table = re.findall(r"`([^`]*)`", "".join(re.findall(r"^\|.*\|(.*)\|$", PAGE, re.MULTILINE)[2:]))
    assert list(dict.fromkeys(map(shape_of, phases))) == [*table, "settle"]


def test_the_table_has_the_words_as_help_has_them() -> None:
    known = {name: entry[0] for name, entry in manual(js=False, agents=["x"], tools=["x"]).items()}
    called = re.findall(r"^\|.*?\| `(\w+)(\(.*?\))` \|", PAGE, re.MULTILINE)
    assert len(called) == 6
    for name, arguments in called:
        assert known[name] == f"await {name}{arguments}"
