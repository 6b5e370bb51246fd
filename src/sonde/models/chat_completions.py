"""The OpenAI chat-completions wire, which most providers and local servers speak."""

import asyncio
import os
import urllib.request
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import aiohttp
import msgspec

from sonde import jsontext
from sonde.errors import ModelError
from sonde.events import Usage
from sonde.models.faults import REMEDIES, excerpt, fault_of, hidden, seconds
from sonde.models.protocol import BEGIN_WITH, Finish, Message, Reply, Request, Tool, ToolCall
from sonde.models.strict import Taken, qualifies_as_strict
from sonde.version import __version__

_HEADERS = {"Content-Type": "application/json", "User-Agent": f"sonde/{__version__}"}
_REFORMULATE = {400, 422}
_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "filter", "tool_calls": "tools"}


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str | dict[str, Any] = ""


class _WireToolCall(msgspec.Struct):
    function: _Function
    id: str = ""


class _WireMessage(msgspec.Struct):
    content: str | list[Any] | None = None
    tool_calls: list[_WireToolCall] | None = None


class _WireChoice(msgspec.Struct):
    message: _WireMessage
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = 0


class _CompletionDetails(msgspec.Struct):
    reasoning_tokens: int | None = 0


class _WireUsage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cached_tokens: int | None = None


class _WireReply(msgspec.Struct):
    choices: list[_WireChoice]
    usage: _WireUsage | None = None
    model: str | None = ""


class _WireFault(msgspec.Struct):
    message: str = ""
    code: str | int | None = None
    type: str | None = None


class _WireFaultBody(msgspec.Struct):
    error: _WireFault | str


class _Answer(NamedTuple):
    status: int
    retry_after: str | None
    content: bytes

    def fault(self) -> _WireFault | None:
        try:
            told = jsontext.decode(self.content, _WireFaultBody).error
        except msgspec.DecodeError:
            return None
        return _WireFault(told) if isinstance(told, str) else told

    def told(self) -> str:
        """Return all that the server said of what is wrong."""
        fault = self.fault()
        return f"{fault.code} {fault.type} {fault.message}" if fault else self.content.decode("utf-8", "replace")


