"""What can be done with a text or a list as with any data set: search it, cut it, map it, reduce it.

As `vocabulary.py`, this runs in every Python and keeps to what Monty knows. The interpreter puts `document_of` beside
it, which gives a document for a text, for a document itself, and for None, which means all inputs.
"""

import asyncio
from typing import Any

from .patterns import as_text, told_apart, work
from .vocabulary import bounded, gather, llm, settled, without_failures

document_of: Any


def grep(pattern: Any, source: Any = None, before: int = 20, after: int = 20) -> list[Any]:
    """Return the lines of a text or document where a pattern matches; each one's `excerpt` has the lines around it."""
    document = document_of(source)
    return document.grep(pattern, before, after)


def chunk(source: Any = None, by: str = "auto", size: int | None = None, overlap: int = 0) -> Any:
    """Cut a text or document into pieces: by "lines", "section", "function" or "chars", or as its text suggests."""
    document = document_of(source)
    return document.chunks(by, size, overlap)


def partition(items: Any, by: Any = None, size: int | None = None) -> Any:
    """Return the items in lists of `size`; or as a dict, by what a function or a field's name gives for each."""
    if type(by).__name__ == "int" and size is None:
        by, size = None, by
    if (by is None) == (size is None) or (size is not None and size < 1):
        raise ValueError("partition: give a size above 0, or what to part by")
    listed = list(items)
    if size is not None:
        return [listed[at : at + size] for at in range(0, len(listed), size)]
    groups: dict[Any, list[Any]] = {}
    for item in listed:
        name = told_apart(item, by)
        groups.setdefault(name, []).append(item)
    return groups


async def map_items(items: Any, worker_or_prompt: Any, schema: dict[str, Any] | None = None) -> list[Any]:
    """Do the same with each item, all at once: a function, or a prompt with `{item}` in it, which a model is asked."""
    if isinstance(worker_or_prompt, str):
        if "{item}" not in worker_or_prompt:
            raise ValueError("map_items: the prompt has no {item}, where each item is to stand")
        asking = [settled(llm(worker_or_prompt.replace("{item}", as_text(item)), schema)) for item in bounded(items)]
    elif schema is not None:
        raise ValueError("map_items: a schema is for a prompt; give it to llm in the function")
    else:
        asking = [settled(work(worker_or_prompt, [item])) for item in bounded(items)]
    return without_failures("map_items", await asyncio.gather(*asking))


async def reduce_items(items: Any, combine: Any, start: Any = None, batch: int | None = None) -> Any:
    """Make one of many: `combine(a, b)` from the first on; or with `batch`, `combine` of a list of so many at once,
    and of what that gave, until one is left."""
    left = list(items) if start is None else [start, *items]
    if batch is None:
        if not left:
            return None
        value = left[0]
        for item in left[1:]:
            value = await work(combine, [value, item])
        return value
    if batch < 2:
        raise ValueError(f"reduce_items: batch={batch}: at least two must be combined")
    while len(left) > 1:
        groups = [left[at : at + batch] for at in range(0, len(left), batch)]
        left = await gather([_combined(combine, group) for group in groups])
    return left[0] if left else None


async def _combined(combine: Any, group: list[Any]) -> Any:
    return group[0] if len(group) == 1 else await work(combine, [group])


async def prior_search(likely: Any, rest: Any, look: Any) -> list[Any]:
    """Look into the likely places first, and into the rest only if nothing was found there. Return pairs of a place
    and what `look` found in it."""
    for places in [likely, rest]:
        listed = bounded(places)
        outcomes = await asyncio.gather(*[settled(work(look, [place])) for place in listed])
        values = without_failures("prior_search", outcomes)
        found = [(listed[at], value) for at, value in enumerate(values) if value]
        if found:
            return found
    return []
