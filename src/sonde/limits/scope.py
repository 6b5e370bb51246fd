"""A scope counts what is spent within it and refuses before a limit would be passed.

Scopes nest: what is spent in one is spent in all around it. A request reserves the most it can cost in each of them
before it is sent, and settles what it did cost after. If too little is left only because of what others have reserved,
it waits; if it would not fit with nothing reserved, it is refused.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from sonde.errors import LimitReached


class Amounts(NamedTuple):
    """Amounts of each kind that is counted."""

    calls: float = 0
    tokens: float = 0
    dollars: float = 0
    seconds: float = 0
    input_tokens: float = 0
    output_tokens: float = 0

    def plus(self, other: "Amounts") -> "Amounts":
        """Return the sum, kind by kind."""
        return Amounts(*[mine + theirs for mine, theirs in zip(self, other, strict=True)])

    def minus(self, other: "Amounts") -> "Amounts":
        """Return the difference, kind by kind."""
        return Amounts(*[mine - theirs for mine, theirs in zip(self, other, strict=True)])


_KINDS = Amounts._fields
_FLAGS = {"dollars": "max-usd", "seconds": "timeout"}
_ONE_CALL = Amounts(calls=1)
_NEARLY = 0.8


class _Level:
    """One scope's own figures. `kinds` are those that it limits; time runs by itself and is not reserved."""

    def __init__(self, total: Amounts) -> None:
        self.total = total
        self.kinds = [n for n, most in enumerate(total) if most != math.inf and _KINDS[n] != "seconds"]
        self.spent = Amounts()
        self.reserved = Amounts()
        self.open = 0
        self.refusal: LimitReached | None = None
        self.near: set[str] = set()
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.trying = False
        """Whether one that waited is about to try again."""

    def fits(self, most: Amounts) -> bool:
        """Whether an amount fits beside what is reserved; it does fit beside what is spent."""
        return not self.open or all(
            self.spent[n] + self.reserved[n] + most[n] <= self.total[n] for n in self.kinds if most[n]
        )

    def excess(self, most: Amounts) -> LimitReached | None:
        """Return why an amount would never fit, if it would not."""
        for n in self.kinds:
            if most[n] and self.spent[n] + most[n] > self.total[n]:
                return _refusal(_KINDS[n], self.total[n], self.spent[n], most[n])
        return None

    def wake(self) -> None:
        """Let the first who waits try again, alone: another would overtake it."""
        while self.waiting and not self.trying:
            turn = self.waiting.popleft()
            if not turn.done():
                self.trying = True
                turn.set_result(None)


class Scope:
    """Counts calls, tokens and dollars up to `total`, and in the scope around it. Time is `clock`'s."""

    def __init__(self, total: Amounts, clock: Callable[[], float], around: "Scope | None" = None) -> None:
        self.total = total
        self._clock = clock
        self._opened = clock()
        self._own = _Level(total)
        self._levels: list[_Level] = [self._own, *(around._levels if around else ())]  # noqa: SLF001 - of its kind
        self.caps_tokens = any(_KINDS[kind] != "calls" for level in self._levels for kind in level.kinds)
        """Whether tokens or dollars are limited, here or around."""

    @property
    def refusal(self) -> LimitReached | None:
        """The first refusal in it."""
        return self._own.refusal

    @property
    def spent(self) -> Amounts:
        """What has been spent so far."""
        return self._own.spent._replace(seconds=self._clock() - self._opened)

    @property
    def remaining(self) -> Amounts:
        """What is left here."""
        return Amounts(*[max(0.0, left) for left in self.total.minus(self.spent)])

    def take_call(self) -> None:
        """Count one call. Raises `LimitReached` instead if there are none left."""
        self._refuse_excess(_ONE_CALL)
        self._spend(_ONE_CALL)

    def restore(self, amounts: Amounts) -> None:
        """Count what an earlier life of the run spent, its time included."""
        self._opened -= amounts.seconds
        self._spend(amounts._replace(seconds=0))

    async def reserve(self, most: Amounts) -> None:
        """Reserve what a request may cost at the most, to be settled. Raises `LimitReached` if that is not left."""
        try:
            await self._wait_for_room(most)
            for level in self._levels:
                level.reserved = level.reserved.plus(most)
                level.open += 1
        finally:
            self._wake_all()

    def settle(self, most: Amounts, actual: Amounts) -> None:
        """Give back what was reserved and count what the request did cost."""
        for level in self._levels:
            level.open -= 1
            # With nothing open, exactly nothing is reserved: sums of fractions may leave a trace.
            level.reserved = level.reserved.minus(most) if level.open else Amounts()
        self._spend(actual)
        self._wake_all()

    def newly_near(self) -> list[str]:
        """Return the flags of the limits here of which four fifths are spent, each once."""
        own = self._own
        near = [_KINDS[n] for n in own.kinds if own.spent[n] >= _NEARLY * own.total[n] and _KINDS[n] not in own.near]
        own.near.update(near)
        return [flag_of(kind) for kind in near]

    async def _wait_for_room(self, most: Amounts) -> None:
        """Wait until it fits. Who was woken and still does not fit goes first again; a newcomer goes last."""
        full = self._first_full(most, newcomer=True)
        waited_in: _Level | None = None
        while full is not None:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            if full is waited_in:
                full.waiting.appendleft(turn)
            else:
                full.waiting.append(turn)
                if waited_in is not None:
                    waited_in.wake()
            waited_in = full
            try:
                await turn
            finally:
                full.trying = full.trying and turn.cancelled()
            full = self._first_full(most, newcomer=False)

    def _first_full(self, most: Amounts, *, newcomer: bool) -> _Level | None:
        """Return the innermost level in which this has to wait; a newcomer waits behind those who do already."""
        self._refuse_excess(most)
        for level in self._levels:
            if (newcomer and (level.waiting or level.trying)) or not level.fits(most):
                return level
        return None

    def _refuse_excess(self, most: Amounts) -> None:
        for number, level in enumerate(self._levels):
            refusal = level.excess(most)
            if refusal is not None:
                for each in (self._own, *self._levels[number:]):
                    each.refusal = each.refusal or refusal
                raise refusal

    def _spend(self, amounts: Amounts) -> None:
        for level in self._levels:
            level.spent = level.spent.plus(amounts)

    def _wake_all(self) -> None:
        for level in self._levels:
            level.wake()


def flag_of(kind: str) -> str:
    """Return the name of the flag that limits a kind."""
    return _FLAGS.get(kind, "max-" + kind.replace("_", "-"))


def _refusal(kind: str, total: float, spent: float, most: float) -> LimitReached:
    flag, noun = flag_of(kind), kind.replace("_", " ")
    what = f"the limit of {total:,.10g} {noun} is reached"
    if kind != "calls":
        what = f"the limit of {total:,.10g} {noun} would be passed: {spent:,.10g} spent, up to {most:,.10g} for this"
    return LimitReached(flag, what, f"Allow more with --{flag}.")
