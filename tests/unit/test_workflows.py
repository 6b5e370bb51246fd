"""The headers of workflows are read without running anything, and what is wrong with one is told with its line."""

import json
from pathlib import Path

import pytest

from sonde.errors import TaskError, UsageError
from sonde.interpreters.javascript.child.workflow import as_cell
from sonde.interpreters.monty.workflow import as_cell as as_monty_cell
from sonde.workflows.find import LIBRARY, code_in, find, known
from sonde.workflows.literal import Literals
from sonde.workflows.meta import Phase, Workflow, read
from sonde.workflows.written import Unfit

PYTHON = """\
# What comes first may be a comment.

meta = {
    "name": "triage",
    "description": "Sort "
    "tickets.",
    "when_to_use": "Often.",
    "phases": [{"title": "sort", "detail": "each", "model": "openai:x"}, {"title": "tell"}],
    "args": {"labels": "the labels", "most": "Optional: how many"},
}
raise SystemExit("this never runs")
"""
JAVASCRIPT = """\
/* What comes first
   may be a comment. */
export const meta = {
  name: 'triage', // it is
  "description": `Sort tickets.`,
  whenToUse: "Often.",
  phases: [{ title: 'sort', detail: 'each', model: 'openai:x', }, { title: 'tell' },],
  args: { labels: 'the labels', most: 'Optional: how many', },
};
throw new Error("this never runs");
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "text"), [("t.py", PYTHON), ("t.js", JAVASCRIPT)])
def test_both_languages_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    found = read(written(tmp_path, name, text))
    assert found.language == {"py": "python", "js": "javascript"}[name[-2:]]
    assert found.code == text
    meta = found.meta
    assert (meta.name, meta.description, meta.when_to_use) == ("triage", "Sort tickets.", "Often.")
    assert meta.phases == (Phase("sort", "each", "openai:x"), Phase("tell"))
    assert meta.args == {"labels": "the labels", "most": "Optional: how many"}
    assert meta.needed == ["labels"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\nmeta = {}", "line 1: the first statement is not `meta"),
        ("", "line 1: the first statement"),
        ("'''doc'''\nmeta = {}", "line 1: the first statement"),
        ("meta = dict(name='x')", "line 1: the first statement"),
        ('meta = {"name": "x",\n  "description": str(1)}', "line 2: `str(1)` in the header is no value"),
        ('meta = {"name": "x",\n  "description": f"{1}"}', "line 2: "),
        ('meta = {"name": "x",\n  **{}}', "no value that is written out"),
        ('meta = {"name": "x" + "y"}', "no value that is written out"),
        ('meta = {"name": "x",\n "name": "y"}', "line 2: the field 'name' is there twice"),
        ('meta = {\n  "name": "x"}', "line 1: the header has no description"),
        ('meta = {\n  "name": "x", "description": 7}', "line 2: meta.description must be a text, not a number"),
        ('meta = {\n  "name": "x", "description": " "}', "line 2: the description is empty"),
        ('meta = {\n  "name": "x y", "description": "d"}', "line 2: 'x y' is no name"),
        ('meta = {"name": "x", "description": "d",\n "colour": "red"}', "line 2: meta has a field 'colour'"),
        ('meta = {"name": "x", "description": "d",\n "phases": "one"}', "line 2: meta.phases must be a list"),
        ('meta = {"name": "x", "description": "d", "phases": [\n{"titel": "a"}]}', "meta.phases[0] has a field 'tit"),
        ('meta = {"name": "x", "description": "d", "phases": [\n"a"]}', "line 2: meta.phases[0] must be an object"),
        ('meta = {"name": "x", "description": "d", "phases": [\n{"detail": "a"}]}', "line 2: a phase has no title"),
        ('meta = {"name": "x", "description": "d",\n "args": ["a"]}', "line 2: meta.args must be an object"),
        ('meta = {"name": "x", "description": "d", "args": {\n"a": None}}', "line 2: meta.args.a must be a text, not"),
        ('meta = {"name": "x", "description": "d"}\n\nif x\n  y', "line 3: "),
        ('meta = {"name": "x", "description": "d"}\n\nbreak', "line 3: 'break' outside loop"),
        ('meta = {"name": "x", "description": "d"}\ndef f():\n    nonlocal z\nreturn 1', "line 3: "),
        ('meta = {"name": "x", "description": "d", "whenToUse": "a",\n"when_to_use": "b"}', "line 2: whenToUse and"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_python_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, "t.py", text)
    with pytest.raises(UsageError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line ")
    assert told in caught.value.what
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: the first statement is not `const meta"),
        ("let meta = {}", "line 1: the first statement"),
        ("\nconst other = {}", "line 2: the first statement"),
        ("const meta = make()", "line 1: 'make' is no value"),
        ("const meta = { name: 'x',\n description: `a${1}` }", "line 2: a template with ${"),
        ("const meta = { name: 'x',\n description: 'a' + 'b' }", "line 2: a comma or '}' must follow"),
        ("const meta = { name: 'x',\n ...rest }", "line 2: '.' is no name of a field"),
        ("const meta = { name: 'x',\n [a]: 1 }", "line 2: '[' is no name"),
        ("const meta = { name: 'x', name: 'y' }", "'name' is there twice"),
        ("const meta = { name: 'x', description }", "a colon and a value must follow 'description'"),
        ("const meta = { name: 'x', description: 'd' }.a", "'.' follows the header"),
        ("const meta = { name: 'x', description: 'd' }\n(f)", "'(' follows the header"),
        ("const meta = { name: 'x', description: 'd", "a text does not end"),
        ("const meta = { name: 'x',", "'the end of the file' is no name"),
        ("const meta = [1]", "meta must be an object, not a list"),
        ("const meta = { name: true, description: 'd' }", "meta.name must be a text, not true"),
        ("const meta = " + "[" * 60, "nested too deeply"),
    ],
)
def test_what_is_wrong_in_javascript_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, "t.js", text)
    with pytest.raises(UsageError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line ")
    assert told in caught.value.what


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ("[1, -2, .5, 1., 2e3, 0x1F, -0]", [1, -2, 0.5, 1.0, 2000.0, 31, 0]),
        ("[true, false, null,]", [True, False, None]),
        (
            r"""'a\'b\n\t\\ \x41é\u{1F600}\
c'""",
            "a'b\n\t\\ Aé😀c",
        ),
        ('"a\'`$"', "a'`$"),
        ("`a\n$b`", "a\n$b"),
        ("{ a: { 'b-c': [ /* x */ 1 ] }, // y\n 7: 2, $d: 3 }", {"a": {"b-c": [1]}, "7": 2, "$d": 3}),
    ],
)
def test_javascript_values(text: str, value: object) -> None:
    assert Literals(text).written().value == value


@pytest.mark.parametrize(
    "text", ["undefined", "NaN", "01a", "1n", "'a\nb'", r"'\u12'", r"'\u{110000}'", "[1 2]", "[,]"]
)
def test_what_is_no_plain_javascript_value(text: str) -> None:
    with pytest.raises(Unfit):
        Literals(text).written()


def test_any_json_is_a_value() -> None:
    value: dict[str, object] = {"a": [1, 2.5, {"b": None, "ü\n\"'": "x" * 10}], "": [[], {}, True]}
    assert Literals(json.dumps(value)).written().value == value
    assert Literals(json.dumps(value, indent=2, ensure_ascii=False)).written().value == value


@pytest.mark.parametrize(
    ("code", "is_wrapped"),
    [
        ("return 1", True),
        ("if (a) { return 1 }", True),
        ("for await (const x of y) { try { return x } catch (e) { return 2 } finally {} }", True),
        ("switch (a) { case 1: return 2 }", True),
        ("const f = () => { return 1 }", False),
        ("function f(a) { if (a) { return 1 } }", False),
        ("const o = { m() { return 1 }, get x() { return 2 }, return: 3 }", False),
        ("class A { m(a) { return 1 } }", False),
        ("o.return()", False),
        ("// return 1\n'return'; `return ${f(() => { return 1 })}`", False),
        ("f(`${a}`) // return", False),
    ],
)
def test_a_javascript_workflow_is_a_function_if_it_returns(code: str, *, is_wrapped: bool) -> None:
    cell = as_cell(code)
    assert cell == (f"await (async () => {{ {code}\n}})()" if is_wrapped else code)


def test_export_is_taken_away_and_nothing_moves() -> None:
    assert as_cell("// a\nexport const meta = {};\nx") == "// a\n       const meta = {};\nx"
    assert as_cell("exported(1)") == "exported(1)"
    assert as_cell("f(") == "f("


def test_a_monty_workflow_keeps_texts_of_several_lines() -> None:
    cell = as_monty_cell('x = """a\nb"""\nif x:\n    return f"""{x}\nc"""\nx')
    assert '    x = """a\nb"""\n    if x:\n        return f"""{x}\nc"""\n    return ((x))\n' in cell
    assert as_monty_cell("x = (").endswith("x = (\nNone")


def test_all_that_come_along_can_be_read() -> None:
    shipped = [each for each in known() if each.owner == "sonde"]
    assert len(shipped) == len(list(LIBRARY.glob("*.py"))) == 5
    for each in shipped:
        found = find(each.name)
        assert isinstance(found, Workflow)
        assert found.meta.name == each.name
        assert len(found.meta.phases) >= 2
        page = Path(__file__).parents[2] / "docs/workflows" / f"{each.name}.md"
        text = page.read_text(encoding="utf-8")
        assert not [name for name in found.meta.args or {} if f"`{name}`" not in text]


def test_names_lead_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".sonde/workflows").mkdir(parents=True)
    header = 'meta = {"name": "a", "description": "d"}\n'
    written(tmp_path, "secret.py", header)
    written(tmp_path / ".sonde/workflows", "a.py", header)
    written(tmp_path / ".sonde/workflows", "broken.py", "x = 1")
    code_of = code_in(lambda: "python")
    assert code_of("a") == header
    for name in ("../../secret", "secret", str(tmp_path / "secret"), "a.py", "", "a\n"):
        assert code_of(name) is None
    with pytest.raises(TaskError, match="line 1"):
        code_of("broken")
    with pytest.raises(TaskError, match="not written in javascript"):
        code_in(lambda: "javascript")("a")


@pytest.mark.parametrize(("content", "told"), [(b"\xff\xfe", "not UTF-8"), (b"#" * ((1 << 20) + 1), "larger than")])
def test_files_that_no_workflow_is(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "t.py"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=told):
        read(path)
    with pytest.raises(UsageError, match=r"neither a \.py nor a \.js file"):
        read(tmp_path / "t.txt")
