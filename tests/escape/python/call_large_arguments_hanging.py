# ends: ok | error | timeout | killed | waits
import asyncio

for _ in range(100):
    asyncio.ensure_future(llm("hang" + "x" * 0 if _ == 0 else "x" * 10_000_000))
    await asyncio.sleep(0)
