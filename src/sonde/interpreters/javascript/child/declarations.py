"""Make what a cell declares at its top level last, and open to being declared again by a later cell.

Scripts share what they declare with `var` and `function`, but a `const`, `let` or `class` can be declared only once. So
those at the top level become `var`. Lines stay where they are.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<word>[\w$]+)
  | (?P<regex>/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*)
  | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(`|\$\{)", re.DOTALL)
_CLASS = re.compile(r"class\s+([\w$]+)")
_ASSIGNED = re.compile(r"\s*=(?!=)")
_EXPRESSION_FOLLOWS = re.compile(
    "return|typeof|case|in|of|delete|void|throw|new|instanceof|do|else|yield|await|extends|default"
)
_CLOSING = {")": "(", "]": "[", "}": "{"}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int
    depth: int
    """How many brackets it lies in."""
    starts: bool
    """Whether a statement can start with it."""


def lasting(source: str) -> str:
    """Return a cell's code with its declarations made lasting; as it is, if its brackets do not match."""
    parts, done = list[str](), 0
    try:
        for start, end, new in _changes(source):
            parts += (source[done:start], new)
            done = end
    except ValueError:
        return source
    return "".join([*parts, source[done:]])


def _changes(source: str) -> Iterator[tuple[int, int, str]]:
    """Yield what to put in the place of what. Raises `ValueError`."""
    in_class = declares = expects_name = False
    for kind, text, at, depth, starts in _tokens(source):
        if depth:
            continue
        if kind == "word" and starts and not expects_name:
            declares = False
        if text in {"const", "let"} and kind == "word":
            declares = expects_name = text == "let"
            yield at, at + len(text), "var"
        elif text == "class" and starts and (named := _CLASS.match(source, at)):
            in_class = True
            yield at, at, f"var {named[1]} = "
        elif text == "}" and in_class:
            in_class = False
            yield at + 1, at + 1, ";"
        elif kind == "word" and expects_name:
            expects_name = False
            if not _ASSIGNED.match(source, at + len(text)):
                yield at + len(text), at + len(text), " = undefined"
        else:
            declares = declares and text != ";"
            expects_name = declares and text == ","


def _tokens(source: str) -> Iterator[_Token]:
    """Take code apart, as far as it matters here. Raises `ValueError`."""
    brackets = list[str]()
    before, at = _Token("mark", ";", 0, 0, starts=True), 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            raise ValueError("this is no code")
        kind, text = str(match.lastgroup), match[0]
        follows = _expression_may_follow(before)
        if kind == "regex" and not follows:
            kind, text = "mark", "/"
        end = at + len(text)
        if text in _CLOSING and kind == "mark":
            opened = brackets.pop() if brackets else ""
            if opened == "`":
                end = _after_template(source, end, brackets)
            elif opened != _CLOSING[text]:
                raise ValueError("the brackets do not match")
        if kind != "skip":
            before = _Token(kind, text, at, len(brackets), before.text in {";", "{", "}"} or not follows)
            yield before
        if kind == "mark" and text in {"(", "[", "{"}:
            brackets.append(text)
        elif kind == "mark" and text == "`":
            end = _after_template(source, end, brackets)
        at = end
    if brackets:
        raise ValueError("the brackets do not match")


def _after_template(source: str, at: int, brackets: list[str]) -> int:
    """Return where a template goes on as code: after its end, or in an expression within it."""
    match = _TEMPLATE.match(source, at)
    if match is None:
        raise ValueError("a template does not end")
    if match[1] != "`":
        brackets.append("`")
    return match.end()


def _expression_may_follow(token: _Token) -> bool:
    if token.kind == "mark":
        return token.text not in {")", "]", "`"}
    return token.kind == "word" and _EXPRESSION_FOLLOWS.fullmatch(token.text) is not None
