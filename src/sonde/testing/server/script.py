"""What the server is asked, and what it is to say."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import msgspec

_BYTES_PER_TOKEN = 4


class ToolUse(NamedTuple):
    """A tool call to make."""

    name: str
    arguments: str


class Said(NamedTuple):
    """A reply. Without figures of its own, its usage is estimated from the sizes."""

    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    finish: str = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    figures: dict[str, Any] | None = None
    """The usage just as it is to be sent, in place of all these."""


class ChatRequest(msgspec.Struct):
    """The body of a request."""

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None = None
    response_format: dict[str, Any] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stream: bool = False

    @property
    def prompt(self) -> str:
        """The text of the last message."""
        return _text(self.messages[-1])

    @property
    def system(self) -> str:
        """The system prompt, or nothing."""
        return _text(self.messages[0]) if self.messages[0]["role"] == "system" else ""

    @property
    def turn(self) -> int:
        """How many replies of the model the conversation already holds."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def tokens(self) -> int:
        """The size of all messages in tokens, estimated."""
        size = sum(len(_text(message).encode("utf-8", "replace")) for message in self.messages)
        return -(-size // _BYTES_PER_TOKEN)


Script = Callable[[ChatRequest], Said | str]


def echo(request: ChatRequest) -> str:
    """Say the prompt again."""
    return request.prompt


def call_tool(name: str, **arguments: object) -> Said:
    """Return a reply that uses a tool."""
    return Said(tools=(ToolUse(name, json.dumps(arguments)),), finish="tool_calls")


def run_code(*cells: str) -> Said:
    """Return a reply that runs cells with the tool `eval`."""
    uses = tuple(ToolUse("eval", json.dumps({"code": cell})) for cell in cells)
    return Said(tools=uses, finish="tool_calls")


def encoded(request: ChatRequest, said: Said | str, number: int) -> bytes:
    """Return a reply as the wire has it."""
    said = Said(said) if isinstance(said, str) else said
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.tools:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{n}",
                "type": "function",
                "function": {"name": use.name, "arguments": use.arguments},
            }
            for n, use in enumerate(said.tools)
        ]
    return msgspec.json.encode(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "model": request.model,
            "choices": [{"index": 0, "message": message, "finish_reason": said.finish}],
            "usage": _usage(request, said) if said.figures is None else said.figures,
        }
    )


def kept_short(request: ChatRequest, said: Said | str) -> Said:
    """Return a reply cut at the length that the request allows."""
    said = Said(said) if isinstance(said, str) else said
    most = request.max_tokens or request.max_completion_tokens
    if most is None or tokens_of(request, said)[1] <= most:
        return said
    return said._replace(text=said.text[: most * _BYTES_PER_TOKEN], tools=(), finish="length", output_tokens=most)


def tokens_of(request: ChatRequest, said: Said) -> tuple[int, int]:
    """Return the tokens that a reply takes, in and out."""
    prompt = request.tokens if said.input_tokens is None else said.input_tokens
    written = len(said.text) + sum(len(use.arguments) for use in said.tools)
    return prompt, -(-written // _BYTES_PER_TOKEN) if said.output_tokens is None else said.output_tokens


def _usage(request: ChatRequest, said: Said) -> dict[str, Any]:
    prompt, completion = tokens_of(request, said)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": said.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
    }


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in cast("list[dict[str, Any]]", content))
    return content or ""
