"""What every interpreter must bear: code that takes too long, too much, or too deep."""

import asyncio
import os
import time
from pathlib import Path

from sonde.interpreters.choose import choose
from sonde.interpreters.protocol import Settings
from tests.conformance.conform import conform
from tests.processes import descendants, settled
from tests.sessions import MEMORY, Host, Session, session_in, world


@conform
async def test_a_cell_that_computes_too_long_is_interrupted_and_costs_no_variable(session: Session) -> None:
    began = time.perf_counter()
    endless = session.pick(
        "before = 1\nwhile True: pass", js="const before = 1\nfor (;;) { try { Math.random() } catch { continue } }"
    )
    result = await session.run(endless, cpu_s=0.3)
    assert result.status == "timeout"
    assert result.error is not None
    assert "0.3 s" in result.error.message
    assert "line 2" in result.error.traceback
    assert time.perf_counter() - began < 10, "it was not left to go on"
    assert await session.value("before") == "1"


@conform
async def test_endless_tasks_are_interrupted_too(session: Session) -> None:
    spins = session.pick(
        "import asyncio\nn = 0\nasync def spin():\n    global n\n    while True:\n        n += 1\n"
        "        await asyncio.sleep(0)\nawait spin()",
        js="let n = 0\nasync function spin() { for (;;) { n += 1; await null } }\nawait spin()",
    )
    assert (await session.run(spins, cpu_s=0.3)).status == "timeout"
    before = await session.value("n")
    assert await session.value("n") == before, "it does not go on in the next cell"


@conform
async def test_a_cell_that_will_not_be_interrupted_is_killed(session: Session) -> None:
    began = time.perf_counter()
    code = "import signal\nsignal.setitimer(signal.ITIMER_PROF, 0)\nwhile True: pass"
    result = await session.run(code, cpu_s=0.3)
    assert result.status == "killed"
    assert result.error is not None
    assert result.error.type == "Timeout"
    assert time.perf_counter() - began < 10, "it was not left to go on"


@conform
async def test_memory_has_an_end(session: Session) -> None:
    out = session.pick("MemoryError", js="OutOfMemory")
    result = await session.run(session.pick("x = 1\ny = 'x' * 500_000_000", js="let x = 1\nlet y = 'x'.repeat(5e8)"))
    assert result.error is not None
    assert result.error.type == out
    result = await session.run(
        session.pick(
            "z = []\nwhile True: z.append('x' * 100_000 + str(len(z)))",
            js="const z = []; while (true) z.push('x'.repeat(100_000) + z.length)",
        )
    )
    assert result.error is not None
    assert result.error.type == out
    assert await session.value("x") == "1"
    assert await session.value(session.pick("z = None\n'x' * 3", js="z = null; 'x'.repeat(3)")) == session.pick(
        "'xxx'", js='"xxx"'
    )


@conform
async def test_recursion_has_an_end(session: Session) -> None:
    endless = session.pick("def f(n): return f(n + 1)\nf(0)", js="function f(n) { return f(n + 1) }\nf(0)")
    result = await session.run(endless)
    assert result.error is not None
    assert result.error.type == "RecursionError"
    caught = session.pick(
        "try: f(0)\nexcept RecursionError: deep = 'caught'\ndeep",
        js="let deep; try { f(0) } catch (error) { deep = error.name }\ndeep",
    )
    assert await session.value(caught) == session.pick("'caught'", js='"RangeError"')


@conform
async def test_a_dead_interpreter_is_told(session: Session) -> None:
    result = await session.run("import os\nos._exit(3)")
    assert result.status == "killed"
    assert result.error is not None
    assert "exit code 3" in result.error.message


def test_many_interpreters_do_not_know_each_other(language: str) -> None:
    async def main() -> None:
        shared = choose(language, Settings(MEMORY))
        try:
            many = await asyncio.gather(*[shared.open(world()) for _ in range(10)])
            sessions = [Session(interpreter, Host(), language) for interpreter in many]
            await asyncio.gather(
                *[each.value(each.pick(f"x = {n}", js=f"var x = {n}")) for n, each in enumerate(sessions)]
            )
            assert await asyncio.gather(*[session.value("x") for session in sessions]) == [str(n) for n in range(10)]
            await many[3].close()
            assert await sessions[4].value("x") == "4"
        finally:
            await shared.close()

    asyncio.run(main())


def test_closing_leaves_no_process_and_no_descriptor(language: str) -> None:
    async def main() -> None:
        async with session_in(language) as session:
            await session.value("1")  # what an engine opens once for the whole process
        before = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(3):
            async with session_in(language) as session:
                await session.value("1")
        await settled(lambda: descendants(os.getpid()) == [])
        assert len(list(Path("/proc/self/fd").iterdir())) <= before

    asyncio.run(main())
