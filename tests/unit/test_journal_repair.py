"""What is left of a record after its file was damaged: told as it is, and saved as far as it is whole."""

import asyncio
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sonde import jsontext
from sonde.errors import JournalError
from sonde.events import (
    AgentStarted,
    Answered,
    Blob,
    CallFinished,
    CallStarted,
    CellFinished,
    CellStarted,
    Record,
    RunFinished,
    RunStarted,
    Warned,
)
from sonde.journal import schema
from sonde.journal.check import check
from sonde.journal.reader import Reader
from sonde.journal.repair import repair, spans
from sonde.journal.writer import Journal

DATA = Path(__file__).parents[1] / "data"
PAIRS = 40


class Made(NamedTuple):
    """A journal whose log is not folded in, the same one closed, and how far the log was when a number was saved."""

    live: Path
    closed: Path
    records: list[Record]
    saved: list[tuple[int, int]]


async def write(path: Path, saved: list[tuple[int, int]], then: Callable[[], object]) -> None:
    """Write what a run would, with texts of all lengths."""
    rng = random.Random(1)
    journal = Journal(path, clock=lambda: 1e9 + rng.random())
    journal.append(RunStarted(path.parent.name, "0", "{}"))
    journal.append(AgentStarted("root", "root", "m"))
    journal.append(CellStarted("root", 1, "1"))
    for n in range(1, PAIRS + 1):
        request = journal.keep(f"{n}\ud800" * rng.choice([1, 9, 400, 900]))
        journal.append(CallStarted(n, "root", 1, "llm", f"{n:024x}", request=request))
        value = journal.keep(f"[{n}]" * rng.choice([1, 99, 2000, 6000]))
        last = journal.append(CallFinished(n, "ok", value)).seq
        if n % 3 == 0:
            await journal.saved()
            saved.append((schema.log_of(path).stat().st_size, last))
    journal.append(RunFinished("limit"))
    await journal.saved()
    then()
    await journal.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    closed, live = tmp_path_factory.mktemp("journal") / "run", tmp_path_factory.mktemp("journal") / "run"
    closed.mkdir()
    saved: list[tuple[int, int]] = []
    asyncio.run(write(closed / "journal.db", saved, lambda: shutil.copytree(closed, live)))
    assert not schema.log_of(closed / "journal.db").exists()
    return Made(live, closed, read(closed / "journal.db"), saved)


@contextmanager
def copied(run: Path) -> Generator[Path]:
    with TemporaryDirectory() as folder:
        yield shutil.copytree(run, Path(folder, "run")) / "journal.db"


def read(path: Path) -> list[Record]:
    """Return all records, having read their texts too."""
    with Reader(path) as reader:
        records = list(reader.records())
        for record in records:
            for stored in (getattr(record.fact, "request", ""), getattr(record.fact, "value", "") or ""):
                reader.text(stored)
    return records


def attempt(path: Path) -> tuple[list[Record], str]:
    """Return all records, or the error."""
    try:
        return read(path), ""
    except JournalError as error:
        return [], str(error)


def append(path: Path, *facts: Warned | RunFinished) -> None:
    async def write() -> None:
        journal = Journal(path)
        for fact in facts:
            journal.append(fact)
        await journal.close()

    asyncio.run(write())


def broken(path: Path) -> dict[str, str]:
    return {each.what: each.detail for each in check(path) if each.standing == "missing"}


def overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def rot(path: Path, text: bytes) -> None:
    """Change a byte in the middle of a text, wherever the file has it."""
    content = path.read_bytes()
    assert text in content
    path.write_bytes(content.replace(text, text[:-9] + b"!" + text[-8:]))


def numbers(ranges: list[tuple[int, int]]) -> set[int]:
    return {n for first, last in ranges for n in range(first, last + 1)}


