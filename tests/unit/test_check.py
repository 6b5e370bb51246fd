"""What is told of a cell before it runs, and of what nothing is told."""

import builtins
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from sonde.guest import dataset, delegation, patterns, vocabulary
from sonde.guest.check import Known, check, needs_no_look
from sonde.guest.refusal import MOST_TOLD, Problem, error_of, was_refused
from sonde.guest.shapes import fault_of
from sonde.guest.streams import Pipeline
from sonde.interpreters.coverage.coverage import Snippet, files_of, read
from sonde.interpreters.javascript.child import check as javascript
from sonde.interpreters.python.child.cell import compile_cell
from tests.escape.arena import programs

AGENTS = ("general-purpose", "reviewer")
_MODULES = (vocabulary, delegation, patterns, dataset)
_FUNCTIONS: dict[str, Any] = {
    name: each for module in _MODULES for name, each in vars(module).items() if callable(each)
}
_NO_LIMITS: dict[str, float | None] = dict.fromkeys(("calls", "tokens", "dollars", "seconds"))
WORDS: dict[str, Any] = {
    **{name: each for name, each in _FUNCTIONS.items() if name.islower() and not name.startswith("_")},
    "pipeline": Pipeline,
    "budget": vocabulary.Budget(_NO_LIMITS),
    "tools": delegation.Tools(["grep", "ls"]),
    "FINAL": vocabulary.final,
    "TaskError": RuntimeError,
}
VARIABLES: dict[str, Any] = {"__name__": "__main__", "context": "text", "inputs": {}, "kept": 3}
KNOWN = Known(WORDS, VARIABLES, AGENTS)


def is_in_engine(name: str) -> bool:
    return name in {"Map", "parseInt", "kept", "print", "sleep"}


JS_KNOWN = javascript.Known(AGENTS, is_in_engine, bool)

CLASSIFY = "async def classify(text):\n    return await llm(promt + text)\n"
MANY = ", ".join(f'"p{n}": {{"type": "string"}}' for n in range(33))


