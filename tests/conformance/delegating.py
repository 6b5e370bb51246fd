"""Sessions whose host also takes tasks, tools and all else that cells hand over."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sonde.interpreters.choose import choose
from sonde.interpreters.protocol import Answer, GuestWorld, Settings, TaskFailure
from tests.sessions import MEMORY, Host, Session, world

AGENTS = ("general-purpose", "reviewer")
TOOLS = ("read_file", "glob")

_GIVEN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "phase": lambda _: None,
    "log": lambda _: None,
    "save": lambda _: None,
    "results": lambda _: [{"function": "llm", "label": None, "request": "a", "ok": True, "value": "A"}],
    "tool": lambda given: ["a.py", "b.py"] if given["name"] == "glob" else f"text of {given['arguments']}",
    "workflow": lambda given: given["args"],
}
_TYPED: dict[str, Any] = {"confirmed": True, "winner": "B", "score": 3, "items": []}


class Delegate(Host):
    """Gives back what it was asked, unless it says otherwise."""

    async def answer(self, function: str, arguments: dict[str, Any]) -> Answer:
        if function in {"task", "rlm"}:
            return self.delegated(arguments)
        if function == "llm" and "schema" in arguments:
            return Answer({"confirmed": "birds" in arguments["prompt"]}, 1000.0)
        if function not in _GIVEN:
            return await super().answer(function, arguments)
        return Answer(_GIVEN[function](arguments), 1000.0)

    def delegated(self, arguments: dict[str, Any]) -> Answer:
        if arguments.get("subagent_type") == "auditor":
            return Answer(None, 1000.0, TaskFailure("unknown_agent", "no agent auditor; known: reviewer"))
        for name, value in _TYPED.items():
            if name in str(arguments.get("response_schema")):
                return Answer({name: value}, 1000.0)
        return Answer(arguments.get("description") or arguments["question"], 1000.0)

    def asked(self, function: str) -> list[dict[str, Any]]:
        """All that was asked of one function."""
        return [arguments for name, arguments in self.calls if name == function]

    @property
    def phases(self) -> list[str]:
        return [arguments["name"] for arguments in self.asked("phase")]


@asynccontextmanager
async def delegating_in(
    language: str, folder: Path | None = None, **known: Any
) -> AsyncGenerator[tuple[Session, Delegate]]:
    """A session, and its host: `known` is what else the code's world has."""
    told: GuestWorld = world(folder)._replace(**{"agents": AGENTS, "tools": TOOLS, **known})
    host = Delegate()
    backend = choose(language, Settings(MEMORY))
    try:
        yield Session(await backend.open(told), host, language), host
    finally:
        await backend.close()


def delegating(test: Callable[[Session, Delegate], Awaitable[None]], **known: Any) -> Callable[..., None]:
    """Run an async test in a session of its own, with its host."""

    def run(language: str) -> None:
        async def main() -> None:
            async with delegating_in(language, **known) as (session, host):
                await asyncio.wait_for(test(session, host), 30)

        asyncio.run(main())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def error_of(session: Session, code: str) -> str:
    """Run code that fails; return its error."""
    result = await session.run(code)
    assert result.error is not None, result
    return f"{result.error.type}: {result.error.message}"


def plain(value: str | None) -> str:
    """A value as it is shown, whatever the language."""
    assert value is not None
    for theirs, ours in (('"', "'"), ("None", "null"), ("True", "true"), ("False", "false"), ("(", "["), (")", "]")):
        value = value.replace(theirs, ours)
    return value
