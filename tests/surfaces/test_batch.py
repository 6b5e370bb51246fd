"""`sonde batch`: one request a file, and files with the answers. Through the command alone."""

import asyncio
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sonde.cli.blocks import code_of
from sonde.engine.run import Surroundings, start
from sonde.spec import ModelChoice, RunSpec
from sonde.testing.server import ChatRequest, Faults, FaultServer, Latency, Settings
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.processes import kill_tree

IN_A_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


class Clerk:
    """Says what a file holds, and remembers what it was asked."""

    def __init__(self, answers: dict[str, list[str]] | None = None, summary: str = "All is well.") -> None:
        self.prompts: list[str] = []
        self.summaries: list[str] = []
        self._answers = answers or {}
        self._summary = summary

    def __call__(self, request: ChatRequest) -> str:
        """Answer as told for the file; a second time if there is a last answer."""
        prompt = request.prompt
        if "What was found in each of several files" in prompt:
            self.summaries.append(prompt)
            return self._summary
        self.prompts.append(prompt)
        name = prompt.removeprefix("# Context\n").partition(":\n")[0].partition(",")[0]
        answers = self._answers.get(name, [f"It is {name}."])
        return answers["# Your last answer" in prompt and len(answers) > 1]


def write(cli: Cli, **contents: str) -> None:
    for name, content in contents.items():
        (cli.folder / f"{name}.txt").write_text(content)


def batch(cli: Cli, server: FaultServer, *arguments: str | Path, **named: Any) -> Outcome:
    return cli("batch", *arguments, "--model", f"openai:t@{server.url}", "--json", "--quiet", **named)


def read(cli: Cli, name: str, folder: str = "out") -> str:
    return (cli.folder / folder / name).read_text()


def cite(cli: Cli, name: str, lines: str) -> str:
    digest = hashlib.sha256((cli.folder / name).read_bytes()).hexdigest()[:16]
    return f"[{name}@{digest}, {lines}]"


