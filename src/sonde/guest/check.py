"""What is wrong with a Python cell, told before it runs and for nothing: with the line, and the remedy.

It tells only what would surely fail, or surely do nothing; what cannot be known is let pass. The words are looked at
as they are, so what is told of them cannot differ from what they take.
"""

import ast
import builtins
import inspect
import sys
import warnings
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from types import CodeType
from typing import Any, NamedTuple, cast

from .refusal import MOST_TOLD, Problem, bare, meant, remedy_for_schema
from .shapes import fault_of
from .signatures import fields_of, gives_at_once, is_awaited, is_text, more_of, plainly, signature_of
from .survey import Place, Survey, Used, is_caught

LONGEST = 200_000
"""Code of more characters is not checked: it is no cell that anybody wrote."""

_NAMES_TAKE_VALUES = """
print str repr len int float bool bytes sorted sum min max list tuple set dict iter next
"""
_TAKE_VALUES = frozenset(_NAMES_TAKE_VALUES.split())
_NAMES_TAKE_DATA = """
FINAL save log phase llm task rlm llm_query rlm_query llm_query_batched rlm_query_batched
"""
_TAKE_DATA = frozenset(_NAMES_TAKE_DATA.split())
_JSON = frozenset({"dumps", "dump", "loads"})
_HANDED_ON = frozenset({"map", "filter", "gather", "create_task", "wait_for", "to_thread"})
_SCHEMAS = ("schema", "response_schema")
_WORKERS = ("worker", "classifier", "verifier", "generate", "score", "judge", "step", "combine", "look", "synthesize")
_AGENT = "subagent_type"
_NEVER = "NeverAwaited"
_MOST_GUESSES, _LONGEST_NAME = 10, 60

_BUILT_IN = vars(builtins)

Name = ast.Name
Call = ast.Call


class Known(NamedTuple):
    """What code finds when it runs. `variables` is None where they cannot be seen; then `hidden` are the names that
    earlier cells have used for themselves."""

    words: Mapping[str, Any]
    variables: Mapping[str, Any] | None
    agents: tuple[str, ...] = ()
    hidden: Container[str] = frozenset[str]()


def check(code: str, known: Known, tree: ast.Module | None = None) -> list[Problem]:
    """Return what is wrong with a cell, in the order of its lines. `tree` is its own, if there is one already. Raises
    `SyntaxError`, or whatever else the compiler raises."""
    if len(code) > LONGEST:
        return []
    seen = Survey(parsed(code) if tree is None else tree)
    if seen.is_dynamic:
        return []
    found = set(_Check(seen, known).problems())
    return sorted(found, key=lambda each: (each.line, each.column))[:MOST_TOLD]


