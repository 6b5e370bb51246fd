"""What a cell may take, what it is told when it goes wrong, and what it cannot reach, as an agent sees it."""

import pytest

from sonde.testing.server import ChatRequest
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer
from tests.heard import Heard
from tests.scripts import END, below, led_by, shown

LANGUAGES = pytest.mark.parametrize("language", ["python", "javascript"])


def work(cli: Cli, url: str, *flags: str) -> Outcome:
    """Do a piece of work in the folder."""
    return cli("agent", "Go.", "--model", f"openai:test@{url}", "--json", "--quiet", *flags)


@LANGUAGES
def test_a_cell_has_limits_that_can_be_set(cli: Cli, serve: OpenServer, language: str) -> None:
    (cli.folder / "a.txt").write_text("a")
    cells = {
        "python": [
            "kept = 7",
            "while True:\n    pass",
            "kept, 'x' * 100_000_000",
            "for n in range(300):\n    used = n\n    await tools.read_file(path='a.txt')",
            "print('o' * 10_000)\n'v' * 10_000",
            "kept, used",
        ],
        "javascript": [
            "const kept = 7; let used",
            "while (true) {}",
            "'x'.repeat(100_000_000)",
            "for (let n = 0; n < 300; n++) { used = n; await tools.readFile({ path: 'a.txt' }) }",
            "console.log('o'.repeat(10_000)); 'v'.repeat(10_000)",
            "[kept, used]",
        ],
    }[language]
    flags = ("--interpreter", language, "--cell-cpu", "0.3", "--cell-memory", "64")
    heard = Heard(led_by(cells, lambda _: "never"))
    assert work(cli, serve(heard).url, *flags).json["answer"] == END
    _, endless, large, many, long, after = shown(heard)
    assert '<error type="Timeout">' in endless
    assert "0.3 s of processor time" in endless
    assert '<error type="OutOfMemory">' in large
    assert "64 MB (--cell-memory)" in large
    assert "budget: a cell may use tools 256 times" in many
    assert long.count("o" * 3990) == long.count("v" * 3990) == 1
    assert "o" * 4001 not in long
    assert "v" * 4001 not in long
    assert long.count("cut: 4,000 of 10,") == 2
    assert after.split() == ["<result>", *(["(7,", "256)"] if language == "python" else ["[7,", "256]"]), "</result>"]


def test_the_limits_of_a_cell_have_the_values_of_the_contract(cli: Cli, serve: OpenServer) -> None:
    work(cli, serve(led_by([], lambda _: "never")).url)
    limits = cli("show", "last", "--plan", "--json").json["limits"]
    assert (limits["cell_cpu_s"], limits["cell_memory_mb"]) == (60, 512)


def test_a_schema_that_is_too_large_or_too_deep_is_refused_before_anything_is_sent(cli: Cli, serve: OpenServer) -> None:
    cells = [
        (
            "deep = {'type': 'string'}\nfor _ in range(6):\n    deep = {'type': 'object', 'properties': {'a': deep}}\n"
            "wide = {'type': 'object', 'properties': {f'p{n}': {'type': 'string'} for n in range(33)}}\n"
            "long = {'type': 'string', 'description': 'x' * 5000}\ntold = []"
        ),
        (
            "for schema in (deep, wide, long):\n    try:\n        await task('x', response_schema=schema)\n"
            "    except Exception as error:\n        told.append(str(error))\nFINAL(told)"
        ),
    ]
    heard = Heard(led_by(cells, lambda _: "never"))
    deep, wide, long = work(cli, serve(heard).url).json["answer"]
    assert "5" in deep
    assert "32" in wide
    assert "4,096" in long
    assert below(heard) == []


ERRORS = {
    "python": [
        ("1 +", "SyntaxError"),
        ("1 + 'a'", "TypeError"),
        ("undefined_name", "NameError"),
        ("[][1]", "IndexError"),
        ("raise ValueError('of our own')", "ValueError"),
        ("def f(): return f()\nf()", "RecursionError"),
        ("import asyncio\nawait asyncio.Future()", "Deadlock"),
        ("open('a.txt')", "PermissionError"),
        ("await task('x', 'general-purpose', {'type': 'strange'})", "SchemaError"),
        ("await llm('fail')", "TaskError"),
        ("while True:\n    pass", "Timeout"),
        ("'x' * 100_000_000", "OutOfMemory"),
    ],
    "javascript": [
        ("let 1", "SyntaxError"),
        ("null.a", "TypeError"),
        ("undefinedName", "ReferenceError"),
        ("new Array(-1)", "RangeError"),
        ("throw new Error('of our own')", "Error"),
        ("function f() { return f() } f()", "RecursionError"),
        ("await new Promise(() => {})", "Deadlock"),
        ("await task({description: 'x', responseSchema: {type: 'strange'}})", "SchemaError"),
        ("await llm('fail')", "TaskError"),
        ("while (true) {}", "Timeout"),
        ("'x'.repeat(100_000_000)", "OutOfMemory"),
    ],
}


