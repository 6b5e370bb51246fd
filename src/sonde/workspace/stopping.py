"""Work in a thread that stops soon after nobody waits for it any more."""

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from sonde.errors import TaskError

P = ParamSpec("P")
R = TypeVar("R")

_stop: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


async def in_thread(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    """Return what work in a thread of its own comes to. If that is cancelled, `go_on` ends the work."""
    stop = threading.Event()
    before = _stop.set(stop)  # the thread is given a copy
    try:
        return await asyncio.to_thread(work, *args, **named)
    except asyncio.CancelledError:
        stop.set()
        raise
    finally:
        _stop.reset(before)


def go_on() -> None:
    """Raise `TaskError` if nobody waits for this work any more: to be called now and then in what may take long."""
    stop = _stop.get()
    if stop is not None and stop.is_set():
        raise TaskError("cancelled", "nobody waits for this any more")
