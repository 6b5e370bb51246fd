"""The command line's contract: output, exit codes, Ctrl-C, looking at runs."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time

import pytest

import sonde
from sonde.testing.server import ChatRequest, Fault, Faults, Latency, Said, Settings, run_code
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.processes import descendants

FIELDS = {
    "run_id": str,
    "status": str,
    "answer": object,
    "usage": dict,
    "cost_usd": object,
    "calls": dict,
    "coverage": dict,
    "max_depth_reached": int,
    "duration_s": float,
    "run_dir": str,
    "error": object,
}


def five(request: ChatRequest) -> Said | str:
    if not request.system:
        return "yes"
    return [
        run_code("r = await gather(*[llm(f'{n}?') for n in range(5)])\nlen(r)"),
        run_code("FINAL(f'{len(r)} of 5')"),
    ][request.turn]


def test_json_is_one_object_with_exactly_the_promised_fields(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "a.txt").write_text("text")
    outcome = cli("ask", "How many?", "a.txt", "--model", f"openai:test@{serve(five).url}", "--json")
    told = outcome.json
    assert list(told) == list(FIELDS)
    for field, kind in FIELDS.items():
        assert isinstance(told[field], kind), field
    assert told["status"] == "completed"
    assert told["answer"] == "5 of 5"
    assert set(told["usage"]) == {"input_tokens", "output_tokens", "cached_tokens", "requests"}
    assert told["usage"]["requests"] == 7
    assert told["calls"] == {"total": 5, "ok": 5, "failed": 0, "cached": 0}
    assert told["cost_usd"] is None
    assert told["error"] is None
    assert "run " in outcome.stderr, "all else goes to stderr"


def test_the_answer_alone_is_on_stdout(cli: Cli, serve: OpenServer) -> None:
    outcome = cli("ask", "How many?", "--model", f"openai:test@{serve(five).url}")
    assert outcome.text == "5 of 5\n"
    quiet = cli("ask", "How many?", "--model", f"openai:test@{serve(five).url}", "--quiet")
    assert (quiet.text, quiet.stderr) == ("5 of 5\n", "")


def test_flags_have_environment_variables(cli: Cli, serve: OpenServer) -> None:
    server = serve(lambda _: run_code("1"))
    cli.environment |= {"SONDE_MODEL": f"openai:test@{server.url}", "SONDE_MAX_TURNS": "3", "SONDE_JSON": "1"}
    outcome = cli("ask", "How many?")
    assert outcome.code == 4
    assert outcome.json["error"]["kind"] == "max-turns"
    assert len(server.log) == 3


def test_sub_model_goes_to_its_own_server(cli: Cli, serve: OpenServer) -> None:
    root, sub, named = serve(five), serve(lambda _: "yes"), serve(lambda _: "named")
    cell = f"FINAL([await llm('a'), await llm('b', model='openai:third@{named.url}')])"
    root = serve(lambda _: run_code(cell))
    third = ("--also-model", f"openai:third@{named.url}")
    outcome = cli.ask(root.url, "Which?", "--sub-model", f"openai:second@{sub.url}", *third)
    assert outcome.json["answer"] == ["yes", "named"]
    assert [entry.model for server in (root, sub, named) for entry in server.log] == ["test", "second", "third"]


def test_code_asks_no_model_that_the_user_did_not_name(cli: Cli, serve: OpenServer) -> None:
    """It could send a key, and whatever it has read, wherever it likes."""
    elsewhere = serve(lambda _: "thanks")
    ask = f"await llm('a secret', model='openai:x@{elsewhere.url}')"
    cell = f"try:\n    {ask}\nexcept TaskError as error:\n    FINAL(str(error))"
    cli.environment["OPENAI_API_KEY"] = "sk-secret"
    outcome = cli.ask(serve(lambda _: run_code(cell)).url, "Which?")
    assert "code may not ask" in outcome.json["answer"]
    assert "--also-model" in outcome.json["answer"]
    assert not elsewhere.log


def test_an_answer_in_a_schema(cli: Cli, serve: OpenServer) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    (cli.folder / "schema.json").write_text(json.dumps(schema))
    cells = [
        "FINAL('three')",
        "try:\n    FINAL({'n': 'three'})\nexcept TaskError as e:\n    print(e.kind)",
        "FINAL({'n': 3})",
    ]
    server = serve(lambda request: run_code(cells[request.turn]))
    outcome = cli.ask(server.url, "How many?", "--schema", "schema.json")
    assert outcome.json["answer"] == {"n": 3}
    closing = serve(lambda request: ["no json", 'So: {"n": 4}', '```json\n{"n": 5}\n```'][request.turn])
    assert cli.ask(closing.url, "How many?", "--schema", "schema.json").json["answer"] == {"n": 5}


def test_a_model_without_tools_writes_fenced_code(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "a.txt").write_text("text")

    def fenced(request: ChatRequest) -> str:
        assert "```python" in request.system
        return ["I look:\n```python\nprint(len(context))\n```\nIt is 99.", "```python\nFINAL(len(context))\n```"][
            request.turn
        ]

    outcome = cli.ask(serve(fenced, settings=Settings(without_tools=True)).url, "How long?", "a.txt")
    assert outcome.json["answer"] == 4


def test_a_model_that_answers_unseen_is_asked_to_look_once(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "a.txt").write_text("text")
    server = serve(lambda request: "It is 42.")
    outcome = cli.ask(server.url, "How long?", "a.txt")
    assert outcome.json["answer"] == "It is 42."
    assert [entry.prompt for entry in server.log][1].startswith("Look at the input first")
    assert len(server.log) == 2
    without_input = serve(lambda request: "It is 42.")
    assert cli.ask(without_input.url, "How long?").json["answer"] == "It is 42."
    assert len(without_input.log) == 1


def test_replies_that_are_empty_or_cut_are_not_taken_for_answers(cli: Cli, serve: OpenServer) -> None:
    said = ["", Said("The answer is", finish="length"), "The answer is 3."]
    server = serve(lambda request: said[request.turn])
    assert cli.ask(server.url, "How many?").json["answer"] == "The answer is 3."


def test_limits_stop_a_run_in_order_and_it_can_be_resumed(cli: Cli, serve: OpenServer) -> None:
    server = serve(five, settings=Settings(latency=Latency(0.3)))
    outcome = cli.ask(server.url, "How many?", "--timeout", "0.45")
    assert outcome.code == 4
    assert outcome.json["status"] == "limit"
    assert outcome.json["error"]["kind"] == "timeout"
    assert "--timeout" in outcome.error
    assert "sonde resume" in outcome.stderr


def test_calls_above_the_limit_are_refused_and_none_is_sent(cli: Cli, serve: OpenServer) -> None:
    cell = "r = await gather(*[llm(f'{n}?') for n in range(9)], return_exceptions=True)\nFINAL([str(x) for x in r])"
    server = serve(lambda request: run_code(cell) if request.system else "yes")
    outcome = cli.ask(server.url, "How many?", "--max-calls", "4")
    answers = outcome.json["answer"]
    assert answers[:4] == ["yes"] * 4
    assert all("budget" in answer and "--max-calls" in answer for answer in answers[4:])
    assert sum(not entry.system for entry in server.log) == 4
    assert outcome.json["coverage"] == {"items": 9, "done": 4, "failed": 5}


class HangAfter(Faults):
    """Lets the first calls through, and hangs all others of those that are expected."""

    def __init__(self, answered: int, expected: int) -> None:
        super().__init__()
        self.all_there = threading.Event()
        self._answered = answered
        self._left = expected

    def draw(self, *, from_agent: bool) -> Fault | None:
        if from_agent:
            return None
        self._left -= 1
        self._answered -= 1
        if self._left == 0:
            self.all_there.set()
        return "hang" if self._answered < 0 else None


def hanging(cli: Cli, serve: OpenServer, name: str) -> subprocess.Popen[bytes]:
    """Start a run of twelve calls, of which ten hang, and return when they do."""
    cell = "r = await gather(*[llm(f'{n}?') for n in range(12)])\nFINAL(len(r))"
    faults = HangAfter(2, 12)
    server = serve(lambda request: run_code(cell) if request.system else "yes", faults=faults)
    process = cli.start("ask", "Go.", "--model", f"openai:test@{server.url}", "--run-id", name, "--json")
    assert faults.all_there.wait(20)
    return process


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_and_keeps_what_is_finished(cli: Cli, serve: OpenServer, which: signal.Signals) -> None:
    process = hanging(cli, serve, "stopped")
    below = descendants(process.pid)
    process.send_signal(which)
    began = time.monotonic()
    stdout, stderr = process.communicate(timeout=10)
    assert time.monotonic() - began < 2
    assert process.returncode == 130
    told = json.loads(stdout)
    assert told["status"] == "cancelled"
    assert told["coverage"] == {"items": 12, "done": 2, "failed": 10}
    assert b"sonde resume stopped" in stderr
    assert b"Traceback" not in stderr
    assert below
    assert not any(os.path.exists(f"/proc/{pid}") for pid in below)  # noqa: PTH110


def test_a_second_process_cannot_drive_the_same_run(cli: Cli, serve: OpenServer) -> None:
    process = hanging(cli, serve, "busy")
    try:
        assert "another process" in cli("resume", "busy").error
        assert "running" in cli("runs").text
        assert cli("show", "busy", "--tree").code == 0
    finally:
        process.kill()
        process.communicate()
    assert "interrupted" in cli("runs").text


def test_runs_are_listed_and_found_by_prefix(cli: Cli, serve: OpenServer) -> None:
    server = serve(five)
    for name in ("alpha", "beta", "alphabet"):
        cli.ask(server.url, f"Is it {name}?", "--run-id", name)
    lines = cli("runs").text.splitlines()
    assert [line.split()[0] for line in lines] == ["alpha", "beta", "alphabet"]
    assert [row["run_id"] for row in cli("runs", "--json").json["runs"]] == ["alpha", "beta", "alphabet"]
    assert cli("show", "alphabe", "--json").json["run_id"] == "alphabet"
    assert cli("show", "last", "--json").json["run_id"] == "alphabet"
    assert cli("show", "alpha", "--json").json["run_id"] == "alpha", "a whole id wins over a prefix"
    assert "fits 2 runs" in cli("show", "alp").error


def test_show_tells_what_was_done_and_what_it_took(cli: Cli, serve: OpenServer) -> None:
    cli.ask(serve(five).url, "How many?")
    plain = cli("show", "last").text
    assert "5 items: 5 done, 0 failed, 0 under way" in plain
    assert "answer    5 of 5" in plain
    tree = cli("show", "last", "--tree").text
    assert "cell 1" in tree
    assert "5 calls: 5 ok" in tree
    cost = cli("show", "last", "--cost", "--json").json
    assert cost["models"]["test"]["requests"] == 7


def test_the_run_folder_is_private_and_out_of_git(cli: Cli, serve: OpenServer) -> None:
    told = cli.ask(serve(five).url, "How many?").json
    run = cli.folder / ".sonde/runs" / told["run_id"]
    assert str(run) == told["run_dir"]
    assert run.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in run.iterdir())
    assert "*" in (cli.folder / ".sonde/.gitignore").read_text()


def test_help_and_version(cli: Cli) -> None:
    assert cli("--version").text == f"sonde, version {sonde.__version__}\n"
    for verb in ("ask", "resume", "runs", "show", "doctor"):
        assert verb in cli("--help").text
        assert cli(verb, "--help").code == 0
    assert cli("frobnicate").code == 2


def test_doctor_says_what_is_missing(cli: Cli) -> None:
    outcome = cli("doctor")
    assert outcome.code == 0
    assert "interpreter python" in outcome.text
    assert "OPENAI_API_KEY is not set" in outcome.text
    assert {"what", "standing", "detail"} <= set(cli("doctor", "--json").json["findings"][0])


def test_tracebacks_only_with_debug(cli: Cli) -> None:
    outcome = cli("--debug", "ask", "What?")
    assert outcome.code == 2
    assert "Traceback" in outcome.stderr


def test_terminal_progress_obeys_no_escape_codes_of_models(cli: Cli, serve: OpenServer) -> None:
    """In a terminal the answer is made harmless, and progress is drawn on one line."""
    server = serve(lambda _: "evil \x1b[2J\x1b]0;title\x07 \u202e text", settings=Settings(latency=Latency(0.5)))
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sonde", "ask", "What?", "--model", f"openai:test@{server.url}"],
        cwd=cli.folder, stdin=subprocess.DEVNULL, stdout=child, stderr=child,
        env={"HOME": str(cli.folder), "PATH": os.environ["PATH"], "TERM": "xterm"},
    )  # fmt: skip
    os.close(child)
    shown = b""
    try:
        while chunk := os.read(parent, 4096):
            shown += chunk
    except OSError:
        pass
    assert process.wait(10) == 0
    assert b"turn 1" in shown
    assert b"\x1b[2J" not in shown
    assert b"\\x1b[2J" in shown
    assert "\u202e".encode() not in shown


def test_a_disk_that_is_full_ends_the_run_with_its_reason(cli: Cli, serve: OpenServer) -> None:
    """A limit on the size of files stands in for a full disk."""
    cell = "r = [await llm(f'{n}?' + 'x' * 5000) for n in range(100)]\nFINAL(len(r))"
    server = serve(lambda request: run_code(cell) if request.system else "yes")
    ask = f"{sys.executable} -m sonde ask Go. --route rlm --model openai:test@{server.url} --json --quiet"
    command = f"ulimit -f 600; exec {ask}"
    process = subprocess.run(["sh", "-c", command], cwd=cli.folder, capture_output=True, timeout=30, check=False)
    assert process.returncode == 5, process.stderr
    told = json.loads(process.stdout)
    assert told["status"] == "failed"
    assert told["error"]["code"] == "journal"
    assert b"Traceback" not in process.stderr
    paid = sum(not entry.system and entry.status == 200 for entry in server.log)
    resumed = cli("resume", "last", "--json", "--quiet").json
    assert resumed["answer"] == 100
    assert resumed["calls"]["cached"] > 0
    assert paid - resumed["calls"]["cached"] <= 1, "only what was on the wire when the disk was full is lost"
