"""What every interpreter must offer of the inputs."""

import asyncio
from pathlib import Path

from tests.sessions import session_in


def test_inputs_are_found_by_name(language: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("é one\r\ntwo\n".encode())
    (tmp_path / "b.txt").write_text("three")

    async def main() -> None:
        async with session_in(language, tmp_path) as session:
            a = f"inputs[{str(tmp_path / 'a.txt')!r}]"
            looked = session.pick(
                f"[len({a}), {a}[:3], {a}.lines(), 'two' in {a}]",
                js=f"[{a}.length, {a}.slice(0, 3), {a}.lines(), {a}.includes('two')]",
                monty=f"[len({a}), {a}.slice(0, 3), {a}.lines(), {a}.find('two') >= 0]",
            )
            assert await session.value(looked) == session.pick(
                "[11, 'é o', ['é one', 'two'], True]", js='[11, "é o", ["é one", "two"], true]'
            )
            joined = session.pick(
                "[type(context).__name__, context.count('=='), 'three' in context]",
                js="[context.constructor.name, context.count('=='), context.includes('three')]",
                monty="[type(context).__name__, context.count('=='), context.find('three') >= 0]",
            )
            assert await session.value(joined) == session.pick("['Document', 4, True]", js='["Document", 4, true]')
            result = await session.run("inputs['c.txt']")
            assert result.error is not None
            assert "a.txt" in result.error.message

    asyncio.run(main())


def test_documents_are_searched_and_cut_in_the_same_way(language: str, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("".join(f"line {n}: {'ERROR' if n % 10 == 0 else 'ok'}\n" for n in range(1, 101)))
    (tmp_path / "rows.txt").write_text("kind,n\na,1\nb,2\n")

    async def main() -> None:
        async with session_in(language, tmp_path) as session:
            log, rows = (f"inputs[{str(tmp_path / name)!r}]" for name in ("log.txt", "rows.txt"))
            found = session.pick(
                f"import re\nfound = {log}.grep('ERROR', before=1, after=0, limit=2)\n"
                f"[[m.line for m in found], {log}.count(re.compile('(?i)error')), {log}.find('ok', 20)]",
                js=f"const found = {log}.grep('ERROR', {{ before: 1, after: 0, limit: 2 }});\n"
                f"[found.map(m => m.line), {log}.count(/error/i), {log}.find('ok', 20)]",
            )
            assert await session.value(found) == "[[10, 20], 10, 30]"
            cut = session.pick(
                f"pieces = {log}.chunks(by='lines', size=30)\n"
                "[len(pieces), pieces[1].first_line, [p[:8] for p in pieces]]",
                js=f"const pieces = {log}.chunks({{ by: 'lines', size: 30 }});\n"
                "[pieces.length, pieces.at(1).firstLine, pieces.map(p => p.slice(0, 8))]",
                monty=f"pieces = {log}.chunks(by='lines', size=30)\n[len(pieces), 31, [p[:8] for p in pieces]]",
            )
            value = await session.value(cut)
            assert value is not None
            assert value.replace('"', "'") == "[4, 31, ['line 1: ', 'line 31:', 'line 61:', 'line 91:']]"
            asked = session.pick("[await llm(p) for p in pieces]", js="await gather(pieces.map(p => llm(p)))")
            assert (await session.run(asked)).status == "ok"
            records = session.pick(f"list({rows}.records('csv'))", js=f"{rows}.records('csv')")
            value = await session.value(records)
            assert value is not None
            assert "2" in value
            result = await session.run(session.pick(f"{log}.chunks(by='moons')", js=f"{log}.chunks({{ by: 'moons' }})"))
            assert result.error is not None
            assert "moons" in result.error.message
            lines = session.pick(f"len([line for line in {log}])", js=f"[...{log}].length", monty=f"len({log}.lines())")
            assert await session.value(lines) == "100"

    asyncio.run(main())


def test_one_small_input_is_a_text(language: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"small \xff")

    async def main() -> None:
        async with session_in(language, tmp_path) as session:
            assert await session.value(session.pick("[*context][-2:]", js="context.slice(-2)")) is not None
            length = session.pick("[type(context).__name__, len(context)]", js="[typeof context, context.length]")
            assert await session.value(length) == session.pick("['str', 7]", js='["string", 7]')
            await session.value(session.pick("context = 3", js="const context = 3"))
            assert await session.value("context") == "3"

    asyncio.run(main())
