"""Interpreters with a host that echoes, for tests from close by."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from sonde.documents.attach import attach
from sonde.interpreters.choose import choose
from sonde.interpreters.protocol import (
    Answer,
    CellResult,
    GuestInput,
    GuestWorld,
    Interpreter,
    Settings,
    TaskFailure,
)

T = TypeVar("T")

MEMORY = 200 * 1024 * 1024
NO_LIMITS: dict[str, float | None] = dict.fromkeys(("calls", "tokens", "dollars", "seconds"))


class Host:
    """Answers calls: `llm` by echoing in capitals, unless the prompt tells otherwise."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.cancelled = 0
        self.open = 0
        self.most_open = 0
        self.hold = asyncio.Event()
        self.idled = asyncio.Event()

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        self.calls.append((function, arguments))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0)
            return await self.answer(function, arguments)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.open -= 1

    async def answer(self, function: str, arguments: dict[str, Any]) -> Answer:
        if function == "budget":
            return Answer({"spent": NO_LIMITS | {"calls": 3}, "remaining": NO_LIMITS}, 1000.0)
        if function == "sleep":
            return Answer(None, arguments["until"])
        if function == "final":
            return Answer(None, 1000.0)
        prompt = arguments["prompt"]
        if prompt == "hang":
            await self.hold.wait()
        if prompt == "fail":
            return Answer(None, 1000.0, TaskFailure("model_error", "it is down", retryable=True))
        return Answer(prompt.upper(), 1000.0)

    def idle(self) -> None:
        self.idled.set()


class Session:
    """An interpreter and its host, ready to run cells of the backend named `language`."""

    def __init__(self, interpreter: Interpreter, host: Host, language: str = "python") -> None:
        self.interpreter = interpreter
        self.host = host
        self.language = language

    def pick(self, python: T, js: T | None = None, monty: T | None = None) -> T:
        """Return what is said in this session's language; Monty has Python's words unless it has its own."""
        if self.language == "javascript":
            assert js is not None, "this has no JavaScript twin"
            return js
        return python if self.language == "python" or monty is None else monty

    async def run(self, code: str, cpu_s: float = 10) -> CellResult:
        return await self.interpreter.run(code, self.host, cpu_s=cpu_s)

    async def value(self, code: str) -> str | None:
        result = await self.run(code)
        assert result.status == "ok", result
        return result.value


def no_file(number: int) -> int:
    raise FileNotFoundError(number)


def world(folder: Path | None = None) -> GuestWorld:
    if folder is None:
        return GuestWorld([], no_file, NO_LIMITS, "seed", 1000.0)
    inputs = attach([str(path) for path in sorted(folder.glob("*.txt"))], folder / "spool", strict=False)
    described = [GuestInput(each.name, each.mark, each.found.blocks) for each in inputs.all]
    return GuestWorld(described, inputs.open_file, NO_LIMITS, "seed", 1000.0)


@asynccontextmanager
async def session_in(language: str, folder: Path | None = None) -> AsyncGenerator[Session]:
    """A session of its own, over the text files of a folder."""
    backend = choose(language, Settings(MEMORY))
    try:
        interpreter = await backend.open(world(folder))
        try:
            yield Session(interpreter, Host(), language)
        finally:
            await interpreter.close()
    finally:
        await backend.close()