def test_each_file_is_asked_about_once_with_nothing_but_it(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha\n", b="beta")
    clerk = Clerk()
    outcome = batch(cli, serve(clerk), "What is in {file}?", "a.txt", "b.txt").json
    assert (outcome["status"], outcome["answer"]["status"], outcome["usage"]["requests"]) == ("completed", "SUCCESS", 2)
    prompt = next(each for each in clerk.prompts if "beta" in each)
    assert re.fullmatch(r"# Context\nb\.txt:\nbeta\n\n# Task\nWhat is in b\.txt\?\n\n# Instructions\n[^#]+", prompt)
    folder = f"batch-{outcome['run_id']}"
    assert sorted(path.name for path in (cli.folder / folder).iterdir()) == [
        "a.txt.result.md",
        "aggregate.md",
        "b.txt.result.md",
        "report.md",
    ]
    assert read(cli, "b.txt.result.md", folder) == "It is b.txt.\n"
    together = read(cli, "aggregate.md", folder)
    assert together.index("## a.txt") < together.index("It is a.txt.") < together.index("## b.txt")
    assert hashlib.sha256(b"beta").hexdigest()[:16] in together
    report = read(cli, "report.md", folder)
    assert "Status: SUCCESS" in report
    assert "2 requests" in report


def test_the_same_batch_again_sends_nothing(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha", b="beta")
    server = serve(Clerk())
    flags = ("Tell.", "a.txt", "b.txt", "--aggregate", "summarize")
    first = batch(cli, server, *flags, "--output-dir", "one").json
    assert (first["usage"]["requests"], len(server.log)) == (3, 3)
    second = batch(cli, server, *flags, "--output-dir", "two")
    assert (second.code, second.json["usage"]["requests"], len(server.log)) == (0, 0, 3)
    assert read(cli, "aggregate.md", "one") == read(cli, "aggregate.md", "two")


@pytest.mark.parametrize("changed", ["--no-cache", "model", "content"])
def test_what_is_not_the_same_is_asked_again(cli: Cli, serve: OpenServer, changed: str) -> None:
    write(cli, a="alpha", b="beta")
    server = serve(Clerk())
    flags = ("batch", "Tell.", "*.txt", "--quiet", "--model")
    assert cli(*flags, f"openai:t@{server.url}").code == 0
    if changed == "content":
        write(cli, b="changed")
    model = "other" if changed == "model" else "t"
    extra = [changed] if changed == "--no-cache" else []
    assert cli(*flags, f"openai:{model}@{server.url}", *extra).code == 0
    assert len(server.log) == 2 + (1 if changed == "content" else 2)


def test_cache_only_names_what_it_misses_and_sends_nothing(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha", b="beta", c="gamma")
    server = serve(Clerk())
    batch(cli, server, "Tell.", "a.txt")
    outcome = batch(cli, server, "Tell.", "a.txt", "b.txt", "c.txt", "--cache-only", "--output-dir", "out")
    assert (outcome.code, outcome.json["status"], len(server.log)) == (5, "failed", 1)
    assert "b.txt, c.txt" in outcome.error
    assert outcome.json["answer"]["missed"] == ["b.txt", "c.txt"]
    assert read(cli, "a.txt.result.md") == "It is a.txt.\n"
    assert batch(cli, server, "Tell.", "a.txt", "--cache-only", "--no-cache").code == 2


def test_a_file_that_fails_is_skipped_and_listed(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha", b="long " * 800, c="gamma", empty="")
    (cli.folder / "d.bin").write_bytes(b"\0" * 100)
    server = serve(Clerk(), settings=Settings(window=900))
    files = ("a.txt", "b.txt", "c.txt", "d.bin", "empty.txt")
    outcome = batch(cli, server, "Tell.", *files, "--output-dir", "out")
    assert (outcome.code, outcome.json["status"], outcome.json["answer"]["status"]) == (0, "completed", "PARTIAL")
    failed = {each["file"]: each["error"] for each in outcome.json["answer"]["files"] if not each["ok"]}
    assert "context" in failed["b.txt"]
    assert (failed["d.bin"], failed["empty.txt"]) == ("it is binary, not text", "it is empty")
    assert "PARTIAL" in outcome.error
    assert "Status: PARTIAL" in read(cli, "report.md")
    assert "| d.bin |" in read(cli, "report.md")
    assert not (cli.folder / "out/b.txt.result.md").exists()


def test_if_no_file_succeeds_the_batch_has_failed(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha", b="beta")
    server = serve(faults=Faults(1.0, ("500",)))
    outcome = batch(cli, server, "Tell.", "a.txt", "b.txt", "--retries", "0", "--output-dir", "out")
    assert (outcome.code, outcome.json["status"], outcome.json["answer"]["status"]) == (5, "failed", "FAILED")
    assert "none of 2 files succeeded" in outcome.error
    assert "Status: FAILED" in read(cli, "report.md")
    assert not (cli.folder / "out/aggregate.md").exists()


def test_a_file_that_is_too_large_is_not_sent(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha", b="x" * 2004, c="x" * 2003)
    clerk = Clerk()
    outcome = batch(cli, serve(clerk), "Tell.", "a.txt", "b.txt", "c.txt", "--window", "1000").json
    failed = [each for each in outcome["answer"]["files"] if not each["ok"]]
    assert [each["file"] for each in failed] == ["b.txt"]
    assert "sonde fanout QUESTION b.txt" in failed[0]["error"]
    assert len(clerk.prompts) == 2


@pytest.mark.parametrize(("flags", "most"), [((), 4), (("--max-parallel", "2"), 2), (("--max-parallel", "20"), 7)])
def test_so_many_at_once_and_never_more_than_seven(
    cli: Cli, serve: OpenServer, flags: tuple[str, ...], most: int
) -> None:
    write(cli, **{f"f{number}": f"text {number}" for number in range(16)})
    server = serve(Clerk(), settings=Settings(latency=Latency(0.03)))
    outcome = batch(cli, server, "Tell.", "*.txt", *flags)
    assert (outcome.code, server.most_at_once, len(server.log)) == (0, most, 16)
    assert ("7 files at once is the most" in outcome.stderr) == (most == 7)


def test_names_of_results_are_plain_and_never_the_same(cli: Cli, serve: OpenServer) -> None:
    for name in ("x/a b.txt", "x-a-b.txt", "X/a-B.txt", "ü.txt", "é.txt", "." + "n" * 200 + ".txt"):
        path = cli.folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    outcome = batch(cli, serve(Clerk()), "Tell.", "in", f"in/.{'n' * 200}.txt", "--output-dir", "out").json
    files = outcome["answer"]["files"]
    names = [Path(each["path"]).name for each in files]
    assert len({name.lower() for name in names}) == len(files) == 6
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,110}\.result\.md", name) for name in names)
    for each in files:
        assert f"It is {each['file']}." in Path(each["path"]).read_text()


def test_concat_flags_what_contradicts(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha", b="beta", c="gamma")
    answers = {
        "a.txt": ["- **Version**: 1.2\n- Owner: Ada"],
        "b.txt": ["version = 1.3\nOwner: ada."],
        "c.txt": ["Version: 1.2"],
    }
    outcome = batch(cli, serve(Clerk(answers)), "Tell.", "*.txt", "--output-dir", "out").json
    assert outcome["answer"]["conflicts"] == {"Version": {"1.2": ["a.txt", "c.txt"], "1.3": ["b.txt"]}}
    assert "## Conflicts\n\n- Version: 1.2 (a.txt, c.txt); 1.3 (b.txt)\n" in read(cli, "aggregate.md")


def test_merge_has_each_line_once_and_sorted(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha", b="beta")
    answers = {"a.txt": ["# Found\n- pears\n- Apples.\n"], "b.txt": ["* apples\n\n1. figs\npears\n"]}
    batch(cli, serve(Clerk(answers)), "Tell.", "*.txt", "--aggregate", "merge", "--output-dir", "out")
    assert read(cli, "aggregate.md") == "- Apples.\n- figs\n- pears\n"


def test_a_summary_has_sources_that_no_model_wrote(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha", b="beta")
    clerk = Clerk(summary="Both are letters.\n\n## Sources\n- made up")
    batch(cli, serve(clerk), "Tell.", "*.txt", "--aggregate", "summarize", "--output-dir", "out")
    text = read(cli, "aggregate.md")
    assert text.startswith("Both are letters.\n\n## Sources\n\n- a.txt (1 lines, SHA-256 ")
    assert "made up" not in text
    assert len(clerk.summaries) == 1
    assert "## a.txt\nIt is a.txt." in clerk.summaries[0]


def test_a_summary_of_more_than_one_window_holds(cli: Cli, serve: OpenServer) -> None:
    write(cli, **{f"f{number}": f"text {number}" for number in range(6)})
    clerk = Clerk({f"f{number}.txt": [f"{number} " * 400] for number in range(6)})
    flags = ("--aggregate", "summarize", "--window", "1000", "--output-dir", "out")
    outcome = batch(cli, serve(clerk), "Tell.", "*.txt", *flags).json
    assert outcome["answer"]["status"] == "SUCCESS"
    assert len(clerk.summaries) > 2
    assert max(map(len, clerk.summaries)) <= 4000
    assert read(cli, "aggregate.md").count("All is well.") == 1


def test_a_summary_that_fails_leaves_the_results(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha")
    (cli.folder / "b.txt").write_text("beta")
    clerk = Clerk({"a.txt": ["long " * 700], "b.txt": ["long " * 700]})
    server = serve(clerk, settings=Settings(window=900))
    outcome = batch(cli, server, "Tell.", "*.txt", "--aggregate", "summarize", "--output-dir", "out")
    assert (outcome.code, outcome.json["answer"]["status"]) == (0, "PARTIAL")
    assert "the summary failed" in outcome.json["answer"]["notes"][0]
    assert "## b.txt" in read(cli, "aggregate.md")


def test_claims_must_be_cited(cli: Cli, serve: OpenServer) -> None:
    write(cli, good="1\n2\n3\n", none="1\n", mended="1\n2\n")
    good, mended = cite(cli, "good.txt", "L1-3"), cite(cli, "mended.txt", "L2")
    clerk = Clerk(
        {
            "good.txt": [f"# Findings\n\nThey are:\n- one {good}\n- two,\n  three {good}.\n"],
            "none.txt": ["NONE"],
            "mended.txt": [f"- one {mended}\n- two", f"- one {mended}"],
        }
    )
    outcome = batch(cli, serve(clerk), "Find.", "*.txt", "--require-citations", "--output-dir", "out").json
    assert outcome["answer"]["status"] == "SUCCESS"
    told = {each["file"]: each["citations"] for each in outcome["answer"]["files"]}
    assert told == {"good.txt": [good], "none.txt": [], "mended.txt": [mended]}
    assert len(clerk.prompts) == 4, "one was sent back"
    again = next(each for each in clerk.prompts if "last answer" in each)
    assert "these claims have no citation: '- two'" in again
    assert "1| 1\n2| 2" in again
    assert f"- one {mended}\n" in read(cli, "mended.txt.result.md")


@pytest.mark.parametrize(
    "answer",
    [
        "It is so.",
        "It is so [a.txt@0123456789abcdef, L1].",
        "It is so [b.txt@{hash}, L1].",
        "It is so [a.txt@{hash}, L3].",
        "It is so [a.txt@{hash}, L0].",
        "It is so [a.txt@{hash}, L2-1].",
        "It is so [a.txt@{hash}].",
        "It is so [a.txt@{hash}, L1].\n\nAnd so is this.",
        "It is so [a.txt@{hash}, L1], or so [a.txt@{hash}, L99].",
        "| what |\n|---|\n| so |",
    ],
)
def test_answers_without_right_citations_are_sent_back_once_then_the_file_fails(
    cli: Cli, serve: OpenServer, answer: str
) -> None:
    write(cli, a="1\n2\n")
    digest = hashlib.sha256(b"1\n2\n").hexdigest()[:16]
    clerk = Clerk({"a.txt": [answer.replace("{hash}", digest)]})
    outcome = batch(cli, serve(clerk), "Find.", "a.txt", "--require-citations")
    assert (outcome.code, len(clerk.prompts)) == (5, 2)
    assert "not cited as they should be" in outcome.json["answer"]["files"][0]["error"]


def test_citations_are_united_on_merge_and_listed_below_a_summary(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="1\n2\n", b="1\n2\n3\n")
    first, second = cite(cli, "a.txt", "L1"), cite(cli, "b.txt", "L2-3")
    clerk = Clerk({"a.txt": [f"- It rains {first}."], "b.txt": [f"* it rains {second}\n* It snows {second}"]})
    server = serve(clerk)
    flags = ("Find.", "*.txt", "--require-citations", "--output-dir", "out", "--aggregate")
    batch(cli, server, *flags, "merge")
    assert read(cli, "aggregate.md") == f"- It rains. {first} {second}\n- It snows {second}\n"
    batch(cli, server, *flags, "summarize")
    assert read(cli, "aggregate.md") == f"All is well.\n\n## Sources\n\n- {first}\n- {second}\n"


def test_a_batch_that_was_killed_goes_on_and_writes_its_files(cli: Cli, serve: OpenServer) -> None:
    class Kills(Clerk):
        pid = 0

        def __call__(self, request: ChatRequest) -> str:
            if len(self.prompts) == 6 and self.pid:
                kill_tree(self.pid)
                self.pid = 0
            return super().__call__(request)

    write(cli, **{f"f{number}": f"text {number}" for number in range(12)})
    clerk = Kills()
    server = serve(clerk)
    flags = ("--no-cache", "--max-parallel", "2", "--output-dir", "out", "--model", f"openai:t@{server.url}")
    process = cli.start("batch", "Tell.", "*.txt", *flags)
    clerk.pid = process.pid
    process.communicate()
    outcome = cli("batch", "--resume", "last", "--json", "--quiet")
    assert (outcome.code, outcome.json["answer"]["status"]) == (0, "SUCCESS"), outcome.stderr
    assert len(list((cli.folder / "out").glob("*.result.md"))) == 12
    assert len(clerk.prompts) - len(set(clerk.prompts)) <= 3, "only what was on the wire is asked again"
    (cli.folder / "out/f1.txt.result.md").unlink()
    before = len(server.log)
    assert cli("batch", "--resume", "last", "--quiet").code == 0
    assert (cli.folder / "out/f1.txt.result.md").exists()
    assert len(server.log) == before


def test_a_limit_leaves_what_there_is_and_resume_does_the_rest(cli: Cli, serve: OpenServer) -> None:
    write(cli, **{f"f{number}": "text " * 100 for number in range(10)})
    server = serve(Clerk())
    outcome = batch(cli, server, "Tell.", "*.txt", "--max-tokens", "5500", "--output-dir", "out")
    assert (outcome.code, outcome.json["status"], outcome.json["answer"]["status"]) == (4, "limit", "PARTIAL")
    assert "Run ended: limit" in read(cli, "report.md")
    done = len(server.log)
    assert 0 < done < 10
    again = cli("batch", "--resume", "last", "--max-tokens", "100000", "--json", "--quiet")
    assert (again.code, again.json["answer"]["status"], len(server.log)) == (0, "SUCCESS", 10)


def test_a_server_that_refuses_the_key_stops_it_and_says_how_to_go_on(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha")
    outcome = cli("batch", "Tell.", "a.txt", "--model", f"openai:t@{serve(settings=Settings(key='k')).url}", "--quiet")
    assert outcome.code == 4
    assert "sonde batch --resume" in outcome.stderr
    assert not list(cli.folder.glob("batch-*")), "no empty folder is left"


@pytest.mark.parametrize(("said", "flags", "sent"), [(b"n\n", (), 0), (b"y\n", (), 2), (b"", ("--force",), 2)])
def test_in_a_terminal_somebody_is_asked_before_more_than_a_dollar(
    cli: Cli, serve: OpenServer, said: bytes, flags: tuple[str, ...], sent: int
) -> None:
    write(cli, a="alpha " * 1000, b="beta")
    server = serve(Clerk())
    cli.launcher = [sys.executable, "-c", IN_A_TERMINAL]
    outcome = cli(
        "batch", "Tell.", "*.txt", "--model", f"openai:t@{server.url}", "--price", "900,900", *flags, stdin=said
    )
    assert ("may cost some $" in outcome.text) == (not flags)
    assert (outcome.code, len(server.log)) == (0 if sent else 130, sent)


def test_elsewhere_it_is_only_said(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha " * 1000)
    server = serve(Clerk())
    outcome = batch(cli, server, "Tell.", "a.txt", "--price", "900,900")
    assert (outcome.code, len(server.log)) == (0, 1)
    assert "may cost some $" in outcome.stderr


def test_standard_input_and_names(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha")
    outcome = batch(cli, serve(Clerk()), "Tell of {file}.", "-", "note=a.txt", stdin=b"piped\xff").json
    assert [each["file"] for each in outcome["answer"]["files"]] == ["stdin", "a.txt"]
    assert outcome["answer"]["status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "a prompt and inputs"),
        (("Tell.",), "a prompt and inputs"),
        (("Tell.", "missing.txt"), "missing.txt"),
        (("Tell.", "*.md"), "no file matches"),
        (("Tell.", "empty.txt"), "it is empty"),
        (("Tell.", "a.txt", "--output-dir", "a.txt/b"), "--output-dir"),
        (("Tell.", "a.txt", "--max-parallel", "0"), "--max-parallel"),
        (("Tell.", "a.txt", "--resume", "last"), "--resume"),
        (("--resume", "nothing"), "no run"),
    ],
)
def test_what_cannot_work_is_refused_and_nothing_sent(
    cli: Cli, serve: OpenServer, arguments: tuple[str, ...], told: str
) -> None:
    write(cli, a="alpha", empty="")
    server = serve(Clerk())
    outcome = cli("batch", *arguments, "--model", f"openai:t@{server.url}")
    assert outcome.code == 2
    assert told in outcome.error
    assert server.log == []
    assert not list(cli.folder.glob("batch-*"))


def test_a_run_of_another_kind_is_no_batch(cli: Cli, serve: OpenServer) -> None:
    cli.ask(serve().url, "Hello?")
    assert "is no batch" in cli("batch", "--resume", "last").error


def test_as_text_each_file_is_listed(cli: Cli, serve: OpenServer) -> None:
    write(cli, a="alpha")
    outcome = cli("batch", "Tell.", "a.txt", "--output-dir", "out", "--model", f"openai:t@{serve(Clerk()).url}")
    assert outcome.text.splitlines() == [
        "SUCCESS: 1 of 1 files",
        "  a.txt  out/a.txt.result.md",
        "All results: out/aggregate.md",
        "Report: out/report.md",
    ]
    assert re.search(r"1 requests, \d+ tokens in, \d+ out, cost unknown\n$", outcome.stderr)


def test_help_teaches(cli: Cli) -> None:
    text = cli("batch", "--help").text
    assert all(word in text for word in ("{file}", "--require-citations", "--cache-only", "aggregate.md", "PARTIAL"))


def test_it_runs_in_the_portable_python_too(tmp_path: Path, serve: OpenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    digest = "0123456789abcdef"
    file = {"number": 0, "name": "a.txt", "file": "a.txt", "hash": digest, "lines": 2, "chars": 8}
    args: dict[str, Any] = {"prompt": "Find.", "files": [file], "aggregate": "summarize", "citations": True}
    args |= {"window": 1000, "at_once": 4}
    clerk = Clerk({"a.txt": ["- one", f"- one [a.txt@{digest}, L1-2]"]})
    model = ModelChoice(f"openai:t@{serve(clerk).url}")
    spec = RunSpec("Find.", model, ("a.txt",), mode="workflow", workflow=code_of("spread", "batch"), args=args)
    answers = [asyncio.run(start(_in(spec, name), Surroundings())).answer for name in ("python", "monty")]
    assert answers[0] == answers[1]
    assert (answers[0]["files"][0]["ok"], answers[0]["summary"]) == (True, "All is well.")


def _in(spec: RunSpec, interpreter: str) -> RunSpec:
    return RunSpec.from_json(json.dumps(json.loads(spec.to_json()) | {"interpreter": interpreter}))
