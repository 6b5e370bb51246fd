import asyncio

asyncio.gather = None
await gather(llm('a'))
