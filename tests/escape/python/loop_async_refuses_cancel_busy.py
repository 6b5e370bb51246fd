# ends: ok
import asyncio


async def stubborn():
    while True:
        try:
            await llm("hang")
        except BaseException:
            pass


task = asyncio.create_task(stubborn())
await asyncio.sleep(0)
FINAL(1)
