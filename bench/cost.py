"""What a run's tasks cost: beside the same run without any, in this process, with the interpreters it started apart."""

import resource
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple


class Spent(NamedTuple):
    """Seconds: processor time of this process with its threads, that of children which have ended, and wall time."""

    own: float
    children: float
    wall: float


class Each(NamedTuple):
    """Milliseconds that one task takes."""

    host_ms: float
    interpreter_ms: float
    wall_ms: float

    @property
    def cpu_ms(self) -> float:
        """The processor time of both."""
        return self.host_ms + self.interpreter_ms


def of_each(run: Callable[[int], object], number: int, times: int) -> Each:
    """Run it without tasks and with `number` of them, and return the difference of the medians for each task."""
    run(10)
    none = [_took(run, 0) for _ in range(5)]
    some = [_took(run, number) for _ in range(times)]
    return Each(*[(_middle(some, n) - _middle(none, n)) / number * 1000 for n in range(len(Spent._fields))])


def _took(run: Callable[[int], object], number: int) -> Spent:
    before = _spent()
    run(number)
    return Spent(*[now - then for now, then in zip(_spent(), before, strict=True)])


def _spent() -> Spent:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Spent(own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime, time.perf_counter())


def _middle(runs: list[Spent], figure: int) -> float:
    return median(each[figure] for each in runs)
