"""Read the lines between --- and --- at the beginning of a markdown file: `key: value`, and simple lists."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_FENCE = "---"
_PAIR = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*?))?[ \t]*")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*?)[ \t]*")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<text>.*)(?P=quote)(?:[ \t]+#.*)?""")
_BLOCK = re.compile(r"[|>][+-]?")


class Misread(ValueError):
    """A line that cannot be read. `line` is its number."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


class Field(NamedTuple):
    """What stands behind a key, and in which line."""

    value: str | list[str]
    line: int


class Page(NamedTuple):
    """A markdown file taken apart."""

    fields: dict[str, Field]
    body: str


def read_page(text: str) -> Page:
    """Return the fields of a markdown file and the text below them. Raises `Misread`."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise Misread(1, "must begin with a line ---, `key: value` lines, and another line ---")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise Misread(1, "has no second line --- to end what the first one begins")
    fields: dict[str, Field] = {}
    number = 1
    while number < end:
        if lines[number].strip() and not lines[number].lstrip().startswith("#"):
            pair = _PAIR.fullmatch(lines[number])
            if pair is None:
                raise Misread(number + 1, "is not `key: value`")
            if pair["key"] in fields:
                raise Misread(number + 1, f"says {pair['key']} again")
            value, after = _value(pair["value"] or "", lines[:end], number)
            fields[pair["key"]] = Field(value, number + 1)
            number = after
        else:
            number += 1
    return Page(fields, "\n".join(lines[end + 1 :]).strip())


def _value(text: str, lines: Sequence[str], number: int) -> tuple[str | list[str], int]:
    """Return the value that begins in a line, and the number of the line after it."""
    after = number + 1
    if _BLOCK.fullmatch(text):
        while after < len(lines) and (not lines[after].strip() or lines[after][0] in " \t"):
            after += 1
        parts = [line.strip() for line in lines[number + 1 : after]]
        return ("\n" if text[0] == "|" else " ").join(parts).strip(), after
    if text.startswith("["):
        inside = _COMMENT.sub("", text).rstrip()
        if not inside.endswith("]"):
            raise Misread(number + 1, "begins a list with [ and does not end it: write it on one line")
        return [_scalar(each.strip(), number) for each in inside[1:-1].split(",") if each.strip()], after
    if text and not text.startswith("#"):
        return _scalar(text, number), after
    items: list[str] = []
    while after < len(lines) and (item := _ITEM.fullmatch(lines[after])):
        items.append(_scalar(item["value"], after))
        after += 1
    if not items and after < len(lines) and lines[after][:1] in {" ", "\t"} and lines[after].strip():
        raise Misread(after + 1, "is nested, which cannot be read: write `key: value`, or a list of `- item`")
    return items or "", after


def _scalar(text: str, number: int) -> str:
    if text[:1] in {'"', "'"}:
        quoted = _QUOTED.fullmatch(text)
        if quoted is None:
            raise Misread(number + 1, "begins a quote and does not end it")
        inner = quoted["text"]
        return inner.replace("''", "'") if quoted["quote"] == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")
    if text[:1] in {"{", "&", "*", "!", "%", "@", "`"}:
        raise Misread(number + 1, f"begins with {text[0]}, which means something else there: put it in quotes")
    return _COMMENT.sub("", text).rstrip()
