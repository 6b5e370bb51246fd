"""Run snippets in an interpreter and compare what they come to with what the original of the language says.

For Python the original runs beside it, in a process of its own; for JavaScript its answers are kept with the snippets.
"""

import asyncio
import json
import sys
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

from sonde.errors import InterpreterError, SondeError
from sonde.interpreters.choose import JAVASCRIPT, MONTY, NAMES, PYTHON, choose
from sonde.interpreters.protocol import EMPTY_WORLD, Answer, Backend, CellResult, NoCalls, Settings

_SNIPPETS = files("sonde.interpreters.coverage") / "snippets"
_FOLDERS = {PYTHON: "python", MONTY: "python", JAVASCRIPT: "javascript"}
_TITLES = {"python": "# --- ", "javascript": "// --- "}
_EXPECTED = "// => "
_CPU_S = 10
_WORLD = EMPTY_WORLD._replace(started=1_700_000_000.0)
_LONGEST_REASON = 200


class Snippet(NamedTuple):
    """Code, and what its last expression and its output should be."""

    title: str
    code: str
    value: str | None = None
    stdout: str = ""


class Failure(NamedTuple):
    """A snippet that did not come to what it should, and why in a line."""

    title: str
    why: str


class Coverage(NamedTuple):
    """What an interpreter runs of its language."""

    total: int
    failures: list[Failure]

    @property
    def passed(self) -> int:
        """How many snippets came to what they should."""
        return self.total - len(self.failures)

    @property
    def percent(self) -> float:
        """The share of those, in percent."""
        return 100 * self.passed / self.total

    def __str__(self) -> str:
        return f"{self.passed} of {self.total} snippets ({self.percent:.1f} %)"

    def told(self) -> dict[str, Any]:
        """Return it as plain data."""
        failures = [each._asdict() for each in self.failures]
        return {"passed": self.passed, "total": self.total, "percent": round(self.percent, 1), "failures": failures}


async def cover(name: str, settings: Settings) -> Coverage:
    """Run the suite in the interpreter `name`. Raises `UsageError` or `InterpreterError` if it cannot be used here."""
    backend = choose(name, settings)
    try:
        suite = await snippets(name)
        failures = [Failure(each.title, why) for each in suite if (why := await _try(backend, each))]
    finally:
        await backend.close()
    return Coverage(len(suite), failures)


async def cover_all(settings: Settings) -> dict[str, Coverage | str]:
    """Run the suite in every interpreter; for one that cannot be used here, tell why."""
    found: dict[str, Coverage | str] = {}
    for name in NAMES:
        try:
            found[name] = await cover(name, settings)
        except (SondeError, OSError) as error:
            found[name] = str(error)
    return found


async def snippets(name: str) -> list[Snippet]:
    """Return the snippets for an interpreter, with what they should come to."""
    folder = _FOLDERS[name]
    parts = [snippet for file in files_of(folder) for snippet in read(file.read_text(encoding="utf-8"), folder)]
    return [_as_shown(each) for each in parts] if name == JAVASCRIPT else await _with_reference(parts)


def files_of(folder: str) -> list[Traversable]:
    """Return the files of snippets in a language."""
    return sorted((_SNIPPETS / folder).iterdir(), key=lambda file: file.name)


def read(text: str, folder: str) -> list[Snippet]:
    """Take a file of snippets apart."""
    return [_snippet(part) for part in ("\n" + text).split("\n" + _TITLES[folder])[1:]]


def _snippet(part: str) -> Snippet:
    title, *lines = part.strip("\n").split("\n")
    expected = [line.removeprefix(_EXPECTED) for line in lines if line.startswith(_EXPECTED)]
    code = "\n".join(line for line in lines if not line.startswith(_EXPECTED))
    return Snippet(title, code + "\n", "\n".join(expected) if expected else None)


def _as_shown(snippet: Snippet) -> Snippet:
    """Put the value, which is a text, as JavaScript cells show it."""
    value = snippet.value or ""
    return snippet._replace(value=value if "\n" in value else json.dumps(value, ensure_ascii=False))


async def _with_reference(parts: list[Snippet]) -> list[Snippet]:
    """Fill in what this Python makes of the snippets. Raises `InterpreterError` if it fails at one."""
    program = str(Path(__file__).with_name("reference.py"))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-X", "utf8", "-I", program,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    stdout, stderr = await process.communicate(json.dumps([each.code for each in parts]).encode())
    if process.returncode:
        raise InterpreterError(f"a snippet fails in {sys.executable} itself: {stderr.decode().strip()[-500:]}")
    results = json.loads(stdout)
    return [each._replace(value=value, stdout=out) for each, (value, out) in zip(parts, results, strict=True)]


async def _try(backend: Backend, snippet: Snippet) -> str:
    """Run one snippet in an interpreter of its own; return why it failed, or nothing."""
    interpreter = await backend.open(_WORLD)
    try:
        result = await interpreter.run(snippet.code, _Clock(), cpu_s=_CPU_S)
    except InterpreterError as error:
        why = f"the interpreter died: {error}"
    else:
        why = _difference(snippet, result)
    finally:
        await interpreter.close()
    return " ".join(why.split())[:_LONGEST_REASON]


def _difference(snippet: Snippet, result: CellResult) -> str:
    if result.error is not None:
        return f"{result.error.type}: {result.error.message}"
    if result.value != snippet.value:
        return f"gave {result.value}, not {snippet.value}"
    if result.stdout != snippet.stdout:
        return f"printed {result.stdout!r}, not {snippet.stdout!r}"
    return ""


class _Clock(NoCalls):
    """Refuses all calls but those for the time, which passes as it does outside."""

    def __init__(self) -> None:
        self._now = _WORLD.started

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        if function != "sleep":
            return await super().call(function, arguments)
        await asyncio.sleep(arguments["until"] - self._now)
        self._now = max(self._now, arguments["until"])
        return Answer(None, self._now)