@LANGUAGES
def test_each_error_is_told_with_its_type(cli: Cli, serve: OpenServer, language: str) -> None:
    def sub(_: ChatRequest) -> str:
        raise ValueError("it broke")

    cells, types = zip(*ERRORS[language], strict=True)
    heard = Heard(led_by(list(cells), sub))
    flags = ("--interpreter", language, "--cell-cpu", "0.3", "--cell-memory", "64", "--retries", "0")
    assert work(cli, serve(heard).url, *flags).json["answer"] == END
    for told, kind in zip(shown(heard), types, strict=True):
        assert told.startswith(f'<error type="{kind}">\n')
        assert f"\n{kind}: " in told.partition("\n</error>")[0], "the message after the place"


@LANGUAGES
def test_values_and_output_are_told_apart(cli: Cli, serve: OpenServer, language: str) -> None:
    cell = "print('said')\n6 * 7" if language == "python" else "console.log('said'); 6 * 7"
    heard = Heard(led_by([cell], lambda _: "never"))
    work(cli, serve(heard).url, "--interpreter", language)
    assert shown(heard) == ["<stdout>\nsaid\n</stdout>\n<result>\n42\n</result>"]


REACHING = {
    "python": [
        "open('secret.txt').read()",
        "open('new.txt', 'w')",
        "import os; os.listdir('/')",
        "import os; assert os.system('touch escaped') == 0",
        "import subprocess; subprocess.run(['touch', 'escaped'])",
        "import socket; socket.create_connection(('127.0.0.1', PORT), 1)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:PORT/v1/chat/completions', b'{}')",
        "import os; os.fork()",
        "import ctypes; ctypes.CDLL(None).getpid() and open('secret.txt')",
        "await tools.eval(code='1')",
        "await tools.execute(command='ls')",
    ],
    "javascript": [
        "require('fs')",
        "await import('fs')",
        "process.exit(1)",
        "fetch('http://127.0.0.1:PORT/v1/chat/completions', {method: 'POST'})",
        "new XMLHttpRequest()",
        "new WebSocket('ws://127.0.0.1:PORT')",
        "os.exec(['ls'])",
        "std.open('secret.txt')",
        "Deno.readTextFile('secret.txt')",
        "await tools.eval({code: '1'})",
        "await tools.execute({command: 'ls'})",
    ],
}


@LANGUAGES
def test_ways_out_of_a_cell_are_refused(cli: Cli, serve: OpenServer, language: str) -> None:
    (cli.folder / "secret.txt").write_text("the-secret")
    door = serve()
    port = door.url.split(":")[2].removesuffix("/v1")
    heard = Heard(led_by([cell.replace("PORT", port) for cell in REACHING[language]], lambda _: "never"))
    assert work(cli, serve(heard).url, "--interpreter", language).json["answer"] == END
    for cell, told in zip(REACHING[language], shown(heard), strict=True):
        assert told.startswith("<error type="), cell
        assert "the-secret" not in told
    assert door.log == []
    assert sorted(path.name for path in cli.folder.iterdir()) == [".sonde", "secret.txt"]


@LANGUAGES
def test_the_clock_of_cells_is_the_runs(cli: Cli, serve: OpenServer, language: str) -> None:
    spins = "import time\na = time.time()\nfor _ in range(10 ** 6): pass\nFINAL(time.time() - a)"
    if language == "javascript":
        spins = "const a = Date.now(); for (let n = 0; n < 1e6; n++) {} FINAL(Date.now() - a)"
    server = serve(led_by([spins], lambda _: "never"))
    assert work(cli, server.url, "--interpreter", language).json["answer"] == 0


def test_code_uses_the_tools_it_may_and_no_others(cli: Cli, serve: OpenServer) -> None:
    cell = "FINAL(sorted(n for n in dir(tools) if n[0] != '_'))"
    names = work(cli, serve(led_by([cell], lambda _: "never")).url).json["answer"]
    assert {"ls", "read_file", "write_file", "edit_file", "glob", "grep"} <= set(names)
    assert not {"eval", "task", "delegate", "execute"} & set(names)
