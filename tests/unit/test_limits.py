"""Slots and scopes."""

import asyncio
import math

import pytest

from sonde.errors import LimitReached, UsageError
from sonde.events import Usage
from sonde.limits.scope import Amounts, Scope
from sonde.limits.slots import Slots
from sonde.spec import Limits


def test_slots_are_given_in_order_and_never_above_the_limit() -> None:
    async def main() -> None:
        slots, order, most = Slots(3), list[int](), 0

        async def use(n: int) -> None:
            nonlocal most
            async with slots:
                order.append(n)
                most = max(most, slots.in_flight)
                await asyncio.sleep(0)

        await asyncio.gather(*[use(n) for n in range(20)])
        assert (order, most, slots.in_flight, slots.queued) == (list(range(20)), 3, 0, 0)

    asyncio.run(main())


@pytest.mark.parametrize("after", range(4))
def test_a_cancelled_waiter_loses_no_slot(after: int) -> None:
    async def main() -> None:
        slots, done = Slots(1), list[int]()
        held = asyncio.Event()

        async def use(n: int) -> None:
            async with slots:
                await held.wait()
                done.append(n)

        users = [asyncio.create_task(use(n)) for n in range(3)]
        await asyncio.sleep(0)
        held.set()
        for _ in range(after):
            await asyncio.sleep(0)
        users[1].cancel()
        await asyncio.gather(*users, return_exceptions=True)
        assert {0, 2} <= set(done)
        assert slots.in_flight == 0

    asyncio.run(main())


def test_a_scope_refuses_before_its_limit_is_passed() -> None:
    now = [100.0]
    scope = Scope(Amounts(calls=2, seconds=60), lambda: now[0])
    scope.take_call()
    scope.settle(Usage(10, 5))
    now[0] = 130.0
    assert scope.spent == Amounts(1, 15, 0, 30)
    assert scope.remaining == Amounts(1, math.inf, math.inf, 30)
    scope.take_call()
    with pytest.raises(LimitReached, match="--max-calls") as refused:
        scope.take_call()
    assert refused.value.limit == "max-calls"
    assert scope.spent.calls == 2


def test_a_resumed_scope_goes_on() -> None:
    scope = Scope(Amounts(calls=10, seconds=60), lambda: 0.0)
    scope.restore(8, Usage(3, 4), 20)
    assert scope.remaining == Amounts(2, math.inf, math.inf, 40)
    assert scope.spent.tokens == 7


def test_limits_are_checked_wherever_they_come_from() -> None:
    assert Limits.from_options({"timeout": 5.0, "max_turns": None, "model": "x"}) == Limits(timeout_s=5.0)
    for options in ({"max_calls": 0}, {"timeout": math.nan}, {"call_timeout": -1.0}, {"retries": -1}):
        with pytest.raises(UsageError, match="out of range"):
            Limits.from_options(options)
