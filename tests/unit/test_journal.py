"""The record: what is appended is there, in order, for whoever reads meanwhile."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.errors import JournalError
from sonde.events import Blob, CallStarted, Record, Warned
from sonde.journal import explain, schema
from sonde.journal.reader import Reader
from sonde.journal.whole import crc_of
from sonde.journal.writer import INLINE_BYTES, Journal


def in_journal(path: Path, test: Callable[[Journal], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def main() -> None:
        journal = Journal(path, **options)
        try:
            await test(journal)
        finally:
            await journal.close()

    asyncio.run(main())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def test_records_are_read_back_in_order(path: Path) -> None:
    async def test(journal: Journal) -> None:
        for n in range(1000):
            journal.append(Warned("n", str(n)))
        await journal.saved()

    in_journal(path, test)
    with Reader(path) as reader:
        records = list(reader.records())
        assert [record.fact for record in records] == [Warned("n", str(n)) for n in range(1000)]
        assert [record.seq for record in records] == list(range(1, 1001))
        assert reader.first() == records[0]
        assert reader.last() == records[-1]
        assert reader.fact(500) == records[499].fact
        with pytest.raises(JournalError, match="lacks number 1001"):
            reader.fact(1001)


def test_it_can_be_followed_while_it_is_written(path: Path) -> None:
    async def test(journal: Journal) -> None:
        with Reader(path) as reader:
            seen: list[Record] = []
            for n in range(5):
                appended = [journal.append(Warned("n", str(n))), journal.append(Warned("m", str(n)))]
                await journal.saved()
                seen += (news := list(reader.records(after=len(seen))))
                assert news == appended

    in_journal(path, test)


def test_a_life_goes_on_where_the_last_one_stopped(path: Path) -> None:
    async def test(journal: Journal) -> None:
        journal.append(Warned("a", ""))

    in_journal(path, test)
    in_journal(path, test)
    with Reader(path) as reader:
        assert [record.seq for record in reader.records()] == [1, 2]


def test_large_texts_are_kept_apart_and_once(path: Path) -> None:
    large = "é" * INLINE_BYTES + "\ud800"

    async def test(journal: Journal) -> None:
        assert journal.keep("é" * (INLINE_BYTES // 2)) == "é" * (INLINE_BYTES // 2)
        for _ in range(3):
            kept = journal.keep(large)
            assert isinstance(kept, Blob)
            journal.append(CallStarted(1, "root", 1, "llm", "key", request=kept))
        await journal.saved()

    in_journal(path, test)
    with Reader(path) as reader:
        fact = reader.fact(1)
        assert isinstance(fact, CallStarted)
        assert reader.text(fact.request) == large
        with pytest.raises(JournalError, match="lacks the text"):
            reader.text(Blob("b2:none", 3))
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM blob").fetchone() == (1,)
    database.close()


def test_the_clock_may_be_set_back(path: Path) -> None:
    times = iter([100.0, 50.0, 101.0])

    async def test(journal: Journal) -> None:
        assert [journal.append(Warned("a", "")).at for _ in range(3)] == [100.0, 100.0, 101.0]

    in_journal(path, test, clock=lambda: next(times))


def test_saved_waits_for_all_that_was_appended(path: Path) -> None:
    async def test(journal: Journal) -> None:
        order: list[int] = []

        async def append(n: int) -> None:
            journal.append(Warned("n", str(n)))
            await journal.saved()
            order.append(n)

        await asyncio.gather(*[append(n) for n in range(200)])
        assert order == list(range(200)), "waiters are let go in the order of their records"

    in_journal(path, test)


def insert(path: Path, seq: int, fact: str) -> None:
    """Put a row into a journal as some other version would."""
    with closing(sqlite3.connect(path)) as database, database:
        row = (seq, 1e12, fact, crc_of(schema.salt_of(database), seq, 1e12, fact.encode()))
        database.execute("INSERT INTO event VALUES (?, ?, ?, ?)", row)


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def test_kinds_of_a_newer_version_are_passed_over(path: Path) -> None:
    async def test(journal: Journal) -> None:
        journal.append(Warned("a", ""))

    in_journal(path, test)
    insert(path, 2, '{"kind": "from_the_future"}')
    insert(path, 3, '{"kind": "warned", "code": ["now", "a", "list"]}')
    with Reader(path) as reader:
        assert [record.seq for record in reader.records()] == [1]
        assert reader.last() == reader.first()
        with pytest.raises(JournalError, match=r"number 2 .* unknown kind.* Upgrade"):
            reader.fact(2)
    in_journal(path, test)
    with Reader(path) as reader:
        assert [record.seq for record in reader.records(after=1)] == [4]
    change(path, "PRAGMA user_version = 99")
    with pytest.raises(JournalError, match="newer version"):
        Reader(path)
    with pytest.raises(JournalError, match="newer version"):
        in_journal(path, test)


def refused(path: Path, reading: str, writing: str) -> None:
    """Neither read nor written, nor changed by the attempt."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(JournalError, match=reading):
        Reader(path)

    async def open_it() -> None:
        Journal(path)

    if writing:
        with pytest.raises(JournalError, match=writing):
            asyncio.run(open_it())
    assert before == (path.read_bytes() if path.is_file() else None)


