# ends: timeout
import asyncio


async def busy():
    while True:
        pass


await asyncio.gather(busy(), llm("a"))
