"""What a model is to the rest of Sonde: one request in, one reply out."""

from typing import Any, Literal, Protocol

import msgspec

from sonde.events import Usage

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "tools", "filter"]


class ToolCall(msgspec.Struct, frozen=True):
    """A tool that the model wants to use. `arguments` is the JSON it wrote, which may not be valid."""

    id: str
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a conversation. A `tool` message answers the call `tool_call_id`."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


class Tool(msgspec.Struct, frozen=True):
    """A tool on offer; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request to a model."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    schema: dict[str, Any] | None = None
    max_tokens: int | None = None


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model answered. `finish` is "length" when the answer was cut short."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish: Finish = "stop"
    model: str = ""


BEGIN_WITH = 64
"""Requests at once for a server that was built for many."""
BEGIN_LOCAL_WITH = 2
"""Requests at once for a model on a machine of one's own."""


class Model(Protocol):
    """A language model at an endpoint.

    `complete` may be awaited any number of times at once; cancelling it aborts the request. It sends one
    request and never tries again, but to leave out what the endpoint does not take: all else is decided above, where
    limits are known. `close` ends all connections.
    """

    @property
    def name(self) -> str:
        """The model as a user names it, such as `openai:gpt-5.5`."""
        ...

    @property
    def endpoint(self) -> str:
        """The server that models share a rate limit at."""
        ...

    @property
    def begins_with(self) -> int:
        """How many requests it is sent at once until it has shown how many it bears."""
        ...

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Send one request. Raises `ModelError`."""
        ...

    async def close(self) -> None:
        """Let go of all connections."""
        ...