def test_what_is_no_journal_is_refused(path: Path) -> None:
    path.write_bytes(b"not a database at all, but long enough to be taken for one" * 100)
    refused(path, "damaged, or no database", "damaged, or no database")


def test_a_missing_or_empty_file_is_told(path: Path) -> None:
    refused(path, "cannot read .* there is no such file", "")
    path.touch()
    refused(path, "is empty: the run had not begun", "")


def test_a_folder_in_its_place_is_told(path: Path) -> None:
    path.mkdir()
    refused(path, "journal.db is a folder", "journal.db is a folder")


def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    change(path, "CREATE TABLE orders (n)")
    refused(path, "not the record of a run", "not the record of a run")
    change(path, "PRAGMA user_version = 1")
    refused(path, "not the record of a run", "not the record of a run")


def test_a_place_without_shared_memory_is_told(path: Path) -> None:
    """As SQLite finds it: this way to access files has none, wherever they are."""
    database = sqlite3.connect(f"file:{path}?vfs=unix-dotfile", uri=True, isolation_level=None)
    with closing(database), pytest.raises(JournalError, match=r"no shared memory.* --runs-dir"):
        schema.prepare(database, path)


def test_a_record_that_another_program_has_locked_is_told(path: Path) -> None:
    """As it comes out after half a minute of patience."""
    with closing(sqlite3.connect(path, isolation_level=None)) as one, closing(sqlite3.connect(path, timeout=0)) as two:
        one.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as caught:
            two.execute("CREATE TABLE t (n)")
    told = "another program keeps it locked. Close what has it open"
    assert told in str(explain.cannot_write(path, caught.value))
    assert told in str(explain.cannot_read(path, caught.value))


def test_paths_with_any_characters(tmp_path: Path) -> None:
    async def test(journal: Journal) -> None:
        journal.append(Warned("a", ""))

    for name in ("a?b", "50%41", "#1", "a b", "\udcff"):
        path = tmp_path / name / "journal.db"
        path.parent.mkdir()
        in_journal(path, test)
        with Reader(path) as reader:
            assert len(list(reader.records())) == 1
        assert [each.name for each in path.parent.iterdir() if each.name == "journal.db"]


def test_after_a_failed_write_nothing_is_taken_for_saved(path: Path) -> None:
    async def test(journal: Journal) -> None:
        journal.append(Warned("a", ""))
        await journal.saved()
        intruder = sqlite3.connect(path)
        intruder.execute("DROP TABLE event")
        intruder.close()
        journal.append(Warned("b", ""))
        with pytest.raises(JournalError, match="cannot write"):
            await journal.saved()
        with pytest.raises(JournalError, match="cannot write"):
            journal.append(Warned("c", ""))

    in_journal(path, test)


def test_only_the_owner_may_read_it(path: Path) -> None:
    async def test(journal: Journal) -> None:
        assert path.stat().st_mode & 0o077 == 0

    in_journal(path, test)


