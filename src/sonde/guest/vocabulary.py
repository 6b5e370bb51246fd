"""The words that code in a cell can use. One source for every Python; `host` is given by the interpreter."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple


class Host(NamedTuple):
    """How the words reach the host. Each way raises `TaskError` when the call fails."""

    call: Callable[[str, dict[str, Any]], Awaitable[Any]]
    """Call and wait without blocking."""
    call_now: Callable[[str, dict[str, Any]], Any]
    """Call and block."""
    call_all_now: Callable[[str, list[dict[str, Any]]], list[Any]]
    """Make many calls at once and block until all are answered."""


class Amounts(NamedTuple):
    """Amounts of each kind that the run counts; infinity where there is no limit."""

    calls: float
    tokens: float
    dollars: float
    seconds: float


class Budget:
    """What the run may spend, has spent, and has left."""

    def __init__(self, host: Host, total: dict[str, float | None]) -> None:
        self._host = host
        self.total = _amounts(total)

    def spent(self) -> Amounts:
        """What the run has spent so far."""
        return _amounts(self._host.call_now("budget", {})["spent"])

    def remaining(self) -> Amounts:
        """What the run has left."""
        return _amounts(self._host.call_now("budget", {})["remaining"])

    def __repr__(self) -> str:
        return f"Budget(spent={self.spent()}, total={self.total})"


def words(host: Host, budget: dict[str, float | None], variables: dict[str, Any]) -> dict[str, Any]:
    """Return the words by name. `variables` are the cell's, for those words that look them up."""

    async def llm(
        prompt: str,
        schema: dict[str, Any] | None = None,
        model: str | None = None,
        label: str | None = None,
    ) -> Any:
        """Ask a model once: it sees the prompt and nothing else. With a JSON schema the value is data, not text."""
        return await host.call("llm", _request(prompt, schema, model, label))

    def llm_query(prompt: str, model: str | None = None) -> str:
        """Ask a model once, and block until it answers."""
        return host.call_now("llm", _request(prompt, None, model, None))

    def llm_query_batched(prompts: list[str], model: str | None = None) -> list[str]:
        """Ask a model many times at once, and block until all have answered."""
        return host.call_all_now("llm", [_request(prompt, None, model, None) for prompt in prompts])

    def final(value: Any) -> None:
        """Finish the run with this answer."""
        host.call_now("final", {"value": value})

    def final_var(name: str) -> None:
        """Finish the run with the value of a variable."""
        if name not in variables:
            raise NameError(f"FINAL_VAR: there is no variable {name!r}")
        final(variables[name])

    return {
        "llm": llm,
        "llm_query": llm_query,
        "llm_query_batched": llm_query_batched,
        "gather": gather,
        "FINAL": final,
        "FINAL_VAR": final_var,
        "budget": Budget(host, budget),
    }


async def gather(*awaitables: Any, return_exceptions: bool = False) -> list[Any]:
    """Wait for all, in order. Unlike asyncio's, the others finish before the first error is raised."""
    given: Any = awaitables[0] if len(awaitables) == 1 and _is_listed(awaitables[0]) else awaitables
    results: list[Any] = await asyncio.gather(*given, return_exceptions=True)
    if not return_exceptions:
        for result in results:
            if isinstance(result, BaseException):
                raise result
    return results


def _is_listed(given: Any) -> bool:
    return isinstance(given, list | tuple)


def _request(prompt: object, schema: dict[str, Any] | None, model: str | None, label: str | None) -> dict[str, Any]:
    if not isinstance(prompt, str):
        raise TypeError(f"the prompt must be a str, not {type(prompt).__name__}")
    given = {"prompt": prompt, "schema": schema, "model": model, "label": label}
    return {name: value for name, value in given.items() if value is not None}


def _amounts(values: dict[str, float | None]) -> Amounts:
    return Amounts(*(math.inf if (value := values[name]) is None else value for name in Amounts._fields))
