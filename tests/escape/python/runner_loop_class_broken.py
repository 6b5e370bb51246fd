# ends: ok | error | killed
# breaks itself
import asyncio

type(asyncio.get_event_loop()).settle = type(asyncio.get_event_loop()).select = None
1
