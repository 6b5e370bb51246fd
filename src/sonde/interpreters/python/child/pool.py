"""Pools of threads, where no thread can be started."""

import concurrent.futures
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class PoolOfOne(Executor):
    """Stands in for `ThreadPoolExecutor`: what is submitted runs at once, to its end."""

    def __init__(
        self,
        max_workers: int | None = None,
        thread_name_prefix: str = "",
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        self._shut = False
        if initializer is not None:
            initializer(*initargs)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function and return its outcome. Raises `RuntimeError` after the end of the pool."""
        if self._shut:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asks for the result
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more."""
        self._shut = True


def offer_pool() -> None:
    """Put it where code looks for pools of threads."""
    for module in (concurrent.futures, concurrent.futures.thread):
        module.__dict__["ThreadPoolExecutor"] = PoolOfOne
