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
from pathlib import Path
from typing import NamedTuple

from sonde import jsontext
from sonde.blobs import store
from sonde.errors import JournalError
from sonde.events import Blob, Fact, Record, Stored
from sonde.journal import schema

INLINE_BYTES = 4096


class _Batch(NamedTuple):
    rows: list[tuple[int, float, str]]
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
        last = self._database.execute("SELECT coalesce(max(seq), 0), coalesce(max(at), 0) FROM event")
        self._last_seq, self._last_at = last.fetchone()
        self._saved_seq = self._last_seq
        self._batch = _Batch([], [])
        self._kicked = False
        self._failure: JournalError | None = None
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._listeners: list[Callable[[Record], None]] = []
        self._queue: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, name="journal", daemon=True)
        self._thread.start()

    def listen(self, listener: Callable[[Record], None]) -> None:
        """Call `listener` with each record as it is appended."""
        self._listeners.append(listener)

    def append(self, fact: Fact) -> Record:
        """Queue a fact and return its record. It is on the disk once `saved` returns."""
        if self._failure is not None:
            raise self._failure
        # A clock set back must not make a record look older than the one before it.
        self._last_at = max(self._last_at, self._clock())
        self._last_seq += 1
        record = Record(self._last_seq, self._last_at, fact)
        self._batch.rows.append((record.seq, record.at, jsontext.encode(fact).decode()))
        if not self._kicked:
            self._kicked = True
            self._loop.call_soon(self._hand_over)
        for listener in self._listeners:
            listener(record)
        return record

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
        if self._failure is not None:
            raise self._failure
        if self._saved_seq < self._last_seq:
            done: asyncio.Future[None] = self._loop.create_future()
            self._waiting.append((self._last_seq, done))
            await done

    async def close(self) -> None:
        """Write what is queued and close the file."""
        self._hand_over()
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        self._database.close()

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
                self._commit(batches)
            except sqlite3.Error as error:
                self._tell(self._fail, str(error))
                return
            self._tell(self._note_saved, max(each.last for each in batches))
            if ending:
                return

    def _commit(self, batches: list[_Batch]) -> None:
        database = self._database
        database.execute("BEGIN")
        try:
            for batch in batches:
                store.put(database, batch.blobs)
                database.executemany("INSERT INTO event VALUES (?, ?, ?)", batch.rows)
            database.execute("COMMIT")
        except sqlite3.Error:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise

    def _tell(self, callback: Callable[..., None], *args: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, *args)

    def _note_saved(self, seq: int) -> None:
        self._saved_seq = max(self._saved_seq, seq)
        while self._waiting and self._waiting[0][0] <= self._saved_seq:
            done = self._waiting.popleft()[1]
            if not done.done():
                done.set_result(None)

    def _fail(self, reason: str) -> None:
        self._failure = JournalError(
            f"cannot write the run's record {self._path}: {reason}",
            "Free some space or mend the folder, then `sonde resume` the run.",
        )
        for _, done in self._waiting:
            if not done.done():
                done.set_exception(self._failure)
        self._waiting.clear()
