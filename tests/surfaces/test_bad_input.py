"""Whatever is wrong with the input: one line that names the thing and the remedy, the right exit code, no traceback."""

import gzip
import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from sonde.testing.server import ChatRequest, Said, Settings, run_code
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer

Ask = Callable[..., Outcome]

HASH = """
import hashlib
whole = context if isinstance(context, str) else str(context)
FINAL([hashlib.sha256(whole.encode('utf-8', 'surrogateescape')).hexdigest(), len(whole)])
"""


def reply(request: ChatRequest) -> Said | str:
    return run_code(HASH) if request.system else "ok"


@pytest.fixture
def ask(cli: Cli, serve: OpenServer) -> Ask:
    server = serve(reply)
    return lambda *arguments, **named: cli.ask(server.url, "What is it?", *arguments, **named)


def refused(outcome: Outcome, *words: str, code: int = 2) -> None:
    assert outcome.code == code, outcome
    for word in words:
        assert word in outcome.error, outcome.error
    assert len(outcome.error) < 400


def passed_through(outcome: Outcome, content: bytes) -> None:
    """The code in the cell saw these very bytes."""
    assert outcome.code == 0, outcome.stderr
    digest, length = outcome.json["answer"]
    assert digest == hashlib.sha256(content).hexdigest()
    assert length == len(content.decode("utf-8", "surrogateescape"))


def test_missing_file(ask: Ask, cli: Cli) -> None:
    refused(ask("nowhere.txt"), "nowhere.txt", "no such file", "Check the path")
    assert not list((cli.folder / ".sonde/runs").glob("*")), "a run that never began leaves nothing"


def test_pattern_without_matches(ask: Ask) -> None:
    refused(ask("logs/*.txt"), "logs/*.txt", "no file matches")


def test_empty_file(ask: Ask, cli: Cli) -> None:
    (cli.folder / "empty.txt").touch()
    refused(ask("empty.txt"), "empty.txt", "is empty")


def test_empty_stdin(ask: Ask) -> None:
    refused(ask("-"), "standard input", "is empty")


def test_binary_file(ask: Ask, cli: Cli) -> None:
    (cli.folder / "picture.bin").write_bytes(bytes(range(256)) * 10)
    refused(ask("picture.bin"), "picture.bin", "binary")


@pytest.mark.parametrize(
    ("content", "hint"),
    [("text".encode("utf-16"), "iconv"), (b"%PDF-1.7 ...", "pdftotext"), (b"PK\x03\x04..", "Unpack")],
)
def test_files_that_could_be_converted(ask: Ask, cli: Cli, content: bytes, hint: str) -> None:
    (cli.folder / "file").write_bytes(content)
    refused(ask("file"), "file", hint)


def test_unreadable_file(ask: Ask, cli: Cli) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (cli.folder / "secret.txt").write_text("x")
    (cli.folder / "secret.txt").chmod(0)
    refused(ask("secret.txt"), "secret.txt", "permission denied")


def test_device(ask: Ask) -> None:
    refused(ask("/dev/null"), "/dev/null", "neither a file nor a folder")


def test_folder_of_nothing(ask: Ask, cli: Cli) -> None:
    (cli.folder / "empty").mkdir()
    refused(ask("empty"), "empty", "no text file")


def test_link_to_itself(ask: Ask, cli: Cli) -> None:
    (cli.folder / "loop").symlink_to("loop")
    refused(ask("loop"), "loop", "symbolic links")


def test_folder_with_a_link_loop_is_read_once_and_the_link_is_named(ask: Ask, cli: Cli) -> None:
    folder = cli.folder / "logs"
    folder.mkdir()
    (folder / "a.txt").write_text("once\n")
    (folder / "again").symlink_to(folder)
    outcome = ask("logs")
    passed_through(outcome, b"once\n")
    assert "1 links (logs/again)" in cli("show", "last").text


def test_folder_holding_only_a_link_loop(ask: Ask, cli: Cli) -> None:
    (cli.folder / "logs").mkdir()
    (cli.folder / "logs" / "again").symlink_to(cli.folder / "logs")
    refused(ask("logs"), "logs", "no text file", "logs/again")


