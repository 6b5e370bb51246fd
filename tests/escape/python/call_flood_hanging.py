# ends: waits | timeout | killed
import asyncio

for n in range(10**9):
    asyncio.ensure_future(llm("hang"))
    if n % 1000 == 0:
        await asyncio.sleep(0)
