"""`sonde doctor`: what works on this machine, and why not."""

import asyncio
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click

from sonde.cli import options
from sonde.cli.output import print_json
from sonde.errors import SondeError
from sonde.interpreters.protocol import Answer, GuestWorld
from sonde.interpreters.python.process import PythonInterpreter
from sonde.models.choose import PROVIDERS
from sonde.version import __version__

Standing = Literal["ok", "warning", "missing"]
_MARKS: dict[Standing, str] = {"ok": "✓", "warning": "!", "missing": "✗"}


class Finding(NamedTuple):
    """One thing that was looked at."""

    what: str
    standing: Standing
    detail: str


class _NoCalls:
    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        return Answer(None, time.time())

    def idle(self) -> None:
        pass


@click.command(short_help="Tell what works on this machine, and why not.")
@options.runs_dir
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def doctor(ctx: click.Context, /, runs_dir: Path, as_json: bool) -> None:
    """Tell what works on this machine, and why not. Sends nothing. Exits with 5 if something needed is missing."""
    findings = list(_look(runs_dir))
    if as_json:
        print_json({"version": __version__, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            click.echo(f"{_MARKS[finding.standing]} {finding.what}: {finding.detail}")
    ctx.exit(5 if any(finding.standing == "missing" for finding in findings) else 0)


def _look(runs_dir: Path) -> Iterator[Finding]:
    yield Finding("sonde", "ok", f"{__version__} on Python {platform.python_version()}, {platform.platform()}")
    yield _interpreter()
    yield Finding(
        "confinement",
        "warning",
        "none yet: code in cells runs in a separate process without our memory or environment, but it can read and "
        "write your files and use the network. Run it on inputs and with models that you trust",
    )
    yield _journal(runs_dir)
    yield from _keys()


def _interpreter() -> Finding:
    def no_file(number: int) -> int:
        raise FileNotFoundError(number)

    async def try_it() -> float:
        world = GuestWorld([], no_file, dict.fromkeys(("calls", "tokens", "dollars", "seconds")), "doctor", 0.0)
        began = time.perf_counter()
        interpreter = await PythonInterpreter.open(world)
        try:
            result = await interpreter.run("6 * 7", _NoCalls(), cpu_s=10)
        finally:
            await interpreter.close()
        if result.value != "42":
            raise SondeError(f"a cell gave {result}")
        return time.perf_counter() - began

    try:
        took = asyncio.run(try_it())
    except (SondeError, OSError) as error:
        return Finding("interpreter python", "missing", str(error))
    return Finding(
        "interpreter python",
        "ok",
        f"{sys.executable}, started and ran a cell in {took * 1000:.0f} ms",
    )


def _journal(runs_dir: Path) -> Finding:
    place = runs_dir if runs_dir.exists() else runs_dir.absolute().parent
    while not place.exists():
        place = place.parent
    try:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            database = sqlite3.connect(Path(folder, "try.db"))
            mode = database.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            database.close()
    except (OSError, sqlite3.Error) as error:
        return Finding("runs", "missing", f"cannot keep runs in {runs_dir}: {error}. Choose another --runs-dir")
    if mode != "wal":
        return Finding(
            "runs",
            "missing",
            f"the file system of {runs_dir} has no shared memory. Choose another --runs-dir",
        )
    return Finding("runs", "ok", f"kept in {runs_dir}, SQLite {sqlite3.sqlite_version}")


def _keys() -> Iterator[Finding]:
    for name, provider in PROVIDERS.items():
        if not provider.key_env:
            yield Finding(f"provider {name}", "ok", f"{provider.base_url}, needs no key")
        elif os.environ.get(provider.key_env):
            yield Finding(f"provider {name}", "ok", f"{provider.key_env} is set")
        else:
            yield Finding(f"provider {name}", "warning", f"{provider.key_env} is not set")
