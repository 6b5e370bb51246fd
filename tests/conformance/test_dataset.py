"""What every interpreter must offer to treat texts and lists as data."""

import asyncio
from pathlib import Path

from tests.conformance.delegating import Delegate, delegating, delegating_in, error_of, plain
from tests.sessions import Session


def test_a_match_comes_with_the_lines_around_it(language: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 301)))

    async def main() -> None:
        async with delegating_in(language, tmp_path) as (session, _):
            a = f"inputs[{str(tmp_path / 'a.txt')!r}]"
            for source in ("", ", context", f", {a}"):
                code = session.pick(
                    f"m = grep(r'line 142$'{source})[0]\n[m.line, m.first, m.last, len(m.excerpt.split('\\n'))]",
                    js=f"const m = grep(/line 142$/{source})[0];\n"
                    "[m.line, m.first, m.last, m.excerpt.split('\\n').length]",
                    monty=f"m = grep(r'line 142$'{source})[0]\ne = m.excerpt()\n"
                    "[m.line, m.first, m.last, len(e.split('\\n'))]",
                )
                assert await session.value(code) == "[142, 122, 162, 41]"

    asyncio.run(main())


@delegating
async def test_texts_of_the_codes_own_are_searched_and_cut(session: Session, host: Delegate) -> None:
    text = "'# one\\nalpha\\n# two\\nbeta\\n'"
    found = session.pick(
        f"m = grep('beta', {text}, before=1, after=1)[0]\n[m.line, m.excerpt]",
        js=f"const m = grep('beta', {text}, {{before: 1, after: 1}})[0]; [m.line, m.excerpt]",
        monty=f"m = grep('beta', {text}, before=1, after=1)[0]\ne = m.excerpt()\n[m.line, e]",
    )
    assert plain(await session.value(found)) == "[4, '# two\\nbeta']"
    cut = session.pick(
        f"[str(c) for c in chunk({text})]", js=f"chunk({text}).map(String)", monty=f"c = chunk({text})\nlist(c)"
    )
    assert plain(await session.value(cut)) == "['# one\\nalpha\\n', '# two\\nbeta\\n']"
    lines = session.pick(
        f"len(chunk({text}, by='lines', size=1))", js=f"chunk({text}, {{by: 'lines', size: 1}}).length"
    )
    assert await session.value(lines) == "4"
    assert await session.value(session.pick("len(chunk(''))", js="chunk('').length")) == "0"
    assert "Document" in await error_of(session, session.pick("n = 3\ngrep('a', n)", js="grep('a', 3)"))


@delegating
async def test_lists_are_parted(session: Session, host: Delegate) -> None:
    assert await session.value("partition([1, 2, 3], 2)") == "[[1, 2], [3]]"
    assert await session.value("partition([], 2)") == "[]"
    by = session.pick(
        "partition([1, 2, 3], lambda n: 'odd' if n % 2 else 'even')",
        js="partition([1, 2, 3], n => n % 2 ? 'odd' : 'even')",
    )
    assert await session.value(by) == session.pick("{'odd': [1, 3], 'even': [2]}", js="{odd: [1, 3], even: [2]}")
    field = session.pick("partition([{'k': 'a'}], 'k')", js="partition([{k: 'a'}], 'k')")
    assert await session.value(field) == session.pick("{'a': [{'k': 'a'}]}", js='{a: [{k: "a"}]}')
    assert "above 0" in await error_of(session, "partition([1], 0)")


@delegating
async def test_items_are_mapped_by_function_or_prompt(session: Session, host: Delegate) -> None:
    asked = session.pick("await map_items(['a', 'b'], 'say {item}')", js="await mapItems(['a', 'b'], 'say {item}')")
    assert plain(await session.value(asked)) == "['SAY A', 'SAY B']"
    schema = session.pick(
        "await map_items(['birds'], 'say {item}', {'type': 'object'})",
        js="await mapItems(['birds'], 'say {item}', {type: 'object'})",
    )
    assert await session.value(schema) == session.pick("[{'confirmed': True}]", js="[{confirmed: true}]")
    done = await session.run(
        session.pick("await map_items(['a', 'fail', 'c'], llm)", js="await mapItems(['a', 'fail', 'c'], x => llm(x))")
    )
    assert plain(done.value) == "['A', null, 'C']"
    assert "map" in done.stdout
    assert "{item}" in await error_of(
        session, session.pick("p = 'say'\nawait map_items(['a'], p)", js="await mapItems(['a'], 'say')")
    )


@delegating
async def test_lists_are_reduced_one_by_one_or_in_batches(session: Session, host: Delegate) -> None:
    await session.run(
        session.pick(
            "groups = []\nasync def joined(group):\n    groups.append(len(group))\n"
            "    return await llm(''.join(group))",
            js="const groups = []\nasync function joined(group) { groups.push(group.length);"
            " return llm(group.join('')) }",
        )
    )
    one_by_one = session.pick(
        "await reduce_items([1, 2, 3], lambda a, b: a + b)", js="await reduceItems([1, 2, 3], (a, b) => a + b)"
    )
    assert await session.value(one_by_one) == "6"
    start = session.pick(
        "await reduce_items([], lambda a, b: a + b, start=4)", js="await reduceItems([], (a, b) => a + b, 4)"
    )
    assert await session.value(start) == "4"
    nothing = session.pick("(await reduce_items([], joined)) is None", js="(await reduceItems([], joined)) === null")
    assert plain(await session.value(nothing)) == "true"
    tree = session.pick(
        "await reduce_items(list('abcde'), joined, batch=2)", js="await reduceItems([...'abcde'], joined, {batch: 2})"
    )
    assert plain(await session.value(tree)) == "'ABCDE'"
    assert await session.value("groups") == "[2, 2, 2, 2]", "an odd one out is not combined"


@delegating
async def test_the_rest_is_not_touched_if_it_was_found_where_it_was_likely(session: Session, host: Delegate) -> None:
    look = session.pick("lambda p: llm(p) if p in ['b', 'd'] else []", js="p => ['b', 'd'].includes(p) ? llm(p) : []")
    word = session.pick("prior_search", js="priorSearch")
    assert plain(await session.value(f"await {word}(['a', 'b'], ['d'], {look})")) == "[['b', 'B']]"
    assert len(host.asked("llm")) == 1
    assert plain(await session.value(f"await {word}(['a'], ['c', 'd'], {look})")) == "[['d', 'D']]"
    assert await session.value(f"await {word}([], ['c'], {look})") == "[]"
