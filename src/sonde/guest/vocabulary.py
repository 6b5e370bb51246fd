"""The words that code in a Python cell can use.

One source for every Python: the confined interpreter runs it as it is, and so does Monty, so it keeps to what Monty
knows (no inheritance, no generators, no `async for`). The interpreter puts three functions beside it before it runs:
`host_call`, `host_call_now` and `host_call_all_now`. Each raises an error when the call fails. `world` is what it knows
of the run.
"""

import asyncio
import math
from typing import Any

host_call: Any
host_call_now: Any
host_call_all_now: Any
world: dict[str, Any]


class Amounts:
    """Amounts of each kind that the run counts; infinity where there is no limit."""

    def __init__(self, values: dict[str, float | None]) -> None:
        self.calls = _or_infinity(values["calls"])
        self.tokens = _or_infinity(values["tokens"])
        self.dollars = _or_infinity(values["dollars"])
        self.seconds = _or_infinity(values["seconds"])

    def __repr__(self) -> str:
        return f"calls={self.calls} tokens={self.tokens} dollars={self.dollars} seconds={self.seconds}"


class Budget:
    """What the run may spend, has spent, and has left."""

    def __init__(self, total: dict[str, float | None]) -> None:
        self.total = Amounts(total)

    def spent(self) -> Amounts:
        """What the run has spent so far."""
        return Amounts(host_call_now("budget", {})["spent"])

    def remaining(self) -> Amounts:
        """What the run has left."""
        return Amounts(host_call_now("budget", {})["remaining"])

    def __repr__(self) -> str:
        return f"Budget({self.total})"


async def llm(
    prompt: str,
    schema: dict[str, Any] | None = None,
    model: str | None = None,
    label: str | None = None,
    cache: bool = False,
) -> Any:
    """Ask a model once: it sees the prompt and nothing else. With a JSON schema the value is data, not text. With
    `cache` the answer is kept, and given again to the same question in this and later runs."""
    return await host_call("llm", _request(prompt, schema, model, label, cache))


def llm_query(prompt: str, model: str | None = None) -> str:
    """Ask a model once, and block until it answers."""
    return host_call_now("llm", _request(prompt, None, model, None))


def llm_query_batched(prompts: list[str], model: str | None = None) -> list[str]:
    """Ask a model many times at once, and block until all have answered."""
    return host_call_all_now("llm", [_request(prompt, None, model, None) for prompt in prompts])


async def gather(*work: Any, return_exceptions: bool = False) -> list[Any]:
    """Wait for all, in order. Unlike asyncio's, the others finish before the first error is raised."""
    outcomes = await asyncio.gather(*[settled(each) for each in bounded(_listed(work))])
    results: list[Any] = []
    for value, error in outcomes:
        if error is not None and not return_exceptions:
            raise error
        results.append(value if error is None else error)
    return results


async def parallel(*work: Any) -> list[Any]:
    """Wait for all, in order: calls, or functions that make one. What failed is None, and is told in the output."""
    outcomes = await asyncio.gather(*[settled(each) for each in bounded(_listed(work))])
    return without_failures("parallel", outcomes)


def final(value: Any) -> None:
    """Finish the run with this answer."""
    host_call_now("final", {"value": value})


async def run_stages(stages: Any, item: Any, index: int) -> tuple[Any, Any]:
    """Take one item through the stages of a pipeline; return its value, or the error that stopped it. A stage is given
    the value so far, and if it takes more, the item that it came from and its number."""
    value = item
    try:
        for stage in stages:
            value = stage(*[value, item, index][: takes(stage)])
            if not is_plain(value):
                value = await value
    except Exception as error:  # noqa: BLE001 - whatever stops an item is told, and the others go on
        return None, error
    return value, None


def takes(function: Any) -> int:
    """Return how many arguments a function needs, of three at most; 1 where that cannot be known."""
    try:
        code = function.__code__
        needed = code.co_argcount - len(function.__defaults__ or ()) - hasattr(function, "__self__")
    except AttributeError:
        return 1
    return min(max(needed, 1), 3)


async def pipeline_list(items: Any, stages: Any) -> list[Any]:
    """Take each item through the stages, all at once; return the values in order."""
    work = [run_stages(stages, item, number) for number, item in enumerate(bounded(items))]
    return without_failures("pipeline", await asyncio.gather(*work))


def bounded(items: Any) -> list[Any]:
    """List the items of one fan-out. Raises `ValueError` if there are more than are allowed."""
    most = world["most_items"]
    if most is None:
        return list(items)
    listed: list[Any] = []
    for item in items:
        listed.append(item)
        if len(listed) > most:
            is_sized = type(items).__name__ in _SIZED
            _close(items if is_sized else listed)
            raise too_many(f"{len(items)} items" if is_sized else f"more than {most} items")
    return listed


def too_many(count: str) -> ValueError:
    """Return the error of a fan-out that is too large."""
    most = world["most_items"]
    remedy = "take them in several, or fewer larger ones, or allow more with --max-items"
    return ValueError(f"{count} in one fan-out; at most {most} are allowed: {remedy}")


def without_failures(word: str, outcomes: Any) -> list[Any]:
    """Return the values, with None for what failed, which is told."""
    failed = [(number, error) for number, (_, error) in enumerate(outcomes) if error is not None]
    if failed:
        number, error = failed[0]
        print(f"{word}: {len(failed)} of {len(outcomes)} failed; the first, number {number}: {told(error)}")
    return [value for value, _ in outcomes]


async def settled(work: Any) -> tuple[Any, Any]:
    """Return what work comes to and no error, or None and its error."""
    try:
        return await (work() if type(work).__name__ in _FUNCTIONS else work), None
    except Exception as error:  # noqa: BLE001 - it is raised, or told, by whoever asked
        return None, error


def _listed(work: Any) -> Any:
    """Accept both f(a, b) and f([a, b])."""
    return work[0] if len(work) == 1 and type(work[0]).__name__ in _LISTS else work


def is_plain(value: Any) -> bool:
    """Whether there is nothing to wait for."""
    return type(value).__name__ not in _AWAITABLES


def told(error: Any) -> str:
    """Return an error as it is told in the output."""
    return f"{type(error).__name__}: {error}"


def _close(work: Any) -> None:
    """Give up work that was not begun."""
    for each in work:
        close = getattr(each, "close", None) if type(each).__name__ == "coroutine" else None
        if close is not None:
            close()


def _request(prompt: Any, schema: Any, model: str | None, label: str | None, cache: bool = False) -> dict[str, Any]:
    if not isinstance(prompt, str):
        raise TypeError(f"the prompt must be a str, not {type(prompt).__name__}")
    given = {"prompt": prompt, "schema": schema, "model": model, "label": label, "cache": cache or None}
    return {name: value for name, value in given.items() if value is not None}


def _or_infinity(value: float | None) -> float:
    return math.inf if value is None else value


_FUNCTIONS = ["function", "builtin_function_or_method", "method", "partial"]
_LISTS = ["list", "tuple", "generator", "map"]
_SIZED = ["list", "tuple", "range", "dict", "set", "str", "Pieces"]
_AWAITABLES = ["coroutine", "Future", "Task", "_GatheringFuture", "Pipeline"]
