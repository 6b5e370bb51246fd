"""Monty sessions from close by: what they do that the other interpreters do not."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sonde.errors import InterpreterError, UsageError
from sonde.interpreters.choose import choose
from sonde.interpreters.monty import values
from sonde.interpreters.protocol import Answer, Settings
from tests.processes import descendants
from tests.sessions import Host, Session, session_in


def in_monty(test: Callable[[Session], Awaitable[None]]) -> Callable[[], None]:
    """Run an async test in a session of its own."""

    def run() -> None:
        async def main() -> None:
            async with session_in("monty") as session:
                await asyncio.wait_for(test(session), 30)

        asyncio.run(main())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def over(folder: Path, test: Callable[[Session], Awaitable[None]]) -> None:
    async def main() -> None:
        async with session_in("monty", folder) as session:
            await asyncio.wait_for(test(session), 30)

    asyncio.run(main())


@in_monty
async def test_ten_thousand_calls_are_in_flight_at_once(session: Session) -> None:
    held = HoldsUntil(10_000)
    session.host = held
    value = await session.value("r = await gather(*[llm(f'n{n}') for n in range(10_000)])\n[r[0], r[-1], len(r)]")
    assert value == "['N0', 'N9999', 10000]"
    assert held.most_open == 10_000


@in_monty
async def test_a_flood_of_blocking_calls_is_answered_in_order(session: Session) -> None:
    value = await session.value("r = llm_query_batched([f'n{n}' for n in range(30_000)])\n[r[0], r[-1], len(r)]")
    assert value == "['N0', 'N29999', 30000]"
    assert session.host.most_open <= 20_000


@in_monty
async def test_a_cell_that_computes_too_long_ends_the_session(session: Session) -> None:
    for code in (
        "while True: pass",
        "while True:\n    try:\n        1 / 0\n    except BaseException: pass",
        "x = 10 ** (3 * 10**7)",
    ):
        async with session_in("monty") as fresh:
            began = time.perf_counter()
            result = await fresh.run(f"print('kept')\n{code}", cpu_s=0.3)
            assert result.status == "timeout", (code, result)
            assert result.error is not None
            assert result.error.type == "Timeout"
            assert result.stdout in {"kept\n", ""}
            assert time.perf_counter() - began < 10, "it was not left to go on"
            with pytest.raises(InterpreterError, match="has ended"):
                await fresh.run("1")


@in_monty
async def test_memory_that_is_full_is_told(session: Session) -> None:
    result = await session.run("kept = []\nwhile True: kept.append('x' * 1000 + str(len(kept)))")
    assert result.error is not None
    assert result.error.type == "MemoryError"
    if result.status == "killed":
        with pytest.raises(InterpreterError, match="has ended"):
            await session.run("1")
    else:
        assert await session.value("kept = None\n'still here'") == "'still here'"


@in_monty
async def test_a_worker_that_dies_is_told(session: Session) -> None:
    cell = asyncio.create_task(session.run("await llm('hang')\nwhile True: pass"))
    while not session.host.open:
        await asyncio.sleep(0.01)
    for pid in descendants(os.getpid()):
        os.kill(pid, 9)
    session.host.hold.set()
    result = await cell
    assert result.status == "killed"
    assert result.error is not None
    assert result.error.type == "InterpreterDied"


@in_monty
async def test_an_error_of_the_hosts_ends_the_cell(session: Session) -> None:
    session.host = Breaks()
    with pytest.raises(RuntimeError, match="the disk is full"):
        await session.run("await llm('a')")


@in_monty
async def test_closing_ends_a_running_cell(session: Session) -> None:
    cell = asyncio.create_task(session.run("await llm('hang')"))
    while not session.host.open:
        await asyncio.sleep(0.01)
    await session.interpreter.close()
    with pytest.raises(InterpreterError, match="was closed"):
        await cell
    assert session.host.cancelled == 1


@in_monty
async def test_cells_cannot_break_what_they_are_shown_with(session: Session) -> None:
    code = "repr = len = type = isinstance = lambda *a: [[]] * 1000\n[1]"
    assert await session.value(code) == "[1]"
    for name in ("sonde_host_", "sonde_made_", "sonde_make_", "sonde_world_"):
        assert await session.value(name) is None
    for name in ("host", "world", "host_call", "Document", "asyncio"):
        assert (await session.run(f"eval({name!r})")).status == "error"


@in_monty
async def test_values_are_shown_as_the_language_shows_them(session: Session) -> None:
    assert await session.value("x = 2 # comment\n(x,\n x) # and\n# more") == "(2, 2)"
    assert await session.value("x, 3; 'é', x") == "('é', 2)"
    assert await session.value("'é' ; [n for n in\n range(2)]") == "[0, 1]"
    assert await session.value("10 ** 5000 > 1") == "True"
    assert await session.value("range(3)") == "range(0, 3)"
    assert await session.value("class A:\n    def __repr__(self): return 'mine'\nA()") == "mine"
    assert await session.value("x = 3\nif x: x") is None


@in_monty
async def test_time_and_chance_are_the_runs(session: Session) -> None:
    code = "import asyncio, datetime, time\nawait asyncio.sleep(86400)\ntime.sleep(5)\n"
    assert await session.value(code + "time.time(), time.monotonic()") == "(87405.0, 87405.0)"
    shown = await session.value("str(datetime.datetime.now()), str(datetime.datetime.now(datetime.timezone.utc))")
    assert shown == "('1970-01-02 00:16:45', '1970-01-02 00:16:45+00:00')"
    assert await session.value("str(datetime.date.today())") == "'1970-01-02'"


@in_monty
async def test_nothing_outside_can_be_had(session: Session) -> None:
    for code in (
        "open('/etc/passwd').read()",
        "import os\nos.environ['PATH']",
        "import os\nos.urandom(4)",
        "from pathlib import Path\nPath('/').exists()",
        "from pathlib import Path\nlist(Path('/').iterdir())",
        "import subprocess",
        "import socket",
        "import ctypes",
        "input()",
        "import sys\nsys.exit()",
    ):
        assert (await session.run(code)).status == "error", code
    assert await session.value("'still here'") == "'still here'"


@in_monty
async def test_calls_take_plain_data_of_some_size_alone(session: Session) -> None:
    for code, kind in (
        ("llm_query('x' * 20_000_000)", "ValueError"),
        ("await llm('x', schema={'a': lambda: 1})", "TypeError"),
        ("llm_query(3)", "TypeError"),
        ("class A: pass\nFINAL(A())", "TypeError"),
        ("FINAL([[]] * 1_100_000)", "ValueError"),
        ("d = 1\nfor _ in range(201): d = [d]\nFINAL(d)", "ValueError"),
        ("FINAL_VAR('1 + 1')", "NameError"),
    ):
        result = await session.run(code)
        assert result.error is not None
        assert result.error.type == kind, result
    assert session.host.calls == []


@in_monty
async def test_answers_that_are_ready_are_given_one_by_one(session: Session) -> None:
    """What a task does between its answers does not depend on whether others have come too."""
    session.host = InReverse(3)
    code = """
