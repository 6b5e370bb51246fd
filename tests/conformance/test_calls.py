"""What every interpreter must do with calls of the host: overlap, failures, time, cancellation."""

import asyncio

import pytest

from tests.conformance.conform import conform
from tests.sessions import Session


@conform
async def test_await_works_at_the_top_level_and_calls_overlap(session: Session) -> None:
    assert await session.value("await llm('hello')") == session.pick("'HELLO'", js='"HELLO"')
    many = session.pick(
        "r = await gather(*[llm(f'n{i}') for i in range(500)])\n[len(r), r[3], r[-1]]",
        js="const r = await Promise.all(Array.from({ length: 500 }, (_, i) => llm(`n${i}`)));\n"
        "[r.length, r[3], r.at(-1)]",
    )
    assert await session.value(many) == session.pick("[500, 'N3', 'N499']", js='[500, "N3", "N499"]')
    assert session.host.most_open == 500


@conform
async def test_ten_thousand_calls_are_in_flight_at_once(session: Session) -> None:
    async def let_go() -> None:
        while session.host.open < 10_000:
            await asyncio.sleep(0.01)
        session.host.hold.set()

    waiter = asyncio.create_task(let_go())
    many = session.pick(
        "r = await gather(*[llm('hang') for _ in range(10_000)])\nlen(r), set(r)",
        js="const r = await gather(Array.from({ length: 10_000 }, () => llm('hang')));\n[r.length, new Set(r)]",
    )
    assert await session.value(many) == session.pick("(10000, {'HANG'})", js='[10000, Set {"HANG"}]')
    await waiter


@conform
async def test_answers_are_used_in_the_order_they_came(session: Session) -> None:
    """What a call's answer leads to is done before the next answer is looked at."""
    code = session.pick(
        """
seen = []
async def one(n):
    seen.append(await llm(f'a{n}'))
    seen.append(await llm(f'b{n}'))
await gather(*[one(n) for n in range(3)])
seen
""",
        js="""
const seen = []
async function one(n) {
  seen.push(await llm(`a${n}`))
  seen.push(await llm(`b${n}`))
}
await Promise.all([0, 1, 2].map(one))
seen
""",
    )
    value = await session.value(code)
    assert value is not None
    assert value.replace('"', "'") == "['A0', 'A1', 'A2', 'B0', 'B1', 'B2']"


@conform
async def test_failures_are_typed_and_siblings_finish(session: Session) -> None:
    code = session.pick(
        """
try:
    await gather(llm('a'), llm('fail'), llm('b'))
except TaskError as error:
    told = [error.kind, error.retryable, str(error)]
told
""",
        js="""
let told
try {
  await gather(llm('a'), llm('fail'), llm('b'))
} catch (error) {
  told = [error.kind, error.retryable, error.message, error instanceof TaskError]
}
told
""",
        monty="""
try:
    await gather(llm('a'), llm('fail'), llm('b'))
except TaskError as error:
    told = str(error)
told
""",
    )
    assert await session.value(code) == session.pick(
        "['model_error', True, 'model_error: it is down']",
        js='["model_error", true, "model_error: it is down", true]',
        monty="'model_error: it is down'",
    )
    kind = session.pick("TaskError", js="TaskError", monty="RuntimeError")
    assert len(session.host.calls) == 3
    assert session.host.cancelled == 0
    mixed = session.pick(
        "r = await gather(llm('a'), llm('fail'), return_exceptions=True)\n(r[0], type(r[1]).__name__)",
        js="const r = await Promise.allSettled([llm('a'), llm('fail')]);\n[r[0].value, r[1].reason.name]",
    )
    assert await session.value(mixed) == session.pick(f"('A', '{kind}')", js='["A", "TaskError"]')
    result = await session.run("await llm('fail')")
    assert result.error is not None
    assert (result.error.type, result.error.message) == (kind, "model_error: it is down")


@conform
async def test_parallel_goes_on_without_what_failed_and_tells_it(session: Session) -> None:
    code = session.pick(
        "await parallel([lambda: llm('a'), llm('fail'), llm('b')])",
        js="await parallel([() => llm('a'), llm('fail'), llm('b')])",
    )
    result = await session.run(code)
    assert result.value == session.pick("['A', None, 'B']", js='["A", null, "B"]')
    kind = session.pick("TaskError", js="TaskError", monty="RuntimeError")
    assert result.stdout.startswith(f"parallel: 1 of 3 failed; the first, number 1: {kind}: model_error: it is down")