@pytest.fixture(autouse=True)
def words_are_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are where cells run."""
    for name, word in WORDS.items():
        monkeypatch.setattr(builtins, name, word, raising=False)


WRONG = [
    # Names
    ("pages = chunk(context)\nlen(pagse)", "NameError", "line 2: name 'pagse' is not defined: did you mean `pages`?"),
    ("await gather(*[lm(x) for x in 'ab'])", "NameError", "did you mean `llm`?"),
    ("await llmQuery('a')", "NameError", "did you mean `llm_query`?"),
    ("json.dumps(kept)", "NameError", "write `import json` first"),
    (CLASSIFY + "await gather(*[classify(x) for x in 'ab'])", "NameError", "line 2: name 'promt'"),
    (CLASSIFY + "await pipeline('ab', classify)", "NameError", "line 2: name 'promt'"),
    ("await pipeline('ab', lambda x: llm(promt))", "NameError", "name 'promt'"),
    ("try:\n    nothing\nexcept KeyError:\n    pass", "NameError", "line 2: name 'nothing'"),
    ("budget.left()", "AttributeError", "there is no `budget.left`: it has remaining, spent, total"),
    ("await tools.grpe(pattern='a')", "AttributeError", "did you mean `tools.grep`?"),
    # Arguments
    ("await llm()", "TypeError", "line 1: llm(): missing the argument: 'prompt': write `llm(prompt, schema=None,"),
    ("await llm('a', temprature=0)", "TypeError", "takes no argument 'temprature'"),
    ("await llm('a', response_schema=None)", "TypeError", "did you mean `schema`?"),
    ("[llm(x, modle='a') for x in kept]", "TypeError", "did you mean `model`?"),
    ("def later():\n    return llm('a', 'b', 'c', 'd', 'e', 'f')", "TypeError", "line 2: llm(): too many positional"),
    ("await task(subagent_type='reviewer')", "TypeError", "missing the argument: 'description'"),
    ("await task({'subagentType': 'reviewer'})", "TypeError", "task() is given no 'description'"),
    ("await task('a', agent='reviewer')", "TypeError", "task() takes no 'agent'"),
    ("FINAL(1, 2)", "TypeError", "too many positional arguments: write `FINAL(value)`"),
    # Subagents
    (
        "await task('a', subagent_type='reviwer')",
        "TaskError",
        "known: general-purpose, reviewer; did you mean 'reviewer'?",
    ),
    ("await task('a', 'auditor')", "TaskError", "unknown_agent: unknown agent 'auditor'; known: general-purpose"),
    ("await task({'description': 'a', 'subagentType': 'auditor'})", "TaskError", "unknown agent 'auditor'"),
    ("await fan_out('ab', 'auditor')", "TaskError", "unknown agent 'auditor'"),
    # Schemas
    ("await llm('a', schema={'type': 'str'})", "SchemaError", "there is no type 'str': did you mean 'string'?"),
    ("await llm('a', {'sport': 'bool'})", "SchemaError", "it has no `type`"),
    ("S = {'type': 'list'}\nawait llm('a', schema=S)", "SchemaError", "line 2: schema: there is no type 'list'"),
    (f"await llm('a', {{'properties': {{{MANY}}}}})", "SchemaError", "33 properties; at most 32"),
    (f"await llm('a', {{'description': '{'x' * 5000}'}})", "SchemaError", "at most 4,096 are allowed"),
    ("await task('a', response_schema={'properties': {'a': 'string'}})", "SchemaError", "properties/a"),
    # Awaiting
    ("llm('a')", "NeverAwaited", "line 1: llm() is never awaited, so it does nothing: write `await llm(...)`"),
    ("for x in 'ab':\n    task(x)", "NeverAwaited", "line 2: task() is never awaited"),
    ("answer = llm('a')", "NeverAwaited", "write `answer = await llm(...)`"),
    ("answer = llm('a')\nprint(answer)", "NeverAwaited", "line 1: llm() is never awaited"),
    ("answer = llm('a')\nanswer.strip() + answer['b']", "NeverAwaited", "line 1: llm() is never awaited"),
    ("print(llm('a'))", "NeverAwaited", "used before it is awaited: write `(await llm(...))`"),
    ("import json\njson.loads(llm('a'))", "NeverAwaited", "used before it is awaited"),
    ("f'{llm(kept)}'", "NeverAwaited", "used before it is awaited"),
    ("x = llm('a') + 'b'", "NeverAwaited", "used before it is awaited"),
    ("FINAL(llm('a'))", "NeverAwaited", "used before it is awaited"),
    ("for x in llm('a'):\n    pass", "NeverAwaited", "used before it is awaited"),
    ("[llm(x) for x in 'ab']", "NeverAwaited", "write `await gather(*[...])`"),
    ("tools.ls()", "NeverAwaited", "write `await tools.ls()`"),
    ("pipeline('ab', len)", "NeverAwaited", "pipeline() is never awaited"),
    ("async def main():\n    pass\nmain()", "NeverAwaited", "write `await main()`"),
    ("def one(x):\n    llm(x)", "NeverAwaited", "write `llm_query(...)`, or make the function `async def`"),
    ("await llm_query('a')", "TypeError", "leave out `await`, or write `await llm(...)`"),
    ("await FINAL(3)", "TypeError", "FINAL() gives its value at once: leave out `await`"),
    (
        "import asyncio\nasync def main():\n    pass\nasyncio.run(main())\nawait llm('a')",
        "RuntimeError",
        "line 4: `asyncio.run()` cannot be used beside `await`: write `await main()`",
    ),
]


@pytest.mark.parametrize(("code", "kind", "message"), WRONG)
def test_what_would_fail_is_told_with_its_line_and_the_remedy(code: str, kind: str, message: str) -> None:
    problems = check(code, KNOWN)
    told = error_of(problems, code, 'File "<cell 1>"')
    assert message in told["message"]
    assert kind in {each.kind for each in problems}


RIGHT = [
    "",
    "kept",
    "await llm('a')",
    "def helper():\n    return made_in_a_later_cell(1)",
    "def helper():\n    return made_later()\nknown = helper",
    "try:\n    nothing\nexcept NameError:\n    pass",
    "try:\n    nothing()\nexcept Exception as error:\n    print(error)",
    "import contextlib\nwith contextlib.suppress(NameError):\n    nothing",
    "globals()['there'] = 1\nthere",
    "exec('there = 1')\nprint(there)",
    "from math import *\nsin(1)",
    "del kept\nkept",
    "[n for n in range(3) if (m := n)] and m",
    "match kept:\n    case [first, *rest]:\n        first, rest\n    case {'a': one, **others}:\n        one, others",
    "import os.path as there, xml.dom\nthere.join, xml",
    "class A:\n    here = 1\n    also = here\n    def method(self):\n        return __class__",
    "def outer():\n    global made\n    made = 1\nouter()\nmade",
    "lambda later: unknown(later)",
    "llm = print\nllm(1, 2, 3)",
    "def llm(x):\n    return x\nllm(1)",
    "def work(llm):\n    llm(1, 2, 3, 4, 5, 6, 7)",
    "arguments = {}\nawait llm(*[1], **arguments)",
    "work = [llm(x) for x in 'ab']\nawait gather(*work)",
    "import asyncio\ntask_ = asyncio.create_task(llm('a'))\nawait asyncio.wait_for(llm('b'), 3)",
    "first = llm('a')\nsecond = llm('b')\nawait gather(first, second)",
    "first = llm('a')\nprint(await first)",
    "def start(x):\n    return llm(x)\nawait start('a')",
    "queue = []\nqueue.append(llm('a'))\nawait gather(*queue)",
    "async for x in pipeline('ab', lambda x: llm(x)):\n    print(x)",
    "answer = (llm('a') if kept else llm('b'))\nprint(await answer)",
    "async def main():\n    return await llm('a')\nimport asyncio\nasyncio.run(main())",
    "async def agen():\n    yield 1\nasync for x in agen():\n    print(x)",
    "await task('a', subagent_type='reviewer')",
    "await task('a', kept)",
    "await task({'description': 'a', 'subagentType': 'reviewer', 'responseSchema': {'type': 'string'}})",
    "await task('a', responseSchema={'type': 'object'})",
    "try:\n    await task('a', subagent_type='auditor')\nexcept TaskError as error:\n    print(error.kind)",
    "await gather(task('a', 'auditor'), return_exceptions=True)",
    "await llm('a', schema={'enum': ['a', 'b']})",
    "await llm('a', schema={})",
    "S = {'type': 'str'}\nS['type'] = 'string'\nawait llm('a', schema=S)",
    "await llm('a', schema={'type': ['string', 'null']})",
    "await fan_out('ab', 'reviewer')",
    "await map_items('ab', 'What is {item}?')",
    "budget.total.calls, budget.spent().tokens",
    "results()[0]",
    "help()",
]


@pytest.mark.parametrize("code", RIGHT)
def test_what_may_be_right_is_let_pass(code: str) -> None:
    assert check(code, KNOWN) == []


JS_WRONG = [
    ("await llmm('a')", "ReferenceError", "did you mean `llm`?"),
    ("async function one(x) { return lmm(x) }\nawait Promise.all([1].map(one))", "ReferenceError", "line 1: 'lmm'"),
    ("pages.map(page => tsk({ description: page }))", "ReferenceError", "did you mean `task`?"),
    ("await llm()", "TypeError", "write `llm(prompt, {schema, model, label, cache})`"),
    ("await llm('a', 'b', 'c')", "TypeError", "llm() is given 3 arguments"),
    ("await llm('a', 'gpt')", "TypeError", "takes its options in one object"),
    ("await llm('a', { responseSchema: {} })", "TypeError", "did you mean `schema`?"),
    ("await task({ subagentType: 'reviewer' })", "TypeError", "task() is given no `description`"),
    ("await task({ description: 'a', agent: 'b' })", "TypeError", "task() takes no 'agent'"),
    (
        "await task({\n  description: 'a', subagentType: 'auditor' })",
        "TaskError",
        "line 2: unknown_agent: unknown agent",
    ),
    ("await task('a', { subagent_type: 'reviwer' })", "TaskError", "did you mean 'reviewer'?"),
    ("await fanOut([1], 'auditor')", "TaskError", "unknown agent 'auditor'"),
    ("await llm('a', { schema: { type: 'str' } })", "SchemaError", "did you mean 'string'?"),
    ("await task({ description: 'a', responseSchema: { a: 'number' } })", "SchemaError", "it has no `type`"),
    ("llm('a')", "NeverAwaited", "llm() is never awaited, so its outcome is lost: write `await llm(...)`"),
    ("const x = 1\nllm('a')\nx", "NeverAwaited", "line 2: llm()"),
    ("for (const x of [1]) {\n  task({ description: x })\n}", "NeverAwaited", "line 2: task()"),
    ("const s = `a ${llm('b')} c`", "NeverAwaited", "write `${await llm(...)}`"),
    ("console.log('a', llm('b'))", "NeverAwaited", "write `(await llm(...))`"),
    ("const s = 'a' + llm('b')", "NeverAwaited", "used before it is awaited"),
    ("const s = llm('b').trim()", "NeverAwaited", "used before it is awaited"),
    ("fan_out([1], kept)", "NeverAwaited", "write `await fan_out(...)`"),
]


@pytest.mark.parametrize(("code", "kind", "message"), JS_WRONG)
def test_the_same_is_told_of_javascript(code: str, kind: str, message: str) -> None:
    problems = javascript.check(code, JS_KNOWN)
    assert message in error_of(problems, code, "<cell 1>")["message"]
    assert kind in {each.kind for each in problems}


JS_RIGHT = [
    "1+1",
    "await llm('a')",
    "function helper() { return madeLater(1) }",
    "const helper = async (x) => { await madeLater(x) }",
    "class A { method(x) { return other(x) } get size() { return 1 } static make() {} }",
    "const o = { foo(x) { return x }, llm(x) { return x } }; o.foo(1)",
    "try { nothing() } catch (error) { error.message }",
    "const { a, b: c } = kept; a(1); c(2)",
    "function f(call) { call(1) }\nf(print)",
    "const llm = (a, b, c) => a\nllm(1, 2, 3)",
    "globalThis.there = () => 1; there()",
    "eval('var there = parseInt'); there(1)",
    "llm('a').then(x => print(x))",
    "void llm('a')",
    "const first = llm('a'), second = llm('b'); await Promise.all([first, second])",
    "const work = llm('a'); await sleep(0); FINAL(1)",
    "[1].map(x => llm(x))",
    "const ask = x =>\n  llm(x)\nawait ask(1)",
    "await Promise.race([llm('a'), llm('b')])",
    "const answer = kept ? llm('a') : llm('b'); await answer",
    "async function one(x) { return llm(x) }",
    "await task({ description: 'a', ...kept })",
    "await task('a', { subagentType: kept })",
    "await task('a')",
    "try { await task({ description: 'a', subagentType: 'auditor' }) } catch (error) { error.kind }",
    "await task({ description: 'a', subagentType: 'auditor' }).catch(error => error.kind)",
    "await Promise.allSettled([task({ description: 'a', subagentType: 'auditor' })])",
    "await llm('a', { schema: kept, label: `b` })",
    "await llm(...kept)",
    "for await (const x of pipeline([1], x => llm(x))) print(x)",
    "'llm(' + /llm\\(/.source // llm('a')\n/* llm('a') */",
    "`llm('a') ${`${kept}`} llm('b')`",
    "kept\n  ? await llm('a')\n  : await llm('b')",
    "const x = await parallel(\n  [1].map((n) =>\n    llm(`${n}`),\n  ),\n)",
]


@pytest.mark.parametrize("code", JS_RIGHT)
def test_what_may_be_right_in_javascript_is_let_pass(code: str) -> None:
    assert javascript.check(code, JS_KNOWN) == []


@pytest.mark.parametrize("code", ["if (", "f(]", "f(`${", "f(/*"])
def test_what_is_no_javascript_cannot_be_taken_apart(code: str) -> None:
    """The engine tells what is wrong with it."""
    with pytest.raises(ValueError, match=r"."):
        javascript.check(code, JS_KNOWN)


def snippets(language: str) -> Iterator[Snippet]:
    for file in files_of(language):
        yield from read(file.read_text(encoding="utf-8"), language)


def test_nothing_is_told_of_code_that_runs() -> None:
    """No word on the whole of what the coverage of the languages is measured with."""
    engine = JS_KNOWN._replace(is_variable=bool)
    found = [(each.title, check(each.code, KNOWN)) for each in snippets("python")]
    found += [(each.title, javascript.check(each.code, engine)) for each in snippets("javascript")]
    assert len(found) > 200
    assert [each for each in found if each[1]] == []


def test_looking_fails_at_nothing_that_compiles() -> None:
    """Hostile programs, and snippets cut short: whatever is no code is told by the compiler."""
    codes = [each.code for each in programs("python")]
    codes += [each.code[: len(each.code) // 2] for each in snippets("python")]
    codes += [f"{word}(\n{word}, *{word}, **{word})\n{word}.x\n{word}()" for word in WORDS]
    codes += [f"await {word}(1, 2, 3, a=[], schema=[], description=1)\n{word}({{'a': 1, **b}})" for word in WORDS]
    for code in codes:
        try:
            check(code, KNOWN)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            with pytest.raises((SyntaxError, ValueError, RecursionError, MemoryError)):
                compile(code, "<cell>", "exec", compile_cell.__globals__["_FLAGS"])
    for code in [each.code[: len(each.code) // 2] for each in (*snippets("javascript"), *programs("javascript"))]:
        with suppress(ValueError):  # it is no code
            javascript.check(code, JS_KNOWN)


@pytest.mark.parametrize(
    "code",
    [
        "a." * 50_000 + "b",
        "x = " + "1+" * 50_000 + "1",
        "(" * 100_000,
        "await llm('a', schema=" + "{'a':" * 90 + "1" + "}" * 90 + ")",
        "x = llm(\n" * 5000,
        "".join(f"x{n} = llm('a')\n" for n in range(8000)),
        "".join(f"unknown_{n}(1)\n" for n in range(8000)),
        "#" * 10_000_000,
    ],
    ids=lambda code: code[:12],
)
def test_hostile_source_costs_little(code: str) -> None:
    with suppress(SyntaxError, RecursionError, MemoryError):
        assert len(check(code, KNOWN)) <= MOST_TOLD
    for each in (code, "llm('x',{schema:" * 4000 + "1" + "})" * 4000, "/*" * 50_000, "/[" * 50_000, "`${" * 50_000):
        with suppress(ValueError):
            assert len(javascript.check(each, JS_KNOWN)) <= MOST_TOLD


def test_all_are_told_at_once_each_with_a_caret() -> None:
    code = "é = 'ééé' + llm('a')\n" + "pagse\n" * 3 + "\n".join(f"await llm(x{n}=1)" for n in range(9))
    problems = check(code, KNOWN)
    assert len(problems) == MOST_TOLD
    told = error_of(problems, code, 'File "<cell 7>"')
    assert told["type"] == "NeverAwaited"
    assert told["message"].startswith("line 1: llm() is used before it is awaited")
    assert "\nNameError: line 2: name 'pagse' is not defined" in told["message"]
    assert was_refused(told["traceback"])
    first = "  File \"<cell 7>\", line 1\n    é = 'ééé' + llm('a')\n                ^^^^^^^^\n"
    assert told["traceback"].startswith("Nothing was run.\n" + first)
    odd = error_of([Problem(9, 90, "NameError", "odd")], "a", "<cell 1>")
    assert odd["traceback"] == "Nothing was run.\n  <cell 1>, line 9\n"


def test_where_variables_cannot_be_seen_only_misspelt_words_are_told() -> None:
    blind = KNOWN._replace(variables=None, hidden={"gather"})
    assert check("anything(1)\nother\ngather(1, 2, x=3)", blind) == []
    assert [each.kind for each in check("await Llm('a')\nllm('a')", blind)] == ["NameError", "NeverAwaited"]


def test_an_expression_without_words_needs_no_look() -> None:
    for code, is_plain in (("1 + 1", True), ("kept + len('a')", True), ("llm", False), ("nothing", False)):
        assert needs_no_look(compile_cell(code, "<cell>")[0], KNOWN) is is_plain


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}, None),
        ({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]}, None),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, None),
        ({"properties": {"a": {"anyOf": [{"type": "strnig"}]}}}, "properties/a/anyOf/0: there is no type 'strnig'"),
        ({"type": "object", "properties": ["a"]}, "`properties` is an object of schemas"),
        ({"type": "object", "required": "a"}, "`required` is a list of names"),
        ({"enum": "a"}, "`enum` is a list"),
        ({"type": 3}, "there is no type 3"),
        ({"items": {"items": {"items": {"items": {"items": {"items": {}}}}}}}, "it nests 6 levels deep"),
    ],
)
def test_faults_of_schemas(schema: dict[str, Any], fault: str | None) -> None:
    found = fault_of(schema)
    assert found is None if fault is None else (found or "").startswith(fault)
