# ends: waits | timeout | killed | error
# What is small as text is large where it is held, and many calls are open at once.
import asyncio

for _ in range(100):
    asyncio.ensure_future(llm("hang", schema={"x": [[]] * 300_000}))
    await asyncio.sleep(0)