def test_binary_files_in_a_folder_are_passed_over_and_counted(ask: Ask, cli: Cli) -> None:
    folder = cli.folder / "mixed"
    folder.mkdir()
    (folder / "a.txt").write_text("text\n")
    for name in "bc":
        (folder / f"{name}.bin").write_bytes(b"\0\1\2")
    passed_through(ask("mixed"), b"text\n")
    assert "2 binary (such as mixed/b.bin)" in cli("show", "last").text


@pytest.mark.parametrize(
    "content",
    [b"a\r\nb\r\nc", b"a\rb\n\r\n", "naïve 日本語 🙂\n".encode(), "\ufeffbom\n".encode(), b"one line without an end"],
    ids=["crlf", "mixed", "wide", "bom", "open-end"],
)
def test_valid_text_is_passed_through_byte_for_byte(ask: Ask, cli: Cli, content: bytes) -> None:
    (cli.folder / "text.txt").write_bytes(content)
    passed_through(ask("text.txt"), content)
    passed_through(ask("-", stdin=content), content)
    (cli.folder / "text.txt.gz").write_bytes(gzip.compress(content))
    passed_through(ask("text.txt.gz"), content)
    (cli.folder / "text.txt.zst").write_bytes(zstd.compress(content))
    passed_through(ask("text.txt.zst"), content)


def test_invalid_utf8_is_kept_and_reported(ask: Ask, cli: Cli) -> None:
    content = b"caf\xe9 \xff\xfe\x80 \xed\xa0\x80 ok\n"
    (cli.folder / "latin.txt").write_bytes(content)
    passed_through(ask("latin.txt"), content)
    assert "latin.txt has 7 bytes that are not UTF-8" in cli("show", "last").text
    refused(ask("latin.txt", "--strict"), "latin.txt", "7 bytes", "--strict")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_damaged_packed_files(ask: Ask, cli: Cli, suffix: str) -> None:
    pack = gzip.compress if suffix == ".gz" else zstd.compress
    whole = pack(b"some text that is long enough to be cut\n" * 1000)
    for name, content in {"cut": whole[:-20], "garbage": b"garbage" * 10}.items():
        (cli.folder / (name + suffix)).write_bytes(content)
        refused(ask(name + suffix), name + suffix, "damaged or cut short")


def test_lone_surrogates_travel_everywhere(cli: Cli, serve: OpenServer) -> None:
    """In a model's reply, in what code prints, asks and answers."""

    def surrogates(request: ChatRequest) -> Said | str:
        if not request.system:
            return "got " + request.prompt
        code = "print('\\ud800')\nanswer = await llm('is \\udcff odd?')\nFINAL(answer + '\\udc80\\ud800')"
        return run_code(code)

    server = serve(surrogates)
    outcome = cli.ask(server.url, "odd \udcff question")
    assert outcome.code == 0, outcome.stderr
    assert ascii(outcome.json["answer"]) == ascii("got is \ufffd odd?\udc80\ud800")
    plain = cli("resume", "last")
    assert plain.code == 0
    assert "got is \ufffd odd?" in plain.stdout.decode(errors="replace")
    assert cli("show", "last", "--tree").code == 0


def test_unknown_provider(cli: Cli) -> None:
    refused(cli("ask", "What?", "--model", "acme:large"), "acme", "openai")


def test_not_a_model(cli: Cli) -> None:
    refused(cli("ask", "What?", "--model", "gpt"), "gpt", "PROVIDER:NAME")


def test_no_model(cli: Cli) -> None:
    refused(cli("ask", "What?"), "--model", "SONDE_MODEL")


def test_no_key(cli: Cli) -> None:
    refused(cli("ask", "What?", "--model", "openai:gpt-5.5"), "OPENAI_API_KEY", "--key-env")


def test_key_in_the_address(cli: Cli) -> None:
    outcome = cli("ask", "What?", "--model", "openai:x@http://me:hunter2@127.0.0.1:1/v1")
    refused(outcome, "password", "--key-env")
    assert "hunter2" not in outcome.stderr


