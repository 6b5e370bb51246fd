"""`sonde gc`: what goes, what stays, and what is said."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from sonde.engine.folder import RunFolder
from sonde.events import RunFinished, RunStarted, RunStatus
from sonde.journal.writer import Journal
from sonde.spec import ModelChoice, RunSpec
from tests.cli import Cli

DAY = 86_400


def make_run(runs: Path, name: str, status: RunStatus | None, days: float) -> Path:
    """Make a run that ended some days ago, or was cut short then."""
    then = time.time() - days * DAY
    folder = RunFolder.create(runs, name)
    asyncio.run(_write(folder, status, then))
    folder.release()
    (folder.path / "sub-calls").mkdir()
    (folder.path / "sub-calls/1.md").write_text("x" * 100_000, encoding="utf-8")
    os.utime(folder.path / "lock", (then, then))
    return folder.path


async def _write(folder: RunFolder, status: RunStatus | None, then: float) -> None:
    journal = Journal(folder.journal, clock=lambda: then)
    spec = RunSpec(question="?", models=ModelChoice("openai:x"))
    journal.append(RunStarted(run_id=folder.run_id, version="0", spec=spec.to_json()))
    if status is not None:
        journal.append(RunFinished(status=status, fault=None))
    await journal.close()


@pytest.fixture
def runs(cli: Cli) -> Path:
    """A folder with runs of all kinds. The name tells the age in days."""
    folder = cli.folder / ".sonde/runs"
    make_run(folder, "failed-40", "failed", 40)
    make_run(folder, "cut-35", None, 35)
    make_run(folder, "failed-20", "failed", 20)
    make_run(folder, "done-10", "completed", 10)
    make_run(folder, "limit-8", "limit", 8)
    make_run(folder, "done-5", "completed", 5)
    make_run(folder, "done-0", "completed", 0)
    return folder


def left(runs: Path) -> set[str]:
    return {path.name for path in runs.iterdir() if path.is_dir()}


def dropped(runs: Path) -> set[str]:
    return {"failed-40", "cut-35", "failed-20", "done-10", "limit-8", "done-5", "done-0"} - left(runs)


def test_what_is_usual(cli: Cli, runs: Path) -> None:
    outcome = cli("gc")
    assert outcome.code == 0, outcome.stderr
    assert dropped(runs) == {"failed-40", "cut-35", "done-10"}
    table = [line.split() for line in outcome.text.splitlines()]
    assert ["cut-35", "interrupted", "35d"] in [line[:3] for line in table]
    assert "3 of 7 runs" in outcome.text


def test_a_dry_run_drops_nothing_and_says_the_same(cli: Cli, runs: Path) -> None:
    would = cli("gc", "--dry-run", "--json").json
    assert would["dry_run"]
    assert dropped(runs) == set()
    does = cli("gc", "--json").json
    assert [each["run_id"] for each in does["dropped"]] == ["failed-40", "cut-35", "done-10"]
    assert would["freed_bytes"] == does["freed_bytes"] > 300_000
    assert does["left_runs"] == 4
    assert does["dropped"][0]["status"] == "failed"
    assert does["dropped"][0]["reason"] == "older than 30d"


def test_ages_from_flags_variables_and_files(cli: Cli, runs: Path) -> None:
    assert cli("gc", "--older-than", "3d").code == 0
    assert dropped(runs) == {"failed-40", "cut-35", "done-10", "done-5"}
    cli.environment["SONDE_FAILED_OLDER_THAN"] = "15d"
    assert cli("gc").code == 0
    assert "failed-20" in dropped(runs)
    (cli.folder / "sonde.toml").write_text('[gc]\nfailed_older_than = "1h"\n', encoding="utf-8")
    del cli.environment["SONDE_FAILED_OLDER_THAN"]
    assert cli("gc").code == 0
    assert left(runs) == {"done-0"}


def test_by_size_the_oldest_go_and_the_newest_stays(cli: Cli, runs: Path) -> None:
    size = sum(path.stat().st_size for path in (runs / "done-5").rglob("*") if path.is_file())
    assert cli("gc", "--max-size", f"{round(size * 2.5 / 1000)}kB").code == 0
    assert left(runs) == {"done-5", "done-0"}
    assert cli("gc", "--max-size", "1B", "--older-than", "0s").code == 0
    assert left(runs) == {"done-0"}


def test_a_driven_run_stays(cli: Cli, runs: Path) -> None:
    held = RunFolder.open(runs / "failed-40")
    os.utime(runs / "failed-40/lock", (1, 1))
    outcome = cli("gc", "--max-size", "1B", "--json")
    held.release()
    assert outcome.code == 0
    assert left(runs) == {"failed-40", "done-0"}
    assert not outcome.json["failed"]


def test_links_and_damaged_records(cli: Cli, runs: Path, tmp_path: Path) -> None:
    elsewhere = make_run(tmp_path / "elsewhere", "other-90", "completed", 90)
    (runs / "link").symlink_to(elsewhere)
    (runs / "done-10/journal.db").write_bytes(b"no journal")
    outcome = cli("gc", "--json")
    assert outcome.code == 5
    assert "link" in outcome.json["failed"]
    assert (elsewhere / "journal.db").exists()
    assert "done-10" not in dropped(runs), "a record that cannot be read counts as one that was not completed"


def test_what_is_left_of_runs_that_never_began(cli: Cli, runs: Path) -> None:
    (runs / "done-10/journal.db").unlink()
    (runs / "mine").mkdir()
    (runs / "mine/notes.txt").write_text("not a run", encoding="utf-8")
    assert cli("gc").code == 0
    assert "done-10" not in left(runs)
    assert "mine" in left(runs)


def test_nothing_to_do(cli: Cli) -> None:
    assert cli("gc").text == "freed 0 bytes of 0 bytes: 0 of 0 runs\n"
    assert cli("gc", "--json", "--runs-dir", "none").json["dropped"] == []


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [("--older-than", "soon", "not a span of time"), ("--max-size", "2 parsecs", "not a size")],
)
def test_amounts_that_are_none(cli: Cli, flag: str, value: str, words: str) -> None:
    outcome = cli("gc", flag, value)
    assert outcome.code == 2
    assert words in outcome.error
    assert flag in outcome.error
