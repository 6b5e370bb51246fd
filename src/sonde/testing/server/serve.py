"""The server: HTTP/1.1 over asyncio, just as much as model clients speak, with a log of every request.

It is written by hand to be cheap (it must never be what a benchmark measures) and to break connections at any byte.
"""

import asyncio
import hashlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO, cast

import msgspec

from sonde.testing.server.faults import Fault, Faults, Latency
from sonde.testing.server.script import ChatRequest, Said, Script, echo, encoded, kept_short, tokens_of

_DRIP_S = 0.02
_DRIPS = 20


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a server behaves."""

    latency: Latency = Latency()
    window: int | None = None
    """Refuse prompts with more tokens than this."""
    key: str | None = None
    """Refuse requests that do not bring this key."""
    models: tuple[str, ...] = ()
    """Refuse other models, if there are any here."""
    without_tools: bool = False
    """Refuse requests that offer tools."""
    without_schemas: bool = False
    """Refuse requests that ask for a JSON schema to be kept."""
    completion_tokens: bool = False
    """Refuse `max_tokens` and name `max_completion_tokens` instead."""
    capacity: int | None = None
    """Refuse, for now, what comes while so many requests are under way."""
    quota: int | None = None
    """Refuse all requests after this many: the account is used up."""
    echo_key: bool = False
    """Repeat the key in refusals, faults and answers that are garbage."""
    retry_after: float = 1.0
    """What a 429 asks for, in seconds."""


DEFAULTS = Settings()


class Entry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One request in the log. `end` is None while it is under way, and `status` 0 if the connection broke."""

    number: int
    start: float
    model: str = ""
    prompt: str = ""
    digest: str = ""
    system: bool = False
    tokens: int = 0
    size: int = 0
    end: float | None = None
    status: int = 0
    fault: str = ""
    input_tokens: int = 0
    """What is charged for it, in and out; nothing for what is refused."""
    output_tokens: int = 0


class FaultServer:
    """A server in a thread of its own, while the context is entered. `url` is its base address, `log` its requests."""

    def __init__(
        self,
        script: Script = echo,
        *,
        settings: Settings = DEFAULTS,
        faults: Faults | None = None,
        port: int = 0,
    ) -> None:
        self.log: list[Entry] = []
        self.url = ""
        self._core = Core(script, settings, faults or Faults(), self.log)
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        opened = asyncio.run_coroutine_threadsafe(self._core.listen(self._port), self._loop)
        self.url = f"http://127.0.0.1:{opened.result()}/v1"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._core.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def most_at_once(self) -> int:
        """The largest number of requests that were under way together."""
        return most_at_once(self.log)


class Core:
    """What all connections share."""

    def __init__(
        self,
        script: Script,
        settings: Settings,
        faults: Faults,
        log: list[Entry],
        file: TextIO | None = None,
    ) -> None:
        self.script = script
        self.settings = settings
        self.faults = faults
        self.chance = random.Random(1)
        self.connections: set[Connection] = set()
        self.under_way = 0
        self._log = log
        self._file = file
        self._server: asyncio.Server | None = None

    async def listen(self, port: int) -> int:
        """Start to listen on loopback and return the port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), "127.0.0.1", port, backlog=4096)
        return self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and break all connections."""
        if self._server is not None:
            self._server.close()
        for connection in list(self.connections):
            connection.abort()

    def open_entry(self, request: ChatRequest, size: int) -> Entry:
        """Log the start of a request."""
        entry = Entry(
            number=len(self._log),
            start=time.time(),
            model=request.model,
            prompt=request.prompt[:200],
            digest=digest_of(request.prompt),
            system=bool(request.system),
            tokens=request.tokens,
            size=size,
        )
        self._log.append(entry)
        self.under_way += 1
        return entry

    def close_entry(self, entry: Entry, status: int) -> None:
        """Log the end of a request."""
        entry.end, entry.status = time.time(), status
        self.under_way -= 1
        if self._file is not None:
            self._file.write(msgspec.json.encode(entry).decode() + "\n")
            self._file.flush()

    def refusal(self, request: ChatRequest, key: str) -> tuple[int, str, str] | None:
        """Return why a request is refused: status, code, message."""
        return next(self._refusals(request, key), None)

    def _refusals(self, request: ChatRequest, key: str) -> Iterator[tuple[int, str, str]]:
        settings = self.settings
        if settings.quota is not None and len(self._log) > settings.quota:
            yield 429, "insufficient_quota", "You exceeded your current quota."
        if settings.key is not None and key != f"Bearer {settings.key}":
            yield 401, "invalid_api_key", "Incorrect API key provided."
        if settings.models and request.model not in settings.models:
            yield 404, "model_not_found", f"The model '{request.model}' does not exist."
        if settings.without_tools and request.tools:
            yield 400, "unsupported", "This model does not support tools."
        if settings.without_schemas and request.response_format:
            yield 400, "invalid_request_error", "This response_format type is unavailable now."
        if settings.completion_tokens and request.max_tokens is not None:
            yield 400, "unsupported_parameter", "Unsupported: 'max_tokens'. Use 'max_completion_tokens' instead."
        if settings.window is not None and request.tokens > settings.window:
            message = f"The context length is {settings.window} tokens; the messages have {request.tokens}."
            yield 400, "context_length_exceeded", message


