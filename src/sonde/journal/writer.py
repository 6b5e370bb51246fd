"""Append facts, many at a time.

`append` only queues. All that was queued while the disk was busy is written by one thread in one transaction
and flushed once (group commit), so a thousand concurrent calls share the price of one flush. `saved`
waits until everything appended so far is on the disk: a result must not be shown to anyone before that.
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sonde import jsontext
from sonde.blobs import store
from sonde.errors import JournalError
from sonde.events import Blob, Fact, Record, Stored
from sonde.journal import explain, schema
from sonde.journal.whole import crc_of, is_whole_row

INLINE_BYTES = 4096


class _Batch(NamedTuple):
    rows: list[tuple[int, float, str, int]]
    blobs: list[tuple[str, bytes]]

    @property
    def last(self) -> int:
        return self.rows[-1][0] if self.rows else 0


class Journal:
    """The one writer of a run's record. Belongs to the event loop it was opened in.

    Every method that reaches the disk raises `JournalError` once writing has failed.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._database = schema.connect(path)
        try:
            self._salt = schema.salt_of(self._database)
            self._last_seq, self._last_at = self._end()
        except sqlite3.Error as error:
            self._database.close()
            raise explain.cannot_read(path, error) from error
        except JournalError:
            self._database.close()
            raise
        self._saved_seq = self._last_seq
        self._batch = _Batch([], [])
        self._kicked = False
        self._failure: JournalError | None = None
        self._is_told = False
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._listeners: list[Callable[[Record], None]] = []
        self._queue: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, name="journal", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._database.close()
            raise explain.cannot_write(path, error) from error

    def listen(self, listener: Callable[[Record], None]) -> None:
        """Call `listener` with each record as it is appended."""
        self._listeners.append(listener)

    def append(self, fact: Fact) -> Record:
        """Queue a fact and return its record. It is on the disk once `saved` returns."""
        self._refuse_after_failure()
        # A clock set back must not make a record look older than the one before it.
        at = max(self._last_at, self._clock())
        text = jsontext.encode(fact)
        record = Record(self._last_seq + 1, at, fact)
        self._batch.rows.append((record.seq, at, text.decode(), crc_of(self._salt, record.seq, at, text)))
        self._last_seq, self._last_at = record.seq, at
        if not self._kicked:
            self._kicked = True
            self._loop.call_soon(self._hand_over)
        for listener in self._listeners:
            listener(record)
        return record

    def keep_value(self, value: object) -> Stored:
        """Return plain data as a fact may hold it: as JSON."""
        return self.keep(jsontext.encode(value).decode())

    def keep(self, text: str) -> Stored:
        """Return `text` as a fact may hold it: itself if it is small, else the address where it is kept."""
        if len(text) * 4 <= INLINE_BYTES:
            return text
        content = text.encode("utf-8", "surrogatepass")
        if len(content) <= INLINE_BYTES:
            return text
        where = store.address(content)
        self._batch.blobs.append((where, content))
        return Blob(where, len(content))

    async def saved(self) -> None:
        """Wait until all that was appended so far is on the disk."""
        self._refuse_after_failure()
        if self._saved_seq < self._last_seq:
            done: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append((self._last_seq, done))
            await done

    async def close(self) -> None:
        """Write what is queued and close the file. Raises `JournalError` if that failed and nobody was told before."""
        self._hand_over()
        self._queue.put(None)
        try:
            await asyncio.to_thread(self._thread.join)
        finally:
            # Also when this is cancelled: whoever takes up the run next must be the only one to write.
            self._thread.join()
            self._database.close()
        if self._failure is None:
            self._failure, self._is_told = JournalError(f"the run's record {self._path} is closed"), True
        elif not self._is_told:
            self._refuse_after_failure()

    def _end(self) -> tuple[int, float]:
        """Return the number and time of the last row. Raises `JournalError` if it is damaged."""
        row = self._database.execute(
            "SELECT seq, at, CAST(fact AS BLOB), crc FROM event ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return 0, 0.0
        if not is_whole_row(self._salt, row):
            raise explain.damaged(self._path, f"number {row[0]} is not as it was written")
        return row[0], row[1]

    def _refuse_after_failure(self) -> None:
        if self._failure is not None:
            self._is_told = True
            raise self._failure

    def _hand_over(self) -> None:
        self._kicked = False
        if self._batch.rows or self._batch.blobs:
            self._queue.put(self._batch)
            self._batch = _Batch([], [])

    def _write_all(self) -> None:
        """Run the writer thread: take all there is, commit it, tell the loop."""
        while (batch := self._queue.get()) is not None:
            batches, ending = [batch], False
            while not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    ending = True
                    break
                batches.append(following)
            try:
                self._save(batches)
            except BaseException as error:  # noqa: BLE001 - whatever it was, whoever waits must hear of it
                self._tell(self._fail, explain.cannot_write(self._path, error))
                return
            if ending:
                return

    def _save(self, batches: list[_Batch]) -> None:
        """Commit what there is; where there is no room for all, one batch after the other, as far as it goes."""
        try:
            self._commit(batches)
        except sqlite3.Error as error:
            if len(batches) == 1 or not explain.lacks_room(error):
                raise
            for batch in batches:
                self._save([batch])
        else:
            self._tell(self._note_saved, max(each.last for each in batches))

    def _commit(self, batches: list[_Batch]) -> None:
        database = self._database
        database.execute("BEGIN")
        try:
            for batch in batches:
                store.put(database, batch.blobs)
                database.executemany("INSERT INTO event VALUES (?, ?, ?, ?)", batch.rows)
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")
            raise

    def _tell(self, callback: Callable[..., None], *args: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(callback, *args)

    def _note_saved(self, seq: int) -> None:
        self._saved_seq = max(self._saved_seq, seq)
        while self._waiting and self._waiting[0][0] <= self._saved_seq:
            done = self._waiting.popleft()[1]
            if not done.done():
                done.set_result(None)

    def _fail(self, failure: JournalError) -> None:
        self._failure = failure
        for _, done in self._waiting:
            if not done.done():
                done.set_exception(failure)
                self._is_told = True
        self._waiting.clear()
