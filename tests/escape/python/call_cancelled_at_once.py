# ends: ok | timeout
import asyncio

for _ in range(400):
    task = asyncio.ensure_future(llm("hang"))
    await asyncio.sleep(0)
    task.cancel()
