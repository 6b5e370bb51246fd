# ends: ok | error
import asyncio

asyncio.get_event_loop().close()
1