class Connection(asyncio.Protocol):
    """One connection: a request, its answer, and so on."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._busy: tuple[Entry, asyncio.TimerHandle | asyncio.Handle] | None = None
        self._key = ""
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        self._transport = cast("asyncio.Transport", transport)
        self._core.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Log what was under way as broken."""
        self._core.connections.discard(self)
        self._transport = None
        if self._busy is not None:
            entry, timer = self._busy
            timer.cancel()
            entry.fault = entry.fault or "client left"
            self._core.close_entry(entry, 0)
            self._busy = None

    def data_received(self, data: bytes) -> None:
        """Take the next request, once it is whole and the one before is answered."""
        self._received += data
        if self._busy is None:
            self._take()

    def abort(self) -> None:
        """Break the connection."""
        if self._transport is not None:
            self._transport.abort()

    def _take(self) -> None:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[:end]).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        size = int(headers.get("content-length", "0"))
        if len(self._received) < end + 4 + size:
            return
        body = bytes(self._received[end + 4 : end + 4 + size])
        del self._received[: end + 4 + size]
        self._handle(head[0], headers, body)

    def _handle(self, line: str, headers: dict[str, str], body: bytes) -> None:
        if line.startswith("GET ") and line.split()[1].endswith("/models"):
            names = [{"id": name, "object": "model"} for name in self._core.settings.models]
            self._send(200, msgspec.json.encode({"object": "list", "data": names}))
            return
        try:
            request = msgspec.json.decode(body, type=ChatRequest)
        except msgspec.DecodeError as error:
            self._send(400, _problem("invalid_request", str(error)))
            return
        entry = self._core.open_entry(request, len(body))
        self._key = headers.get("authorization", "")
        refused = self._core.refusal(request, self._key)
        if refused is not None:
            status, code, message = refused
            self._later(entry, 0.0, lambda: self._refuse(entry, status, code, message))
            return
        capacity = self._core.settings.capacity
        full = capacity is not None and self._core.under_way > capacity
        fault = "429" if full else self._core.faults.draw(from_agent=bool(request.system))
        entry.fault = fault or ""
        delay = 0.0 if full else self._core.settings.latency.draw(self._core.chance)
        if fault != "hang":
            self._later(entry, delay, lambda: self._answer(entry, request, fault))
        else:
            self._later(entry, 1e9, lambda: None)

    def _later(self, entry: Entry, delay: float, action: Callable[[], None]) -> None:
        self._busy = (
            entry,
            self._loop.call_later(delay, action) if delay > 0 else self._loop.call_soon(action),
        )

    def _answer(self, entry: Entry, request: ChatRequest, fault: Fault | None) -> None:
        match fault:
            case "429":
                headers = f"Retry-After: {self._core.settings.retry_after:g}\r\n"
                self._refuse(entry, 429, "rate_limit_exceeded", "Slow down.", headers)
            case "500" | "503":
                self._refuse(entry, int(fault), "server_error", "Something broke.")
            case "disconnect":
                self.abort()
            case "garbage":
                self._finish(entry, 200, b'{"choices": [{"message": {"content": ' + self._repeated().encode())
            case _:
                self._say(entry, request, fault)

    def _say(self, entry: Entry, request: ChatRequest, fault: Fault | None) -> None:
        try:
            said = kept_short(request, self._core.script(request))
        except Exception as error:  # noqa: BLE001 - a client must not hang for a defect of its test
            self._refuse(entry, 500, "script_failed", repr(error))
            return
        entry.input_tokens, entry.output_tokens = tokens_of(request, said)
        if fault == "truncated":
            said = Said(said.text[: len(said.text) // 2], finish="length")
            entry.output_tokens = tokens_of(request, said)[1]
        body = encoded(request, said, entry.number)
        if fault == "cut":
            self._write(_head(200, len(body)) + body[: len(body) // 2])
            self._loop.call_soon(self.abort)
        elif fault == "drip":
            self._write(_head(200, len(body)))
            self._drip(entry, body)
        else:
            self._finish(entry, 200, body)

    def _drip(self, entry: Entry, body: bytes) -> None:
        size = max(1, len(body) // _DRIPS)
        self._write(body[:size])
        if len(body) > size:
            self._busy = (entry, self._loop.call_later(_DRIP_S, self._drip, entry, body[size:]))
        else:
            self._end(entry, 200)

    def _refuse(self, entry: Entry, status: int, code: str, message: str, headers: str = "") -> None:
        self._finish(entry, status, _problem(code, message + self._repeated()), headers)

    def _repeated(self) -> str:
        return f" You sent: {self._key}" if self._core.settings.echo_key else ""

    def _finish(self, entry: Entry, status: int, body: bytes, headers: str = "") -> None:
        self._send(status, body, headers)
        self._end(entry, status)

    def _end(self, entry: Entry, status: int) -> None:
        self._busy = None
        self._core.close_entry(entry, status)
        if self._received:
            self._take()

    def _send(self, status: int, body: bytes, headers: str = "") -> None:
        self._write(_head(status, len(body), headers) + body)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


def digest_of(prompt: str) -> str:
    """Return a short hash of a prompt, as the log has it."""
    return hashlib.blake2b(prompt.encode("utf-8", "replace"), digest_size=8).hexdigest()


def most_at_once(log: list[Entry]) -> int:
    """Return the largest number of logged requests that were under way together."""
    marks = sorted(mark for entry in log if entry.end is not None for mark in ((entry.start, 1), (entry.end, -1)))
    most = now = 0
    for _, change in marks:
        now += change
        most = max(most, now)
    return most


def read_log(path: Path) -> list[Entry]:
    """Return the entries of a log file."""
    with path.open("rb") as lines:
        return [msgspec.json.decode(line, type=Entry) for line in lines]


def _head(status: int, size: int, headers: str = "") -> bytes:
    return (f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{headers}Content-Length: {size}\r\n\r\n").encode(
        "ascii"
    )


def _problem(code: str, message: str) -> bytes:
    return msgspec.json.encode({"error": {"message": message, "type": code, "code": code}})
