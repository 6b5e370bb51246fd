# ends: ok | error
# breaks itself
import asyncio

asyncio.set_event_loop(None)
asyncio.all_tasks = asyncio.wait = asyncio.gather = None
1