@given(cut=st.floats(0, 1), tail=st.sampled_from(["cut", "zeros", "noise"]))
@example(cut=0.0, tail="cut")
@example(cut=1.0, tail="cut")
@settings(max_examples=50)
def test_a_torn_log_leaves_all_that_was_saved_before_the_tear(made: Made, cut: float, tail: str) -> None:
    with copied(made.live) as path:
        log = schema.log_of(path)
        size = log.stat().st_size
        at = int(cut * size)
        os.truncate(log, at)
        if tail != "cut":
            with log.open("ab") as file:
                file.write(bytes(size - at) if tail == "zeros" else random.Random(at).randbytes(size - at))
        saved = max((last for so_far, last in made.saved if so_far <= at), default=0)
        records, error = attempt(path)
        if error:
            assert saved == 0
            assert "is empty" in error
            return
        assert len(records) >= saved
        assert records == made.records[: len(records)]
        append(path, Warned("it", "goes on"))
        assert read(path)[:-1] == records


@pytest.mark.parametrize("gone", ["-wal", "-shm"])
def test_without_the_log_or_its_index_what_is_read_is_a_beginning(made: Made, gone: str) -> None:
    with copied(made.live) as path:
        path.with_name(path.name + gone).unlink()
        if gone == "-shm":
            assert read(path) == made.records
        else:
            with pytest.raises(JournalError, match="is empty: the run had not begun"):
                read(path)


def test_an_index_full_of_noise_is_made_anew(made: Made) -> None:
    with copied(made.live) as path:
        path.with_name(path.name + "-shm").write_bytes(random.Random(1).randbytes(32768))
        assert read(path) == made.records


@pytest.mark.parametrize("folded", [True, False], ids=["which-was-begun-anew", "which-holds-all"])
def test_the_log_of_another_journal_is_not_taken_for_this_ones(made: Made, tmp_path: Path, folded: bool) -> None:
    other, theirs = tmp_path / "other" / "journal.db", tmp_path / "theirs"
    other.parent.mkdir()

    async def write() -> None:
        journal = Journal(other)
        for n in range(200):
            journal.append(Warned("other", str(n) * 100))
        await journal.saved()
        if folded:
            with closing(sqlite3.connect(other)) as database:
                database.execute("PRAGMA wal_checkpoint(RESTART)")
        for n in range(20):
            journal.append(Warned("other", str(n) * 100))
        await journal.saved()
        shutil.copytree(other.parent, theirs)
        await journal.close()

    asyncio.run(write())
    with copied(made.closed) as path:
        shutil.copy(schema.log_of(theirs / "journal.db"), schema.log_of(path))
        if folded:
            with pytest.raises(JournalError, match="damaged"):
                read(path)
        else:
            assert {type(record.fact) for record in read(path)} == {Warned}, "it is another's, as a whole"
        assert broken(path)
        repaired = repair(path)
        assert read(path) == made.records
        assert not repaired.lost


@given(at=st.floats(0, 1, exclude_max=True), content=st.binary(min_size=1, max_size=60))
@settings(max_examples=40)
def test_whatever_is_overwritten_is_told_and_the_rest_saved(made: Made, at: float, content: bytes) -> None:
    """What is read is as it was written, or an error; and afterwards all that is whole is there, lost or not."""
    with copied(made.closed) as path:
        overwrite(path, min(int(at * path.stat().st_size), path.stat().st_size - len(content)), content)
        records, error = attempt(path)
        assert records == made.records or "sonde doctor run --repair" in error
        assert not error or broken(path)
        repaired = repair(path)
        saved = {record.seq: record for record in read(path)}
        assert numbers(repaired.lost) <= {record.seq for record in made.records} - set(saved)
        assert len(saved) >= len(made.records) - 3, "one row or page, and what hangs on it"
        for record in made.records:
            lacks_only_what_was_asked = isinstance(record.fact, CallStarted) and isinstance(record.fact.request, Blob)
            assert lacks_only_what_was_asked or saved.get(record.seq, record) == record
        assert not broken(path) or 1 in numbers(repaired.lost) or 2 in numbers(repaired.lost)


