"""A scope counts what is spent within it and refuses before a limit would be passed."""

import math
from collections.abc import Callable
from typing import NamedTuple

from sonde.errors import LimitReached
from sonde.events import Usage


class Amounts(NamedTuple):
    """Amounts of each kind; infinity where there is no limit."""

    calls: float = math.inf
    tokens: float = math.inf
    dollars: float = math.inf
    seconds: float = math.inf


class Scope:
    """Counts calls, tokens and seconds. Time is `clock`'s, from when the scope was opened."""

    def __init__(self, total: Amounts, clock: Callable[[], float]) -> None:
        self.total = total
        self._clock = clock
        self._opened = clock()
        self._calls = 0
        self._tokens = 0

    def take_call(self) -> None:
        """Count one call. Raises `LimitReached` instead if there are none left."""
        if self._calls >= self.total.calls:
            raise LimitReached(
                "max-calls",
                f"the limit of {self.total.calls:,.0f} calls is reached",
                "Allow more with --max-calls.",
            )
        self._calls += 1

    def settle(self, usage: Usage) -> None:
        """Count the tokens of a model request."""
        self._tokens += usage.input_tokens + usage.output_tokens

    def restore(self, calls: int, usage: Usage, seconds: float) -> None:
        """Count what an earlier life of the run spent."""
        self._calls += calls
        self._opened -= seconds
        self.settle(usage)

    @property
    def spent(self) -> Amounts:
        """What has been spent so far. Dollars are not known yet, so they count as nothing."""
        return Amounts(self._calls, self._tokens, 0.0, self._clock() - self._opened)

    @property
    def remaining(self) -> Amounts:
        """What is left."""
        return Amounts(*(max(0.0, total - spent) for total, spent in zip(self.total, self.spent, strict=True)))
