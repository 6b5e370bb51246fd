"""Values that are written out in JavaScript: texts, numbers, arrays and objects of them."""

import json
import re
from typing import Any, NamedTuple

from .tokens import Tokens

_CONSTANTS = {"true": True, "false": False, "null": None}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MOST_DEPTH = 50
_LONGEST_NUMBER = 4  # a sign, and what a point parts


class NotWritten(Exception):
    """A value is not written out, or not in a way that can be read here."""


class Fields(NamedTuple):
    """The fields of an object, each with the tokens of its value; whether there can be no others."""

    fields: dict[str, tuple[int, int]]
    is_whole: bool


def fields_of(tokens: Tokens, first: int, after: int) -> Fields | None:
    """Return the fields of an object that is written out from token `first` to the one before `after`, or None."""
    if tokens.text(first) != "{" or tokens.closes.get(first) != after - 1:
        return None
    fields: dict[str, tuple[int, int]] = {}
    is_whole = True
    for begun, end in tokens.parts(first + 1, after - 1):
        name = tokens.text(begun)
        if tokens.kinds[begun] == "text" and name != "`":
            name = _unquoted(name)
        elif tokens.kinds[begun] != "word":
            is_whole = False
            continue
        if tokens.text(begun + 1) == ":":
            fields[name] = (begun + 2, end)
        elif end == begun + 1:
            fields[name] = (begun, end)
        else:
            is_whole = False
    return Fields(fields, is_whole)


def value_of(tokens: Tokens, first: int, after: int, depth: int = 0) -> Any:
    """Return the value that is written out in some tokens. Raises `NotWritten`."""
    text = tokens.text(first)
    if depth > _MOST_DEPTH or first >= after:
        raise NotWritten
    if text in {"{", "["} and tokens.closes.get(first) == after - 1:
        if text == "[":
            return [value_of(tokens, *part, depth + 1) for part in tokens.parts(first + 1, after - 1)]
        written = fields_of(tokens, first, after)
        if written is None or not written.is_whole:
            raise NotWritten
        return {name: value_of(tokens, *part, depth + 1) for name, part in written.fields.items()}
    return _simple(tokens, first, after)


def _simple(tokens: Tokens, first: int, after: int) -> Any:
    text, kind = tokens.text(first), tokens.kinds[first]
    if after == first + 1:
        if kind == "text" and text != "`":
            return _unquoted(text)
        if text in _CONSTANTS:
            return _CONSTANTS[text]
    if after - first > _LONGEST_NUMBER:
        raise NotWritten
    written = "".join(tokens.texts[first:after])
    if _NUMBER.fullmatch(written):
        return json.loads(written) if not re.match(r"-?0\d", written) else 0
    raise NotWritten


def _unquoted(text: str) -> str:
    return _ESCAPED.sub(r"\1", text[1:-1])