@given(at=st.floats(0, 1, exclude_max=True))
@example(at=0.0)
@settings(max_examples=25)
def test_behind_a_rotten_place_in_the_log_the_rest_is_saved(made: Made, at: float) -> None:
    """SQLite takes a log up to the first page that is not whole; what comes after it was saved as well."""
    with copied(made.live) as path:
        log = schema.log_of(path)
        overwrite(log, int(at * log.stat().st_size), b"rot")
        repaired = repair(path)
        saved = {record.seq: record for record in read(path)}
        assert numbers(repaired.lost) <= {record.seq for record in made.records} - set(saved)
        assert len(saved) >= len(made.records) - 8


def test_every_page_in_turn(made: Made) -> None:
    """A page that is gone takes with it what was on it, and no more."""
    with copied(made.closed) as whole:
        for page in range(0, whole.stat().st_size // 4096, 5):
            with copied(made.closed) as path:
                overwrite(path, page * 4096, bytes(4096))
                repair(path)
                assert len(read(path)) >= len(made.records) - 30


def test_the_damaged_file_is_kept_and_numbers_stay(made: Made) -> None:
    with copied(made.closed) as path:
        for n in (5, 7, 8):
            rot(path, jsontext.encode(made.records[n - 1].fact)[:40])
        before = path.read_bytes()
        repaired = repair(path)
        assert repaired.kept_as == "journal.db.broken-1"
        assert path.with_name(repaired.kept_as).read_bytes() == before
        assert repaired.lost == [(5, 5), (7, 8)]
        assert spans(repaired.lost) == "5, 7-8"
        assert [record.seq for record in read(path)][:6] == [1, 2, 3, 4, 6, 9]
        with Reader(path) as reader:
            assert reader.lost == repaired.lost
        assert path.stat().st_mode & 0o777 == 0o600
        append(path, Warned("it", "goes on"))
        assert read(path)[-1].seq == made.records[-1].seq + 1
        overwrite(path, 0, b"not SQLite any more")
        again = repair(path)
        assert again.kept_as == "journal.db.broken-2"
        assert again.lost == repaired.lost
        assert {each.what for each in check(path) if each.standing == "warning"} == {"numbers", "calls"}


def test_facts_whose_text_is_lost_did_not_happen(tmp_path: Path) -> None:
    """But for what was only asked: it can be told without its text, and what came of it is worth keeping."""
    path = tmp_path / "run" / "journal.db"
    path.parent.mkdir()

    async def write() -> None:
        journal = Journal(path)
        journal.append(RunStarted("run", "0", "{}"))
        journal.append(AgentStarted("root", "root", "m"))
        journal.append(CellStarted("root", 1, journal.keep("code" * 2000)))
        journal.append(CallStarted(1, "root", 1, "llm", "k", request=journal.keep("asked" * 2000)))
        journal.append(CallFinished(1, "ok", journal.keep("value" * 2000)))
        journal.append(CellFinished("root", 1, "ok", stdout=journal.keep("kept" * 2000)))
        journal.append(Answered("root", journal.keep("answer" * 2000)))
        journal.append(RunFinished("completed"))
        await journal.close()

    asyncio.run(write())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM blob WHERE substr(content, 1, 4) IN (x'636f6465', x'61736b65')")
        database.execute("UPDATE blob SET content = x'00' WHERE substr(content, 1, 6) = x'616e73776572'")
    assert set(broken(path)) == {"texts"}
    assert broken(path)["texts"] == "1 of 3 not as they were written, 2 more not there"
    repaired = repair(path)
    assert repaired.lost == [(7, 7)]
    records = {record.seq: record.fact for record in read(path)}
    assert records[3] == CellStarted("root", 1, "")
    assert records[4] == CallStarted(1, "root", 1, "llm", "k")
    assert set(records) == {1, 2, 3, 4, 5, 6, 8}
    assert broken(path) == {"status": "completed, but the answer is not there"}


def test_a_repair_that_was_stopped_midway_is_done_again(made: Made) -> None:
    """After the log got its new name, and before the mended file took the old one's place."""
    with copied(made.live) as path:
        kept = path.with_name("journal.db.broken-1")
        kept.hardlink_to(path)
        schema.log_of(path).rename(schema.log_of(kept))
        path.with_name("journal.db.mended").write_bytes(b"half of it")
        assert broken(path)
        repaired = repair(path)
        assert repaired.kept_as == kept.name
        assert read(path) == made.records
        assert sorted(each.name for each in path.parent.iterdir()) == [
            "journal.db",
            "journal.db.broken-1",
            "journal.db.broken-1-wal",
        ]


def test_nothing_is_changed_where_nothing_can_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "run" / "journal.db"
    path.parent.mkdir()
    path.write_bytes(random.Random(1).randbytes(50_000))
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"nothing in .* can be read any more\. Start the run again"):
        repair(path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["journal.db"]


def test_a_repair_that_finds_no_room_leaves_all_as_it_was(made: Made) -> None:
    with copied(made.closed) as path:
        path.with_name("journal.db.mended").mkdir()
        before = path.read_bytes()
        with pytest.raises(JournalError, match=r"cannot repair .* Nothing is lost"):
            repair(path)
        assert path.read_bytes() == before


def test_what_a_newer_version_wrote_is_not_repaired_by_this_one(made: Made) -> None:
    with copied(made.closed) as path:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("PRAGMA user_version = 2")
        with pytest.raises(JournalError, match="newer version"):
            repair(path)


def test_a_whole_record_is_found_whole(made: Made) -> None:
    for run in (made.live, made.closed):
        with copied(run) as path:
            findings = {each.what: each for each in check(path)}
            assert {each.standing for each in findings.values()} == {"ok"}
            assert findings["numbers"].detail == f"{len(made.records)}, without a gap"
            assert findings["calls"].detail == f"{PAIRS} made, 0 of them without an end"


def test_a_run_that_was_copied_without_its_log_is_doubted(made: Made) -> None:
    """One that did not end leaves a log; nothing else tells that it is missing."""
    with copied(made.live) as path:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("DELETE FROM event WHERE seq > 50")
        assert not schema.log_of(path).exists()
        findings = {each.what: each for each in check(path)}
        assert findings["status"].standing == "warning"
        assert "may have been left behind" in findings["status"].detail


@pytest.mark.parametrize(
    ("statement", "what", "detail"),
    [
        ("DELETE FROM event WHERE seq BETWEEN 9 AND 11", "numbers", "9-11 not there"),
        ("UPDATE event SET fact = 'x' WHERE seq IN (9, 10, 20)", "facts", "9-10, 20 not as they were written"),
        (
            "DELETE FROM blob WHERE address = (SELECT min(address) FROM blob)",
            "texts",
            "0 of 25 not as they were written, 1 more",
        ),
        ("DELETE FROM event WHERE seq = 1", "beginning", "It cannot be resumed: start it again"),
        ("DROP TABLE blob", "texts", "SQLite cannot read on: no such table: blob"),
    ],
)
def test_what_is_wrong_is_found(made: Made, statement: str, what: str, detail: str) -> None:
    with copied(made.closed) as path:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(statement)
        assert detail in broken(path)[what]


def test_a_record_written_by_an_earlier_version_is_read(tmp_path: Path) -> None:
    """Each kind of fact there was, and a text apart from them. Files as this one must go on loading."""
    path = Path(shutil.copy(DATA / "journal-1.db", tmp_path)).rename(tmp_path / "journal.db")
    with Reader(path) as reader:
        records = list(reader.records())
        assert [record.seq for record in records] == list(range(1, 15))
        assert len({type(record.fact) for record in records}) == 14, "none is passed over"
        texts = [getattr(record.fact, "request", None) for record in records]
        [request] = [text for text in texts if isinstance(text, Blob)]
        assert reader.text(request) == "é\ud800" * 2000
    append(path, Warned("it", "goes on"))
    assert len(read(path)) == 15