@conform
async def test_pipelines_keep_order_and_can_be_streamed(session: Session) -> None:
    stages = session.pick("lambda x: llm(f's{x}'), lambda x: x + '!'", js="x => llm(`s${x}`), x => x + '!'")
    listed = await session.value(f"await pipeline([1, 2, 3], {stages})")
    assert listed == session.pick("['S1!', 'S2!', 'S3!']", js='["S1!", "S2!", "S3!"]')
    streamed = session.pick(
        f"async for each in pipeline(range(3000), {stages}):\n    last = each\nlast",
        js=f"let last; for await (const each of pipeline(Array(3000).keys(), {stages})) last = each\nlast",
        monty=f"r = await pipeline(range(3000), {stages})\nr[-1]",
    )
    assert await session.value(streamed) == session.pick("'S2999!'", js='"S2999!"')
    if session.language != "monty":  # which has no `async for`
        assert session.host.most_open == 1000, "a window of items is under way"
    failing = session.pick("lambda x: llm('fail')", js="() => llm('fail')")
    result = await session.run(f"await pipeline([1], {failing})")
    assert result.value == session.pick("[None]", js="[null]")
    assert "1 of 1 failed" in result.stdout


@conform
async def test_blocking_forms(session: Session) -> None:
    code = session.pick(
        "llm_query('a') + ''.join(llm_query_batched(['b', 'c']))",
        js="(await llmQuery('a')) + (await llm_query_batched(['b', 'c'])).join('')",
    )
    assert await session.value(code) == session.pick("'ABC'", js='"ABC"')
    result = await session.run(
        session.pick("llm_query_batched(['a', 'fail', 'b'])", js="await llmQueryBatched(['a', 'fail', 'b'])")
    )
    assert result.error is not None
    assert result.error.type == session.pick("TaskError", js="TaskError", monty="RuntimeError")
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
    code = session.pick("[budget.spent().calls, budget.total.calls]", js="[budget.spent().calls, budget.total.calls]")
    assert await session.value(code) == session.pick("[3, inf]", js="[3, Infinity]")
    await session.value(
        session.pick(
            "answer = {'n': 1}\nFINAL_VAR('answer')\nFINAL([2])",
            js="const answer = { n: 1 }\nFINAL_VAR('answer')\nFINAL([2])",
        )
    )
    finals = [arguments["value"] for function, arguments in session.host.calls if function == "final"]
    assert finals == [{"n": 1}, [2]]
    result = await session.run("FINAL_VAR('nothing')")
    assert result.error is not None
    assert "nothing" in result.error.message


@conform
async def test_waiting_is_not_computing(session: Session) -> None:
    asyncio.get_running_loop().call_later(0.5, session.host.hold.set)
    result = await session.run("await llm('hang')", cpu_s=0.2)
    assert result.value == session.pick("'HANG'", js='"HANG"')


@conform
async def test_time_is_the_hosts(session: Session) -> None:
    if session.language == "javascript":
        code = "const before = Date.now()\nawait sleep(3_600_000)\nnew Date() - before"
        assert await session.value(code) == "3600000"
        timer = "await new Promise(done => setTimeout(done, 60_000));\n(Date.now() - before) + performance.now()"
        assert await session.value(timer) == "7320000"
        return
    code = "import asyncio, time\nbefore = time.time()\nawait asyncio.sleep(3600)\ntime.time() - before"
    assert await session.value(code) == "3600.0"
    assert await session.value("time.sleep(60)\ntime.monotonic() - before") == "3660.0"
    if session.language == "monty":  # which has no wait_for
        return
    timed_out = "try:\n    await asyncio.wait_for(llm('hang'), 5)\nexcept TimeoutError:\n    done = 'gave up'\ndone"
    assert await session.value(timed_out) == "'gave up'"
    assert session.host.cancelled == 1, "giving up reaches the call"


@conform
async def test_concurrency_as_models_write_it(session: Session) -> None:
    python = """
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
    javascript = """
