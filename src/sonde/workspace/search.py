"""Find files by their names, and lines by what they hold."""

import re
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sonde.errors import TaskError
from sonde.guest.expressions import LinearExpression
from sonde.workspace import paths
from sonde.workspace.lines import Block, blocks
from sonde.workspace.paths import refused, shown
from sonde.workspace.protocol import Entry, Files, looks_binary
from sonde.workspace.stopping import go_on

SKIPPED = (".git", ".sonde", ".venv", "node_modules")
MOST_MATCHES = 1000
MOST_FILES = 100_000
MOST_AROUND = 100
LONGEST_S = 30.0

_HEAD = 8192
_LONGEST_LINE = 500
_LONGEST_PATTERN = 1000
_MAGIC = re.compile(r"[*?\[{]")


class Line(NamedTuple):
    """A line that was found, or one around it."""

    path: str
    number: int
    text: str
    is_match: bool


class Found(NamedTuple):
    """What a search found. `files` were searched, `passed_over` were not text or could not be read; `cut` tells why it
    stopped early, if it did."""

    lines: tuple[Line, ...]
    files: int
    passed_over: int
    cut: str


def glob(files: Files, pattern: str, path: str = "", *, longest_s: float = LONGEST_S) -> list[str]:
    """Return the paths of the files whose names match: `*` and `?` within a name, `**` across folders, `[…]`, `{a,b}`.

    Raises `TaskError` for a pattern that cannot be used, and when there are too many files.
    """
    root = paths.cleaned(path)
    clean = paths.cleaned(pattern)
    if not clean or len(clean) > _LONGEST_PATTERN:
        raise refused(f"the pattern {shown(pattern)} is empty or too long", "Give one such as src/**/*.py.")
    matches = matcher(clean)
    literal = _literal_folder(clean)
    start = f"{root}/{literal}".strip("/")
    deepest = None if "**" in clean else clean.count("/") - (literal.count("/") + 1 if literal else 0)
    if files.stat(start) is None:
        if files.stat(root) is None:
            raise files.nothing_at(root)
        return []
    cut = len(root) + 1 if root else 0
    walk = _Walk(files, time.monotonic() + longest_s)
    return sorted(each.path for each in walk.files(start, deepest) if matches(each.path[cut:]))


