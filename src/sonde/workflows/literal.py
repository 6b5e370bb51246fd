"""Values that are written out in JavaScript, read without running anything: for the header of a workflow."""

import re
from typing import Any, NoReturn

from sonde.workflows.written import PLAIN, Path, Unfit, Written

_SPACE = re.compile(r"(?:\s|\ufeff|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*|\$[\w$]*", re.ASCII)
_NUMBER = re.compile(r"-?(?:0[xX][\da-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.$])")
_PLAIN = {'"': re.compile(r'[^"\\\n]*'), "'": re.compile(r"[^'\\\n]*"), "`": re.compile(r"[^`\\$]*")}
_ESCAPE = re.compile(r"u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(\r\n|[^ux\d]|0(?!\d))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}
_CONSTANTS = {"true": True, "false": False, "null": None}
_MOST_DEPTH = 50
_HIGHEST = 0x10FFFF


class Literals:
    """Reads values one after the other from a place in some code."""

    def __init__(self, source: str, at: int = 0) -> None:
        self.at = at
        self._source = source
        self._lines: dict[Path, int] = {}

    def written(self) -> Written:
        """Return the next value with the lines of its parts. Raises `Unfit`."""
        value = self._value((), 0)
        return Written(value, self._lines)

    def skip_space(self) -> str:
        """Pass over space and comments, and return what was passed over."""
        space = _SPACE.match(self._source, self.at)
        passed = "" if space is None else space[0]
        self.at += len(passed)
        return passed

    def take(self, text: str) -> bool:
        """Pass over space, then over a text if it is there."""
        self.skip_space()
        found = self._source.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def take_word(self) -> str:
        """Pass over space, then over a word if there is one, and return it."""
        self.skip_space()
        word = _WORD.match(self._source, self.at)
        self.at += len(word[0]) if word else 0
        return word[0] if word else ""

    def peek(self) -> str:
        """Return the next character."""
        return self._source[self.at : self.at + 1]

    def fail(self, message: str, remedy: str = PLAIN) -> NoReturn:
        """Raise `Unfit` for what stands here."""
        raise Unfit(self._source.count("\n", 0, self.at) + 1, message, remedy)

    def _value(self, path: Path, depth: int) -> Any:
        if depth > _MOST_DEPTH:
            self.fail("this is nested too deeply")
        self.skip_space()
        self._lines.setdefault(path, self._source.count("\n", 0, self.at) + 1)
        match self.peek():
            case "{":
                return self._object(path, depth)
            case "[":
                return self._array(path, depth)
            case '"' | "'" | "`":
                return self._text()
            case _:
                return self._simple()

    def _simple(self) -> Any:
        number = _NUMBER.match(self._source, self.at)
        if number is not None:
            self.at = number.end()
            text = number[0].lower()
            if "x" in text:
                return int(text, 16)
            return int(text) if text.lstrip("-").isdigit() else float(text)
        begun = self.at
        word = self.take_word()
        if word not in _CONSTANTS:
            self.at = begun
            self.fail(f"{word or self.peek() or 'the end of the file'!r} is no value that is written out")
        return _CONSTANTS[word]

    def _object(self, path: Path, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        self.at += 1
        while not self.take("}"):
            begun = self.at
            name = self._name()
            if name in fields:
                self.at = begun
                self.fail(f"the field {name!r} is there twice")
            if not self.take(":"):
                self.fail(f"a colon and a value must follow {name!r}")
            self._lines[*path, name] = self._source.count("\n", 0, begun) + 1
            fields[name] = self._value((*path, name), depth + 1)
            self._end_part("}")
        return fields

    def _array(self, path: Path, depth: int) -> list[Any]:
        values: list[Any] = []
        self.at += 1
        while not self.take("]"):
            values.append(self._value((*path, len(values)), depth + 1))
            self._end_part("]")
        return values

    def _end_part(self, closing: str) -> None:
        if not self.take(",") and self.peek() != closing:
            self.fail(f"a comma or {closing!r} must follow, not {self.peek() or 'the end of the file'!r}")

    def _name(self) -> str:
        if self.peek() in {'"', "'"}:
            return self._text()
        word = self.take_word()
        if not word:
            number = _NUMBER.match(self._source, self.at)
            if number is None:
                self.fail(f"{self.peek() or 'the end of the file'!r} is no name of a field")
            self.at = number.end()
            word = number[0]
        return word

    def _text(self) -> str:
        """Read a text in quotes, or a template without anything to fill in."""
        quote, parts = self.peek(), list[str]()
        self.at += 1
        while True:
            plain = _PLAIN[quote].match(self._source, self.at)
            if plain is not None:
                parts.append(plain[0])
                self.at = plain.end()
            match self.peek():
                case "\\":
                    parts.append(self._escape())
                case "$":
                    if self._source.startswith("${", self.at):
                        self.fail("a template with ${} is no value that is written out")
                    parts.append("$")
                    self.at += 1
                case character if character == quote:
                    self.at += 1
                    return "".join(parts)
                case _:
                    self.fail("a text does not end")

    def _escape(self) -> str:
        escape = _ESCAPE.match(self._source, self.at + 1)
        if escape is None:
            self.fail("this is no escape that can be read")
        digits = escape[1] or escape[2] or escape[3]
        if digits and int(digits, 16) > _HIGHEST:
            self.fail("there is no such character")
        self.at = escape.end()
        return chr(int(digits, 16)) if digits else _ESCAPED.get(escape[4], escape[4])