const waiting = [1, 2, 3, 4, 5], done = []
async function worker() {
  while (waiting.length > 0) done.push(await llm(`n${waiting.shift()}`))
}
await Promise.all([worker(), worker()])
const first = await Promise.race([llm('hang'), llm('n9')])
const failed = await llm('fail').catch(error => error.kind)
done.sort();
[done, first, failed, await Promise.any([llm('fail'), llm('ok')])]
"""
    asyncio.get_running_loop().call_later(0.2, session.host.hold.set)
    value = await session.value(session.pick(python, js=javascript))
    assert value is not None
    assert value.startswith(
        session.pick(
            "(['N0', 'N1', 'N2', 'N3', 'N4'], 'N9', 'ok', [TaskError(",
            js='[["N1", "N2", "N3", "N4", "N5"], "N9", "model_error", "OK"]',
        )
    )
    assert session.host.most_open <= session.pick(2, js=3)
    if session.language != "javascript":
        assert await session.value("async def main():\n    return await llm('run')\nasyncio.run(main())") == "'RUN'"


@conform
async def test_a_cell_does_not_end_before_what_it_started(session: Session) -> None:
    await session.value(
        session.pick(
            "import asyncio\nkept = []\nasync def later():\n    kept.append(await llm('later'))",
            js="const kept = []; async function later() { kept.push(await llm('later')) }",
        )
    )
    await session.value(session.pick("task = asyncio.create_task(later())\nawait asyncio.sleep(0)", js="later(); 1"))
    assert await session.value("kept") == session.pick("['LATER']", js='["LATER"]')


@conform
async def test_after_final_open_calls_are_given_up(session: Session) -> None:
    await session.value(
        session.pick(
            "import asyncio\ntask = asyncio.create_task(llm('hang'))\nawait asyncio.sleep(0)\nFINAL(1)",
            js="const task = llm('hang'); await sleep(0); FINAL(1)",
        )
    )
    assert session.host.cancelled == 1
    assert await session.value("'still here'") is not None


@conform
async def test_waiting_for_nothing_is_an_error(session: Session) -> None:
    result = await session.run(
        session.pick("import asyncio\nawait asyncio.Event().wait()", js="await new Promise(() => {})")
    )
    assert result.error is not None
    assert result.error.type == "Deadlock"
    assert await session.value(session.pick("'still here'", js="'still here'.length")) == session.pick(
        "'still here'", js="10"
    )


@conform
async def test_spinning_while_waiting_does_not_starve_the_answer(session: Session) -> None:
    code = session.pick(
        """
import asyncio
task = asyncio.create_task(llm('a'))
while not task.done():
    await asyncio.sleep(0)
task.result()
""",
        js="""
let result
llm('a').then(value => { result = value })
while (result === undefined) await sleep(0)
result
""",
    )
    assert await session.value(code) == session.pick("'A'", js='"A"')


@conform
async def test_a_second_cell_at_once_is_refused(session: Session) -> None:
    first = asyncio.create_task(session.run("await llm('hang')"))
    while not session.host.calls:
        await asyncio.sleep(0)
    with pytest.raises(Exception, match="already running"):
        await session.run("2")
    session.host.hold.set()
    assert (await first).value == session.pick("'HANG'", js='"HANG"')


@conform
async def test_cancelling_a_cell_cancels_its_calls(session: Session) -> None:
    twenty = session.pick(
        "await gather(*[llm('hang') for _ in range(20)])", js="await gather(Array(20).fill().map(() => llm('hang')))"
    )
    cell = asyncio.create_task(session.run(twenty))
    while session.host.open < 20:
        await asyncio.sleep(0)
    cell.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cell
    assert session.host.cancelled == 20


@conform
async def test_a_stage_may_take_the_item_and_its_number(session: Session) -> None:
    code = session.pick(
        """
def more(value, item, number):
    return f'{value}{item}{number}'

''.join(await pipeline(['a'], lambda v: llm(v), more, lambda v, k='!': v + k))
""",
        "(await pipeline(['a'], (v) => llm(v), (v, item, n) => `${v}${item}${n}`, (v) => v + '!')).join('')",
    )
    assert str(await session.value(code)).strip("'\"") == "Aa0!"
