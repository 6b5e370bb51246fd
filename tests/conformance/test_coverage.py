"""How much of its language each interpreter runs, and what exactly it does not."""

import asyncio
import json
import re
from functools import cache
from pathlib import Path
from zoneinfo import available_timezones

import pytest

from sonde.interpreters.choose import JAVASCRIPT, MONTY, NAMES, PYTHON, choose
from sonde.interpreters.coverage.coverage import Coverage, cover, files_of, read, snippets
from sonde.interpreters.protocol import EMPTY_WORLD, NoCalls, Settings
from tests.conformance.node_values import values

ROOT = Path(__file__).parents[2]
AT_LEAST = {PYTHON: 98.0, JAVASCRIPT: 94.0, MONTY: 35.0}
KNOWN: dict[str, list[str]] = json.loads(Path(__file__).with_name("known_failures.json").read_text(encoding="utf-8"))
"""What each does not run. Whoever mends one takes it out, here and in the documentation's figures."""


@cache
def covered(name: str) -> Coverage:
    return asyncio.run(cover(name, Settings()))


@pytest.mark.parametrize("name", NAMES)
def test_all_runs_but_what_is_known_not_to(name: str) -> None:
    failures = {failure.title: failure.why for failure in covered(name).failures}
    assert sorted(failures) == sorted(KNOWN[name]), failures
    assert covered(name).percent >= AT_LEAST[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_documentation_states_the_figure(name: str) -> None:
    text = (ROOT / "docs/interpreters.md").read_text(encoding="utf-8")
    stated = re.findall(rf"^\| `{name}` .*?(\d+ of \d+ snippets \([\d.]+ %\))", text, re.MULTILINE)
    assert stated == [str(covered(name))]


@pytest.mark.parametrize(("name", "at_least"), [(PYTHON, 150), (JAVASCRIPT, 60)])
def test_the_snippets_are_many_and_told_apart(name: str, at_least: int) -> None:
    suite = asyncio.run(snippets(name))
    assert len(suite) >= at_least
    assert len({snippet.title for snippet in suite}) == len(suite)
    assert all(snippet.value or snippet.stdout for snippet in suite)


def test_what_javascript_should_give_is_what_node_gives() -> None:
    suite = [snippet for file in files_of("javascript") for snippet in read(file.read_text("utf-8"), "javascript")]
    assert values(suite) == [snippet.value for snippet in suite]


async def value_of(code: str, settings: Settings) -> str | None:
    backend = choose(PYTHON, settings)
    try:
        result = await (await backend.open(EMPTY_WORLD)).run(code, NoCalls(), cpu_s=10)
    finally:
        await backend.close()
    assert result.status == "ok", result
    return result.value


@pytest.mark.skipif("Asia/Tokyo" not in available_timezones(), reason="this machine knows no time zones")
def test_python_knows_time_zones() -> None:
    code = """
from datetime import datetime
from zoneinfo import ZoneInfo
noon = datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("America/New_York"))
noon.astimezone(ZoneInfo("Asia/Tokyo")).isoformat()
"""
    assert asyncio.run(value_of(code, Settings())) == "'2024-07-02T01:00:00+09:00'"


def test_packages_come_with_the_parts_that_they_load_late() -> None:
    code = "import idna\nfrom idna.codec import Codec\nidna.encode('ü.org'), Codec.__name__"
    assert asyncio.run(value_of(code, Settings(packages=("idna",)))) == "(b'xn--tda.org', 'Codec')"