def test_wrong_key(cli: Cli, serve: OpenServer) -> None:
    cli.environment["OPENAI_API_KEY"] = "sk-wrong-canary"
    outcome = cli.ask(serve(reply, settings=Settings(key="right")).url, "What?")
    refused(outcome, "401", "key", "--key-env", code=4)
    assert outcome.json["status"] == "limit"
    run = Path(outcome.json["run_dir"])
    assert not any(b"sk-wrong-canary" in path.read_bytes() for path in run.iterdir() if path.is_file())


def test_unknown_model(cli: Cli, serve: OpenServer) -> None:
    outcome = cli.ask(serve(reply, settings=Settings(models=("other",))).url, "What?")
    refused(outcome, "404", "'test' does not exist", "Check the model's name", code=5)


def test_unreachable_server(cli: Cli) -> None:
    cli.environment["SONDE_RETRY_BASE"] = "0.01"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        outcome = cli.ask(f"http://127.0.0.1:{port}/v1", "What?")
    refused(outcome, f"127.0.0.1:{port}", "cannot reach", "Check the address", code=5)


def test_a_file_that_changes_while_it_is_read(cli: Cli, serve: OpenServer) -> None:
    path = cli.folder / "growing.log"
    path.write_text("line\n" * 1000)

    def meddling(request: ChatRequest) -> Said | str:
        if request.turn == 0:
            return run_code("print(inputs['growing.log'].count('line'))")
        with path.open("a") as file:
            file.write("more\n")
        return run_code(
            "try:\n    n = inputs['growing.log'].count('line')\nexcept Exception as error:\n    print(error)"
        )

    refused(cli.ask(serve(meddling).url, "How many?", "growing.log"), "growing.log", "changed", "copy", code=5)


def test_a_file_that_shrinks_while_it_is_read(cli: Cli, serve: OpenServer) -> None:
    path = cli.folder / "shrinking.log"
    path.write_text("line\n" * 500_000)  # of several blocks: one may have been read before

    def meddling(request: ChatRequest) -> Said | str:
        os.truncate(path, 10)
        return run_code("print(inputs['shrinking.log'][4000:])")

    refused(cli.ask(serve(meddling).url, "How many?", "shrinking.log"), "shrinking.log", "shrank", code=5)


def test_an_input_that_changed_between_two_lives(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "a.txt").write_text("before\n")
    server = serve(lambda _: run_code("1"))
    assert cli.ask(server.url, "What?", "a.txt", "--max-turns", "2").code == 4
    (cli.folder / "a.txt").write_text("after it\n")
    refused(cli("resume", "last", "--json", "--quiet"), "a.txt", "changed", code=5)


@pytest.mark.parametrize(
    ("flag", "value"), [("--max-turns", "0"), ("--concurrency", "0"), ("--timeout", "-1"), ("--retries", "-1")]
)
def test_limits_out_of_range(cli: Cli, flag: str, value: str) -> None:
    refused(cli("ask", "What?", "--model", "openai:x@http://127.0.0.1:1/v1", flag, value), flag, "out of range")


@pytest.mark.parametrize("schema", ["{", "[]", '{"type": "nonsense"}', '{"type": 3}'])
def test_schemas_that_cannot_be_used(cli: Cli, schema: str) -> None:
    (cli.folder / "schema.json").write_text(schema)
    outcome = cli("ask", "What?", "--model", "openai:x@http://127.0.0.1:1/v1", "--schema", "schema.json")
    refused(outcome, "schema")


def test_runs_that_do_not_exist(cli: Cli) -> None:
    refused(cli("resume", "last"), "no runs", "sonde ask")
    refused(cli("show", "2025"), "no run '2025'", "sonde runs")


def test_an_id_that_is_taken_or_escapes(cli: Cli, serve: OpenServer) -> None:
    server = serve(lambda _: "done")
    assert cli.ask(server.url, "What?", "--run-id", "mine").code == 0
    refused(cli.ask(server.url, "What?", "--run-id", "mine"), "mine", "resume")
    refused(cli.ask(server.url, "What?", "--run-id", "../mine"), "../mine")


def test_a_runs_folder_that_cannot_be_made(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "file").write_text("x")
    refused(cli.ask(serve(reply).url, "What?", "--runs-dir", "file/runs"), "file/runs", "--runs-dir", code=5)


def test_a_typing_error_in_a_flag(cli: Cli) -> None:
    refused(cli("ask", "What?", "--modle", "x"), "--modle", "--model")
