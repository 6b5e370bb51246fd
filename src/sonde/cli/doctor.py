"""`sonde doctor`: what works on this machine, and why not."""

import asyncio
import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from sonde.cli import options
from sonde.cli.output import harmless, print_json
from sonde.engine.folder import RunFolder, find, is_driven
from sonde.errors import SondeError, UsageError
from sonde.events import Fault, RunFinished, Warned
from sonde.interpreters.choose import MONTY, NAMES, PYTHON, choose, usual
from sonde.interpreters.confined.support import LAYERS
from sonde.interpreters.coverage.coverage import cover_all
from sonde.interpreters.protocol import EMPTY_WORLD, NoCalls, Settings
from sonde.journal.check import REPAIR, Finding, Standing, Story, check
from sonde.journal.reader import Reader
from sonde.journal.repair import repair as repair_file
from sonde.journal.repair import spans
from sonde.journal.schema import FILE_NAME
from sonde.journal.writer import Journal
from sonde.models.choose import PROVIDERS
from sonde.version import __version__

_FORBIDDEN = """
import os, socket
def succeeds(act):
    try:
        act()
        return True
    except OSError:
        return False
forbidden = {
    "read a file": lambda: open("/etc/passwd"),
    "write a file": lambda: open("/tmp/sonde-doctor", "w"),
    "open a socket": lambda: socket.socket(),
    "start a process": lambda: os.fork() or os._exit(0),
    "signal another process": lambda: os.kill(os.getppid(), 0),
}
[name for name, act in forbidden.items() if succeeds(act)]
"""

_MARKS: dict[Standing, str] = {"ok": "✓", "warning": "!", "missing": "✗"}


