"""The source that a Monty session begins with: what it makes of the guest's words and documents."""

from functools import cache
from pathlib import Path
from textwrap import indent

from sonde import guest

HOST, WORLD = "sonde_host_", "sonde_world_"

_FOLDER = Path(guest.__file__).parent
_WORDS = {
    "llm": "llm",
    "llm_query": "llm_query",
    "llm_query_batched": "llm_query_batched",
    "gather": "gather",
    "parallel": "parallel",
    "pipeline": "pipeline",
    "budget": "Budget(world['budget'])",
    "FINAL": "final",
    "FINAL_VAR": "final_var",
    "TaskError": "RuntimeError",
    "len": "length",
    "inputs": "Inputs(documents[:-1])",
    "context": "documents[-1] if world['context'] is None else world['context']",
}


def source(show: str) -> str:
    """Return the source; `show` is the name that the function which shows values gets."""
    return "\n".join(
        (
            _maker(),
            f"sonde_made_ = sonde_make_({HOST}, {WORLD})",
            *(f"{word} = sonde_made_[{word!r}]" for word in _WORDS),
            f"{show} = sonde_made_['show']",
            f"sonde_make_ = sonde_made_ = {HOST} = {WORLD} = None",
        )
    )


@cache
def _maker() -> str:
    """Return a function that makes the words. All else in it is out of the reach of cells."""
    body = "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in ("vocabulary.py", "monty.py"))
    made = ", ".join(f"{word!r}: {value}" for word, value in _WORDS.items())
    last = (
        "numbered = list(enumerate(world['documents']))",
        "documents = [Document(number if number < len(numbered) - 1 else -1, told) for number, told in numbered]",
        f"return {{{made}, 'show': show}}",
    )
    return "\n".join(("def sonde_make_(host, world):", indent("\n".join((body, *last)), "    ")))