def parsed(code: str) -> ast.Module:
    """Return the tree of a cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(code, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def needs_no_look(code: CodeType, known: Known) -> bool:
    """Whether nothing can be wrong with an expression: it has no names, or they are there and none is a word."""
    if any(isinstance(each, CodeType) for each in code.co_consts):
        return False
    variables = known.variables or {}
    return all(name in variables or (name in _BUILT_IN and name not in known.words) for name in code.co_names)


class _Check:
    """Holds what is seen in a cell against what is known."""

    def __init__(self, seen: Survey, known: Known) -> None:
        self._seen = seen
        self._known = known
        self._coroutines: dict[str, bool] = {}
        self._guesses = _MOST_GUESSES
        self._reads = Counter(node.id for node, _ in seen.reads)

    def problems(self) -> Iterator[Problem]:
        """Yield all that is wrong."""
        if self._known.variables is not None and not self._seen.deletes:
            yield from self._unknown_names(self._known.variables)
        else:
            yield from self._misspelt_words()
        for call, place in self._seen.calls:
            if isinstance(call.func, Name) and self._is_word(call.func.id):
                yield from self._wrong_call(call.func.id, call, place)
            elif isinstance(call.func, ast.Attribute) and self._known.variables is not None:
                yield from self._second_loop(call, call.func, place)
        yield from self._unknown_members()
        yield from self._never_awaited()
        yield from self._awaited_in_vain()

    def _is_word(self, name: str) -> bool:
        """Whether a name is a word's and nothing else's."""
        known = self._known
        is_hidden = name in self._seen.bound or name in known.hidden or name in (known.variables or ())
        return name in known.words and not is_hidden

    # --- Names --------------------------------------------------------------------------------------------------

    def _unknown_names(self, variables: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the first use of each name that nothing defines, in what runs with the cell."""
        seen = self._seen
        unknown = [
            (node, place)
            for node, place in seen.reads
            if node.id not in _BUILT_IN and node.id not in variables and node.id not in seen.bound
        ]
        if not unknown:
            return
        running, told = seen.running(self._hands_over), set[str]()
        called = {call.func.id for call, _ in seen.calls if isinstance(call.func, Name)}
        for node, place in sorted(unknown, key=lambda each: (each[0].lineno, each[0].col_offset)):
            if place.owner in running and node.id not in told and not is_caught("NameError", place):
                told.add(node.id)
                yield _problem(node, "NameError", self._no_such_name(node.id, node.id in called, variables))

    def _no_such_name(self, name: str, is_called: bool, variables: Mapping[str, Any]) -> str:
        told = f"name {name[:_LONGEST_NAME]!r} is not defined"
        if name in sys.modules and "." not in name and name not in self._known.words:
            return f"{told}: write `import {name}` first"
        if name in {"task", "rlm"}:
            return f"{told}: code cannot send subagents here, use `llm(...)`"
        near = self._meant(name, [*self._seen.bound, *variables, *self._known.words, *_BUILT_IN])
        if near:
            return f"{told}: did you mean `{near}`?"
        words = "; help() lists the words" if is_called else ""
        return f"{told}: nothing in this cell or before it defines it{words}"

    def _meant(self, name: str, names: Iterable[str]) -> str | None:
        """Return the name that was meant. Guessing takes time, so it is done for some names only."""
        self._guesses -= 1
        return meant(name, names) if self._guesses >= 0 else None

    def _misspelt_words(self) -> Iterator[Problem]:
        """Yield calls of what is a word's name but for capitals and underscores, where variables cannot be seen."""
        words, taken = {bare(word): word for word in self._known.words}, self._known.hidden
        for call, place in self._seen.calls:
            name = call.func.id if isinstance(call.func, Name) else ""
            word = words.get(bare(name))
            is_known = name in self._seen.bound or name in taken or name in (self._known.variables or ())
            is_there = name in self._known.words or name in _BUILT_IN
            if word and not is_there and not is_known and place.owner is None and not is_caught("NameError", place):
                yield _problem(call, "NameError", f"name {name!r} is not defined: did you mean `{word}`?")

    def _unknown_members(self) -> Iterator[Problem]:
        """Yield what is asked of a word that is no function, and is not there: a tool, say."""
        for node, place in self._seen.members:
            name = node.value.id if isinstance(node.value, Name) else ""
            word = self._known.words[name] if self._is_word(name) else None
            if not type(word).__module__.startswith("sonde.") or node.attr in (there := dir(word)):
                continue
            if isinstance(node.ctx, ast.Load) and not is_caught("AttributeError", place):
                there = [each for each in there if not each.startswith("_")]
                near = self._meant(node.attr, there)
                remedy = f"did you mean `{name}.{near}`?" if near else f"it has {', '.join(there) or 'none'}"
                yield _problem(node, "AttributeError", f"there is no `{name}.{node.attr}`: {remedy}")

    # --- Calls of words -----------------------------------------------------------------------------------------

    def _wrong_call(self, word: str, call: Call, place: Place) -> Iterator[Problem]:
        signature = signature_of(self._known.words[word])
        if signature is None or any(isinstance(each, ast.Starred) for each in call.args):
            return
        given = {each.arg: each.value for each in call.keywords if each.arg is not None}
        if len(given) < len(call.keywords):  # `**` holds some of them
            return
        try:
            bound = signature.bind(*call.args, **given).arguments
        except TypeError as error:
            if not is_caught("TypeError", place):
                unknown = [each for each in given if each not in signature.parameters]
                near = self._meant(unknown[0], signature.parameters) if unknown else None
                remedy = f"did you mean `{near}`?" if near else f"write `{word}{plainly(signature)}`"
                yield _problem(call, "TypeError", f"{word}(): {_said(error)}: {remedy}")
            return
        fields = fields_of(signature, bound)
        yield from self._unknown_fields(word, call, fields, place)
        for name in (_AGENT, *_WORKERS):
            yield from self._wrong_agent(fields.get(bare(name)), place)
        for name in _SCHEMAS:
            if bare(name) in fields:
                yield from self._wrong_schema(fields[bare(name)], place)

    def _unknown_fields(self, word: str, call: Call, fields: dict[str, ast.expr], place: Place) -> Iterator[Problem]:
        """Yield what is not known to a word that takes whatever it is given, or all in one dict, and looks itself."""
        signature = signature_of(self._known.words[word])
        if signature is None or not more_of(signature) or is_caught("TypeError", place):
            return
        taken = {bare(each): each for each in signature.parameters}
        for name, node in fields.items():
            if name not in taken:
                near = self._meant(name, taken.values())
                remedy = f"did you mean `{near}`?" if near else f"it takes {', '.join(list(taken.values())[:-1])}"
                yield _problem(node, "TypeError", f"{word}() takes no {name!r}: {remedy}")
        first = next(iter(taken))
        written = call.args[0] if call.args else None
        if isinstance(written, ast.Dict) and all(map(is_text, written.keys)) and first not in fields:
            yield _problem(
                written, "TypeError", f"{word}() is given no {taken[first]!r}: add it, with what is to be done"
            )

    def _wrong_agent(self, node: ast.expr | None, place: Place) -> Iterator[Problem]:
        agents = self._known.agents
        name = str(node.value) if is_text(node) else None
        if node is None or name is None or not agents or name in agents or is_caught("TaskError", place):
            return
        yield _problem(node, "TaskError", no_such_agent(name, agents, self._meant(name, agents)))

    def _wrong_schema(self, node: ast.expr, place: Place) -> Iterator[Problem]:
        """Yield what is wrong with a schema that is written out, or that a name stands for which is only handed on."""
        name = node.id if isinstance(node, Name) else ""
        written = self._seen.literals.get(name) if self._seen.bound[name] == 1 else None
        try:
            schema = ast.literal_eval(written or node)
        except (ValueError, TypeError, SyntaxError):
            return
        fault = fault_of(cast("dict[str, Any]", schema)) if isinstance(schema, dict) else None
        if fault and not is_caught("SchemaError", place) and not (name and self._is_changed(name)):
            yield _problem(node, "SchemaError", remedy_for_schema(fault))

    def _is_changed(self, name: str) -> bool:
        """Whether a name stands for something that may be changed after it was written."""
        return self._handed[name] < self._reads[name]

    @cached_property
    def _handed(self) -> Counter[str]:
        """How often each name is handed to a call as it is."""
        given = (each for call, _ in self._seen.calls for each in _given_to(call))
        return Counter(each.id for each in given if isinstance(each, Name))

    def _second_loop(self, call: Call, func: ast.Attribute, place: Place) -> Iterator[Problem]:
        """Yield `asyncio.run()` where it cannot be: in a cell that awaits something itself."""
        is_run = func.attr == "run" and isinstance(func.value, Name) and func.value.id == "asyncio"
        runs_in_loop = isinstance(place.owner, ast.AsyncFunctionDef) or (place.owner is None and self._seen.awaits)
        if (is_run or func.attr == "run_until_complete") and runs_in_loop and not is_caught("RuntimeError", place):
            told = f"`{'asyncio.run' if is_run else 'run_until_complete'}()` cannot be used beside `await`"
            yield _problem(
                call, "RuntimeError", f"{told}: write `await {_shortly(call.args[0] if call.args else None)}`"
            )

    # --- Awaiting -----------------------------------------------------------------------------------------------

    def _never_awaited(self) -> Iterator[Problem]:
        for used in self._all_used():
            if used.dropped and (each := self._each_pending(used.value)) is not None:
                told = f"these calls of {_shortly(each.func)}() are never awaited, so they do nothing"
                yield _problem(each, _NEVER, f"{told}: {self._remedy(each, used.place, 'await gather(*[...])')}")
            call = self._pending(used.value)
            if call is not None:
                yield _problem(call, _NEVER, self._how_to_await(call, used))
        for name, call, place in self._seen.assigned:
            if self._pending(call) is None or self._seen.bound[name] != 1 or self._is_kept(name):
                continue
            remedy = self._remedy(call, place, f"{name} = await {_shortly(call)}")
            yield _problem(call, _NEVER, f"{_shortly(call.func)}() is never awaited: {remedy}")

    def _all_used(self) -> Iterator[Used]:
        yield from self._seen.used
        for call, place in self._seen.calls:
            func = call.func
            if isinstance(func, Name) and (func.id in _TAKE_VALUES or func.id in _TAKE_DATA):
                takes = func.id not in self._seen.bound
            else:
                takes = isinstance(func, ast.Attribute) and func.attr in _JSON
            if takes:
                yield from (Used(each, place) for each in _given_to(call))

    def _pending(self, node: ast.expr) -> Call | None:
        """Return a call whose outcome is there only once it is awaited; None for all else."""
        if not isinstance(node, Call):
            return None
        func = node.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, Name) and self._is_word(func.value.id):
            return node if is_awaited(getattr(self._known.words[func.value.id], func.attr, None)) else None
        return node if isinstance(func, Name) and self._is_coroutine(func.id) else None

    def _each_pending(self, node: ast.expr) -> Call | None:
        """Return such a call if a list is made of them."""
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self._pending(node.elt)
        if isinstance(node, ast.List | ast.Tuple | ast.Set) and node.elts:
            return self._pending(node.elts[0])
        return None

    def _is_coroutine(self, name: str) -> bool:
        found = self._coroutines.get(name)
        if found is None:
            found = self._coroutines[name] = self._makes_coroutine(name)
        return found

    def _makes_coroutine(self, name: str) -> bool:
        if self._is_word(name):
            return is_awaited(self._known.words[name])
        if name in self._seen.bound:
            defined = self._seen.functions[name]
            is_one = len(defined) == 1 and self._seen.bound[name] == 1 and isinstance(defined[0], ast.AsyncFunctionDef)
            return is_one and defined[0] not in self._seen.generators
        return inspect.iscoroutinefunction((self._known.variables or {}).get(name))

    def _is_kept(self, name: str) -> bool:
        """Whether a name is used in a way in which something that waits can be."""
        return self._at_once[name] < self._reads[name]

    @cached_property
    def _at_once(self) -> Counter[str]:
        """How often each name is used as a value that is there."""
        return Counter(used.value.id for used in self._all_used() if isinstance(used.value, Name))

    def _how_to_await(self, call: Call, used: Used) -> str:
        name, written = _shortly(call.func), _shortly(call)
        if used.dropped:
            return (
                f"{name}() is never awaited, so it does nothing: {self._remedy(call, used.place, f'await {written}')}"
            )
        return f"{name}() is used before it is awaited: {self._remedy(call, used.place, f'(await {written})')}"

    def _remedy(self, call: Call, place: Place, awaited: str) -> str:
        """Return what to write. Only in a coroutine, or in no function at all, can something be awaited."""
        if place.owner is None or isinstance(place.owner, ast.AsyncFunctionDef):
            return f"write `{awaited}`"
        blocking = f"{_shortly(call.func)}_query"
        if blocking in self._known.words:
            return f"write `{blocking}(...)`, or make the function `async def` and write `{awaited}`"
        return f"make the function `async def` and write `{awaited}`"

    def _awaited_in_vain(self) -> Iterator[Problem]:
        for call, place in self._seen.awaited:
            word = call.func.id if isinstance(call.func, Name) else ""
            if self._is_word(word) and gives_at_once(self._known.words[word]) and not is_caught("TypeError", place):
                waiting = word.removesuffix("_query")
                other = f", or write `await {waiting}(...)`" if waiting != word and waiting in self._known.words else ""
                yield _problem(call, "TypeError", f"{word}() gives its value at once: leave out `await`{other}")

    def _hands_over(self, call: Call) -> bool:
        """Whether a call hands its arguments to something that calls them."""
        func = call.func
        name = func.id if isinstance(func, Name) else func.attr if isinstance(func, ast.Attribute) else ""
        return name in _HANDED_ON or (isinstance(func, Name) and self._is_word(name))


def no_such_agent(name: str, agents: Iterable[str], near: str | None) -> str:
    """Return that there is no such subagent, and which there are."""
    hint = f"; did you mean {near!r}?" if near else ""
    return f"unknown_agent: unknown agent {name!r}; known: {', '.join(agents)}{hint}"


def _given_to(call: Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (each.value for each in call.keywords)


def _said(error: TypeError) -> str:
    """Return what `Signature.bind` says, in words that fit what is written."""
    return str(error).replace("a required argument", "the argument").replace("got an unexpected keyword", "takes no")


def _shortly(node: ast.AST | None) -> str:
    """Return the name of what is called, or a call without what it is given."""
    if isinstance(node, Call):
        return f"{_shortly(node.func)}({'...' if node.args or node.keywords else ''})"
    if isinstance(node, ast.Attribute) and isinstance(node.value, Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, Name) else "..."


def _problem(node: ast.expr, kind: str, message: str) -> Problem:
    same_line = node.end_lineno == node.lineno and node.end_col_offset is not None
    width = node.end_col_offset - node.col_offset if same_line and node.end_col_offset is not None else 1
    return Problem(node.lineno, node.col_offset, kind, message, width)