class Moment(float):
    """A time that cannot be written."""

    def __conform__(self, protocol: object) -> None:
        raise MemoryError


def test_whatever_ends_the_writer_is_told_to_whoever_waits(path: Path) -> None:
    async def test(journal: Journal) -> None:
        for _ in range(3):
            journal.append(Warned("a", ""))
        waiting = [asyncio.ensure_future(journal.saved()) for _ in range(3)]
        done, _ = await asyncio.wait(waiting, timeout=5)
        assert [str(each.exception()) for each in done] == [str(waiting[0].exception())] * 3
        assert "out of memory" in str(waiting[0].exception())
        with pytest.raises(JournalError, match="out of memory"):
            await journal.saved()

    in_journal(path, test, clock=lambda: Moment(1e9))
    with Reader(path) as reader:
        assert not list(reader.records())


def test_a_failure_that_nobody_was_told_comes_out_when_it_is_closed(path: Path) -> None:
    async def test(journal: Journal) -> None:
        journal.append(Warned("a", ""))

    with pytest.raises(JournalError, match="out of memory"):
        in_journal(path, test, clock=lambda: Moment(1e9))


def test_a_closed_journal_takes_nothing(path: Path) -> None:
    async def test(journal: Journal) -> None:
        journal.append(Warned("a", ""))
        await journal.close()
        with pytest.raises(JournalError, match="is closed"):
            journal.append(Warned("b", ""))
        with pytest.raises(JournalError, match="is closed"):
            await journal.saved()

    in_journal(path, test)
    with Reader(path) as reader:
        assert len(list(reader.records())) == 1


def test_what_is_queued_is_written_when_closing_is_cancelled(path: Path) -> None:
    async def test(journal: Journal) -> None:
        for n in range(1000):
            journal.append(Warned("n", str(n)))
        closing = asyncio.ensure_future(journal.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])

    in_journal(path, test)
    with Reader(path) as reader:
        assert len(list(reader.records())) == 1000


def test_a_number_is_used_only_for_what_was_appended(path: Path) -> None:
    async def test(journal: Journal) -> None:
        with pytest.raises(TypeError):
            journal.append(Warned("a", object()))  # pyright: ignore[reportArgumentType]
        assert journal.append(Warned("a", "")).seq == 1

    in_journal(path, test)


def test_a_row_that_is_not_as_it_was_written_is_told(path: Path) -> None:
    async def test(journal: Journal) -> None:
        for n in range(3):
            journal.append(Warned("n", str(n)))

    for statement in (
        """UPDATE event SET fact = replace(fact, '1', '7') WHERE seq = 2""",
        "UPDATE event SET at = at + 1 WHERE seq = 2",
        "UPDATE event SET fact = x'ff' WHERE seq = 2",
        "UPDATE event SET seq = 4 WHERE seq = 2",
        "DELETE FROM event WHERE seq = 2",
        "UPDATE journal SET salt = salt + 1",
        "DELETE FROM journal",
    ):
        path.unlink(missing_ok=True)
        in_journal(path, test)
        change(path, statement)
        with Reader(path) as reader, pytest.raises(JournalError, match=r"damaged: number .* --repair"):
            list(reader.records())


def test_a_text_that_is_not_as_it_was_written_is_told(path: Path) -> None:
    kept: list[Any] = []

    async def test(journal: Journal) -> None:
        kept.append(journal.keep("x" * 5000))
        journal.append(CallStarted(1, "root", 1, "llm", "key", request=kept[0]))

    in_journal(path, test)
    for content in ("x'00'", "'text'"):
        change(path, f"UPDATE blob SET content = {content}")
        with Reader(path) as reader, pytest.raises(JournalError, match=r"the text b2:.* not as it was written"):
            reader.text(kept[0])


