"""How a cell that is refused before it runs is told: each problem with its line, a caret and the remedy."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import NamedTuple

MOST_TOLD = 5
NOT_RUN = "Nothing was run.\n"
"""How the traceback of a refused cell begins, and no other."""

_MOST_NAMES = 5000
_LONGEST_LINE, _LONGEST_NAME = 160, 60
_LIKE = 0.75
_LONG, _MOST_NEAR = 5, 6


class Problem(NamedTuple):
    """Something that is wrong with a cell. The line counts from 1, the column, in bytes of UTF-8, from 0; `kind` is the
    type of the error, and the message has the remedy."""

    line: int
    column: int
    kind: str
    message: str
    width: int = 1


class Refused(Exception):
    """A cell is not run, for its problems."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


def was_refused(traceback: str) -> bool:
    """Whether an error's traceback is that of a cell of which nothing was run."""
    return traceback.startswith(NOT_RUN)


def error_of(problems: list[Problem], code: str, place: str) -> dict[str, str]:
    """Return the error that a cell ends with. `place` is how a traceback names it."""
    lines = code.split("\n")
    messages = [f"line {each.line}: {each.message}" for each in problems]
    messages[1:] = [f"{each.kind}: {message}" for each, message in zip(problems[1:], messages[1:], strict=True)]
    marked = [_marked(each, lines, place) for each in problems]

    return {"type": problems[0].kind, "message": "\n".join(messages), "traceback": "".join((NOT_RUN, *marked))}


def meant(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was meant, the first of those that are equally like it; None if none is."""
    asked = bare(name[:_LONGEST_NAME])
    known: dict[str, str] = {}
    for each in names:
        if len(known) == _MOST_NAMES:
            break
        if abs(len(each) - len(name)) <= _LONGEST_NAME and not each.startswith("_"):
            known.setdefault(bare(each), each)
    near = get_close_matches(asked, [each for each in known if abs(len(each) - len(asked)) <= 4], _MOST_NEAR, _LIKE)
    if near:
        order = list(known)
        return known[max(near, key=lambda each: (_likeness(asked, each), -order.index(each)))]
    return next((known[each] for each in known if len(each) >= _LONG and asked.endswith(each)), None)


def remedy_for_schema(fault: str) -> str:
    """Return what is told of a schema."""
    return f"schema: {fault}"


def bare(name: str) -> str:
    """Return a name without what the languages write differently."""
    return name.replace("_", "").casefold()


def _likeness(asked: str, known: str) -> tuple[float, bool]:
    return SequenceMatcher(None, known, asked).ratio(), known[:1] == asked[:1]


def _marked(problem: Problem, lines: list[str], place: str) -> str:
    """Return a line as a traceback shows it, with a caret."""
    head = f"  {place}, line {problem.line}\n"
    if problem.line > len(lines):
        return head
    line = lines[problem.line - 1]
    code = line.encode("utf-8", "surrogatepass")
    before = code[: problem.column].decode("utf-8", "replace")
    marked = code[problem.column : problem.column + problem.width].decode("utf-8", "replace")
    indent = len(line) - len(line.lstrip())
    shown, start = line.strip()[:_LONGEST_LINE], max(0, len(before) - indent)
    if start >= len(shown):
        return f"{head}    {shown}\n"
    return f"{head}    {shown}\n    {' ' * start}{'^' * max(1, min(len(marked), len(shown) - start))}\n"
