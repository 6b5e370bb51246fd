"""A saved workflow's code: like a cell, but that it may `return`, and may begin with `export`."""

import re

from .tokens import Tokens

_EXPORT = re.compile(r"export(?=\s+(?:const|let|var)\b)")
_BLOCKS = frozenset({"if", "for", "while", "switch", "catch", "with"})
"""What a bracket and a body can follow that is no function's."""


def as_cell(source: str) -> str:
    """Return a workflow as a cell's code, line for line: without `export`, and within a function if it returns."""
    try:
        tokens = Tokens(source)
    except ValueError:
        return source  # the engine says what is wrong
    if tokens.texts and tokens.texts[0] == "export":
        at = tokens.starts[0]
        source = source[:at] + _EXPORT.sub("      ", source[at:], count=1)
    if not returns(tokens):
        return source
    return f"await (async () => {{ {source}\n}})()"


def returns(tokens: Tokens) -> bool:
    """Whether there is a `return` outside of all functions."""
    return any(
        text == "return" and tokens.kinds[at] == "word" and _is_statement(tokens, at) and not _in_function(tokens, at)
        for at, text in enumerate(tokens.texts)
    )


def _is_statement(tokens: Tokens, at: int) -> bool:
    """Whether a word is no member of something, and no field or method of an object."""
    is_method = tokens.text(at + 1) == "(" and tokens.text(tokens.closes[at + 1] + 1) == "{"
    return tokens.is_word(at) and tokens.text(at + 1) != ":" and not is_method


def _in_function(tokens: Tokens, at: int) -> bool:
    opened = tokens.inside[at]
    while opened >= 0:
        if tokens.texts[opened] == "{" and _opens_function(tokens, opened):
            return True
        opened = tokens.inside[opened]
    return False


def _opens_function(tokens: Tokens, opened: int) -> bool:
    """Whether a brace opens the body of a function, and not a block or an object."""
    before = tokens.text(opened - 1)
    if before != ")":
        return before == "=>"
    head = tokens.opens[opened - 1] - 1
    return tokens.text(head) not in _BLOCKS and not (tokens.text(head) == "await" and tokens.text(head - 1) == "for")
