"""What every interpreter must offer to hand work to agents, tools and workflows."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from tests.conformance.delegating import Delegate, delegating, delegating_in, error_of, plain
from tests.sessions import Session


@delegating
async def test_a_task_is_sent_as_it_was_given(session: Session, host: Delegate) -> None:
    await session.value(
        "await task('look')" if session.language != "javascript" else "await task({description: 'look'})"
    )
    await session.value(
        session.pick(
            "await task('read', 'reviewer', {'type': 'object'}, label='r', model='m', timeout=9)",
            js="await task({description: 'read', subagentType: 'reviewer', responseSchema: {type: 'object'},"
            " label: 'r', model: 'm', timeout: 9})",
        )
    )
    await session.value(
        session.pick(
            "given = {'description': 'read', 'subagentType': 'reviewer', 'responseSchema': {'type': 'object'}}\n"
            "await task(given)\nawait task('read', subagentType='reviewer', responseSchema={'type': 'object'})",
            js="await task({description: 'read', subagent_type: 'reviewer', response_schema: {type: 'object'}})\n"
            "await task('read', {subagentType: 'reviewer', responseSchema: {type: 'object'}})",
        )
    )
    first, second, *others = host.asked("task")
    assert first == {"description": "look", "subagent_type": "general-purpose"}
    given = {"description": "read", "subagent_type": "reviewer", "response_schema": {"type": "object"}}
    assert second == given | {"label": "r", "model": "m", "timeout": 9}
    assert others == [given, given]


@delegating
async def test_a_task_that_was_given_wrongly_is_not_sent(session: Session, host: Delegate) -> None:
    wrong = session.pick("name = 3\nawait task(name)", js="const name = 3; await task({description: name})")
    assert "description must be a str" in await error_of(session, wrong)
    unknown = session.pick(
        "await task({**{'description': 'a'}, 'colour': 3})", js="await task({description: 'a', colour: 3})"
    )
    error = await error_of(session, unknown)
    assert "colour" in error
    assert "description" in error
    assert host.calls == []


@delegating
async def test_an_unknown_agent_is_an_error_that_lists_the_known(session: Session, host: Delegate) -> None:
    asked = session.pick(
        "kind = 'auditor'\nawait task('a', kind)", js="await task({description: 'a', subagentType: 'auditor'})"
    )
    error = await error_of(session, asked)
    assert "unknown_agent" in error
    assert "reviewer" in error.partition("known")[2]


def test_without_agents_there_is_no_task(language: str) -> None:
    async def main() -> None:
        async with delegating_in(language, agents=()) as (session, host):
            assert "task" in await error_of(
                session, session.pick("await task('a')", js="await task({description: 'a'})")
            )
            assert host.calls == []

    asyncio.run(main())


def test_the_context_of_a_deeper_agent_goes_by_value_or_by_handle(language: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\n")

    async def main() -> None:
        async with delegating_in(language, tmp_path) as (session, host):
            b = f"inputs[{str(tmp_path / 'b.txt')!r}]"
            for asked in (
                "await rlm('q')",
                "await rlm('q', 'a text')",
                f"await rlm('q', {b})",
                "await rlm('q', context)",
                session.pick(f"await rlm('q', {b}.chunks()[0])", js=f"await rlm('q', {b}.chunks().at(0))"),
                session.pick("await rlm('q', None, {}, 'm')", js="await rlm('q', null, {schema: {}, model: 'm'})"),
            ):
                await session.value(asked)
            contexts = [call.pop("context", None) for call in host.asked("rlm")]
            assert contexts == [None, "a text", {"input": 1}, {"input": -1}, "three\n", None]
            assert host.asked("rlm")[-1] == {"question": "q", "schema": {}, "model": "m"}
            parts = session.pick("parts = ['a', 'b']\nawait rlm('q', parts)", js="await rlm('q', ['a', 'b'])")
            assert "join its parts" in await error_of(session, parts)

    asyncio.run(main())


@delegating
async def test_deeper_agents_can_be_asked_in_the_papers_way(session: Session, host: Delegate) -> None:
    code = session.pick(
        "[rlm_query('a'), *rlm_query_batched(['b', 'c'], ['x', 'y'])]",
        js="[await rlm_query('a'), ...await rlmQueryBatched(['b', 'c'], ['x', 'y'])]",
    )
    assert plain(await session.value(code)) == "['a', 'b', 'c']"
    assert [call.get("context") for call in host.asked("rlm")] == [None, "x", "y"]
    few = session.pick("rlm_query_batched(['b', 'c'], ['x'])", js="await rlm_query_batched(['b', 'c'], ['x'])")
    assert "one for each" in await error_of(session, few)


@delegating
async def test_progress_and_results_are_told(session: Session, host: Delegate) -> None:
    assert await session.value("phase('read'); log('half'); save('parts', [1, 2])\n1") == "1"
    assert host.calls == [
        ("phase", {"name": "read"}),
        ("log", {"text": "half"}),
        ("save", {"name": "parts", "value": [1, 2]}),
    ]
    found = session.pick("results()[0]['value']", js="results()[0].value")
    assert plain(await session.value(found)) == "'A'"


@delegating
async def test_tools_are_used_by_name(session: Session, host: Delegate) -> None:
    used = session.pick(
        "[await tools.glob(pattern='*'), await tools.glob({'pattern': '*'})]",
        js="[await tools.glob({pattern: '*'})]",
    )
    listed = session.pick("[['a.py', 'b.py'], ['a.py', 'b.py']]", js="['a.py\nb.py']")
    assert plain(await session.value(used)).replace("\\n", "\n") == listed
    await session.value(session.pick("await tools.read_file(path='a')", js="await tools.readFile({path: 'a'})"))
    assert host.asked("tool")[-1] == {"name": "read_file", "arguments": {"path": "a"}}
    by_place = session.pick("await tools.read_file('a')", js="await tools.read_file('a')")
    assert "by name" in await error_of(session, by_place)


@delegating
async def test_an_unknown_tool_is_told_with_the_known(session: Session, host: Delegate) -> None:
    error = await error_of(session, session.pick("await tools.shred(path='a')", js="await tools.shred({path: 'a'})"))
    assert "read_file" in error
    assert host.calls == []


def test_without_tools_that_is_told(language: str) -> None:
    async def main() -> None:
        async with delegating_in(language, tools=()) as (session, _):
            assert "tool" in (await error_of(session, "await tools.glob({})")).lower()

    asyncio.run(main())


def test_a_workflow_has_arguments_and_can_run_another(language: str) -> None:
    async def main() -> None:
        async with delegating_in(language, args={"n": [1, 2]}) as (session, host):
            assert plain(await session.value(session.pick("args['n']", js="args.n"))) == "[1, 2]"
            ran = await session.value(session.pick("await workflow('count', args)", js="await workflow('count', args)"))
            assert ran is not None
            assert host.calls == [("workflow", {"name": "count", "args": {"n": [1, 2]}})]

    asyncio.run(main())


@delegating
async def test_help_lists_the_words_and_tells_about_each(session: Session, host: Delegate) -> None:
    listed = (await session.run("help()")).stdout.splitlines()
    words = [line.split()[0] for line in listed]
    assert {"task", "rlm", "phase", "tools", "help", session.pick("fan_out", js="fanOut")} <= set(words)
    assert all(len(line) < 130 for line in listed)
    told = (await session.run("help('task')")).stdout
    assert "There are: general-purpose, reviewer." in told
    assert "help()" in (await session.run("help('nothing')")).stdout
    known = session.pick("[w for w in words if w not in dir()]", js="words.filter(w => !(w in globalThis))")
    if session.language == "javascript":
        names = [word.split("[")[0] for word in words]
        assert await session.value(f"const words = {names}\n{known}") == "[]", "each word is there"


SENT = [
    ("gather", "await gather([llm('a') for _ in range(5)])", "await gather(Array.from({length: 5}, () => llm('a')))"),
    ("parallel", "await parallel([llm('a') for _ in range(5)])", "await parallel([1, 2, 3, 4, 5].map(() => llm('a')))"),
    ("pipeline", "await pipeline(range(5), llm)", "await pipeline([1, 2, 3, 4, 5], llm)"),
    ("fan_out", "await fan_out(list('abcde'), llm)", "await fanOut([...'abcde'], llm)"),
    ("fan_out by name", "await fan_out(list('abcde'), 'reviewer')", "await fanOut([...'abcde'], 'reviewer')"),
    (
        "classify",
        "await classify_and_act(list('abcde'), llm, {'A': llm})",
        "await classifyAndAct([...'abcde'], llm, {})",
    ),
    ("verify", "await verify(list('abcde'))", "await verify([...'abcde'])"),
    ("generate", "await generate_and_filter(5, llm, len)", "await generateAndFilter(5, llm, llm)"),
    ("tournament", "await tournament(list('abcde'), 'reviewer')", "await tournament([...'abcde'], 'reviewer')"),
    ("map_items", "await map_items(list('abcde'), 'do {item}')", "await mapItems([...'abcde'], 'do {item}')"),
    ("prior_search", "await prior_search(list('abcde'), [], llm)", "await priorSearch([...'abcde'], [], llm)"),
]


@pytest.mark.parametrize(("python", "js"), [each[1:] for each in SENT], ids=[each[0] for each in SENT])
def test_a_fan_out_of_too_many_sends_nothing(language: str, python: str, js: str) -> None:
    async def main() -> None:
        async with delegating_in(language, most_items=4) as (session, host):
            error = await error_of(session, session.pick(python, js=js))
            assert error.partition(":")[0] == session.pick("ValueError", js="RangeError")
            assert "5 items in one fan-out; at most 4 are allowed" in error
            assert host.calls == []
            fine = session.pick(
                "await gather([llm('a') for _ in range(4)])", js="await gather([...'abcd'].map(x => llm(x)))"
            )
            assert await session.value(fine) is not None

    asyncio.run(main())


def test_a_stream_of_too_many_ends_in_an_error(language: str) -> None:
    async def main() -> None:
        async with delegating_in(language, most_items=4) as (session, host):
            for items, sent in (
                (session.pick("range(5)", js="[1, 2, 3, 4, 5]"), 0),
                (session.pick("iter(range(5))", js="[1, 2, 3, 4, 5].values()"), 4),
            ):
                code = session.pick(
                    f"async for each in pipeline({items}, lambda x: llm(str(x))): pass",
                    js=f"for await (const each of pipeline({items}, x => llm(String(x)))) each",
                )
                assert "at most 4 are allowed" in await error_of(session, code)
                assert len(host.calls) <= sent

    asyncio.run(main())


limited = partial(delegating, most_items=1000)


@limited
async def test_as_many_as_are_allowed_go_through(session: Session, host: Delegate) -> None:
    many = session.pick("len(await fan_out(range(1000), str))", js="(await fanOut(Array(1000).keys(), String)).length")
    assert await session.value(many) == "1000"
