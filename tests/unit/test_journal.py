"""The record: what is appended is there, in order, for whoever reads meanwhile."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from sonde.errors import JournalError
from sonde.events import Blob, CallStarted, Record, Warned
from sonde.journal.reader import Reader
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


def test_kinds_of_a_newer_version_are_passed_over(path: Path) -> None:
    async def test(journal: Journal) -> None:
        journal.append(Warned("a", ""))

    in_journal(path, test)
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO event VALUES (2, 1.0, ?)", ('{"kind": "from_the_future"}',))
        database.commit()
        with Reader(path) as reader:
            assert [record.seq for record in reader.records()] == [1]
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(JournalError, match="newer version"):
        Reader(path)


def test_what_is_no_journal_is_refused(path: Path) -> None:
    path.write_bytes(b"not a database at all, but long enough to be taken for one" * 100)
    with pytest.raises(JournalError, match="cannot read"):
        Reader(path)
    with pytest.raises(JournalError, match="cannot read"):
        Reader(path.parent / "missing.db")

    async def open_it() -> None:
        Journal(path)

    with pytest.raises(JournalError, match="cannot write"):
        asyncio.run(open_it())


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