order = []
async def one(n):
    for step in range(2):
        await llm(f'{n}.{step}')
        order.append(f'{n}.{step}')
await gather(*[one(n) for n in range(3)])
order
"""
    assert await session.value(code) == "['2.0', '1.0', '0.0', '0.1', '1.1', '2.1']"


def test_documents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one é\ntwo\nthree\n")
    (tmp_path / "b.txt").write_text('{"n": 1}\n{"n": 2}\n')

    async def test(session: Session) -> None:
        await session.value(f"a, b = inputs[{str(tmp_path / 'a.txt')!r}], inputs[{str(tmp_path / 'b.txt')!r}]")
        for code, value in (
            ("a.size(), len(a), len(inputs), a.line_count", "(16, 16, 2, 3)"),
            ("a.slice(4, 9), a.slice(-3), a.slice()[:2]", "('é\\ntwo', 'ee\\n', 'on')"),
            ("a.line(2), a.lines(), a.lines(2, 2)", "('two', ['one é', 'two', 'three'], ['two'])"),
            ("a.find('two'), a.find('x'), a.count('t')", "(6, -1, 2)"),
            ("import re\na.count(re.compile('T', re.I)), a.find(re.compile('th|wo'))", "(2, 7)"),
            ("[(m.line, m.text) for m in a.grep('^t')]", "[(2, 'two'), (3, 'three')]"),
            ("m = a.grep('tw', before=1, after=0)[0]\nm.excerpt()", "one é\ntwo"),
            ("a.chunks(size=2)", "['one é\\ntwo\\n', 'three\\n']"),
            ("a.chunks(size=1, skip=1, limit=1)", "['two\\n']"),
            ("b.records(), b.records(skip=1), b.records(limit=1)", "([{'n': 1}, {'n': 2}], [{'n': 2}], [{'n': 1}])"),
            ("[r['n'] for k in range(2) for r in b.records(skip=k, limit=1)]", "[1, 2]"),
            ("type(context).__name__, context.count('==>'), context.line_count", "('Document', 2, 7)"),
            ("[name[-5:] for name in inputs], [len(d) for d in inputs.values()]", "(['a.txt', 'b.txt'], [16, 18])"),
        ):
            assert await session.value(code) == value, code
        for code, kind in (
            ("a.line(9)", "IndexError"),
            ("a.grep('(')", "ValueError"),
            (r"a.grep('(a)\\1')", "ValueError"),
            ("a.chunks(by='x')", "ValueError"),
            ("a.slice('x')", "TypeError"),
            ("a.ask('name', [])", "ValueError"),
            ("a.ask('slice', {})", "TypeError"),
            ("a.number = 77\na.line(1)", "IndexError"),
        ):
            result = await session.run(code)
            assert result.error is not None, code
            assert result.error.type == kind, result

    over(tmp_path, test)


def test_one_call_gives_no_more_than_fits(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 9_000_000)
    (tmp_path / "b.txt").write_text("y")

    async def test(session: Session) -> None:
        await session.value("a = [d for d in inputs.values()][0]")
        for code in ("a.slice()", "a.lines()", "a.grep('x')", "a.chunks()", "a.chunks('chars', 1)", "a.peek(10**9)"):
            result = await session.run(code)
            assert result.error is not None, code
            assert result.error.type == "ValueError", result
            assert "one call" in result.error.message
        assert (
            await session.value("len(a.grep('x', limit=5)), len(a.lines(1, 10)), len(a.slice(0, 100))")
            == "(5, 10, 100)"
        )

    over(tmp_path, test)


def test_a_hostile_expression_takes_linear_time(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 200_000 + "!\n")
    (tmp_path / "b.txt").write_text("y")

    async def test(session: Session) -> None:
        await session.value("a = [d for d in inputs.values()][0]")
        began = time.perf_counter()
        assert await session.value("len(a.grep('(a+)+$')), len(a.grep('(a|a)*b'))") == "(0, 0)"
        assert time.perf_counter() - began < 2

    over(tmp_path, test)


def test_a_changed_input_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")

    async def test(session: Session) -> None:
        await session.value("a = [d for d in inputs.values()][0]")
        (tmp_path / "a.txt").write_text("")
        result = await session.run("a.slice()")
        assert result.error is not None
        assert result.error.type == "OSError"
        assert result.changed_input is not None
        assert "shrank" in result.changed_input

    over(tmp_path, test)


def test_bytes_that_are_not_text_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\xffb")

    async def test(session: Session) -> None:
        assert await session.value("context, inputs.size()") == "('a\ufffdb', 1)"

    over(tmp_path, test)


def test_packages_are_refused() -> None:
    with pytest.raises(UsageError, match="packages"):
        choose("monty", Settings(packages=("numpy",)))


@pytest.mark.parametrize("how", ["closed", "left open", "in the middle of a cell"])
def test_python_ends_cleanly(how: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIFE, how], cwd=Path(__file__).parents[2], capture_output=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("1", "s((1))"),
        ("x = 1", "x = 1"),
        ("'é'; 2 # 3", "'é'; s((2)) # 3"),
        ("a\r\nb\r\n", "a\r\ns((b))\r\n"),
        ("a, *b", "s((a, *b))"),
        ("f(\n1\n)", "s((f(\n1\n)))"),
        ("x = (", "x = (\nNone"),
        ("'\\d'", "s(('\\d'))"),
        ("", ""),
    ],
)
def test_the_last_expression_is_found(code: str, shown: str) -> None:
    assert values.showing(code, "s") == shown


class HoldsUntil(Host):
    """Answers nothing before so many calls are open."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    async def answer(self, function: str, arguments: dict[str, Any]) -> Answer:
        if self.open == self._count:
            self.hold.set()
        await self.hold.wait()
        return await super().answer(function, arguments)


