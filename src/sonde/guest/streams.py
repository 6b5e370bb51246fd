"""A pipeline that is a stream too: `async for` takes its values one by one, however many items there are."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sized
from itertools import islice
from typing import Any

from . import vocabulary

_WINDOW = 1000
_REFILL = 100  # at once, so that their calls share frames


class Pipeline:
    """Items on their way through stages. `await` gives the list of values; `async for` gives them in order, with no
    more than a window of items under way. What failed is None, and is told in the output."""

    def __init__(self, items: Iterable[Any], *stages: Callable[[Any], Any]) -> None:
        self._items = items
        self._stages = stages

    def __await__(self) -> Generator[Any, None, list[Any]]:
        return vocabulary.pipeline_list(self._items, self._stages).__await__()

    async def __aiter__(self) -> AsyncIterator[Any]:
        under_way: deque[asyncio.Task[tuple[Any, Any]]] = deque()
        failures: list[Any] = []
        total = 0
        most = vocabulary.world["most_items"]
        # Those that can be counted beforehand are refused before anything is sent.
        items = iter(vocabulary.bounded(self._items) if isinstance(self._items, Sized) else self._items)
        while True:
            if len(under_way) <= _WINDOW - _REFILL:
                more = list(islice(items, _WINDOW - len(under_way)))
                total += len(more)
                if most is not None and total > most:
                    raise vocabulary.too_many(f"more than {most} items")
                numbered = enumerate(more, total - len(more))
                begun = [vocabulary.run_stages(self._stages, item, number) for number, item in numbered]
                under_way.extend(map(asyncio.create_task, begun))
            if not under_way:
                break
            yield await _next(under_way, total, failures)
        if failures:
            print(f"pipeline: {len(failures)} of {total} failed; the first: {failures[0]}")


async def _next(under_way: deque[asyncio.Task[tuple[Any, Any]]], total: int, failures: list[Any]) -> Any:
    number = total - len(under_way)
    value, error = await under_way.popleft()
    if error is not None:
        failures.append(f"number {number}: {type(error).__name__}: {error}")
    return value
