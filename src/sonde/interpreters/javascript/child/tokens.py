"""JavaScript taken apart into tokens, as far as it matters for looking at it before it runs."""

import re

_SPACE = re.compile(r"(?:\s+|//[^\n]*)+")
_TOKEN = re.compile(
    r"""
    (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<word>[\w$]+)
  | (?P<regex>/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*)
  | (?P<mark>=>|\.\.\.|\?\.|[=!]==?|\+\+|--|[-+*/%&|^<>]=|&&|\|\||\?\?|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(`|\$\{)", re.DOTALL)
_NAMES_OPERATORS = """
return typeof case in of delete void throw new instanceof do else yield await extends default
"""
_OPERATORS = frozenset(_NAMES_OPERATORS.split())
_CLOSING = {")": "(", "]": "[", "}": "{"}
HOLE, HOLE_END = "${", "$}"
"""Around an expression in a template."""


class Tokens:
    """The tokens of a piece of code, each by its number. Raises `ValueError` if it is no code."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.inside: list[int] = []
        """The number of the bracket that a token lies in; -1: in none."""
        self.closes: dict[int, int] = {}
        """Where each bracket is closed."""
        self.opens: dict[int, int] = {}
        """Where what each bracket closes is opened."""
        self._brackets: list[int] = []
        self._take_apart()
        if self._brackets:
            raise ValueError("the brackets do not match")

    def text(self, number: int) -> str:
        """Return a token's text; nothing, if there is no such token."""
        return self.texts[number] if 0 <= number < len(self.texts) else ""

    def is_word(self, number: int) -> bool:
        """Whether a token is a word, and no member of something."""
        return self.kinds[number] == "word" and self.text(number - 1) not in {".", "?."}

    def begins_line(self, number: int) -> bool:
        """Whether there is a new line before a token."""
        if not 0 < number < len(self.starts):
            return True
        last = number - 1
        return "\n" in self.source[self.starts[last] + len(self.texts[last]) : self.starts[number]]

    def parts(self, first: int, after: int) -> list[tuple[int, int]]:
        """Return what commas part in a bracket's inside, each from its first token to the one after its last."""
        found: list[tuple[int, int]] = []
        begun = at = first
        while at < after:
            if self.texts[at] == "," and self.kinds[at] == "mark":
                found.append((begun, at))
                begun = at + 1
            at = self.closes.get(at, at) + 1
        return [*found, (begun, after)] if begun < after else found

    def ends_value(self, number: int) -> bool:
        """Whether an operand can end with a token."""
        if number < 0:
            return False
        kind, text = self.kinds[number], self.texts[number]
        if kind == "word":
            return text not in _OPERATORS
        return kind != "mark" or text in {")", "]", "}", "++", "--"}

    def _take_apart(self) -> None:
        source, at = self.source, 0
        while at < len(source):
            space = _SPACE.match(source, at)
            if space is not None:
                at = space.end()
            elif source.startswith("/*", at):
                at = source.index("*/", at + 2) + 2  # raises the error itself
            else:
                at = self._take(at)

    def _take(self, at: int) -> int:
        """Take one token, and return where the next may begin."""
        match = _TOKEN.match(self.source, at)
        if match is None:
            raise ValueError("this is no code")
        kind, text = str(match.lastgroup), match[0]
        if kind == "regex" and self._ends_operand():
            kind, text = "mark", "/"
        if text == "`":
            self._add("text", text, at)
            return self._after_template(at + 1)
        if kind == "mark" and text in _CLOSING:
            return self._close(text, at)
        self._add(kind, text, at)
        if kind == "mark" and text in {"(", "[", "{"}:
            self._brackets.append(len(self.texts) - 1)
        return at + len(text)

    def _ends_operand(self) -> bool:
        last = len(self.texts) - 1
        return self.ends_value(last) and self.texts[last] != "}"

    def _close(self, text: str, at: int) -> int:
        opened = self._brackets.pop() if self._brackets else -1
        open_text = self.text(opened)
        if open_text == HOLE and text == "}":
            self._add("mark", HOLE_END, at)
        elif open_text == _CLOSING[text]:
            self._add("mark", text, at)
        else:
            raise ValueError("the brackets do not match")
        self.closes[opened] = len(self.texts) - 1
        self.opens[len(self.texts) - 1] = opened
        return self._after_template(at + 1) if open_text == HOLE else at + 1

    def _after_template(self, at: int) -> int:
        """Return where code goes on: in an expression within the template, or after its end."""
        match = _TEMPLATE.match(self.source, at)
        if match is None:
            raise ValueError("a template does not end")
        if match[1] == "`":
            self._add("text", "`", match.end() - 1)
        else:
            self._add("mark", HOLE, match.end() - 2)
            self._brackets.append(len(self.texts) - 1)
        return match.end()

    def _add(self, kind: str, text: str, at: int) -> None:
        self.kinds.append(kind)
        self.texts.append(text)
        self.starts.append(at)
        self.inside.append(self._brackets[-1] if self._brackets else -1)