def grep(
    files: Files, pattern: str, path: str = "", name: str | None = None, around: int = 0, most: int = MOST_MATCHES
) -> Found:
    """Return the lines in which a regular expression matches, and `around` lines before and after each.

    Works in time that grows no faster than what is searched, and for half a minute at the most. `name` is a glob for
    the files' names. Raises `TaskError` for an expression that cannot be used, or if there is nothing at `path`.
    """
    expression = _expression(pattern)
    start = paths.cleaned(path)
    entry = files.stat(start)
    if entry is None:
        raise files.nothing_at(start)
    return _Search(files, expression, max(0, min(around, MOST_AROUND)), most).run(start, _name_matcher(name, start))


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return whether a path matches a glob. Raises `TaskError` for one that cannot be used."""
    try:
        expression = LinearExpression(f"^{_translated(pattern)}$")
    except (re.error, ValueError, RecursionError, OverflowError) as error:
        raise refused(
            f"the pattern {shown(pattern)} cannot be used: {error}", "Write one such as src/**/*.py."
        ) from error
    return lambda path: expression.first(path.encode(), 0) == 0


def _expression(pattern: str) -> LinearExpression:
    try:
        return LinearExpression(pattern)
    except (re.error, ValueError, RecursionError, OverflowError) as error:
        raise refused(
            f"the expression {shown(pattern)} cannot be used: {error}", "Write a simpler regular expression."
        ) from error


def _name_matcher(name: str | None, start: str) -> Callable[[str], bool]:
    if not name:
        return lambda path: True
    matches = matcher(paths.cleaned(name))
    if "/" not in name:
        return lambda path: matches(paths.split(path)[1])
    cut = len(start) + 1 if start else 0
    return lambda path: matches(path[cut:])


class _Walk:
    """Goes through folders in the order of names."""

    def __init__(self, files: Files, until: float) -> None:
        self._files = files
        self._until = until
        self._seen = 0

    def files(self, start: str, deepest: int | None = None) -> Iterator[Entry]:
        """Yield the files below a path, or the file there. Folders that cannot be read hold none."""
        entry = self._files.stat(start)
        waiting = [] if entry is None else [(entry, 0)]
        while waiting:
            entry, depth = waiting.pop()
            go_on()
            self._refuse_too_many()
            if entry.kind == "file":
                yield entry
            elif entry.kind == "folder" and (deepest is None or depth <= deepest):
                waiting.extend((each, depth + 1) for each in reversed(self._inside(entry.path)))

    def _inside(self, folder: str) -> list[Entry]:
        try:
            entries = self._files.entries(folder)
        except TaskError:
            return []
        return [each for each in entries if each.kind == "file" or paths.split(each.path)[1] not in SKIPPED]

    def _refuse_too_many(self) -> None:
        self._seen += 1
        if self._seen > MOST_FILES or time.monotonic() > self._until:
            raise refused(
                f"there are too many files to look at ({self._seen:,} so far)", "Search in one folder of them."
            )


class _Search:
    """Looks through files, one after the other."""

    def __init__(self, files: Files, expression: LinearExpression, around: int, most: int) -> None:
        self._files = files
        self._expression = expression
        self._around = around
        self._most = most
        self._until = time.monotonic() + LONGEST_S
        self._lines: list[Line] = []
        self._matches = 0
        self._passed_over = 0
        self._cut = ""

    def run(self, start: str, wanted: Callable[[str], bool]) -> Found:
        """Return what is found below a path."""
        searched = 0
        for entry in _Walk(self._files, self._until).files(start):
            if not wanted(entry.path):
                continue
            try:
                searched += self._search(entry.path)
            except TaskError:
                self._passed_over += 1
            if self._cut:
                break
        return Found(tuple(self._lines), searched, self._passed_over, self._cut)

    def _search(self, path: str) -> bool:
        with self._files.open(path) as source:
            if looks_binary(source.read(0, min(_HEAD, source.size))):
                self._passed_over += 1
                return False
            if self._around:
                self._search_around(path, blocks(source))
                return True
            last = 0
            for block in blocks(source):
                for number, text in self._hits(block):
                    if number != last:  # a part of a very long line may come in several blocks
                        self._lines.append(Line(path, number, shortened(text), True))
                    last = number
                if self._cut:
                    break
            return True

    def _hits(self, block: Block) -> Iterator[tuple[int, str]]:
        if time.monotonic() > self._until:
            self._cut = f"stopped after {LONGEST_S:.0f} s"
            return
        for number, text in self._expression.lines(block.content):
            if self._matches >= self._most:
                self._cut = f"stopped after {self._most:,} matches"
                return
            self._matches += 1
            yield block.first + number, text

    def _search_around(self, path: str, all_blocks: Iterator[Block]) -> None:
        """Note matches with the lines around them, which may lie in the blocks before and after."""
        tail: list[tuple[int, str]] = []
        wanted_until = 0
        noted = 0
        for block in all_blocks:
            hits = {number for number, _ in self._hits(block)}
            lines = [*tail, *enumerate(block.lines(), block.first)]
            wanted = {near for hit in hits for near in range(hit - self._around, hit + self._around + 1)}
            wanted.update(range(block.first, wanted_until + 1))
            for number, text in lines:
                if number in wanted and number > noted:
                    self._lines.append(Line(path, number, shortened(text), number in hits))
                    noted = number
            wanted_until = max((hit + self._around for hit in hits), default=wanted_until)
            tail = lines[-self._around :]
            if self._cut:
                return


def shortened(text: str) -> str:
    """Return a line, cut if it is very long."""
    more = len(text) - _LONGEST_LINE
    return text if more <= 0 else f"{text[:_LONGEST_LINE]} [… {more:,} more characters]"


def _literal_folder(pattern: str) -> str:
    """Return the folder that a glob names before its first special character; all of one that has none."""
    magic = _MAGIC.search(pattern)
    return pattern if magic is None else pattern[: max(0, pattern.rfind("/", 0, magic.start()))]


def _translated(pattern: str) -> str:
    """Return a glob as a regular expression."""
    parts: list[str] = []
    at = depth = 0
    while at < len(pattern):
        character = pattern[at]
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] in "/{,"):
            parts.append("(?:[^/]+/)*")
            at += 3
            continue
        if pattern.startswith("**", at):
            parts.append(".*")
            at += 2
            continue
        at += 1
        if character == "[" and (end := pattern.find("]", at + 1)) > 0:
            parts.append(_class(pattern[at:end]))
            at = end + 1
        elif character == "{" and "}" in pattern[at:]:
            parts.append("(?:")
            depth += 1
        elif character == "}" and depth:
            parts.append(")")
            depth -= 1
        elif character == "," and depth:
            parts.append("|")
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(character) or re.escape(character))
    return "".join(parts) + ")" * depth


def _class(inside: str) -> str:
    negated = inside.startswith(("!", "^"))
    letters = "".join(each if each == "-" or each.isalnum() else f"\\{each}" for each in inside[negated:])
    return f"[{'^/' if negated else ''}{letters}]"
