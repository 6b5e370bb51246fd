"""What every interpreter must do. One suite, run against each backend."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sonde.documents.attach import attach
from sonde.interpreters.protocol import (
    Answer,
    CellResult,
    GuestInput,
    GuestWorld,
    Interpreter,
    TaskFailure,
)
from sonde.interpreters.python.process import PythonInterpreter

BACKENDS = {"python": PythonInterpreter.open}
NO_LIMITS: dict[str, float | None] = dict.fromkeys(("calls", "tokens", "dollars", "seconds"))


class Host:
    """Answers calls: `llm` by echoing in capitals, unless the prompt tells otherwise."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.cancelled = 0
        self.open = 0
        self.most_open = 0
        self.hold = asyncio.Event()
        self.idled = asyncio.Event()

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        self.calls.append((function, arguments))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0)
            return await self.answer(function, arguments)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.open -= 1

    async def answer(self, function: str, arguments: dict[str, Any]) -> Answer:
        if function == "budget":
            return Answer({"spent": NO_LIMITS | {"calls": 3}, "remaining": NO_LIMITS}, 1000.0)
        if function == "sleep":
            return Answer(None, arguments["until"])
        if function == "final":
            return Answer(None, 1000.0)
        prompt = arguments["prompt"]
        if prompt == "hang":
            await self.hold.wait()
        if prompt == "fail":
            return Answer(None, 1000.0, TaskFailure("model_error", "it is down", retryable=True))
        return Answer(prompt.upper(), 1000.0)

    def idle(self) -> None:
        self.idled.set()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Callable[[GuestWorld], Awaitable[Interpreter]]:
    return BACKENDS[request.param]


class Session:
    """An interpreter and its host, ready to run cells."""

    def __init__(self, interpreter: Interpreter, host: Host) -> None:
        self.interpreter = interpreter
        self.host = host

    async def run(self, code: str, cpu_s: float = 10) -> CellResult:
        return await self.interpreter.run(code, self.host, cpu_s=cpu_s)

    async def value(self, code: str) -> str | None:
        result = await self.run(code)
        assert result.status == "ok", result
        return result.value


def no_file(number: int) -> int:
    raise FileNotFoundError(number)


def world(folder: Path | None = None) -> GuestWorld:
    if folder is None:
        return GuestWorld([], no_file, NO_LIMITS, "seed", 1000.0)
    inputs = attach([str(path) for path in sorted(folder.glob("*.txt"))], folder / "spool", strict=False)
    described = [GuestInput(each.name, each.mark, each.found.blocks) for each in inputs.all]
    return GuestWorld(described, inputs.open_file, NO_LIMITS, "seed", 1000.0)


def conform(test: Callable[[Session], Awaitable[None]]) -> Callable[..., None]:
    """Run an async test in a session of its own."""

    def run(backend: Callable[[GuestWorld], Awaitable[Interpreter]]) -> None:
        async def main() -> None:
            interpreter = await backend(world())
            try:
                await asyncio.wait_for(test(Session(interpreter, Host())), 30)
            finally:
                await interpreter.close()

        asyncio.run(main())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@conform
async def test_the_last_expression_is_the_value(session: Session) -> None:
    assert await session.value("1 + 1") == "2"
    assert await session.value("x = 3") is None
    assert await session.value("x\ny = x") is None
    assert await session.value("'text'") == "'text'"
    assert await session.value("'two\\nlines'") == "two\nlines"
    assert await session.value("None") is None
    assert await session.value("") is None
    assert await session.value("[x, {'a': 1.5}]") == "[3, {'a': 1.5}]"


@conform
async def test_variables_and_definitions_last(session: Session) -> None:
    await session.value("import math\nx = 2\ndef double(n): return 2 * n\nclass A:\n    y = 5")
    assert await session.value("double(x) + A.y + math.floor(1.5)") == "10"


@conform
async def test_what_is_printed_is_kept_apart_from_the_value(session: Session) -> None:
    result = await session.run("print('a', 1)\nprint('b')\n7")
    assert (result.stdout, result.value) == ("a 1\nb\n", "7")
    assert (await session.run("8")).stdout == ""


@conform
async def test_errors_name_their_type_and_line_and_cost_no_variable(session: Session) -> None:
    result = await session.run("before = 1\nfor n in range(3):\n    1 / 0\nafter = 2")
    assert result.status == "error"
    assert result.error is not None
    assert (result.error.type, result.error.message) == ("ZeroDivisionError", "division by zero")
    assert "line 3" in result.error.traceback
    assert "1 / 0" in result.error.traceback
    assert await session.value("before") == "1"
    result = await session.run("def broken(:")
    assert result.error is not None
    assert result.error.type == "SyntaxError"
    assert "line 1" in result.error.traceback


@conform
async def test_await_works_at_the_top_level_and_calls_overlap(session: Session) -> None:
    assert await session.value("await llm('hello')") == "'HELLO'"
    assert await session.value("r = await gather(*[llm(f'n{i}') for i in range(500)])\n(len(r), r[3], r[-1])") == (
        "(500, 'N3', 'N499')"
    )
    assert session.host.most_open == 500