class ChatCompletions:
    """A model behind a chat-completions endpoint."""

    def __init__(self, *, name: str, model: str, base_url: str, key: str, begins_with: int = BEGIN_WITH) -> None:
        self._name = name
        self._model = model
        self._base_url = base_url.rstrip("/")
        self._url = self._base_url + "/chat/completions"
        self._key = key
        self._begins_with = begins_with
        self._session: aiohttp.ClientSession | None = None
        # What the endpoint has turned out to take; learned from its refusals.
        self._takes = Taken()
        self._limit_field = "max_tokens"

    @property
    def name(self) -> str:
        """The model as the user named it."""
        return self._name

    @property
    def endpoint(self) -> str:
        """The base address."""
        return self._base_url

    @property
    def begins_with(self) -> int:
        """How many requests it is sent at once at first."""
        return self._begins_with

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Send one request; once more if it held a field that the endpoint does not take. Raises `ModelError`."""
        try:
            async with asyncio.timeout(timeout_s):
                answer, sent = await self._send(request)
        except TimeoutError as error:
            what = f"{self._name} did not answer within {timeout_s:g} s"
            raise ModelError("timeout", what, REMEDIES["timeout"]) from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._connection_fault(error) from None  # a cause may hold what the server said of the key
        if answer.status != 200:
            raise self._fault(answer)
        return self._decode(answer, sent)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _send(self, request: Request) -> tuple[_Answer, int]:
        """Return the answer, and how many requests it took."""
        body, sent = self._encode(request), 1
        answer = await self._post(body)
        while answer.status in _REFORMULATE:
            self._learn(answer, request)
            other = self._encode(request)
            if other == body:
                break
            body, sent = other, sent + 1
            answer = await self._post(body)
        return answer, sent

    async def _post(self, body: bytes) -> _Answer:
        if self._session is None:
            self._session = self._open_session()
        async with self._session.post(self._url, data=body) as response:
            return _Answer(response.status, response.headers.get("Retry-After"), await response.read())

    def _learn(self, answer: _Answer, request: Request) -> None:
        """Remember which field of a request the endpoint does not take, if that is why it refused."""
        told = answer.told()
        if fault_of(answer.status, told) != "refused":
            return
        if request.max_tokens is not None and "max_completion_tokens" in told:
            self._limit_field = "max_completion_tokens"
        if request.schema is not None:
            self._takes.learn(request.schema, told)

    def _open_session(self) -> aiohttp.ClientSession:
        headers = dict(_HEADERS)
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # How many requests are under way is decided above, so the pool sets no limit of its own.
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None),
            proxy=_proxy_for(self._base_url),
        )

    def _encode(self, request: Request) -> bytes:
        payload: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(each) for each in request.messages],
        }
        if request.tools:
            payload["tools"] = [_tool(each) for each in request.tools]
        if request.schema is not None and self._takes(request.schema):
            payload["response_format"] = _response_format(request.schema)
        if request.max_tokens is not None:
            payload[self._limit_field] = request.max_tokens
        return jsontext.encode_valid(payload)

    def _decode(self, answer: _Answer, sent: int) -> Reply:
        try:
            wire = jsontext.decode(answer.content, _WireReply)
            choice = wire.choices[0]
        except (msgspec.DecodeError, IndexError) as error:
            fault = answer.fault()
            if fault is not None:  # some gateways say 200 before they know
                code = str(fault.code)
                raise self._fault(answer._replace(status=int(code) if code.isdecimal() else 502)) from error
            said = excerpt(answer.content, self._key) or "an empty body"
            raise ModelError("response", f"{self._name} sent an answer that cannot be read: {said}") from error
        calls = tuple(_tool_call(each, number) for number, each in enumerate(choice.message.tool_calls or ()))
        return Reply(
            text=_text(choice.message.content),
            tool_calls=calls,
            usage=_usage(wire.usage, sent),
            finish=_FINISH.get(choice.finish_reason or "", "stop"),
            model=wire.model or self._model,
        )

    def _connection_fault(self, error: Exception) -> ModelError:
        where = urlsplit(self._base_url).netloc
        if isinstance(error, aiohttp.ClientConnectorError):
            number = error.os_error.errno or 0  # that of a failed look-up of a name is below 0
            reason = os.strerror(number).lower() if number > 0 else error.os_error.strerror or str(error.os_error)
            return ModelError(
                "unreachable",
                f"cannot reach {where} for {self._name}: {reason}",
                "Check the address and the server.",
            )
        said = hidden(repr(error), self._key)
        return ModelError("connection", f"the connection to {where} for {self._name} broke: {said}")

    def _fault(self, answer: _Answer) -> ModelError:
        kind, fault = fault_of(answer.status, answer.told()), answer.fault()
        said = excerpt(answer.content if fault is None else fault.message, self._key)
        what = f"{self._name} answered {answer.status}" + (f": {said}" if said else "")
        return ModelError(kind, what, REMEDIES.get(kind, ""), retry_after=seconds(answer.retry_after))


def _message(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _response_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": qualifies_as_strict(schema)},
    }


def _tool_call(call: _WireToolCall, number: int) -> ToolCall:
    arguments = call.function.arguments
    text = arguments if isinstance(arguments, str) else jsontext.encode(arguments).decode()
    return ToolCall(call.id or f"call_{number}", call.function.name, text)


def _text(content: str | list[Any] | None) -> str:
    """Return the text of a reply; some servers send it in parts."""
    if not isinstance(content, list):
        return content or ""
    parts = (cast("dict[str, Any]", part) for part in content if isinstance(part, dict))
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _usage(usage: _WireUsage | None, sent: int) -> Usage:
    if usage is None:
        return Usage(requests=sent)
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    reasoning = (completion and completion.reasoning_tokens) or 0
    written = usage.completion_tokens
    if reasoning and usage.total_tokens == usage.prompt_tokens + written + reasoning:
        written += reasoning  # some count it apart from what was written, though it costs the same
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=written,
        cached_tokens=(prompt and prompt.cached_tokens)
        or usage.prompt_cache_hit_tokens
        or usage.cache_read_input_tokens
        or usage.cached_tokens
        or 0,
        reasoning_tokens=reasoning,
        requests=sent,
    )


def _proxy_for(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address; asked once, not at each request."""
    parts = urlsplit(base_url)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    return urllib.request.getproxies().get(parts.scheme)
