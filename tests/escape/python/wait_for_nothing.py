# ends: error Deadlock
import asyncio

await asyncio.Event().wait()