@conform
async def test_failures_are_typed_and_siblings_finish(session: Session) -> None:
    code = """
try:
    await gather(llm('a'), llm('fail'), llm('b'))
except TaskError as error:
    told = (error.kind, error.retryable, str(error))
told
"""
    assert await session.value(code) == "('model_error', True, 'model_error: it is down')"
    assert len(session.host.calls) == 3
    assert session.host.cancelled == 0
    mixed = await session.value(
        "r = await gather(llm('a'), llm('fail'), return_exceptions=True)\n(r[0], type(r[1]).__name__)"
    )
    assert mixed == "('A', 'TaskError')"


@conform
async def test_blocking_forms(session: Session) -> None:
    assert await session.value("llm_query('a') + ''.join(llm_query_batched(['b', 'c']))") == "'ABC'"
    result = await session.run("llm_query_batched(['a', 'fail', 'b'])")
    assert result.error is not None
    assert result.error.type == "TaskError"
    assert session.host.most_open == 3


@conform
async def test_blocking_forms_inside_coroutines(session: Session) -> None:
    code = """
async def one(n):
    return await llm(f'x{n}') + llm_query(f'y{n}')
await gather(*[one(n) for n in range(3)])
"""
    assert await session.value(code) == "['X0Y0', 'X1Y1', 'X2Y2']"


@conform
async def test_budget_and_final(session: Session) -> None:
    assert await session.value("budget.spent().calls, budget.total.calls") == "(3, inf)"
    await session.value("answer = {'n': 1}\nFINAL_VAR('answer')\nFINAL([2])")
    finals = [arguments["value"] for function, arguments in session.host.calls if function == "final"]
    assert finals == [{"n": 1}, [2]]
    result = await session.run("FINAL_VAR('nothing')")
    assert result.error is not None
    assert "nothing" in result.error.message


@conform
async def test_answers_must_be_plain_data(session: Session) -> None:
    for value in ("object()", "lambda: 1", "{(1, 2): 3}"):
        result = await session.run(f"FINAL({value})")
        assert result.error is not None
        assert result.error.type == "TypeError"
    assert (await session.run("x = []\nx.append(x)\nFINAL(x)")).status == "error"
    await session.value("FINAL({1, 2})")
    assert session.host.calls[-1] == ("final", {"value": [1, 2]})


@conform
async def test_a_cell_that_computes_too_long_is_ended(session: Session) -> None:
    began = time.perf_counter()
    result = await session.run("while True: pass", cpu_s=0.3)
    assert result.status == "timeout"
    assert result.error is not None
    assert "0.3 s" in result.error.message
    assert time.perf_counter() - began < 2


@conform
async def test_waiting_is_not_computing(session: Session) -> None:
    asyncio.get_running_loop().call_later(0.5, session.host.hold.set)
    result = await session.run("await llm('hang')", cpu_s=0.2)
    assert result.value == "'HANG'"


@conform
async def test_time_is_the_hosts(session: Session) -> None:
    code = "import asyncio, time\nbefore = time.time()\nawait asyncio.sleep(3600)\ntime.time() - before"
    assert await session.value(code) == "3600.0"
    assert await session.value("time.sleep(60)\ntime.monotonic() - before") == "3660.0"
    timed_out = "try:\n    await asyncio.wait_for(llm('hang'), 5)\nexcept TimeoutError:\n    done = 'gave up'\ndone"
    assert await session.value(timed_out) == "'gave up'"
    assert session.host.cancelled == 1, "giving up reaches the call"


@conform
async def test_asyncio_as_models_write_it(session: Session) -> None:
    code = """
import asyncio
slots = asyncio.Semaphore(2)
async def one(n):
    async with slots:
        return await llm(f'n{n}')
done = []
for each in asyncio.as_completed([one(n) for n in range(5)]):
    done.append(await each)
async with asyncio.TaskGroup() as group:
    task = group.create_task(one(9))
threaded = await asyncio.to_thread(lambda: 'ok')
(sorted(done), task.result(), threaded, await asyncio.gather(llm('fail'), return_exceptions=True))
"""
    value = await session.value(code)
    assert value is not None
    assert value.startswith("(['N0', 'N1', 'N2', 'N3', 'N4'], 'N9', 'ok', [TaskError(")
    assert session.host.most_open == 2
    assert await session.value("async def main():\n    return await llm('run')\nasyncio.run(main())") == "'RUN'"


@conform
async def test_a_cell_does_not_end_before_what_it_started(session: Session) -> None:
    await session.value("import asyncio\nkept = []\nasync def later():\n    kept.append(await llm('later'))")
    await session.value("task = asyncio.create_task(later())\nawait asyncio.sleep(0)")
    assert await session.value("kept") == "['LATER']"


