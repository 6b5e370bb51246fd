# ends: ok | timeout | killed | error
import asyncio

await asyncio.gather(*[asyncio.sleep(n) for n in range(100_000)])
