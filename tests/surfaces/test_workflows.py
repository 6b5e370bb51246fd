"""Saved workflows: found, read, run, cut short and taken up again; and those that come with Sonde. Through the command
alone."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sonde.testing.server import ChatRequest, FaultServer, Said, Script, echo
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.processes import kill_tree
from tests.records import journaled

HEADER = 'meta = {"name": "it", "description": "Do it."}\n'
JAVASCRIPT = """\
// Ask about each number, then run another workflow over what came.
export const meta = {
  name: 'count', description: `Ask and count`,
  phases: [{ title: 'ask', detail: "each number", }, { title: 'count' }],
  args: { most: 'how many', times: "optional: how often", },
};
phase('ask');
const twice = (n) => { return n * 2; };
const asked = await parallel(Array.from({ length: args.most }, (_, n) => () => llm(`number ${n}`)));
if (asked.includes(null)) { return { failed: true }; }
phase('count');
const total = await workflow('sum', { numbers: asked.map((text) => text.length) });
return { asked, total, double: twice(total) };
"""
SUM = "const meta = { name: 'sum', description: 'Add up' };\nargs.numbers.reduce((a, b) => a + b, 0)\n"


class Runs:
    """Runs workflows against one server, in one folder."""

    def __init__(self, cli: Cli, server: FaultServer) -> None:
        self.cli = cli
        self.server = server
        self._model = ("--model", f"openai:test@{server.url}", "--json", "--quiet")

    def __call__(self, *arguments: str | Path, args: object = None) -> Outcome:
        """Run one."""
        given = () if args is None else ("--args", json.dumps(args))
        return self.cli("run", *arguments, *given, *self._model)

    def answer(self, *arguments: str | Path, args: object = None) -> Any:
        """Run one that completes, and return its answer."""
        outcome = self(*arguments, args=args)
        assert outcome.code == 0, outcome.stderr + outcome.text
        return outcome.json["answer"]

    def write(self, name: str, text: str) -> Path:
        """Write a file."""
        path = self.cli.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def runs(cli: Cli, serve: OpenServer) -> Callable[[Script], Runs]:
    return lambda script: Runs(cli, serve(script))


def as_json(value: object) -> str:
    return json.dumps(value)


def reply_to(request: ChatRequest, kinds: dict[str, Callable[[str], object]]) -> str:
    """Answer by what the prompt begins with or holds."""
    asked = str(request.messages[0]["content"])
    return next(
        said if isinstance(said := say(asked), str) else as_json(said) for k, say in kinds.items() if k in asked
    )


# --- Running -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interpreter", ["python", "monty"])
@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("said = await gather(*[llm(f'{n}') for n in range(3)])\nreturn {'said': said}", {"said": ["0", "1", "2"]}),
        ("x = 20\nx + 1", 21),
        ("for n in range(5):\n    if n == 3:\n        return n", 3),
        ("text = '''a\n  b'''\nif not text:\n    return 1\ntext", "a\n  b"),
        ("FINAL('first')\nreturn 'second'", "first"),
        ("if args:\n    return 1\nlog('nothing')", None),
        ("def f():\n    return 7\nreturn f()", 7),
        ("total: int = 0\ndef add():\n    global total\n    total += 2\nadd()\nreturn total", 2),
    ],
)  # fmt: skip
def test_what_a_workflow_returns_is_the_answer(
    runs: Callable[[Script], Runs], interpreter: str, body: str, answer: object
) -> None:
    if interpreter == "monty" and "global" in body:
        pytest.skip("in Monty a workflow's variables are those of a function")
    run = runs(echo)
    path = run.write("it.py", HEADER + body)
    assert run.answer(path, "--interpreter", interpreter) == answer


def test_a_javascript_workflow_with_phases_arguments_and_another_within(runs: Callable[[Script], Runs]) -> None:
    run = runs(echo)
    run.write("flows/count.js", JAVASCRIPT)
    run.write(".sonde/workflows/sum.js", SUM)
    answer = run.answer("flows/count.js", args={"most": 3})
    assert answer == {"asked": ["number 0", "number 1", "number 2"], "total": 24, "double": 48}
    plan = run.cli("show", "last", "--plan").text
    assert "ask" in plan
    assert "count" in plan
    assert len(run.server.log) == 3


def test_a_workflow_nests_once_and_in_its_own_language(runs: Callable[[Script], Runs]) -> None:
    run = runs(echo)
    run.write(".sonde/workflows/a.py", HEADER + "return await workflow('b', {'n': 1})")
    run.write(
        ".sonde/workflows/b.py",
        HEADER + "try:\n    await workflow('a')\nexcept TaskError as e:\n    return [args, e.kind]",
    )
    assert run.answer("a") == [{"n": 1}, "depth"]
    for name, told in [("sum", "is not written in python"), ("nope", "no saved workflow 'nope'"), ("../a", "no saved")]:
        run.write(".sonde/workflows/sum.js", SUM)
        run.write(".sonde/workflows/c.py", HEADER + f"return await workflow({name!r})")
        outcome = run("c")
        assert outcome.code == 5
        assert told in outcome.json["error"]["message"]


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        ("it.py", HEADER + "x = 1\n\nraise ValueError('no good')\n", "line 4"),
        ("it.py", HEADER + "x = 1\nif x:\n    raise ValueError('no good')\nreturn x", "line 4"),
        ("it.js", "const meta = { name: 'it', description: 'x' };\n\nthrow new Error('no good');\nreturn 1;", "line 3"),
    ],
)
def test_a_workflow_that_fails_tells_the_line(runs: Callable[[Script], Runs], name: str, code: str, line: str) -> None:
    run = runs(echo)
    outcome = run(run.write(name, code))
    assert outcome.code == 5
    assert outcome.json["status"] == "failed"
    message = outcome.json["error"]["message"]
    assert line in message
    assert "no good" in message


def test_limits_are_explicit_and_name_their_flags(runs: Callable[[Script], Runs]) -> None:
    run = runs(echo)
    path = run.write("it.py", HEADER + "return len(await gather(*[llm(str(n)) for n in range(args['n'])]))")
    outcome = run(path, args={"n": 1001})
    assert outcome.code in {4, 5}
    assert "1,000 calls" in outcome.json["error"]["message"]
    assert "--max-calls" in outcome.json["error"]["message"]
    assert len(run.server.log) == 1000
    assert run.answer(path, "--max-calls", "1001", args={"n": 1001}) == 1001
    before = len(run.server.log)
    outcome = run(path, args={"n": 4097})
    assert outcome.code == 5
    assert "at most 4096" in outcome.json["error"]["message"]
    assert "--max-items" in outcome.json["error"]["message"]
    assert "at most 3 " in run(path, "--max-items", "3", args={"n": 4}).json["error"]["message"]
    assert len(run.server.log) == before


def test_nothing_is_sent_before_a_person_approves(runs: Callable[[Script], Runs]) -> None:
    run = runs(echo)
    header = 'meta = {"name": "it", "description": "Do it.", "phases": [{"title": "greet"}]}\n'
    path = run.write("it.py", header + "phase('ask')\nreturn await llm('hello')")
    outcome = run(path, "--approve", "dispatch")
    assert outcome.code == 3
    assert "phase 1. greet" in outcome.stderr
    assert run.server.log == []
    answered = run.cli("resume", "last", "--answer", "yes", "--json", "--quiet")
    assert answered.json["answer"] == "hello"


class KillAt:
    """Says what a script says, but kills the run when so many requests have come."""

    def __init__(self, script: Script, moment: int) -> None:
        self.pid = 0
        self.killed = threading.Event()
        self._script = script
        self._left = moment

    def __call__(self, request: ChatRequest) -> Said | str:
        """Answer one request."""
        self._left -= 1
        if self._left == 0:
            kill_tree(self.pid)
            self.killed.set()
        return self._script(request)


def test_a_killed_workflow_pays_for_nothing_twice(cli: Cli, serve: OpenServer) -> None:
    def reply(request: ChatRequest) -> str:
        return as_json({"labels": [{"number": n, "label": "odd"} for n in range(1, 3)]})

    script = KillAt(reply, 20)
    server = serve(script)
    (cli.folder / "lines.txt").write_text("".join(f"line {n}\n" for n in range(100)))
    first = cli.start(
        "run", "classify-lines", "lines.txt", "--args", '{"labels": ["odd", "even"], "batch": 2}', "--concurrency", "4",
        "--model", f"openai:test@{server.url}", "--run-id", "victim", "--quiet",
    )  # fmt: skip
    script.pid = first.pid
    said = first.communicate()
    assert script.killed.is_set(), said
    before = len(server.log)
    paid = set(journaled(cli.folder / ".sonde/runs/victim"))
    assert len(paid) >= 1
    outcome = cli("resume", "victim", "--json", "--quiet")
    assert outcome.json["answer"]["counts"] == {"odd": 100, "even": 0}
    assert not {entry.digest for entry in server.log[before:]} & paid
    assert outcome.json["coverage"]["done"] == 50


@pytest.mark.parametrize("suffix", ["py", "js"])
def test_a_workflow_within_another_goes_on_where_it_was_killed(cli: Cli, serve: OpenServer, suffix: str) -> None:
    script = KillAt(echo, 25)
    server = serve(script)
    folder = cli.folder / ".sonde/workflows"
    folder.mkdir(parents=True)
    if suffix == "py":
        outer = (
            "a = await gather(*[llm(f'outer {n}') for n in range(10)])\nreturn [len(a), await workflow('inner', 30)]"
        )
        inner = "return len(await gather(*[llm(f'inner {n}') for n in range(args)]))"
        headers = [HEADER, HEADER]
    else:
        outer = (
            "const a = await gather(Array.from({length: 10}, (_, n) => llm(`outer ${n}`)));\n"
            "return [a.length, await workflow('inner', 30)];"
        )
        inner = "return (await gather(Array.from({length: args}, (_, n) => llm(`inner ${n}`)))).length;"
        headers = ["export const meta = {name: 'it', description: 'Do it.'};\n"] * 2
    (folder / f"outer.{suffix}").write_text(headers[0] + outer)
    (folder / f"inner.{suffix}").write_text(headers[1] + inner)
    first = cli.start(
        "run", "outer", "--model", f"openai:test@{server.url}", "--concurrency", "2", "--run-id", "victim", "--quiet"
    )
    script.pid = first.pid
    said = first.communicate()
    assert script.killed.is_set(), said
    before = len(server.log)
    paid = set(journaled(cli.folder / ".sonde/runs/victim"))
    outcome = cli("resume", "victim", "--json", "--quiet")
    assert outcome.json["answer"] == [10, 30]
    assert not {entry.digest for entry in server.log[before:]} & paid
    assert {entry.digest for entry in server.log[before:]} | paid == {entry.digest for entry in server.log}


def test_the_example_of_the_docs_runs(runs: Callable[[Script], Runs]) -> None:
    page = (Path(__file__).parents[2] / "docs/workflows.md").read_text(encoding="utf-8")
    [example] = re.findall(r"^    meta = .*?^    return [^\n]*max\([^\n]*", page, re.MULTILINE | re.DOTALL)
    run = runs(lambda request: request.prompt.split()[-1])
    path = run.write("longest.py", re.sub(r"^    ", "", example, flags=re.MULTILINE))
    run.write("a.txt", "alpha\n")
    run.write("b.txt", "beta gamma\n")
    assert run.answer(path, "a.txt", "b.txt") == {"summaries": {"a.txt": "alpha", "b.txt": "gamma"}, "longest": "b.txt"}
    assert run.answer(path) == "there is nothing to summarise"


# --- Finding and reading -----------------------------------------------------------------------------------------


def test_workflows_are_listed_and_a_projects_own_wins(runs: Callable[[Script], Runs]) -> None:
    run = runs(echo)
    shipped = ["answer-corpus", "classify-lines", "extract-table", "review-code", "verify-claims"]
    assert [line.split()[0] for line in run.cli("run", "--list").text.splitlines()] == shipped
    run.write(".config/sonde/workflows/review-code.py", 'meta = {"name": "r", "description": "My own"}\n"mine"')
    run.write(".config/sonde/workflows/broken.py", "x = 1")
    assert run.answer("review-code") == "mine"
    run.write(".sonde/workflows/review-code.py", 'meta = {"name": "r", "description": "The project\'s"}\n"theirs"')
    assert run.answer("review-code") == "theirs"
    names = [each["name"] for each in run.cli("run", "--list", "--json").json["workflows"]]
    assert names == sorted([*shipped, "broken"])
    listed = run.cli("run", "--list").text
    assert "project  The project's" in listed
    assert re.search(r"broken +user +cannot be read: .*line 1", listed)


def test_a_workflow_is_shown_without_running_anything(runs: Callable[[Script], Runs]) -> None:
    run = runs(echo)
    for flag in ("--show", "--dry-run"):
        shown = run.cli("run", "review-code", flag).text
        assert "phase 1. review: each file" in shown
        assert "argument focus: optional" in shown
        assert "kept = await verify(" in shown
    told = run.cli("run", "review-code", "--show", "--json").json
    assert told["meta"]["name"] == "review-code"
    assert told["language"] == "python"
    assert not (run.cli.folder / ".sonde").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nope"], "known: answer-corpus, classify-lines"),
        (["nope.py"], "known: answer-corpus"),
        (["./nope.py"], "cannot read nope.py"),
        ([], "--list"),
        (["classify-lines"], "needs the argument labels"),
        (["classify-lines", "--args", "{"], "--args: this is not JSON"),
        (["classify-lines", "--args", "[1]"], "must be an object"),
        (["classify-lines", "--args", '{"labels": ["a", "b"], "lable": 1}'], "no argument 'lable'"),
        (["classify-lines", "--args", "@nope.json"], "cannot read the arguments nope.json"),
        (["answer-corpus"], "needs the argument question: what is to be answered"),
        (["extract-table"], "needs the argument columns"),
        (["it.js", "--interpreter", "python"], "python does not run it.js"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(
    runs: Callable[[Script], Runs], arguments: list[str], told: str
) -> None:
    run = runs(echo)
    run.write("it.js", SUM)
    outcome = run(*arguments)
    assert outcome.code == 2
    assert told in outcome.error
    assert run.server.log == []


def test_arguments_can_come_from_a_file(runs: Callable[[Script], Runs]) -> None:
    run = runs(echo)
    path = run.write("it.py", HEADER + "args")
    run.write("args.json", '{"a": [1, {"b": null}]}')
    assert run.answer(path, "--args", "@args.json") == {"a": [1, {"b": None}]}
    assert run.answer(path) == {}


# --- Those that come with Sonde ----------------------------------------------------------------------------------


def numbered(prompt: str) -> list[tuple[int, str]]:
    return [(int(number), text) for number, text in re.findall(r"^(\d+): (.*)$", prompt, re.MULTILINE)]


def test_classify_lines_labels_every_line_once(runs: Callable[[Script], Runs]) -> None:
    seen = Counter[str]()

    def reply(request: ChatRequest) -> str:
        lines = numbered(str(request.messages[0]["content"]))
        seen.update(text for _, text in lines)
        labels = [{"number": n, "label": "Even" if int(text.split()[1]) % 2 == 0 else "odd "} for n, text in lines]
        if len(lines) > 1 and lines[0][1] == "line 40":
            del labels[3]  # left out once, in a batch: "line 43"
        for n, text in lines:
            if text == "line 7" and len(lines) > 1:
                labels[n - 1]["label"] = "neither"  # wrong twice, and right on its own
            if text == "line 9":
                labels[n - 1]["label"] = "neither"  # never right
        return as_json({"labels": labels})

    run = runs(reply)
    run.write("a.txt", "".join(f"line {n}\n" for n in range(60)) + "\n\n")
    run.write("b.txt", "".join(f"line {n}\n" for n in range(60, 100)))
    answer = run.answer("classify-lines", "a.txt", "b.txt", args={"labels": ["even", "odd"], "batch": 10})
    assert answer["counts"] == {"even": 50, "odd": 49}
    assert answer["failed"] == [{"input": "a.txt", "number": 10}]
    assert len(answer["labels"]) == 100
    assert {row["number"]: row["label"] for row in answer["labels"] if row["input"] == "a.txt"} == {
        n + 1: None if n == 9 else "even" if n % 2 == 0 else "odd" for n in range(60)
    }
    assert {text: count for text, count in seen.items() if count > 1} == {"line 7": 3, "line 9": 3, "line 43": 2}
    assert len(run.server.log) == 10 + 1 + 2


def test_classify_lines_takes_records_of_csv_files_whole(runs: Callable[[Script], Runs]) -> None:
    def reply(request: ChatRequest) -> str:
        texts = numbered(str(request.messages[0]["content"]))
        return as_json({"labels": [{"number": n, "label": "b" if "two" in text else "a"} for n, text in texts]})

    run = runs(reply)
    run.write("rows.csv", 'id,text\n1,"one\nand more"\n2,two\n')
    answer = run.answer("classify-lines", "rows.csv", args={"labels": ["a", "b"]})
    assert [row["label"] for row in answer["labels"]] == ["a", "b"]
    assert answer["counts"] == {"a": 1, "b": 1}


def function_of(number: int) -> str:
    return f"def f{number}(x):\n" + "".join(f"    x += {n}\n" for n in range(97)) + f"    return x / {number}\n\n"


def test_review_code_reads_every_line_and_keeps_what_most_confirm(runs: Callable[[Script], Runs]) -> None:
    read = Counter[int]()

    def review(prompt: str) -> object:
        if "broken.py" in prompt:
            return "no JSON at all"
        lines = numbered(prompt)
        if "big.py" in prompt:
            read.update(number for number, _ in lines)
        found = [
            {"line": n, "severity": "high" if text.endswith("/ 0") else "low", "title": "Division", "detail": text}
            for n, text in lines
            if " / " in text
        ]
        return {"findings": found + found[:1]}

    def judge(prompt: str) -> object:
        claim = prompt.partition("\n")[0]
        return "hm" if claim.endswith("/ 3") else {"confirmed": "/ 0" in claim}

    run = runs(lambda request: reply_to(request, {"Review this part": review, "Is this so?": judge}))
    run.write("big.py", "".join(function_of(n) for n in range(12)))
    run.write("small.py", "print(1 / 0)\n")
    run.write("broken.py", "pass\n")
    answer = run.answer("review-code", "big.py", "small.py", "broken.py")
    assert set(read.values()) == {1}
    assert len(read) == 12 * 100
    assert [(each["file"], each["line"], each["severity"]) for each in answer["findings"]] == [
        ("big.py", 99, "high"),
        ("small.py", 1, "low"),
    ]
    assert answer["refuted"] == 10
    assert [each["line"] for each in answer["unverified"]] == [399]
    assert answer["failed"] == ["broken.py:1-1"]
    only_high = run.answer("review-code", "big.py", args={"severity": "high"})
    assert [each["line"] for each in only_high["findings"]] == [99]
    assert "severity 'worst'" in run("review-code", "small.py", args={"severity": "worst"}).json["error"]["message"]


def test_answer_corpus_cites_places_that_are_there(runs: Callable[[Script], Runs]) -> None:
    asked: list[str] = []

    def read(prompt: str) -> object:
        asked.append(Path(re.findall(r"this part of (\S+)", prompt)[0]).name)
        if asked[-1] == "d7.txt":
            return "nothing that is JSON"
        facts = [
            {"fact": "The pump failed", "quote": f"the PUMP {line.split()[2]}"}
            for line in prompt.splitlines()
            if line.startswith("The pump ")
        ]
        made_up = [{"fact": "Invented", "quote": "never said"}] if asked[-1] == "d3.txt" else []
        return {"facts": facts + made_up}

    def write(prompt: str) -> object:
        return "It failed: " + " ".join(re.findall(r"\[.*?\]", prompt.partition("Facts:")[2]))

    run = runs(lambda request: reply_to(request, {"List the facts": read, "Answer the question": write}))
    for n in range(9):
        text = "".join(f"filler {line}\n" for line in range(12)) + ("The pump failed\n" if n in {2, 5} else "")
        run.write(f"docs/d{n}.txt", text)
    answer = run.answer("answer-corpus", "docs", args={"question": "What failed?"})
    names = {source["document"] for source in answer["sources"]}
    assert sorted(Path(name).name for name in names) == ["d2.txt", "d5.txt"]
    assert [source["lines"] for source in answer["sources"]] == [[13, 13], [13, 13]]
    assert answer["answer"].count("L13-13]") == 2
    assert sorted(Path(name).name for name in answer["nothing_in"]) == [f"d{n}.txt" for n in (0, 1, 3, 4, 6, 8)]
    assert [each["quote"] for each in answer["unquoted"]] == ["never said"]
    assert len(answer["failed"]) == 1
    assert "d7.txt L1-12" in answer["failed"][0]
    assert Counter(asked) == {f"d{n}.txt": 2 if n == 7 else 1 for n in range(9)}
    nothing = run.answer("answer-corpus", "docs/d1.txt", args={"question": "What failed?"})
    assert nothing["answer"] is None
    assert nothing["nothing_in"] == ["docs/d1.txt"]


def test_extract_table_merges_what_is_told_twice(runs: Callable[[Script], Runs]) -> None:
    def reply(request: ChatRequest) -> str:
        text = str(request.messages[0]["content"]).partition("good answer.\n\n")[2]
        found = re.findall(r"^(\w+) paid (.*?) on (\S+)$", text, re.MULTILINE)
        rows = [dict(zip(("who", "sum", "day"), row, strict=True)) for row in found]
        return "cannot" if "person10 " in text else as_json({"rows": rows})

    run = runs(reply)
    lines = [f'person{n} paid {n},5 "EUR" on 2026-01-{n + 1:02}' for n in range(12)]
    run.write("a.txt", "\n".join(lines) + "\n")
    run.write(
        "b.txt", lines[3].upper().replace("PAID", "paid").replace("ON", "on").replace("PERSon3", "PERSON3") + "\n"
    )
    answer = run.answer("extract-table", "a.txt", "b.txt", args={"columns": ["who", "sum", "day"], "lines": 5})
    assert [row["who"] for row in answer["rows"]] == [f"person{n}" for n in range(10)]
    assert answer["rows"][6] == {"who": "person6", "sum": '6,5 "EUR"', "day": "2026-01-07", "source": "a.txt L6-10"}
    assert answer["doubled"] == 1
    assert answer["failed"] == ["a.txt L11-12"]
    [table] = run.cli.folder.glob(".sonde/runs/*/intermediate/*table.csv*")
    kept = table.read_text()
    assert 'person6,\\"6,5' in kept or 'person6,"6,5 ""EUR""",2026-01-07,a.txt L6-10' in kept


