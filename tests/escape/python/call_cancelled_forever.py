# ends: timeout | killed
import asyncio

while True:
    work = [asyncio.ensure_future(llm("hang")) for _ in range(500)]
    await asyncio.sleep(0)
    for each in work:
        each.cancel()
    await asyncio.gather(*work, return_exceptions=True)
