"""No limit is ever passed by what is settled, whatever tree of scopes and requests; and nobody waits for ever."""

import asyncio
import math
import random

from hypothesis import given
from hypothesis import strategies as st

from sonde.errors import LimitReached
from sonde.limits.scope import Amounts, Scope

NO_LIMIT = Amounts(*[math.inf] * len(Amounts._fields))

amounts = st.integers(0, 60)
limits = st.none() | st.integers(0, 300)


class Node:
    """A scope, and what happened in it."""

    def __init__(self, total: Amounts, around: "Node | None") -> None:
        self.scope = Scope(total, lambda: 0.0, around.scope if around else None)
        self.around = around
        self.settled = Amounts()

    def count(self, actual: Amounts) -> None:
        node: Node | None = self
        while node is not None:
            node.settled = node.settled.plus(actual)
            node = node.around


def total(tokens: int | None, dollars: int | None) -> Amounts:
    most = {"tokens": tokens, "dollars": None if dollars is None else dollars / 10}
    return NO_LIMIT._replace(**{kind: limit for kind, limit in most.items() if limit is not None})


@given(
    tree=st.lists(st.tuples(st.integers(0, 5), limits, limits), min_size=1, max_size=6),
    requests=st.lists(st.tuples(st.integers(0, 5), amounts, amounts, st.floats(0, 1), st.booleans()), max_size=25),
    seed=st.integers(0, 1000),
)
def test_no_limit_is_passed_and_nobody_waits_for_ever(
    tree: list[tuple[int, int | None, int | None]],
    requests: list[tuple[int, int, int, float, bool]],
    seed: int,
) -> None:
    chance = random.Random(seed)

    async def main() -> None:
        nodes: list[Node] = []
        for around, tokens, dollars in tree:
            nodes.append(Node(total(tokens, dollars), nodes[around % len(nodes)] if nodes else None))

        async def request(at: int, tokens: int, dollars: int, share: float) -> None:
            node = nodes[at % len(nodes)]
            most = Amounts(tokens=tokens, dollars=dollars / 10)
            await node.scope.reserve(most)
            actual = Amounts()
            try:
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
                actual = Amounts(tokens=int(tokens * share), dollars=dollars / 10 * share)
            finally:
                node.count(actual)
                node.scope.settle(most, actual)
                for each in nodes:
                    assert all(did <= may + 1e-9 for did, may in zip(each.settled, each.scope.total, strict=True))

        tasks = [asyncio.create_task(request(*each[:4])) for each in requests]
        for task, each in zip(tasks, requests, strict=True):
            if each[4]:
                await asyncio.sleep(0)
                task.cancel()
        ended = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        assert all(each is None or isinstance(each, LimitReached | asyncio.CancelledError) for each in ended)
        for node in nodes:
            assert node.scope.spent.tokens == node.settled.tokens

    asyncio.run(main())