def test_verify_claims_votes_on_quotes(runs: Callable[[Script], Runs]) -> None:
    votes = Counter[str]()

    def search(prompt: str) -> object:
        claim, _, passage = prompt.partition("\n\nCopy")
        if "sky" in claim and "sky" in passage:
            return {"quotes": ["The sky was  grey", "made up"]}
        if "engine" in claim:
            return {"quotes": ["An ENGINE broke down"] if "Quiet" not in claim and "engine broke" in passage else []}
        return "broken" if "lost" in claim else {"quotes": []}

    def judge(prompt: str) -> object:
        claim = prompt.partition("\n")[0]
        votes[claim] += 1
        if "sky" in claim:
            return {"verdict": "supported" if votes[claim] == 2 else "refuted"}
        return {"verdict": "supported"}

    run = runs(lambda request: reply_to(request, {"Copy from this": search, "Does the evidence": judge}))
    run.write("claims.txt", "The sky was blue. An engine\nbroke down.\n\nNobody came. Something got lost!\n")
    run.write("report.txt", "The sky was grey.\n" + "filler\n" * 100 + "An engine broke down.\n")
    answer = run.answer("verify-claims", "claims.txt", "report.txt")
    assert [(each["claim"], each["verdict"]) for each in answer["claims"]] == [
        ("The sky was blue.", "refuted"),
        ("An engine broke down.", "supported"),
        ("Nobody came.", "not found"),
        ("Something got lost!", None),
    ]
    assert answer["claims"][0]["evidence"] == [
        {"quote": "The sky was  grey", "document": "report.txt", "lines": [1, 60]}
    ]
    assert answer["counts"] == {"supported": 1, "refuted": 1, "not found": 1}
    assert answer["failed"] == ["Something got lost!"]
    assert votes == {"Claim: The sky was blue.": 3, "Claim: An engine broke down.": 3}
    for arguments, told in [(("report.txt",), "needs claims"), ((), "needs claims")]:
        assert told in run("verify-claims", *arguments).json["error"]["message"]
    assert "needs documents" in run("verify-claims", args={"claims": ["It is so."]}).json["error"]["message"]