@click.command(short_help="Tell what works on this machine, and why not; or check a run's record.")
@click.argument("run", required=False)
@options.runs_dir
@click.option("--repair", is_flag=True, help="Save all that is whole of the damaged record of RUN.")
@click.option("--coverage", "only_coverage", is_flag=True, help="Tell how much of its language each interpreter runs.")
@options.as_json
@click.pass_context
def doctor(
    ctx: click.Context, /, run: str | None, runs_dir: Path, repair: bool, only_coverage: bool, as_json: bool
) -> None:
    """Tell what works on this machine, and why not. Sends nothing. Exits with 5 if something needed is missing.

    With RUN (an id, the beginning of one, or "last"), check that run's record: the file, each fact and each text in it.
    With --repair, make a new record of all in it that is whole; the damaged one is kept beside it.
    """
    if only_coverage:
        _print_coverage(as_json=as_json)
        return
    about, findings = {}, list[Finding]()
    if run is not None:
        path = find(runs_dir, run)
        about, findings = {"run_id": path.name}, _look_at_run(path, repair=repair)
    elif repair:
        raise UsageError("--repair is for a run", "Name it: `sonde doctor RUN --repair`.")
    else:
        findings = list(_look(runs_dir))
    if as_json:
        print_json({"version": __version__, **about, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            click.echo(harmless(f"{_MARKS[finding.standing]} {finding.what}: {finding.detail}"))
    ctx.exit(5 if _is_broken(findings) else 0)


def _is_broken(findings: list[Finding]) -> bool:
    return any(finding.standing == "missing" for finding in findings)


def _is_worth_repair(findings: list[Finding]) -> bool:
    """Whether a repair may change anything: a beginning that is lost stays so."""
    return any(
        (each.standing == "missing" and each.what != "beginning") or (each.standing == "warning" and each.what == "log")
        for each in findings
    )


def _look_at_run(path: Path, *, repair: bool) -> list[Finding]:
    """Check a run's record, and repair it if that is wanted and needed."""
    if repair:
        # Nobody else may begin to drive it meanwhile.
        folder = RunFolder.open(path)
        try:
            return _repair(folder.journal)
        finally:
            folder.release()
    driven = is_driven(path)
    findings = list(check(path / FILE_NAME))
    if driven:
        # What is being written now is not cut off.
        findings = [finding for finding in findings if finding.what != "log"]
        findings.append(Finding("driven", "ok", "a process drives the run now"))
    elif _is_broken(findings):
        advice = f"`sonde doctor {path.name} --repair` saves all that is whole; the damaged file is kept"
        findings.append(Finding("advice", "warning", advice))
    return findings


def _repair(journal: Path) -> list[Finding]:
    findings = list(check(journal))
    if not _is_worth_repair(findings):
        return [*findings, Finding("repair", "ok", "there is nothing to repair")]
    repaired = repair_file(journal)
    lost = f"{spans(repaired.lost)} lost" if repaired.lost else "none lost in between"
    told = f"{repaired.records:,} records and {repaired.texts:,} texts saved; {lost}"
    asyncio.run(_write_down(journal, f"this record was damaged and repaired: {told}"))
    return [
        Finding("repair", "warning", f"{told}; the damaged file is {repaired.kept_as}"),
        *check(journal),
    ]


async def _write_down(path: Path, message: str) -> None:
    """Note a repair in the record itself. A run whose answer is lost is not over: resumed, it finds it again."""
    with Reader(path) as reader:
        story = Story()
        for record in reader.records():
            story.add(record.fact)
    journal = Journal(path)
    try:
        journal.append(Warned(REPAIR, message))
        if story.lacks_answer:
            journal.append(RunFinished("failed", Fault("journal", "the answer was lost when the record was damaged")))
        await journal.saved()
    finally:
        await journal.close()


def _print_coverage(*, as_json: bool) -> None:
    found = asyncio.run(cover_all(Settings()))
    if as_json:
        told = {name: {"unusable": each} if isinstance(each, str) else each.told() for name, each in found.items()}
        print_json({"version": __version__, "coverage": told})
        return
    for name, each in found.items():
        click.echo(f"{name}: {each}")
        for failure in () if isinstance(each, str) else each.failures:
            click.echo(f"  {failure.title}: {failure.why}")


def _look(runs_dir: Path) -> Iterator[Finding]:
    yield Finding("sonde", "ok", f"{__version__} on Python {platform.python_version()}, {platform.platform()}")
    try:
        chosen, note = usual()
    except UsageError as error:
        chosen, note = "", str(error)
    if note is not None:
        yield Finding("confinement", "warning", note)
    for name in NAMES:
        yield asyncio.run(_interpreter(name, needed=name == chosen))
    yield _journal(runs_dir)
    yield from _keys()


async def _interpreter(name: str, *, needed: bool) -> Finding:
    """Start an interpreter, run a cell, and in Python try what a confined one must not do."""
    what = f"interpreter {name}" + (" (usual)" if needed else "")
    try:
        backend = choose(name, Settings())
        began = time.perf_counter()
        try:
            interpreter = await backend.open(EMPTY_WORLD)
            result = await interpreter.run("6 * 7", NoCalls(), cpu_s=10)
            took = time.perf_counter() - began
            tried = await interpreter.run(_FORBIDDEN, NoCalls(), cpu_s=10) if name == PYTHON else None
            layers = interpreter.layers
        finally:
            await backend.close()
    except (SondeError, OSError) as error:
        return Finding(what, "missing" if needed else "warning", str(error))
    if result.value != "42":
        return Finding(what, "missing", f"a cell that should give 42 gave {result}")
    if tried is not None and tried.value != "[]":
        return Finding(what, "missing", f"a confined cell could do what it must not: {tried.value or tried.error}")
    told = f"ran its first cell after {took * 1000:.0f} ms; confined by {', '.join(layers)}"
    lacking = [layer for layer in LAYERS if layer not in layers] if name != MONTY else []
    if lacking:
        told += f"; this kernel does not grant {', '.join(lacking)}"
    return Finding(what, "ok", told)


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