class InReverse(Host):
    """Answers so many calls at a time, the last first."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._waiting: list[asyncio.Future[None]] = []

    async def answer(self, function: str, arguments: dict[str, Any]) -> Answer:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if len(self._waiting) == self._count:
            for each in reversed(self._waiting):
                each.set_result(None)
            self._waiting.clear()
        await turn
        return await super().answer(function, arguments)


class Breaks(Host):
    """Cannot answer."""

    async def answer(self, function: str, arguments: dict[str, Any]) -> Answer:
        raise RuntimeError("the disk is full")


_LIFE = """
import asyncio, sys
from tests.sessions import Host, session_in, world
from sonde.interpreters.choose import choose
from sonde.interpreters.protocol import Settings

async def main():
    backend = choose("monty", Settings())
    interpreter = await backend.open(world())
    host = Host()
    cell = "r = await gather(*[llm(f'n{n}') for n in range(30)])"
    assert (await interpreter.run(cell, host, cpu_s=5)).status == "ok"
    if sys.argv[1] == "in the middle of a cell":
        running = asyncio.create_task(interpreter.run("while True: pass", host, cpu_s=60))
        await asyncio.sleep(0.1)
        await backend.close()
        await asyncio.gather(running, return_exceptions=True)
    if sys.argv[1] == "closed":
        await backend.close()

asyncio.run(main())
"""
