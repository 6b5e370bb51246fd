"""The source that a Monty session begins with: what it makes of the guest's words and documents."""

import re
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

from sonde import guest
from sonde.guest import dataset, delegation, monty, patterns, vocabulary

HOST, WORLD = "sonde_host_", "sonde_world_"

_FOLDER = Path(guest.__file__).parent
_WORDS = {
    "llm": "llm",
    "task": "task",
    "llm_query": "llm_query",
    "llm_query_batched": "llm_query_batched",
    "gather": "gather",
    "parallel": "parallel",
    "pipeline": "pipeline",
    "budget": "Budget(world['budget'])",
    "rlm": "rlm",
    "rlm_query": "rlm_query",
    "rlm_query_batched": "rlm_query_batched",
    "workflow": "workflow",
    "fan_out": "fan_out",
    "classify_and_act": "classify_and_act",
    "verify": "verify",
    "generate_and_filter": "generate_and_filter",
    "tournament": "tournament",
    "loop_until_done": "loop_until_done",
    "grep": "grep",
    "chunk": "chunk",
    "partition": "partition",
    "map_items": "map_items",
    "reduce_items": "reduce_items",
    "prior_search": "prior_search",
    "phase": "phase",
    "log": "log",
    "save": "save",
    "results": "results",
    "tools": "Tools(world['tools'])",
    "args": "world['args']",
    "help": "give_help",
    "FINAL": "final",
    "FINAL_VAR": "final_var",
    "TaskError": "RuntimeError",
    "len": "length",
    "inputs": "Inputs(documents[:-1])",
    "context": "documents[-1] if world['context'] is None else world['context']",
}


_MODULES = ("vocabulary.py", "delegation.py", "patterns.py", "dataset.py", "monty.py")
_PYTHON = (vocabulary, delegation, patterns, dataset, monty)
_BETWEEN = re.compile(r"^from \.\w* import (?:\([^)]*\)|.*)$", re.MULTILINE)
"""What they import of each other: here they are one."""


def source(show: str, *, with_task: bool) -> str:
    """Return the source; `show` is the name that the function which shows values gets."""
    words = [word for word in _WORDS if with_task or word != "task"]
    return "\n".join(
        (
            _maker(),
            f"sonde_made_ = sonde_make_({HOST}, {WORLD})",
            *(f"{word} = sonde_made_[{word!r}]" for word in words),
            f"{show} = sonde_made_['show']",
            f"sonde_make_ = sonde_made_ = {HOST} = {WORLD} = None",
        )
    )


@cache
def _maker() -> str:
    """Return a function that makes the words. All else in it is out of the reach of cells."""
    body = "\n".join(_BETWEEN.sub("", (_FOLDER / name).read_text(encoding="utf-8")) for name in _MODULES)
    made = ", ".join(f"{word!r}: {value}" for word, value in _WORDS.items())
    last = (
        "numbered = list(enumerate(world['documents']))",
        "documents = [Document(number if number < len(numbered) - 1 else -1, told) for number, told in numbered]",
        f"return {{{made}, 'show': show}}",
    )
    return "\n".join(("def sonde_make_(host, world):", indent("\n".join((body, *last)), "    ")))


def functions() -> dict[str, Any]:
    """Return the words that are functions, as this Python has them: what they take is the same."""
    there = {name: each for module in _PYTHON for name, each in vars(module).items() if callable(each)}
    return {word: there[value] for word, value in _WORDS.items() if value in there}
