"""The OpenAI chat-completions wire, which most providers and local servers speak."""

import asyncio
import os
import urllib.request
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp
import msgspec

from sonde import jsontext
from sonde.errors import ModelError, ModelFault
from sonde.events import Usage
from sonde.models.protocol import Finish, Message, Reply, Request, Tool, ToolCall
from sonde.version import __version__

_HEADERS = {"Content-Type": "application/json", "User-Agent": f"sonde/{__version__}"}
_MESSAGE_CHARS = 300
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
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


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


class ChatCompletions:
    """A model behind a chat-completions endpoint."""

    def __init__(self, *, name: str, model: str, base_url: str, key: str) -> None:
        self._name = name
        self._model = model
        self._base_url = base_url.rstrip("/")
        self._url = self._base_url + "/chat/completions"
        self._key = key
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """The model as the user named it."""
        return self._name

    @property
    def endpoint(self) -> str:
        """The base address."""
        return self._base_url

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Send one request. Raises `ModelError`."""
        body = self._encode(request)
        try:
            async with asyncio.timeout(timeout_s):
                status, headers, content = await self._post(body)
        except TimeoutError as error:
            raise ModelError(
                "timeout",
                f"{self._name} did not answer within {timeout_s:g} s",
                "Allow more with --call-timeout.",
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._connection_fault(error) from error
        if status != 200:
            raise self._fault(status, headers.get("Retry-After"), content)
        return self._decode(content)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _post(self, body: bytes) -> tuple[int, Any, bytes]:
        if self._session is None:
            self._session = self._open_session()
        async with self._session.post(self._url, data=body) as response:
            return response.status, response.headers, await response.read()

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
        if request.schema is not None:
            payload["response_format"] = _response_format(request.schema)
        if request.max_tokens is not None:
            payload["max_tokens"] = request.max_tokens
        return jsontext.encode_valid(payload)

    def _decode(self, content: bytes) -> Reply:
        try:
            wire = jsontext.decode(content, _WireReply)
            choice = wire.choices[0]
        except (msgspec.DecodeError, IndexError) as error:
            raise ModelError(
                "response", f"{self._name} sent an answer that cannot be read: {_excerpt(content)}"
            ) from error
        calls = tuple(_tool_call(each, number) for number, each in enumerate(choice.message.tool_calls or ()))
        return Reply(
            text=_text(choice.message.content),
            tool_calls=calls,
            usage=_usage(wire.usage),
            finish=_FINISH.get(choice.finish_reason or "", "stop"),
            model=wire.model or self._model,
        )

    def _connection_fault(self, error: Exception) -> ModelError:
        where = urlsplit(self._base_url).netloc
        if isinstance(error, aiohttp.ClientConnectorError):
            number = error.os_error.errno or 0  # that of a failed look-up of a name is below 0
            reason = os.strerror(number).lower() if number > 0 else error.os_error.strerror or str(error.os_error)
            return ModelError(
                "connection",
                f"cannot reach {where} for {self._name}: {reason}",
                "Check the address and the server.",
            )
        return ModelError("connection", f"the connection to {where} for {self._name} broke: {error!r}")

    def _fault(self, status: int, retry_after: str | None, content: bytes) -> ModelError:
        try:
            body = jsontext.decode(content, _WireFaultBody).error
        except msgspec.DecodeError:
            body = _excerpt(content)
        fault = _WireFault(message=body) if isinstance(body, str) else body
        kind = _fault_kind(status, fault)
        message = fault.message.replace(self._key, "[key]") if self._key else fault.message
        said = f": {message[:_MESSAGE_CHARS]}" if message else ""
        return ModelError(
            kind, f"{self._name} answered {status}{said}", _REMEDIES.get(kind, ""), retry_after=_seconds(retry_after)
        )


_QUOTA_WORDS = ("insufficient_quota", "billing")
_LENGTH_WORDS = ("context_length", "context length", "too long")
_REMEDIES: dict[ModelFault, str] = {
    "quota": "Top up the account, then `sonde resume` the run.",
    "key": "Check the key, or name another variable with --key-env.",
    "prompt": "Send less in one prompt.",
    "model": "Check the model's name and the address.",
}
_BY_STATUS: dict[int, ModelFault] = {
    401: "key",
    402: "quota",
    403: "key",
    404: "model",
    408: "server",
    409: "server",
    413: "prompt",
    425: "server",
    429: "rate",
}


def _fault_kind(status: int, fault: _WireFault) -> ModelFault:
    """Return what kind of failure an HTTP status and body mean."""
    told = f"{fault.code} {fault.type} {fault.message}".lower()
    if any(word in told for word in _QUOTA_WORDS):
        return "quota"
    if any(word in told for word in _LENGTH_WORDS):
        return "prompt"
    if status == 400 and "tool" in told and "support" in told:
        return "tools"
    return _BY_STATUS.get(status, "server" if status >= 500 else "refused")


def _seconds(retry_after: str | None) -> float | None:
    """Return what a Retry-After header asks for. A date is ignored: clocks differ."""
    try:
        return max(0.0, float(retry_after)) if retry_after else None
    except ValueError:
        return None


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


def qualifies_as_strict(schema: object) -> bool:
    """Whether a schema may be sent as strict: every object closed, with all its properties required."""
    if isinstance(schema, list):
        return all(qualifies_as_strict(each) for each in cast("list[object]", schema))
    if not isinstance(schema, dict):
        return True
    node = cast("dict[str, object]", schema)
    if node.get("type") == "object" or "properties" in node:
        properties = node.get("properties")
        names = set(cast("dict[str, object]", properties)) if isinstance(properties, dict) else set[str]()
        required = node.get("required")
        listed = set(cast("list[str]", required)) if isinstance(required, list) else set[str]()
        if node.get("additionalProperties") is not False or names != listed:
            return False
    return all(qualifies_as_strict(each) for each in node.values())


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


def _usage(usage: _WireUsage | None) -> Usage:
    if usage is None:
        return Usage(requests=1, estimated=True)
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_tokens=(prompt and prompt.cached_tokens) or 0,
        reasoning_tokens=(completion and completion.reasoning_tokens) or 0,
        requests=1,
    )


def _excerpt(content: bytes) -> str:
    text = content[:_MESSAGE_CHARS].decode("utf-8", "replace")
    return " ".join(text.split()) or "an empty body"


def _proxy_for(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address; asked once, not at each request."""
    parts = urlsplit(base_url)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    return urllib.request.getproxies().get(parts.scheme)
