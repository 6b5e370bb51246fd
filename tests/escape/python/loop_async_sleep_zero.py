# ends: timeout
import asyncio

while True:
    await asyncio.sleep(0)
