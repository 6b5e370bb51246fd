# ends: ok
import asyncio

for n in range(1000):
    asyncio.ensure_future(llm("x"))
