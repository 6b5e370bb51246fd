"""Replies that code asked to keep for all runs in a folder: `llm(..., cache=True)`."""

import sqlite3
from pathlib import Path

from sonde.errors import JournalError

FILE_NAME = "cache.db"

_TABLE = "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"


class Cache:
    """Values by key, in a file that runs share. It is opened when it is first needed. Raises `JournalError`."""

    def __init__(self, runs: Path) -> None:
        self._path = runs / FILE_NAME
        self._database: sqlite3.Connection | None = None

    def get(self, key: str) -> str | None:
        """Return the value that is kept under a key, or None."""
        try:
            row = self._open().execute("SELECT value FROM reply WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise self._fault(error) from error
        return None if row is None else row[0]

    def put(self, key: str, value: str) -> None:
        """Keep a value under a key."""
        try:
            self._open().execute("INSERT OR REPLACE INTO reply VALUES (?, ?)", (key, value))
        except sqlite3.Error as error:
            raise self._fault(error) from error

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = sqlite3.connect(self._path, isolation_level=None, timeout=10)
            self._path.chmod(0o600)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.execute(_TABLE)
        return self._database

    def _fault(self, error: sqlite3.Error) -> JournalError:
        return JournalError(f"cannot use the cache {self._path}: {error}", "Mend or remove the file, then resume.")
