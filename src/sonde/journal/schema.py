"""The journal's file: its tables, its version, and how one is opened."""

import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path

from sonde.blobs import store
from sonde.errors import JournalError
from sonde.events import SCHEMA_VERSION
from sonde.journal import explain

FILE_NAME = "journal.db"

TABLES = (
    "CREATE TABLE event (seq INTEGER PRIMARY KEY, at REAL NOT NULL, fact TEXT NOT NULL, crc INTEGER NOT NULL)",
    store.TABLE,
    "CREATE TABLE journal (salt INTEGER NOT NULL)",
    "CREATE TABLE lost (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)",
)

_PATIENCE_S = 30
"""How long to wait for another program that has the file locked."""
_LOG_BYTES = 16 << 20
"""A log that had to grow beyond this, under a reader that did not end, is cut back to it."""


def connect(path: Path) -> sqlite3.Connection:
    """Open a journal for reading and writing, making it if it is new. Raises `JournalError`."""
    try:
        _make(path)
        database = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise explain.cannot_write(path, error) from error
    try:
        prepare(database, path)
    except sqlite3.Error as error:
        database.close()
        raise explain.cannot_write(path, error) from error
    except JournalError:
        database.close()
        raise
    return database


def prepare(database: sqlite3.Connection, path: Path) -> None:
    """Make an open database ready to be written, and learn now if it cannot be. Raises `JournalError`."""
    version = _version_of(database, path)
    if database.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        raise explain.no_shared_memory(path)
    # A result that code has seen must outlive a power cut; group commit makes the flush cheap.
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA fullfsync = ON")
    database.execute("PRAGMA checkpoint_fullfsync = ON")
    database.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
    database.execute("BEGIN IMMEDIATE")
    if version == 0:
        make_tables(database, secrets.randbits(32))
        database.execute("COMMIT")
        # The log was flushed with its entry in the folder; the folder's own entry is one step further up.
        flush_folder(path.parent.parent)
    else:
        _state_version(database)
        database.execute("ROLLBACK")


def make_tables(database: sqlite3.Connection, salt: int) -> None:
    """Make the tables of an empty journal, in the transaction that is open."""
    for table in TABLES:
        database.execute(table)
    database.execute("INSERT INTO journal VALUES (?)", (salt,))
    _state_version(database)


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open an existing journal for reading, also while it is being written. Raises `JournalError`."""
    try:
        try:
            return _open(path, "mode=ro")
        except sqlite3.Error as error:
            way = _way_around(path, error)
            if not way:
                raise
            return _open(path, way)
    except sqlite3.Error as error:
        raise explain.cannot_read(path, error) from error


def salt_of(database: sqlite3.Connection) -> int:
    """Return what a journal's checksums are mixed with; one that no row passes if it is damaged."""
    match database.execute("SELECT salt FROM journal").fetchone():
        case (int(salt),):
            return salt
        case _:
            return -1


def lost_in(database: sqlite3.Connection) -> list[tuple[int, int]]:
    """Return the numbers that a repair could not save, as ranges."""
    return database.execute("SELECT first, last FROM lost ORDER BY first").fetchall()


def log_of(path: Path) -> Path:
    """Return the write-ahead log beside a journal."""
    return path.with_name(path.name + "-wal")


def has_log(path: Path) -> bool:
    """Whether there is anything in the log. A process that ends in order folds it in and removes it."""
    log = log_of(path)
    return log.exists() and log.stat().st_size > 0


def flush_folder(path: Path) -> None:
    """Have the disk keep what was made, renamed or removed in a folder, where it can."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _state_version(database: sqlite3.Connection) -> None:
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _make(path: Path) -> None:
    """Make the file, for its owner alone. One that is there is not touched: closing it would drop SQLite's locks."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))


def _open(path: Path, how: str) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
    try:
        if how == _ALONE:
            database.execute("PRAGMA locking_mode = EXCLUSIVE")
        if _version_of(database, path) == 0:
            raise _empty(path)
        salt_of(database)
    except BaseException:
        database.close()
        raise
    return database


def _empty(path: Path) -> JournalError:
    if has_log(path):
        return explain.damaged(path, "it is empty, and its log is cut off")
    return JournalError(f"the run's record {path} is empty: the run had not begun", "Start it again.")


_ALONE = "mode=ro&vfs=unix-none"
"""Without locks, and with the log's index in memory of our own."""


def _way_around(path: Path, error: sqlite3.Error) -> str:
    """Return how to read a journal where SQLite may make no file of its own, or "". Nobody else can write there."""
    denied = explain.is_denied(error) and path.exists() and not os.access(path.parent, os.W_OK)
    if not denied and not explain.lacks_shared_memory(error):
        return ""
    return _ALONE if has_log(path) else "immutable=1"


def _version_of(database: sqlite3.Connection, path: Path) -> int:
    """Return the file's schema version, 0 if it is empty. Raises `JournalError` if it is of another kind."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise JournalError(
            f"{path} was written by a newer version of Sonde (schema {version}, known up to {SCHEMA_VERSION})",
            "Upgrade Sonde to open this run.",
        )
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables if version == 0 else "journal" not in tables:
        raise explain.no_record(path)
    return version
