# ends: ok | timeout | error
import asyncio


async def fail(n):
    raise ValueError("x" * 10_000)


for n in range(20_000):
    asyncio.ensure_future(fail(n))
await asyncio.sleep(0)
