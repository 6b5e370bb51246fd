import asyncio

loop = asyncio.get_event_loop()


def again():
    loop.call_soon(again)


again()
await asyncio.Event().wait()
