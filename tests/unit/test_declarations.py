"""Top-level declarations of a JavaScript cell are made to last."""

import pytest

from sonde.interpreters.javascript.child.declarations import lasting


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("const x = 1", "var x = 1"),
        ("let a, b = 2, c\nd", "var a = undefined, b = 2, c = undefined\nd"),
        ("let x\nlet y = x == 1", "var x = undefined\nvar y = x == 1"),
        ("const {a, b: [c]} = f(), d = 3;", "var {a, b: [c]} = f(), d = 3;"),
        ("class A { m() { const q = {} } }\n[1]", "var A = class A { m() { const q = {} } };\n[1]"),
        ("class A extends f({}) {}\nx", "var A = class A extends f({}) {};\nx"),
        ("const A = class B {}; let y = class {}", "var A = class B {}; var y = class {}"),
        ("{ const inner = 1 }\nfor (const k of [1]) { let z = k }", None),
        ("function f() { const x = 1; class C {} }", None),
        (
            "const s = `const ${(() => { let t = `}`; return t })()} let`; let u = 1",
            "var s = `const ${(() => { let t = `}`; return t })()} let`; var u = 1",
        ),
        ("f('let x'); // const y\n/* let z */ g(/[/'\"]const x/)", None),
        ("a / 2; let b = 1 / a", "a / 2; var b = 1 / a"),
        ("x.replace(/'/g, '')\nlet q = 1", "x.replace(/'/g, '')\nvar q = 1"),
        ("if (x) { y } /'/.test(z)\nlet w = 2", "if (x) { y } /'/.test(z)\nvar w = 2"),
        ("const broken = (", None),
        ("'unterminated", None),
        ("`unterminated ${", None),
        ("", None),
    ],
)
def test_only_what_is_at_the_top_level_is_changed(written: str, made: str | None) -> None:
    assert lasting(written) == (written if made is None else made)
