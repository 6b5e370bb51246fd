# ends: ok | error
import asyncio

asyncio.get_event_loop().stop()
1
