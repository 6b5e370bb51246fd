# ends: error MemoryError | timeout | killed
import asyncio


async def forever():
    await asyncio.Event().wait()


tasks = [asyncio.ensure_future(forever()) for _ in range(10_000_000)]
