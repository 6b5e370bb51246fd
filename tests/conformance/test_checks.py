"""Every interpreter looks at a cell before it runs, and a cell that would surely fail is not begun."""

import asyncio

import pytest

from sonde.guest.refusal import was_refused
from tests.conformance.conform import conform
from tests.conformance.delegating import Delegate, delegating, error_of
from tests.sessions import Session, session_in


@delegating
async def test_a_cell_that_would_fail_is_not_begun(session: Session, host: Delegate) -> None:
    code = session.pick(
        "begun = 1\nfirst = await llm('a')\nsecond = await llm('b', modle='c')",
        js="const begun = 1\nconst first = await llm('a')\nconst second = await llm('b', { modle: 'c' })",
    )
    result = await session.run(code)
    assert result.status == "error"
    assert result.error is not None
    assert result.error.type == "TypeError"
    assert result.error.message.startswith("line 3: llm()")
    assert "did you mean `model`?" in result.error.message
    assert was_refused(result.error.traceback)
    assert result.error.traceback.endswith("^\n")
    assert "line 3" in result.error.traceback
    assert host.calls == []
    gone = await session.run("begun")
    assert gone.status == "error", "nothing was run"


@delegating
async def test_what_is_told_of_each_kind(session: Session, host: Delegate) -> None:
    for python, js, told in (
        ("llm('a')", "llm('a')", "NeverAwaited: line 1: llm() is never awaited"),
        ("print(llm('a'))", "console.log(llm('a'))", "NeverAwaited: line 1: llm() is used before it is awaited"),
        ("await llm()", "await llm()", "TypeError: line 1: llm()"),
        (
            "await task('a', subagent_type='reviwer')",
            "await task({ description: 'a', subagentType: 'reviwer' })",
            "TaskError: line 1: unknown_agent: unknown agent 'reviwer'; known: general-purpose, reviewer",
        ),
        (
            "await llm('a', schema={'type': 'str'})",
            "await llm('a', { schema: { type: 'str' } })",
            "SchemaError: line 1: schema: there is no type 'str': did you mean 'string'?",
        ),
        ("await llmQuerry('a')", "await llmm('a')", "line 1: "),
    ):
        if session.language != "monty" or "Querry" not in python:
            assert told in await error_of(session, session.pick(python, js=js))
    assert "did you mean `llm`?" in await error_of(session, session.pick("await LLM('a')", js="await LLM('a')"))
    assert host.calls == []


@conform
async def test_names_of_earlier_cells_are_known(session: Session) -> None:
    await session.value(session.pick("def double(n):\n    return 2 * n", js="function double(n) { return 2 * n }"))
    assert await session.value("double(4)") == "8"
    await session.value(session.pick("def log(a, b, c):\n    return a", js="const log = (a, b, c) => a"))
    assert await session.value("log(1, 2, 3)") == "1"
    await session.value(session.pick("llm = str", js="const llm = String"))
    assert await session.value("llm(1)") == session.pick("'1'", js='"1"')


@conform
async def test_what_code_deals_with_itself_is_left_to_it(session: Session) -> None:
    code = session.pick(
        "try:\n    await llm('a', modle='b')\nexcept TypeError as error:\n    told = 'caught'\ntold",
        js="let told\ntry { nothing() } catch (error) { told = 'caught' }\ntold",
    )
    assert await session.value(code) == session.pick("'caught'", js='"caught"')


@conform
async def test_a_cell_that_ran_before_is_not_looked_at(session: Session) -> None:
    """It may have run when less was looked at."""
    code = session.pick("later = 1\nllm('a')\nlater", js="const later = 1\nllm('a')\nlater")
    assert (await session.run(code)).status == "error"
    replayed = await session.interpreter.run(code, session.host, cpu_s=10, replaying=True)
    assert (replayed.status, replayed.value) == ("ok", "1")


def test_a_coroutine_can_be_kept_for_a_later_cell() -> None:
    """So only one that is never mentioned again is taken for forgotten."""

    async def main() -> str | None:
        async with session_in("python") as session:
            await session.value("kept = [llm('a')]\nwaiting = llm('b')\nkept.append(waiting)")
            return await session.value("await gather(*kept)")

    assert asyncio.run(main()) == "['A', 'B']"


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_hostile_variables_are_not_asked_for_long(language: str) -> None:
    async def main() -> None:
        async with session_in(language) as session:
            await session.run(
                session.pick(
                    "class Endless(str):\n"
                    "    __hash__ = str.__hash__\n"
                    "    def __eq__(self, other):\n"
                    "        while True: pass\n"
                    "globals()[Endless('nothing')] = 1",
                    js="Object.setPrototypeOf(Object.getPrototypeOf(globalThis), null)\n"
                    "Object.setPrototypeOf(globalThis, new Proxy({}, { has() { while (true); } }))",
                )
            )
            result = await session.run("nothing(1)", cpu_s=0.3)
            assert result.status in {"timeout", "error", "killed"}

    asyncio.run(main())
