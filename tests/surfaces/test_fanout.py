"""`sonde fanout`: every piece is asked about once, and every claim leads back to lines. Through the command alone."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sonde.cli.blocks import code_of
from sonde.engine.run import Surroundings, start
from sonde.spec import ModelChoice, RunSpec
from sonde.testing.server import ChatRequest, FaultServer, Latency, Settings
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.processes import kill_tree


class Reader:
    """Finds lines with the word needle, makes one claim of all that was found, and remembers what it was asked."""

    def __init__(self, claim: str = "There are needles.", answer: str = "Here.") -> None:
        self.pieces: list[str] = []
        self.syntheses: list[str] = []
        self.claim = claim
        self.answer = answer

    def __call__(self, request: ChatRequest) -> str:
        """Answer about a piece, or put answers together."""
        prompt = str(request.messages[0]["content"])
        if "What was found in pieces" in prompt:
            self.syntheses.append(request.prompt)
            return self.synthesis(prompt, request.prompt)
        self.pieces.append(prompt)
        if "broken" in prompt:
            return "I cannot say."
        lines = [int(number) for number in re.findall(r"(?m)^(\d+)\| .*needle", prompt)]
        answer = self.answer if lines else ""
        return json.dumps({"found": bool(lines), "answer": answer, "confidence": "high", "relevant_lines": lines})

    def synthesis(self, first: str, last: str) -> str:
        """Make one claim of all."""
        return json.dumps({"claims": [{"claim": self.claim, "sources": numbers_in(first)}]})


def numbers_in(prompt: str) -> list[int]:
    return [int(number) for number in re.findall(r"(?m)^\[(\d+)\] ", prompt)]


def write(cli: Cli, name: str, lines: int, needles: int = 0) -> None:
    text = "".join(f"line {n}{' needle' if needles and n % needles == 0 else ''}\n" for n in range(1, lines + 1))
    (cli.folder / name).write_text(text)


def fanout(cli: Cli, server: FaultServer, *arguments: str, **named: Any) -> Outcome:
    return cli("fanout", "Where?", *arguments, "--model", f"openai:t@{server.url}", "--json", "--quiet", **named)


def spans(listed: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(each["first_line"], each["last_line"]) for each in listed]


def test_each_piece_is_asked_about_once_as_chunk_cuts_it(cli: Cli, serve: OpenServer) -> None:
    write(cli, "hay.txt", 1000, needles=300)
    reader = Reader()
    outcome = fanout(cli, serve(reader), "hay.txt", "--strategy", "fixed", "--size", "100", "--overlap", "10").json
    cut = cli("chunk", "hay.txt", "--strategy", "fixed", "--size", "100", "--overlap", "10", "--json").json["chunks"]
    answer = outcome["answer"]
    told = sorted(spans(answer["results"]) + spans(answer["without_match"]))
    assert told == [(each["start_line"], each["end_line"]) for each in cut]
    assert len(reader.pieces) == len(set(reader.pieces)) == len(cut) == 11
    assert [each["relevant_lines"] for each in answer["results"]] == [[300], [600], [900]]
    assert answer["answer"] == "There are needles. [hay.txt:L300, L600, L900]"
    assert answer["claims"][0]["sources"][1] == {"file": "hay.txt", "first_line": 600, "last_line": 600}
    assert (answer["failed"], answer["rounds"], answer["notes"]) == ([], 1, [])
    assert outcome["coverage"] == {"items": 12, "done": 12, "failed": 0}


def test_the_usual_size_makes_pieces_of_some_30_000_characters(cli: Cli, serve: OpenServer) -> None:
    for name, width in (("a.txt", 10), ("b.txt", 200)):
        (cli.folder / name).write_text(("x" * width + "\n") * (200_000 // width))
        reader = Reader()
        assert fanout(cli, serve(reader), name).code == 0
        texts = [re.findall(r"(?m)^\d+\| (.*)$", prompt) for prompt in reader.pieces]
        sizes = sorted(sum(len(line) + 1 for line in lines) for lines in texts)
        assert 25_000 < sizes[-2] <= 31_000
        assert len(sizes) in range(7, 10)


@pytest.mark.parametrize("text", ["x" * 700_000, ("y" * 150_000 + "\n") * 3 + "short\n" * 10])
def test_long_lines_are_divided_and_nothing_is_lost(cli: Cli, serve: OpenServer, text: str) -> None:
    (cli.folder / "a.txt").write_text(text)
    reader = Reader()
    answer = fanout(cli, serve(reader), "a.txt", "--overlap", "0", "--budget", "9000000").json["answer"]
    pieces = [re.findall(r"(?m)^\d+\| (.*)$", prompt) for prompt in reader.pieces]
    assert max(sum(map(len, lines)) for lines in pieces) <= 60_000
    assert sum(len(line) for lines in pieces for line in lines) == len(text.replace("\n", ""))
    assert len(pieces) == len(answer["without_match"])
    assert max(last for _, last in spans(answer["without_match"])) == (text.count("\n") or 1)


def test_several_inputs_and_standard_input(cli: Cli, serve: OpenServer) -> None:
    write(cli, "a.txt", 10, needles=5)
    (cli.folder / "b").mkdir()
    (cli.folder / "b/c.txt").write_text("needle é\r\nmore\n")
    (cli.folder / "b/d.bin").write_bytes(b"\0" * 100)
    answer = fanout(cli, serve(Reader()), "a.txt", "b", "-", stdin=b"needle").json["answer"]
    assert [(each["file"], each["relevant_lines"]) for each in answer["results"]] == [
        ("a.txt", [5, 10]),
        ("b/c.txt", [1]),
        ("stdin", [1]),
    ]
    assert answer["answer"] == "There are needles. [a.txt:L5, L10, b/c.txt:L1, stdin:L1]"


def test_a_piece_that_fails_is_listed_and_the_rest_goes_on(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "a.txt").write_text("needle\nbroken\nneedle\nplain\n")
    outcome = fanout(cli, serve(Reader()), "a.txt", "--size", "1")
    answer = outcome.json["answer"]
    assert (outcome.code, outcome.json["status"]) == (0, "completed")
    assert (spans(answer["results"]), spans(answer["without_match"])) == ([(1, 1), (3, 3)], [(4, 4)])
    assert spans(answer["failed"]) == [(2, 2)]
    assert "not JSON" in answer["failed"][0]["error"]


def test_if_all_pieces_fail_the_run_has_failed(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "a.txt").write_text("broken\nbroken\n")
    outcome = fanout(cli, serve(Reader()), "a.txt", "--size", "1")
    assert (outcome.code, outcome.json["status"]) == (5, "failed")
    assert len(outcome.json["answer"]["failed"]) == 2
    assert "all 2 pieces failed" in outcome.error


def test_nothing_found_and_one_result_need_no_synthesis(cli: Cli, serve: OpenServer) -> None:
    write(cli, "none.txt", 20)
    write(cli, "one.txt", 20, needles=20)
    reader = Reader()
    server = serve(reader)
    nothing = fanout(cli, server, "none.txt", "--size", "5").json["answer"]
    assert (nothing["answer"], nothing["results"], len(nothing["without_match"])) == (None, [], 4)
    one = fanout(cli, server, "one.txt", "--size", "5", "--overlap", "0").json["answer"]
    assert (one["answer"], one["rounds"], reader.syntheses) == ("Here. [one.txt:L20]", 0, [])
    text = cli("fanout", "Where?", "none.txt", "--model", f"openai:t@{server.url}")
    assert "Nothing was found." in text.text
    assert "none.txt:1-20" in text.text


def test_without_synthesis_there_are_only_results(cli: Cli, serve: OpenServer) -> None:
    write(cli, "a.txt", 20, needles=2)
    reader = Reader()
    answer = fanout(cli, serve(reader), "a.txt", "--size", "5", "--overlap", "0", "--no-synthesize").json["answer"]
    assert (answer["answer"], len(answer["results"]), reader.syntheses) == (None, 4, [])


def test_results_that_outgrow_one_window_are_put_together_in_rounds(cli: Cli, serve: OpenServer) -> None:
    write(cli, "a.txt", 60, needles=1)
    reader = Reader(answer="word " * 80)
    flags = ("a.txt", "--size", "2", "--overlap", "0", "--window", "1000")
    answer = fanout(cli, serve(reader), *flags).json["answer"]
    assert answer["rounds"] == 2
    assert len(reader.syntheses) > 2
    assert max(len(each) for each in reader.syntheses) < 4 * 1000
    assert answer["answer"] == "There are needles. [a.txt:L1-60]", "each claim leads back to the first results"
    assert answer["notes"] == []


def test_where_the_depth_ends_it_says_so(cli: Cli, serve: OpenServer) -> None:
    write(cli, "a.txt", 60, needles=1)
    reader = Reader(answer="word " * 80)
    flags = ("a.txt", "--size", "2", "--overlap", "0", "--window", "1000", "--depth", "1")
    answer = fanout(cli, serve(reader), *flags).json["answer"]
    assert answer["rounds"] == 1
    assert len(answer["claims"]) == len(reader.syntheses)
    assert "after 1 rounds one window still does not hold" in answer["notes"][0]
    lines = [
        line
        for each in answer["claims"]
        for s in each["sources"]
        for line in range(s["first_line"], s["last_line"] + 1)
    ]
    assert lines == list(range(1, 61))
    for depth in ("0", "4"):
        assert fanout(cli, serve(reader), "a.txt", "--depth", depth).code == 2


def test_claims_without_sources_are_sent_back_once_then_left_out(cli: Cli, serve: OpenServer) -> None:
    class Careless(Reader):
        def synthesis(self, first: str, last: str) -> str:
            claims = [{"claim": "Traced.", "sources": [1]}, {"claim": "Made up.", "sources": [99]}]
            return json.dumps({"claims": claims})

    write(cli, "a.txt", 10, needles=5)
    reader = Careless()
    answer = fanout(cli, serve(reader), "a.txt", "--size", "5", "--overlap", "0").json["answer"]
    assert len(reader.syntheses) == 2
    assert "'Made up.'" in reader.syntheses[1]
    assert answer["answer"] == "Traced. [a.txt:L5]"
    assert answer["notes"] == ["left out, as it names no source: Made up."]


def test_a_synthesis_that_fails_leaves_the_results_as_the_answer(cli: Cli, serve: OpenServer) -> None:
    class Mute(Reader):
        def synthesis(self, first: str, last: str) -> str:
            return "no"

    write(cli, "a.txt", 10, needles=5)
    outcome = fanout(cli, serve(Mute()), "a.txt", "--size", "5", "--overlap", "0").json
    assert outcome["answer"]["answer"] == "Here. [a.txt:L5]\nHere. [a.txt:L10]"
    assert "the synthesis failed" in outcome["answer"]["notes"][0]


@pytest.mark.parametrize(("flags", "most"), [((), 4), (("--concurrency", "2"), 2)])
def test_so_many_are_asked_about_at_once(cli: Cli, serve: OpenServer, flags: tuple[str, ...], most: int) -> None:
    write(cli, "a.txt", 40)
    server = serve(Reader(), settings=Settings(latency=Latency(0.02)))
    assert fanout(cli, server, "a.txt", "--size", "2", *flags).code == 0
    assert server.most_at_once == most


def test_a_budget_is_kept_and_the_rest_asked_about_after_resume(cli: Cli, serve: OpenServer) -> None:
    write(cli, "a.txt", 40, needles=10)
    reader = Reader()
    server = serve(reader)
    outcome = fanout(cli, server, "a.txt", "--size", "4", "--overlap", "0", "--budget", "6000")
    assert (outcome.code, outcome.json["status"]) == (4, "limit")
    usage, answer = outcome.json["usage"], outcome.json["answer"]
    assert usage["input_tokens"] + usage["output_tokens"] <= 6000
    assert 0 < len(answer["failed"]) < 10
    assert "max-tokens" in answer["failed"][0]["error"]
    assert len(answer["failed"] + answer["results"] + answer["without_match"]) == 10
    again = cli("resume", "last", "--max-tokens", "100000", "--json", "--quiet")
    assert (again.code, again.json["answer"]["failed"]) == (0, [])
    assert again.json["answer"]["answer"] == "There are needles. [a.txt:L10, L20, L30, L40]"
    assert len(reader.pieces) == len(set(reader.pieces)) == 10, "nothing finished is paid again"


def test_a_budget_that_cannot_do_is_told_beforehand(cli: Cli, serve: OpenServer) -> None:
    write(cli, "a.txt", 40)
    outcome = fanout(cli, serve(Reader()), "a.txt", "--size", "1", "--budget", "2000")
    assert "40 pieces take some" in outcome.stderr
    assert "--budget" in outcome.stderr


def test_a_run_that_was_killed_goes_on(cli: Cli, serve: OpenServer) -> None:
    class Kills(Reader):
        pid = 0

        def __call__(self, request: ChatRequest) -> str:
            if len(self.pieces) == 10 and self.pid:
                kill_tree(self.pid)
                self.pid = 0
            return super().__call__(request)

    write(cli, "a.txt", 40, needles=10)
    reader = Kills()
    server = serve(reader)
    flags = ("--size", "2", "--overlap", "0", "--concurrency", "2", "--model", f"openai:t@{server.url}")
    process = cli.start("fanout", "Where?", "a.txt", *flags)
    reader.pid = process.pid
    process.communicate()
    again = cli("resume", "last", "--json", "--quiet").json
    assert again["answer"]["answer"] == "There are needles. [a.txt:L10, L20, L30, L40]"
    assert len(again["answer"]["results"] + again["answer"]["without_match"]) == 20
    assert len(reader.pieces) - len(set(reader.pieces)) <= 4, "only what was on the wire is asked again"


def test_as_text_all_is_told_and_the_costs_at_the_end(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "a.txt").write_text("needle\nbroken\nneedle\nplain\n")
    outcome = cli(
        "fanout", "Where?", "a.txt", "--size", "1", "--model", f"openai:t@{serve(Reader()).url}", "--price", "1,1"
    )
    for told in ("There are needles. [a.txt:L1, L3]", "a.txt:1-1  high, lines 1", "Without a match: 1", "a.txt:4-4"):
        assert told in outcome.text
    assert "Failed: 1" in outcome.text
    assert "a.txt:2-2  " in outcome.text
    assert re.search(r"4 pieces; 6 requests, [\d,]+ tokens in, [\d,]+ out, cost \$0\.\d+\n$", outcome.stderr)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("Where?", "missing.txt"), "missing.txt"),
        (("Where?", "*.md"), "no file matches"),
        ((" ", "a.txt"), "question is empty"),
        (("Where?", "a.txt", "--size", "0"), "0 lines"),
        (("Where?",), "INPUT"),
        (("Where?", "a.txt", "--window", "10"), "--window"),
    ],
)
def test_what_cannot_work_is_refused_and_nothing_sent(
    cli: Cli, serve: OpenServer, arguments: tuple[str, ...], told: str
) -> None:
    write(cli, "a.txt", 3)
    server = serve(Reader())
    outcome = cli("fanout", *arguments, "--model", f"openai:t@{server.url}")
    assert outcome.code == 2
    assert told in outcome.error
    assert server.log == []
    assert not list(cli.folder.glob(".sonde/runs/*/lock"))


def test_help_teaches(cli: Cli) -> None:
    text = cli("fanout", "--help").text
    assert all(word in text for word in ("--strategy", "--depth", "--budget", "sonde resume", "sonde fanout"))


def test_it_runs_in_the_portable_python_too(tmp_path: Path, serve: OpenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("one needle\ntwo\nthree\nneedle\n")
    pieces = [["a.txt", 1, 2, 0, 15], ["a.txt", 3, 4, 15, 28]]
    args = {"question": "Where?", "pieces": pieces, "synthesize": True, "window": 1000, "depth": 3, "at_once": 4}
    model = ModelChoice(f"openai:t@{serve(Reader()).url}")
    spec = RunSpec("Where?", model, ("a.txt",), mode="workflow", workflow=code_of("spread", "fanout"), args=args)
    answers = [asyncio.run(start(_in(spec, name), Surroundings())).answer for name in ("python", "monty")]
    assert answers[0] == answers[1]
    assert answers[0]["answer"] == "There are needles. [a.txt:L1, L4]"


def _in(spec: RunSpec, interpreter: str) -> RunSpec:
    return RunSpec.from_json(json.dumps(json.loads(spec.to_json()) | {"interpreter": interpreter}))
