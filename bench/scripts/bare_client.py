"""The floor: a bare aiohttp client that sends N chat requests, C at once. Arguments: URL N C."""

import asyncio
import json
import sys

import aiohttp


async def main(url: str, number: int, at_once: int) -> None:
    """Send the same bodies that Sonde's `llm` sends."""
    slots = asyncio.Semaphore(at_once)
    headers = {"Content-Type": "application/json"}

    async def ask(session: aiohttp.ClientSession, n: int) -> str:
        content = f"Is item {n} about sport? " + "x" * 200
        body = json.dumps({"model": "bench", "messages": [{"role": "user", "content": content}]}).encode()
        async with slots, session.post(f"{url}/chat/completions", data=body, headers=headers) as response:
            return json.loads(await response.read())["choices"][0]["message"]["content"]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        answers = await asyncio.gather(*[ask(session, n) for n in range(number)])
    assert answers == ["yes"] * number


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