def test_the_log_stays_small_whatever_readers_do(path: Path) -> None:
    """One that stopped in the middle of reading too."""

    async def test(journal: Journal) -> None:
        for n in range(1000):
            journal.append(Warned("n", str(n)))
        await journal.saved()
        with Reader(path) as reader:
            records = reader.records()
            next(records)
            largest = 0
            for _ in range(60):
                for _ in range(500):
                    journal.append(Warned("n", "x" * 500))
                await journal.saved()
                largest = max(largest, schema.log_of(path).stat().st_size)
            assert path.stat().st_size > 10_000_000
            assert largest < 6_000_000
            assert len(list(records)) == 30_999

    in_journal(path, test)


def test_a_reader_never_sees_half_of_what_was_appended_together(path: Path) -> None:
    """Facts that were appended in one go are there together, and their texts with them."""
    stop = threading.Event()
    seen: list[int] = []

    def follow() -> None:
        with Reader(path) as reader:
            last = 0
            while not stop.is_set():
                news = list(reader.records(after=last))
                texts = [reader.text(record.fact.request) for record in news if isinstance(record.fact, CallStarted)]
                assert texts == [str(record.seq) * 3000 for record in news]
                assert len(news) % 3 == 0
                last += len(news)
                seen.append(last)

    async def test(journal: Journal) -> None:
        following = asyncio.ensure_future(asyncio.to_thread(follow))
        for n in range(300):
            for seq in range(3 * n + 1, 3 * n + 4):
                journal.append(CallStarted(seq, "root", 1, "llm", "", request=journal.keep(str(seq) * 3000)))
            if n % 5 == 0:
                await journal.saved()
        await journal.saved()
        stop.set()
        await following

    in_journal(path, test)
    assert seen


NO_ROOM = """
import asyncio, resource, sys
from pathlib import Path
from sonde.errors import JournalError
from sonde.events import Warned
from sonde.journal.writer import Journal

async def write(path, room):
    journal = Journal(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, -1))
    saved = 0
    try:
        for n in range(1000):
            for _ in range(7):
                journal.append(Warned("n", journal.keep("x" * (500 + 1000 * (n % 11))).__class__.__name__ * 50))
            await journal.saved()
            saved = 7 * (n + 1)
    except JournalError as error:
        print(path.parent.name, saved, "the disk reports an error" in str(error) and "sonde resume" in str(error))
    finally:
        await journal.close()
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))

for room in range(60_000, 140_000, 8_000):
    path = Path(sys.argv[1], str(room), "journal.db")
    path.parent.mkdir()
    asyncio.run(write(path, room))
"""


def test_where_there_is_no_room_all_that_was_saved_is_there(tmp_path: Path) -> None:
    """Files that may not grow further, of many sizes: each time another part of a commit fails."""
    told = subprocess.run([sys.executable, "-c", NO_ROOM, tmp_path], check=True, capture_output=True, text=True).stdout
    assert len(told.splitlines()) == 10

    async def go_on(journal: Journal) -> None:
        journal.append(Warned("there", "is room again"))

    for room, saved, is_clear in map(str.split, told.splitlines()):
        path = tmp_path / room / "journal.db"
        with Reader(path) as reader:
            there = len(list(reader.records()))
            assert there >= int(saved)
            assert is_clear == "True"
        in_journal(path, go_on)
        with Reader(path) as reader:
            assert len(list(reader.records())) == there + 1


ODD = ["", "\0", "\ud800", "\udcff\ud800", "🙂" * 3000, "x" * 5000]
TEXTS = st.text(st.characters(), max_size=50) | st.sampled_from(ODD)


@given(st.lists(TEXTS, max_size=20))
@settings(max_examples=30)
def test_any_texts_are_read_back(texts: list[str]) -> None:
    async def test(journal: Journal) -> None:
        for n, text in enumerate(texts):
            journal.append(CallStarted(n, text[:9], 1, "llm", "", label=text[:99], request=journal.keep(text)))

    with TemporaryDirectory() as folder:
        path = Path(folder, "journal.db")
        in_journal(path, test)
        with Reader(path) as reader:
            facts = [record.fact for record in reader.records()]
            assert [fact.agent for fact in facts if isinstance(fact, CallStarted)] == [text[:9] for text in texts]
            assert [reader.text(fact.request) for fact in facts if isinstance(fact, CallStarted)] == texts
