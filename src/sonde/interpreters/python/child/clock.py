"""The run's clock in the place of the machine's, so that a replay sees the same time."""

import ctypes
import datetime
import gc
import os
import time
import uuid
from collections.abc import Callable
from typing import Any


def settle_clock(now: Callable[[], float], sleep: Callable[[float], None]) -> None:
    """Let all that tells the time tell what `now` gives."""

    def nanoseconds(*_: object) -> int:
        return round(now() * 1e9)

    def seconds(*_: object) -> float:
        return now()

    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime"):
        setattr(time, name, seconds)
        setattr(time, f"{name}_ns", nanoseconds)
    time.sleep = sleep
    for told in (time.localtime, time.gmtime, time.ctime):
        setattr(time, told.__name__, _at(now, told))
    for written in (time.asctime, time.strftime):
        setattr(time, written.__name__, _of_local_time(written))
    os.times = lambda: os.times_result((0.0, 0.0, 0.0, 0.0, now()))
    uuid.__dict__["_generate_time_safe"] = None  # it would ask the machine
    _settle_dates(now)


def _at(now: Callable[[], float], told: Callable[[float], Any]) -> Callable[..., Any]:
    def at(seconds: float | None = None, /) -> Any:
        return told(now() if seconds is None else seconds)

    return at


def _of_local_time(written: Callable[..., str]) -> Callable[..., str]:
    wanted = 1 if written is time.strftime else 0

    def of(*given: Any) -> str:
        return written(*given) if len(given) != wanted else written(*given, time.localtime())

    return of


def _settle_dates(now: Callable[[], float]) -> None:
    def at(kind: type[datetime.datetime], tz: datetime.tzinfo | None = None) -> datetime.datetime:
        return kind.fromtimestamp(now(), tz)

    def in_utc(kind: type[datetime.datetime]) -> datetime.datetime:
        return kind.fromtimestamp(now(), datetime.UTC).replace(tzinfo=None)

    # A type that is written in C lets nobody change it but through its own dictionary.
    members: dict[str, Any] = gc.get_referents(datetime.datetime.__dict__)[0]
    members["now"], members["utcnow"] = classmethod(at), classmethod(in_utc)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))
