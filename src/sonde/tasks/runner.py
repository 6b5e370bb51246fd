"""What sends subagents to work, seen from where they are asked for: one method, given plain data."""

from typing import Any, Literal, Protocol

import msgspec

Kind = Literal["task", "rlm", "workflow"]


class Errand(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of work for an agent of its own: plain data, which could cross a network."""

    kind: Kind
    prompt: str
    path: str
    """Of the agent that is to do it."""
    call: int
    depth: int
    role: str = ""
    schema: dict[str, Any] | None = None
    model: str | None = None
    inherited: str | None = None
    """The model that was named for an agent above it, and so for all below."""
    args: Any = None
    """What a workflow is given."""
    context: str | int | None = None
    """What it is to look into: a text, an input by its number (-1: all), or None for all that its parent has."""


class Runner(Protocol):
    """Has agents work."""

    async def run(self, errand: Errand) -> Any:
        """Return what an agent's work comes to. Raises `TaskError`, `ModelError` or `LimitReached`."""
        ...
