"""A server on loopback that answers as a test says, in whatever format: for providers with a wire of their own."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request: its path, headers with names in lower case, and body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Answer(NamedTuple):
    """An answer. A body of bytes is sent as a stream of events, None breaks the connection."""

    body: dict[str, Any] | bytes | None
    status: int = 200
    headers: tuple[str, ...] = ()


NEVER = Answer({}, status=0)


class Server:
    """What is served where, and what was asked so far."""

    def __init__(self, script: Callable[[Asked], Answer]) -> None:
        self.asked: list[Asked] = []
        self.left = asyncio.Event()
        """Set when a client has gone while it was waiting for an answer."""
        self.url = ""
        self._script = script
        self._open: set[asyncio.Task[Any]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while await self._answer_one(reader, writer):
                pass
        writer.close()

    async def close(self) -> None:
        """End all connections."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open)

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        line, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        self.asked.append(Asked(line.split()[1], headers, json.loads(content)))
        answer = self._script(self.asked[-1])
        if answer.status == 0:
            await reader.read()
            self.left.set()
            return False
        if answer.body is None:
            return False
        events = isinstance(answer.body, bytes)
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        kind = "text/event-stream" if events else "application/json"
        head = (f"HTTP/1.1 {answer.status} X", f"Content-Type: {kind}", f"Content-Length: {len(body)}")
        writer.write("\r\n".join((*head, *answer.headers, "\r\n")).encode() + body)
        await writer.drain()
        return True


@asynccontextmanager
async def serving(script: Callable[[Asked], Answer]) -> AsyncGenerator[Server]:
    """Serve while the context is entered."""
    server = Server(script)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listener.close()
        await server.close()
        await listener.wait_closed()
