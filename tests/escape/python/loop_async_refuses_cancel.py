import asyncio


async def stubborn():
    while True:
        try:
            await asyncio.sleep(0)
        except BaseException:
            pass


task = asyncio.create_task(stubborn())
await asyncio.sleep(0)
