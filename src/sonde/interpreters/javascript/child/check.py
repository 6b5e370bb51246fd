"""What is wrong with a JavaScript cell, told before it runs and for nothing: the twin of the guest's `check.py`.

There is no tree to look at, only tokens; so less is told, and nothing that a tree might show to be otherwise.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, cast

from sonde.guest.manual import manual
from sonde.guest.refusal import MOST_TOLD, Problem, bare, meant, remedy_for_schema
from sonde.guest.shapes import fault_of

from .literals import Fields, NotWritten, fields_of, value_of
from .places import deferred, forgiven
from .tokens import HOLE, HOLE_END, Tokens

LONGEST = 200_000
_DYNAMIC = frozenset({"eval", "Function", "globalThis", "with", "import"})
_NAMES_KEYWORDS = """
if for while switch catch function return typeof await async super import with do else yield void delete in of new
instanceof throw case class get set static constructor let var const
"""
_KEYWORDS = frozenset(_NAMES_KEYWORDS.split())
_CHAINS = frozenset({"then", "catch", "finally"})
_NAMES_TAKE_VALUES = """
log info warn error debug print stringify parse String Number Boolean parseInt FINAL save
"""
_TAKE_VALUES = frozenset(_NAMES_TAKE_VALUES.split())
_ON = frozenset(
    {".", "?.", "(", "[", "`", ",", "?", ":", "=", "=>", "+", "-", "*", "/", "%", "&&", "||", "??", "in", "of"}
)
_AGENT = "subagentType"


class Takes(NamedTuple):
    """What a word takes: how many arguments, and what its last one, an object, may hold. None: anything."""

    least: int
    most: int
    options: tuple[str, ...] | None = None
    workers: tuple[int, ...] = ()
    """Which arguments can be the names of subagents."""


_ASKED = ("schema", "model", "label", "cache")
_SENT = ("description", _AGENT, "responseSchema", "label", "model", "timeout")
TAKES = {
    "llm": Takes(1, 2, _ASKED),
    "llmQuery": Takes(1, 2, _ASKED),
    "llmQueryBatched": Takes(1, 2, _ASKED),
    "task": Takes(1, 2, _SENT),
    "rlm": Takes(1, 3),
    "rlmQuery": Takes(1, 3),
    "rlmQueryBatched": Takes(1, 3),
    "workflow": Takes(1, 2),
    "fanOut": Takes(2, 9, workers=(1, 2)),
    "classifyAndAct": Takes(3, 9, workers=(1,)),
    "generateAndFilter": Takes(3, 9, workers=(1, 2)),
    "tournament": Takes(2, 2, workers=(1,)),
    "loopUntilDone": Takes(1, 9, workers=(0,)),
    "reduceItems": Takes(2, 9, workers=(1,)),
    "priorSearch": Takes(3, 3, workers=(2,)),
    "verify": Takes(1, 9),
    "mapItems": Takes(2, 3),
    "phase": Takes(1, 1),
    "log": Takes(1, 1),
    "save": Takes(1, 2),
    "FINAL": Takes(0, 1),
    "FINAL_VAR": Takes(1, 1),
}
"""What the words take, by their names in camel case."""


class Known(NamedTuple):
    """What code finds when it runs. `is_variable` asks the engine for a name; `is_word`, whether one is still ours."""

    agents: tuple[str, ...]
    is_variable: Callable[[str], bool]
    is_word: Callable[[str], bool]


class Call(NamedTuple):
    """A call of a name, by the numbers of its tokens."""

    name: str
    at: int
    end: int


def may_be_wrong(code: str) -> bool:
    """Whether a cell is worth a look: it calls something, and is not too long to be looked at."""
    return "(" in code and len(code) <= LONGEST


def check(code: str, known: Known) -> list[Problem]:
    """Return what is wrong with a cell, in the order of its lines. Raises `ValueError` if its brackets do not match."""
    if not may_be_wrong(code):
        return []
    tokens = Tokens(code)
    if not _DYNAMIC.isdisjoint(tokens.texts):
        return []
    found = set(_Check(tokens, known).problems())
    return sorted(found, key=lambda each: (each.line, each.column))[:MOST_TOLD]


class _Check:
    def __init__(self, tokens: Tokens, known: Known) -> None:
        self._tokens = tokens
        self._known = known
        self._calls = [call for at in range(len(tokens.texts)) if (call := self._call_at(at))]
        self._names = {call.at for call in self._calls}
        self._words = {name: word for name, word in _words().items() if name != "task" or known.agents}
        self._own = self._names_of_its_own()
        self._intact: dict[str, bool] = {}

    def problems(self) -> Iterator[Problem]:
        """Yield all that is wrong."""
        yield from self._unknown_names()
        for call in self._calls:
            word = self._words.get(call.name)
            if word is None or call.name in self._own:
                continue
            for problem in (*self._never_awaited(call, word), *self._wrong_call(call, word)):
                if self._is_intact(call.name):
                    yield problem

    def _is_intact(self, name: str) -> bool:
        """Whether no earlier cell has used a word's name for itself."""
        if name not in self._intact:
            self._intact[name] = self._known.is_word(name)
        return self._intact[name]

    def _call_at(self, at: int) -> Call | None:
        """Return the call that begins with a token: a name, then arguments, and no body behind them."""
        tokens = self._tokens
        name = tokens.texts[at]
        if tokens.text(at + 1) != "(" or not tokens.is_word(at) or name in _KEYWORDS or name[0].isdigit():
            return None
        end = tokens.closes[at + 1]
        before = tokens.text(at - 1)
        is_defined = before in {"function", "get", "set", "static", "#"} or (
            before == "*" and tokens.text(at - 2) == "function"
        )
        return None if is_defined or tokens.text(end + 1) in {"{", "=>"} else Call(name, at, end)

    def _names_of_its_own(self) -> set[str]:
        """Return all names that are used other than to be called: any of them may be declared."""
        tokens = self._tokens
        return {
            text
            for at, text in enumerate(tokens.texts)
            if at not in self._names
            and tokens.is_word(at)
            and (tokens.text(at + 1) != ":" or tokens.text(at - 1) == "?")
        }

    # --- Names --------------------------------------------------------------------------------------------------

    def _unknown_names(self) -> Iterator[Problem]:
        late, caught, told = self._late, self._caught, set[str]()
        for call in self._calls:
            name = call.name
            if name in told or name in self._own or name in self._words or late(call.at) or caught(call.at):
                continue
            told.add(name)
            if len(told) > 100:
                return
            if not self._known.is_variable(name):
                hint = "code cannot send subagents here, use `llm(...)`" if name == "task" else self._hint(name)
                yield self._problem(call.at, call.at, "ReferenceError", f"{name[:60]!r} is not defined: {hint}")

    def _hint(self, name: str) -> str:
        near = meant(name, [*sorted(self._own), *self._words])
        return (
            f"did you mean `{near}`?"
            if near
            else "nothing in this cell or before it defines it; help() lists the words"
        )

    @cached_property
    def _caught(self) -> Callable[[int], bool]:
        return _within(forgiven(self._tokens))

    @cached_property
    def _late(self) -> Callable[[int], bool]:
        return _within(deferred(self._tokens))

    # --- Awaiting -----------------------------------------------------------------------------------------------

    def _never_awaited(self, call: Call, word: "_Word") -> Iterator[Problem]:
        if not word.is_awaited:
            return
        tokens, name = self._tokens, call.name
        before, after = tokens.text(call.at - 1), tokens.text(call.end + 1)
        if self._is_statement(call):
            told = f"{name}() is never awaited, so its outcome is lost: write `await {name}(...)`"
        elif before == HOLE and after == HOLE_END:
            told = f"{name}() is used before it is awaited: write `${{await {name}(...)}}`"
        elif self._is_used_at_once(call):
            told = f"{name}() is used before it is awaited: write `(await {name}(...))`"
        else:
            return
        yield self._problem(call.at, call.end, "NeverAwaited", told)

    def _is_statement(self, call: Call) -> bool:
        """Whether a call is a whole statement."""
        tokens, before, after = self._tokens, call.at - 1, call.end + 1
        follows = tokens.text(after)
        if not (follows in {"", ";", "}"} or (tokens.begins_line(after) and follows not in _ON)):
            return False
        text, inside = tokens.text(before), tokens.text(tokens.inside[call.at])
        if inside not in {"", "{"}:
            return False
        if before < 0 or text in {";", "else", "do"} or (text in {"{", "}"} and not self._is_in_literal(call.at)):
            return True
        if text == ")":
            # What a loop consists of alone is done for its own sake.
            head = tokens.text(tokens.opens[before] - 1)
            return head == "if" or (head not in {"for", "while"} and tokens.begins_line(call.at))
        return tokens.begins_line(call.at) and tokens.ends_value(before)

    def _is_in_literal(self, at: int) -> bool:
        """Whether a token lies in braces that may be an object's."""
        tokens = self._tokens
        opened = tokens.inside[at]
        if opened < 0:
            return False
        return tokens.text(opened - 1) not in {")", "=>", "else", "try", "finally", "do", ";", "{", "}", ""}

    def _is_used_at_once(self, call: Call) -> bool:
        tokens = self._tokens
        before, after = tokens.text(call.at - 1), tokens.text(call.end + 1)
        if before in {"await", "return", "void", "typeof", "yield"}:
            return False
        if after in {".", "?."}:
            return tokens.text(call.end + 2) not in _CHAINS and not call.name.startswith("pipeline")
        if "+" in {before, after} or before == "+=":
            return True
        opened = tokens.inside[call.at]
        is_argument = tokens.text(opened) == "(" and before in {"(", ","} and after in {")", ","}
        return is_argument and tokens.text(opened - 1) in _TAKE_VALUES

    # --- Arguments ----------------------------------------------------------------------------------------------

    def _wrong_call(self, call: Call, word: "_Word") -> Iterator[Problem]:
        takes = TAKES.get(word.name)
        if takes is None or self._caught(call.at) or self._is_chained(call):
            return
        given = self._tokens.parts(call.at + 2, call.end)
        if any(self._tokens.text(first) == "..." for first, _ in given):
            return
        if not takes.least <= len(given) <= takes.most:
            some = "nothing" if not given else f"{len(given)} arguments"
            yield self._problem(call.at, call.end, "TypeError", f"{call.name}() is given {some}: write `{word.form}`")
            return
        if takes.options is not None:
            yield from self._wrong_options(call, word, takes.options, given)
        for number in takes.workers:
            if number < len(given):
                yield from self._wrong_agent(*given[number])

    def _is_chained(self, call: Call) -> bool:
        """Whether what becomes of a call is looked at, failed or not."""
        return self._tokens.text(call.end + 1) in {".", "?."} and self._tokens.text(call.end + 2) in _CHAINS

    def _wrong_options(
        self, call: Call, word: "_Word", options: tuple[str, ...], given: list[tuple[int, int]]
    ) -> Iterator[Problem]:
        """Look at what is written out of the object that a word takes."""
        is_task = word.name == "task"
        objects = [fields_of(self._tokens, *each) for each in (given[:2] if is_task else given[1:2])]
        for written in objects:
            if written is not None:
                yield from self._wrong_fields(call, written, options)
        whole = [each for each in objects if each is not None and each.is_whole]
        if not is_task and given[1:2] and self._is_text(*given[1]):
            told = f"{call.name}() takes its options in one object: write `{word.form}`"
            yield self._problem(given[1][0], given[1][0], "TypeError", told)
        elif is_task and len(whole) == len(given) and not any("description" in each.fields for each in whole):
            told = "task() is given no `description`: add it, with what is to be done"
            yield self._problem(call.at, call.end, "TypeError", told)

    def _is_text(self, first: int, after: int) -> bool:
        return after - first == 1 and self._tokens.kinds[first] == "text"

    def _wrong_fields(self, call: Call, written: Fields, options: tuple[str, ...]) -> Iterator[Problem]:
        by_name = {bare(each): each for each in options}
        for name, (first, after) in written.fields.items():
            option = by_name.get(bare(name))
            if option is None:
                near = meant(name, options)
                remedy = f"did you mean `{near}`?" if near else f"it takes {', '.join(options)}"
                yield self._problem(first, first, "TypeError", f"{call.name}() takes no {name[:60]!r}: {remedy}")
            elif option == _AGENT:
                yield from self._wrong_agent(first, after)
            elif option in {"schema", "responseSchema"}:
                yield from self._wrong_schema(first, after)

    def _wrong_agent(self, first: int, after: int) -> Iterator[Problem]:
        agents, name = self._known.agents, self._value(first, after)
        if isinstance(name, str) and agents and name not in agents:
            near = meant(name, agents)
            hint = f"; did you mean {near!r}?" if near else ""
            told = f"unknown_agent: unknown agent {name[:60]!r}; known: {', '.join(agents)}{hint}"
            yield self._problem(first, after - 1, "TaskError", told)

    def _wrong_schema(self, first: int, after: int) -> Iterator[Problem]:
        schema = self._value(first, after)
        fault = fault_of(cast("dict[str, Any]", schema)) if isinstance(schema, dict) else None
        if fault:
            yield self._problem(first, after - 1, "SchemaError", remedy_for_schema(fault))

    def _value(self, first: int, after: int) -> Any:
        try:
            return value_of(self._tokens, first, after)
        except NotWritten:
            return None

    def _problem(self, first: int, last: int, kind: str, message: str) -> Problem:
        source, starts = self._tokens.source, self._tokens.starts
        start, end = starts[first], starts[last] + len(self._tokens.texts[last])
        line = bisect_right(self._lines, start)
        begun = self._lines[line - 1]
        after = self._lines[line] - 1 if line < len(self._lines) else len(source)
        column, width = (
            len(each.encode("utf-8", "surrogatepass"))
            for each in (source[begun:start], source[start : min(end, after)])
        )
        return Problem(line, column, kind, message, width)

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins."""
        return [0, *(at + 1 for at, character in enumerate(self._tokens.source) if character == "\n")]


class _Word(NamedTuple):
    """A word: its name in camel case, how it is called, and whether what it gives is to be awaited."""

    name: str
    form: str
    is_awaited: bool


_known_words: dict[str, _Word] = {}


def _words() -> dict[str, _Word]:
    """Return the words that are functions, by all their names, as the manual has them."""
    if not _known_words:
        for name, entry in manual(js=True, agents=("any",), tools=()).items():
            form = entry[0].removeprefix("await ")
            if "(" in form and "." not in form.split("(")[0]:
                word = _Word(name, form, entry[0] != form)
                snake = "".join(f"_{each.lower()}" if each.isupper() and name[0].islower() else each for each in name)
                _known_words.update({name: word, snake: word})
    return _known_words


def _within(spans: list[tuple[int, int]]) -> Callable[[int], bool]:
    """Return what tells whether a token lies in one of the spans."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    firsts = [first for first, _ in merged]

    def is_within(at: int) -> bool:
        place = bisect_right(firsts, at) - 1
        return place >= 0 and at <= merged[place][1]

    return is_within
