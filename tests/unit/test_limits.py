"""Scopes, windows and gates."""

import asyncio
import math

import pytest

from sonde.errors import LimitReached, OutOfService, UsageError
from sonde.limits.gate import Gate
from sonde.limits.scope import Amounts, Scope
from sonde.limits.window import CEILING, AdaptiveWindow, FixedWindow
from sonde.spec import Limits

NO_LIMIT = Amounts(*[math.inf] * len(Amounts._fields))


class Clock:
    """Time that moves when it is told to, or slept."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.now += seconds


def limited(**most: float) -> Amounts:
    return NO_LIMIT._replace(**most)


# --- Scopes -----------------------------------------------------------------------------------------------------


def test_a_scope_refuses_before_its_limit_is_passed() -> None:
    clock = Clock()
    scope = Scope(limited(calls=2, seconds=60), clock)
    scope.take_call()
    clock.now += 30
    assert (scope.spent.calls, scope.spent.seconds) == (1, 30)
    assert (scope.remaining.calls, scope.remaining.tokens, scope.remaining.seconds) == (1, math.inf, 30)
    scope.take_call()
    with pytest.raises(LimitReached, match="--max-calls") as refused:
        scope.take_call()
    assert refused.value.limit == "max-calls"
    assert scope.spent.calls == 2
    assert scope.refusal is refused.value


def test_a_resumed_scope_goes_on() -> None:
    scope = Scope(limited(calls=10, tokens=100, seconds=60), lambda: 0.0)
    scope.restore(Amounts(calls=8, tokens=7, seconds=20))
    assert (scope.remaining.calls, scope.remaining.tokens, scope.remaining.seconds) == (2, 93, 40)


def test_what_fits_only_later_waits_and_what_never_fits_is_refused() -> None:
    async def main() -> None:
        scope = Scope(limited(tokens=100), lambda: 0.0)
        first = Amounts(tokens=80)
        await scope.reserve(first)
        second = asyncio.create_task(scope.reserve(Amounts(tokens=50)))
        await asyncio.sleep(0)
        assert not second.done()
        scope.settle(first, Amounts(tokens=20))
        await second
        with pytest.raises(LimitReached, match=r"100 tokens would be passed: 20 spent, up to 81 for this"):
            await scope.reserve(Amounts(tokens=81))
        scope.settle(Amounts(tokens=50), Amounts(tokens=50))
        assert scope.spent.tokens == 70

    asyncio.run(main())


def test_what_is_settled_may_leave_too_little_for_those_who_wait() -> None:
    async def main() -> None:
        scope = Scope(limited(dollars=1.0), lambda: 0.0)
        await scope.reserve(Amounts(dollars=0.6))
        waiting = [asyncio.create_task(scope.reserve(Amounts(dollars=0.5))) for _ in range(3)]
        await asyncio.sleep(0)
        scope.settle(Amounts(dollars=0.6), Amounts(dollars=0.6))
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(each, LimitReached) and each.limit == "max-usd" for each in ended)

    asyncio.run(main())


def test_a_limit_holds_for_all_scopes_within() -> None:
    async def main() -> None:
        outer = Scope(limited(tokens=100), lambda: 0.0)
        left, right = Scope(NO_LIMIT, lambda: 0.0, outer), Scope(limited(tokens=30), lambda: 0.0, outer)
        await left.reserve(Amounts(tokens=90))
        waits = asyncio.create_task(right.reserve(Amounts(tokens=20)))
        await asyncio.sleep(0)
        assert not waits.done()
        with pytest.raises(LimitReached, match="30 tokens"):
            await right.reserve(Amounts(tokens=40))
        left.settle(Amounts(tokens=90), Amounts(tokens=10))
        await waits
        right.settle(Amounts(tokens=20), Amounts(tokens=20))
        assert (outer.spent.tokens, left.spent.tokens, right.spent.tokens) == (30, 10, 20)
        assert right.refusal is not None
        assert outer.refusal is right.refusal, "it was refused in the outer one too"
        assert left.refusal is None

    asyncio.run(main())


def test_a_cancelled_waiter_holds_nobody_up() -> None:
    async def main() -> None:
        scope = Scope(limited(tokens=10), lambda: 0.0)
        await scope.reserve(Amounts(tokens=8))
        large = asyncio.create_task(scope.reserve(Amounts(tokens=5)))
        small = asyncio.create_task(scope.reserve(Amounts(tokens=2)))
        await asyncio.sleep(0)
        assert not small.done(), "a newcomer waits behind those who wait"
        large.cancel()
        await small

    asyncio.run(main())


def test_four_fifths_are_told_once() -> None:
    scope = Scope(limited(tokens=100, calls=2), lambda: 0.0)
    scope.restore(Amounts(tokens=79))
    assert scope.newly_near() == []
    scope.restore(Amounts(tokens=1))
    assert scope.newly_near() == ["max-tokens"]
    assert scope.newly_near() == []


# --- Windows ----------------------------------------------------------------------------------------------------


def answers(window: AdaptiveWindow, clock: Clock, number: int, seconds: float) -> None:
    """Let a crowded window get so many answers, evenly over some seconds."""
    for _ in range(number):
        clock.now += seconds / number
        window.succeeded(clock(), crowded=True)


def test_a_window_doubles_in_each_round_while_answers_come_faster() -> None:
    clock = Clock()
    window = AdaptiveWindow(64, clock)
    sizes = [window.size]
    for _ in range(6):
        answers(window, clock, window.size, 1.0)
        sizes.append(window.size)
    assert sizes == [64, 128, 256, 512, CEILING, CEILING, CEILING]


def test_a_window_that_is_not_full_does_not_grow() -> None:
    clock = Clock()
    window = AdaptiveWindow(64, clock)
    for _ in range(1000):
        window.succeeded(clock(), crowded=False)
    assert window.size == 64


def test_a_window_stops_growing_when_answers_come_no_faster() -> None:
    clock = Clock()
    window = AdaptiveWindow(64, clock)
    for _ in range(10):
        answers(window, clock, 100, 1.0)  # a hundred a second, however many are on the wire
    assert window.size < 200


def test_overload_halves_once_for_all_who_were_on_the_wire() -> None:
    clock = Clock()
    window = AdaptiveWindow(64, clock)
    began = clock()
    clock.now += 1
    for _ in range(64):
        window.overloaded(began)
    assert window.size == 32
    clock.now += 1
    window.overloaded(clock())
    assert window.size == 16
    answers(window, clock, 16, 1.0)
    assert window.size == 17, "one more a round from now on"


def test_a_window_never_closes() -> None:
    clock = Clock()
    window = AdaptiveWindow(2, clock)
    for _ in range(5):
        clock.now += 1
        window.overloaded(clock())
    assert window.size == 1


# --- Gates ------------------------------------------------------------------------------------------------------


def test_places_are_given_in_order_and_never_above_the_limit() -> None:
    async def main() -> None:
        gate, order, most = Gate(FixedWindow(3), Clock()), list[int](), 0

        async def use(n: int) -> None:
            nonlocal most
            await gate.enter("")
            order.append(n)
            most = max(most, gate.in_flight)
            await asyncio.sleep(0)
            gate.leave()

        await asyncio.gather(*[use(n) for n in range(20)])
        assert (order, most, gate.in_flight, gate.queued) == (list(range(20)), 3, 0, 0)

    asyncio.run(main())


def test_branches_take_turns() -> None:
    async def main() -> None:
        gate, order = Gate(FixedWindow(1), Clock()), list[str]()

        async def use(branch: str) -> None:
            await gate.enter(branch)
            order.append(branch)
            await asyncio.sleep(0)
            gate.leave()

        await asyncio.gather(*[use("a") for _ in range(6)], use("b"), use("c"), use("b"))
        assert order == list("aabcabaaa")

    asyncio.run(main())


@pytest.mark.parametrize("after", range(4))
def test_a_cancelled_waiter_loses_no_place(after: int) -> None:
    async def main() -> None:
        gate, done = Gate(FixedWindow(1), Clock()), list[int]()
        held = asyncio.Event()

        async def use(n: int) -> None:
            await gate.enter("")
            try:
                await held.wait()
                done.append(n)
            finally:
                gate.leave()

        users = [asyncio.create_task(use(n)) for n in range(3)]
        await asyncio.sleep(0)
        held.set()
        for _ in range(after):
            await asyncio.sleep(0)
        users[1].cancel()
        await asyncio.gather(*users, return_exceptions=True)
        assert {0, 2} <= set(done)
        assert gate.in_flight == 0

    asyncio.run(main())


def test_all_wait_as_long_as_a_server_asks_one_to() -> None:
    async def main() -> None:
        clock = Clock()
        gate = Gate(FixedWindow(10), clock, clock.sleep)
        began = await gate.enter("")
        gate.note_overload(began, 5.0)
        gate.leave()
        entered = await asyncio.gather(*[gate.enter("") for _ in range(3)])
        assert entered == [105.0] * 3

    asyncio.run(main())


def test_a_shut_gate_lets_nobody_pass() -> None:
    async def main() -> None:
        gate = Gate(FixedWindow(1), Clock())
        await gate.enter("")
        waiting = asyncio.create_task(gate.enter(""))
        await asyncio.sleep(0)
        gate.shut(OutOfService("quota", "the account is used up"))
        for entering in (waiting, gate.enter("other")):
            with pytest.raises(OutOfService, match="used up"):
                await entering

    asyncio.run(main())


def test_limits_are_checked_wherever_they_come_from() -> None:
    assert Limits.from_options({"timeout": 5.0, "max_turns": None, "model": "x"}) == Limits(timeout_s=5.0)
    for options in ({"max_calls": 0}, {"timeout": math.nan}, {"call_timeout": -1.0}, {"retries": -1}):
        with pytest.raises(UsageError, match="out of range"):
            Limits.from_options(options)


def test_a_limit_that_is_changed_leaves_the_others() -> None:
    before = Limits(max_calls=10, timeout_s=5.0)
    assert before.changed({"max_calls": 20, "timeout": None}) == Limits(max_calls=20, timeout_s=5.0)
    with pytest.raises(UsageError, match="--max-usd"):
        before.changed({"max_usd": -1.0})
