"""Measure one kind of interpreter from close by: `interpreter.py NAME` prints its figures as JSON, in microseconds."""

import asyncio
import json
import sys
import time
from statistics import median
from typing import Any

from sonde.interpreters.choose import choose
from sonde.interpreters.protocol import EMPTY_WORLD, Answer, Backend, HostCalls, Settings

IN_FLIGHT = 10_000
CODE = {
    "python": (
        "1 + 1",
        "for _ in range(1000): llm_query('x')",
        "len(await gather(*[llm('x') for _ in range(10_000)]))",
    ),
    "javascript": (
        "1 + 1",
        "for (let n = 0; n < 1000; n += 1) await llm('x')",
        "(await gather(Array.from({ length: 10_000 }, () => llm('x')))).length",
    ),
}
CODE["monty"] = CODE["python"]


class Echo:
    """Answers at once."""

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        return Answer("y", 0.0)

    def idle(self) -> None: ...


class AllAtOnce(Echo):
    """Answers when as many calls are open as are to be in flight, and not before."""

    def __init__(self) -> None:
        self.open = 0
        self.all_open = asyncio.Event()

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        self.open += 1
        if self.open == IN_FLIGHT:
            self.all_open.set()
        await self.all_open.wait()
        return Answer("y", 0.0)


async def main(name: str) -> dict[str, float]:
    one, calls, fan_out = CODE[name]
    began = time.perf_counter()
    backend = choose(name, Settings())
    try:
        interpreter = await backend.open(EMPTY_WORLD)

        async def took(code: str, host: HostCalls, expected: str | None = None) -> float:
            start = time.perf_counter()
            result = await interpreter.run(code, host, cpu_s=60)
            assert result.status == "ok", result
            assert expected is None or result.value == expected, result
            return time.perf_counter() - start

        await took(one, Echo(), "2")
        cold = time.perf_counter() - began
        return {
            "eval_us": median([await took(one, Echo(), "2") for _ in range(1000)]) * 1e6,
            "host_call_us": median([await took(calls, Echo()) for _ in range(5)]) * 1e6 / 1000,
            "in_flight_us": median([await took(fan_out, AllAtOnce(), str(IN_FLIGHT)) for _ in range(5)])
            * 1e6
            / IN_FLIGHT,
            "new_ms": median([await _open_another(backend, one) for _ in range(15)]) * 1e3,
            "cold_ms": cold * 1e3,
        }
    finally:
        await backend.close()


async def _open_another(backend: Backend, one: str) -> float:
    start = time.perf_counter()
    interpreter = await backend.open(EMPTY_WORLD)
    await interpreter.run(one, Echo(), cpu_s=60)
    took = time.perf_counter() - start
    await interpreter.close()
    return took


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1]))))
