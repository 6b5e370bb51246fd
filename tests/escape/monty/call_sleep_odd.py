import asyncio
import time

for odd in (float("nan"), float("inf"), -1, 1e308, -1e308, 10**400, True, "1", None, [], {}):
    try:
        time.sleep(odd)
    except Exception as error:
        print(type(error).__name__)
await asyncio.sleep(-5)
