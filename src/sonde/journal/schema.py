"""The journal's file: its tables, its version, and how one is opened."""

import sqlite3
from pathlib import Path

from sonde.blobs import store
from sonde.errors import JournalError
from sonde.events import SCHEMA_VERSION

FILE_NAME = "journal.db"

_EVENT_TABLE = "CREATE TABLE event (seq INTEGER PRIMARY KEY, at REAL NOT NULL, fact TEXT NOT NULL)"


def connect(path: Path) -> sqlite3.Connection:
    """Open a journal for reading and writing, making it if it is new. Raises `JournalError`."""
    try:
        database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        database.execute("PRAGMA journal_mode = WAL")
        # A result that code has seen must outlive a power cut; group commit makes the flush cheap.
        database.execute("PRAGMA synchronous = FULL")
        if version_of(database, path) == 0:
            database.execute("BEGIN")
            database.execute(_EVENT_TABLE)
            database.execute(store.TABLE)
            database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            database.execute("COMMIT")
    except sqlite3.Error as error:
        raise JournalError(
            f"cannot write the run's record {path}: {error}",
            "Check that the folder is writable and the disk not full, or choose another with --runs-dir.",
        ) from error
    path.chmod(0o600)
    return database


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open an existing journal for reading, also while it is being written. Raises `JournalError`."""
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
        version_of(database, path)
    except sqlite3.Error as error:
        raise JournalError(f"cannot read the run's record {path}: {error}") from error
    return database


def version_of(database: sqlite3.Connection, path: Path) -> int:
    """Return the file's schema version, 0 if it is empty. Raises `JournalError` if it is too new."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise JournalError(
            f"{path} was written by a newer version of Sonde (schema {version}, known up to {SCHEMA_VERSION})",
            "Upgrade Sonde to open this run.",
        )
    return version
