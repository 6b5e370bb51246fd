"""What every interpreter must do with a cell: its value, its output, its errors, its variables."""

import asyncio

from tests.conformance.conform import conform
from tests.sessions import Session, session_in


@conform
async def test_the_last_expression_is_the_value(session: Session) -> None:
    assert await session.value("1 + 1") == "2"
    assert await session.value(session.pick("x = 3", js="const x = 3")) is None
    assert await session.value(session.pick("x\ny = x", js="const y = x")) is None
    assert await session.value("'text'") == session.pick("'text'", js='"text"')
    assert await session.value("'two\\nlines'") == "two\nlines"
    assert await session.value(session.pick("None", js="undefined")) is None
    assert await session.value("") is None
    assert await session.value(session.pick("[x, {'a': 1.5}]", js="[x, {a: 1.5}]")) == session.pick(
        "[3, {'a': 1.5}]", js="[3, {a: 1.5}]"
    )


@conform
async def test_variables_and_definitions_last(session: Session) -> None:
    await session.value(
        session.pick(
            "import math\nx = 2\ndef double(n): return 2 * n\nclass A:\n    y = 5",
            js="let x = 2\nfunction double(n) { return 2 * n }\nclass A { static y = 5 }\n[1].map(double)",
        )
    )
    assert await session.value(session.pick("double(x) + A.y + math.floor(1.5)", js="double(x) + A.y + 1")) == "10"


@conform
async def test_names_can_be_declared_again(session: Session) -> None:
    for n in range(2):
        again = f"const {{ a, b: [c] }} = {{ a: {n}, b: [1] }}\nlet d = a, e\nclass F {{ g = d }}\n;`${{d}}${{e}}`"
        await session.value(session.pick(f"a = {n}\nd, e = a, None\nclass F:\n    g = d", js=again))
        assert await session.value(session.pick("[d, e, F().g]", js="[d, e, new F().g]")) == session.pick(
            f"[{n}, None, {n}]", js=f"[{n}, undefined, {n}]"
        )
        await session.value(session.pick("e = 7", js="e = 7"))


@conform
async def test_what_is_printed_is_kept_apart_from_the_value(session: Session) -> None:
    result = await session.run(
        session.pick("print('a', 1)\nprint('b')\n7", js="console.log('a', 1); console.error('b')\n7")
    )
    assert (result.stdout, result.value) == ("a 1\nb\n", "7")
    assert (await session.run("8")).stdout == ""


@conform
async def test_errors_name_their_type_and_line_and_cost_no_variable(session: Session) -> None:
    await session.value(session.pick("first = 0", js="\n\nfunction fails() {\n  null.x\n}"))
    result = await session.run(
        session.pick(
            "before = 1\nfor n in range(3):\n    1 / 0\nafter = 2",
            js="const before = 1\nfor (const n of [1, 2]) {\n    fails()\n}\nconst after = 2",
        )
    )
    assert result.status == "error"
    assert result.error is not None
    assert (result.error.type, result.error.message) == session.pick(
        ("ZeroDivisionError", "division by zero"), js=("TypeError", "cannot read property 'x' of null")
    )
    assert "line 3" in result.error.traceback
    assert session.pick("1 / 0", js="fails()") in result.error.traceback
    assert await session.value("before") == "1"
    result = await session.run(session.pick("def broken(:", js="function broken(] {"))
    assert result.error is not None
    assert result.error.type == "SyntaxError"
    assert "line 1" in result.error.traceback


@conform
async def test_answers_must_be_plain_data(session: Session) -> None:
    not_plain = ("object()", "lambda: 1", "{(1, 2): 3}")
    for value in session.pick(not_plain, js=("Symbol()", "() => 1", "{ a: llm('b') }", "10n")):
        result = await session.run(f"FINAL({value})")
        assert result.error is not None
        assert result.error.type == "TypeError"
    cyclic = session.pick("x = []\nx.append(x)\nFINAL(x)", js="const x = []\nx.push(x)\nFINAL(x)")
    assert (await session.run(cyclic)).status == "error"
    await session.value(session.pick("FINAL({1, 2})", js="FINAL(new Set([1, 2]))"))
    assert session.host.calls[-1] == ("final", {"value": [1, 2]})


@conform
async def test_ending_the_interpreter_is_refused(session: Session) -> None:
    for code in ("import sys\nsys.exit(3)", "raise KeyboardInterrupt", "exit()"):
        assert (await session.run(code)).status == "error"
    assert await session.value("'still here'") == "'still here'"


@conform
async def test_output_is_cut_and_says_so(session: Session) -> None:
    result = await session.run(
        session.pick(
            "print('x' * 3_000_000)\n'y' * 3_000_000", js="console.log('x'.repeat(3_000_000))\n'y'.repeat(3_000_000)"
        )
    )
    assert result.value is not None
    for text in (result.stdout, result.value):
        assert len(text) < 2_000_100
        assert "[cut: 3,000,00" in text


@conform
async def test_words_can_be_hidden_and_come_back(session: Session) -> None:
    assert await session.value(session.pick("gather = 3\ngather", js="const gather = 3; gather")) == "3"
    back = session.pick(
        "del gather\n(await gather(llm('a')))[0]", js="delete globalThis.gather\nawait gather(llm('a'))"
    )
    assert await session.value(back) == session.pick("'A'", js='["A"]')


@conform
async def test_odd_text_travels_both_ways(session: Session) -> None:
    codes = session.pick(
        "[ord(c) for c in await llm('\\udc80\\u2028\\0🙂')]",
        js="[...await llm('\\udc80\\u2028\\0🙂')].map(c => c.codePointAt(0))",
    )
    # Monty's text is Unicode alone: what is not becomes U+FFFD.
    code, character = session.pick((56448, "\ud800"), js=(56448, "\ud800"), monty=(0xFFFD, "\ufffd"))
    assert await session.value(codes) == f"[{code}, 8232, 0, 128578]"
    assert (await session.run(session.pick("print('\\ud800')", js="console.log('\\ud800')"))).stdout == f"{character}\n"
    assert await session.value(session.pick("ord('\\udc80')", js="'\udc80'.charCodeAt(0)")) == str(code)


@conform
async def test_classes_can_be_pickled_and_dataclasses_made(session: Session) -> None:
    code = "import pickle, dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\npickle.loads(pickle.dumps(P(3)))"
    assert await session.value(code) == "P(x=3)"


def test_chance_is_the_runs(language: str) -> None:
    """Random numbers and the order of sets are the same in every interpreter of a run."""

    async def main() -> str | None:
        async with session_in(language) as session:
            python = "import random, uuid\nrandom.random(), uuid.uuid4(), [*{str(n) for n in range(20)}]"
            monty = "import random\nrandom.random(), random.Random().random(), [*{str(n) for n in range(20)}]"
            javascript = "[Math.random(), Math.random(), new Date()]"
            return await session.value(session.pick(python, js=javascript, monty=monty))

    assert asyncio.run(main()) == asyncio.run(main())