@conform
async def test_after_final_open_calls_are_given_up(session: Session) -> None:
    await session.value("import asyncio\ntask = asyncio.create_task(llm('hang'))\nawait asyncio.sleep(0)\nFINAL(1)")
    assert session.host.cancelled == 1


@conform
async def test_waiting_for_nothing_is_an_error(session: Session) -> None:
    result = await session.run("import asyncio\nawait asyncio.Event().wait()")
    assert result.error is not None
    assert result.error.type == "Deadlock"
    assert await session.value("'still here'") == "'still here'"


@conform
async def test_spinning_while_waiting_does_not_starve_the_answer(session: Session) -> None:
    code = """
import asyncio
task = asyncio.create_task(llm('a'))
while not task.done():
    await asyncio.sleep(0)
task.result()
"""
    assert await session.value(code) == "'A'"


@conform
async def test_ending_the_interpreter_is_refused(session: Session) -> None:
    for code in ("import sys\nsys.exit(3)", "raise KeyboardInterrupt", "exit()"):
        assert (await session.run(code)).status == "error"
    assert await session.value("'still here'") == "'still here'"


@conform
async def test_a_dead_interpreter_is_told(session: Session) -> None:
    result = await session.run("import os\nos._exit(3)")
    assert result.status == "killed"
    assert result.error is not None
    assert "exit code 3" in result.error.message


@conform
async def test_a_second_cell_at_once_is_refused(session: Session) -> None:
    first = asyncio.create_task(session.run("await llm('hang')"))
    while not session.host.calls:
        await asyncio.sleep(0)
    with pytest.raises(Exception, match="already running"):
        await session.run("2")
    session.host.hold.set()
    assert (await first).value == "'HANG'"


@conform
async def test_cancelling_a_cell_cancels_its_calls(session: Session) -> None:
    cell = asyncio.create_task(session.run("await gather(*[llm('hang') for _ in range(20)])"))
    while session.host.open < 20:
        await asyncio.sleep(0)
    cell.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cell
    assert session.host.cancelled == 20


@conform
async def test_output_is_cut_and_says_so(session: Session) -> None:
    result = await session.run("print('x' * 9_000_000)\n'y' * 9_000_000")
    assert result.value is not None
    for text in (result.stdout, result.value):
        assert len(text) < 8_000_100
        assert "[cut: 9,000,00" in text


@conform
async def test_words_can_be_hidden_and_come_back(session: Session) -> None:
    assert await session.value("gather = 3\ngather") == "3"
    assert await session.value("del gather\n(await gather(llm('a')))[0]") == "'A'"


@conform
async def test_odd_text_travels_both_ways(session: Session) -> None:
    assert await session.value("[ord(c) for c in await llm('\\udc80\\u2028\\0🙂')]") == "[56448, 8232, 0, 128578]"
    assert (await session.run("print('\\ud800')")).stdout == "\ud800\n"


def test_chance_is_the_runs(backend: Any) -> None:
    """Random numbers and the order of sets are the same in every interpreter of a run."""

    async def main() -> None:
        values: set[str | None] = set()
        for _ in range(2):
            interpreter = await backend(world())
            code = "import random\nrandom.random(), [*{str(n) for n in range(20)}]"
            values.add(await Session(interpreter, Host()).value(code))
            await interpreter.close()
        assert len(values) == 1

    asyncio.run(main())


@conform
async def test_classes_can_be_pickled_and_dataclasses_made(session: Session) -> None:
    code = "import pickle, dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\npickle.loads(pickle.dumps(P(3)))"
    assert await session.value(code) == "P(x=3)"


def test_inputs_are_found_by_name(backend: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("é one\r\ntwo\n".encode())
    (tmp_path / "b.txt").write_text("three")

    async def main() -> None:
        interpreter = await backend(world(tmp_path))
        session = Session(interpreter, Host())
        try:
            a = f"inputs[{str(tmp_path / 'a.txt')!r}]"
            assert await session.value(f"len({a}), {a}[:3], {a}.lines(), 'two' in {a}") == (
                "(11, 'é o', ['é one', 'two'], True)"
            )
            assert await session.value("type(context).__name__, context.count('=='), 'three' in context") == (
                "('Document', 4, True)"
            )
            result = await session.run("inputs['c.txt']")
            assert result.error is not None
            assert "a.txt" in result.error.message
        finally:
            await interpreter.close()

    asyncio.run(main())


def test_one_small_input_is_a_str(backend: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("small")

    async def main() -> None:
        interpreter = await backend(world(tmp_path))
        try:
            assert await Session(interpreter, Host()).value("context") == "'small'"
        finally:
            await interpreter.close()

    asyncio.run(main())


def test_an_interpreter_that_is_closed_leaves_no_process(backend: Any) -> None:
    async def main() -> None:
        interpreter = await backend(world())
        session = Session(interpreter, Host())
        pid = int(await session.value("import os\nos.getpid()") or 0)
        await interpreter.close()
        assert not Path(f"/proc/{pid}").exists()

    asyncio.run(main())
