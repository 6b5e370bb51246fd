# ends: timeout | killed
import asyncio

while True:
    await asyncio.sleep(1e-9)
