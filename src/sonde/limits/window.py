"""How many requests may be on the wire to one endpoint: a fixed number, or one that is found by trying."""

import math
from collections.abc import Callable
from typing import Protocol

CEILING = 1024

_GROWN = 1.25
_WORTH = 0.2
_REST_ROUNDS = 20


class Window(Protocol):
    """Decides how many. It is told how each request ended, and when that began."""

    @property
    def size(self) -> int:
        """How many may be on the wire now."""
        ...

    def succeeded(self, began: float, *, crowded: bool) -> None:
        """Note an answer to what began then; `crowded` tells whether as many as may be were on the wire."""
        ...

    def overloaded(self, began: float) -> None:
        """Note that a request, begun at that time, was refused because there are too many."""
        ...


class FixedWindow:
    """A number that somebody chose."""

    def __init__(self, size: int) -> None:
        self.size = size

    def succeeded(self, began: float, *, crowded: bool) -> None:
        """It changes nothing."""

    def overloaded(self, began: float) -> None:
        """It changes nothing."""


class AdaptiveWindow:
    """One more for each answer until the first overload, so it doubles in each round; then one more a round. It stops
    growing when that brings no more answers a second, and halves on overload, once for all who were on the wire."""

    def __init__(self, start: int, clock: Callable[[], float]) -> None:
        self.size = start
        self._clock = clock
        self._doubling = True
        self._credit = 0
        self._halved_at = -1.0
        self._round_began: float | None = clock()
        self._round_size = start
        self._answers = 0
        self._reference: tuple[int, float] | None = None
        self._rest = 0

    def succeeded(self, began: float, *, crowded: bool) -> None:
        """Note an answer; one from before the last overload tells nothing of what the window is now."""
        if began <= self._halved_at:
            return
        if self._round_began is None:
            self._begin_round()
        self._answers += 1
        if self._answers > self._round_size:
            self._end_round(self._round_began or 0.0)
        if crowded and not self._rest and self.size < CEILING:
            self._credit += 1
            if self._doubling or self._credit >= self.size:
                self.size += 1
                self._credit = 0

    def overloaded(self, began: float) -> None:
        """Note an overload; those who were on the wire at the last one tell nothing new."""
        if began <= self._halved_at:
            return
        self._halved_at = self._clock()
        self._doubling = False
        self.size = max(1, self.size // 2)
        self._reference = self._round_began = None

    def _begin_round(self) -> None:
        self._round_began, self._round_size, self._answers = self._clock(), self.size, 0

    def _end_round(self, began: float) -> None:
        """Compare the answers a second with those of a smaller window."""
        took = self._clock() - began
        rate = self._answers / took if took > 0 else math.inf
        if self._rest:
            self._rest -= 1
            self._reference = None
        elif self._reference is None:
            self._reference = (self._round_size, rate)
        elif self._round_size >= _GROWN * self._reference[0]:
            size, before = self._reference
            if rate < before * (1 + _WORTH * (self._round_size / size - 1)):
                self.size, self._rest, self._doubling = size, _REST_ROUNDS, False
            self._reference = (self._round_size, rate)
        self._begin_round()
