"""What an error of SQLite or of the disk means for a run's record, and what to do about it."""

import os
import sqlite3
from pathlib import Path

from sonde.errors import JournalError

_NO_SHARED_MEMORY = frozenset({
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMLOCK,
    sqlite3.SQLITE_IOERR_SHMMAP,
})  # fmt: skip
_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_DENIED = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})


def cannot_write(path: Path, error: BaseException) -> JournalError:
    """Return the error for a record that could not be written."""
    again = f"then `sonde resume {path.parent.name}`"
    why, remedy = str(error) or type(error).__name__, f"Mend that, {again}."
    match _code(error):
        case _ if getattr(error, "sqlite_errorcode", None) in _NO_ROOM:
            why, remedy = "the disk is full", f"Free some space, {again}."
        case code if code in _LOCKED:
            why, remedy = "another program keeps it locked", f"Close what has it open, {again}."
        case code if code in _DENIED:
            why = _denied(path, os.R_OK | os.W_OK) or why
            remedy = "Make the file and its folder writable, or choose another place with --runs-dir."
        case sqlite3.SQLITE_IOERR if lacks_shared_memory(error):
            return no_shared_memory(path)
        case sqlite3.SQLITE_IOERR:
            why, remedy = _denied(path, os.R_OK) or _disk_error(error), f"Check the disk and its quota, {again}."
        case code if code in _DAMAGED:
            return damaged(path, "")
        case _ if isinstance(error, OSError):
            why = error.strerror or why
            remedy = "Make the folder writable, free some space, or choose another place with --runs-dir."
        case _ if isinstance(error, MemoryError):
            why, remedy = "out of memory", f"Close other programs, {again}."
        case _:
            pass
    return JournalError(f"cannot write the run's record {path}: {why}", remedy)


def cannot_read(path: Path, error: BaseException) -> JournalError:
    """Return the error for a record that could not be read."""
    why, remedy = str(error) or type(error).__name__, "Check the disk and who may read there."
    match _code(error):
        case code if code in _LOCKED:
            why, remedy = "another program keeps it locked", "Close what has it open."
        case code if code in _DENIED:
            why = _denied(path, os.R_OK) or why
        case code if code in _DAMAGED:
            return damaged(path, "")
        case sqlite3.SQLITE_IOERR:
            why = _denied(path, os.R_OK) or _disk_error(error)
        case sqlite3.SQLITE_ERROR:
            return no_record(path)
        case _:
            pass
    return JournalError(f"cannot read the run's record {path}: {why}", remedy)


def damaged(path: Path, what: str) -> JournalError:
    """Return the error for a record that is not as it was written. `what` says where; "" if no one knows."""
    why = f"it is damaged: {what}" if what else "it is damaged, or no database"
    remedy = f"`sonde doctor {path.parent.name} --repair` saves all of it that can be read."
    return JournalError(f"cannot read the run's record {path}: {why}", remedy)


def no_record(path: Path) -> JournalError:
    """Return the error for a database of something else."""
    return JournalError(
        f"{path} is a database, but not the record of a run, or of one before Sonde 0.1", "Check the folder."
    )


def no_shared_memory(path: Path) -> JournalError:
    """Return the error for a place where SQLite cannot keep a write-ahead log."""
    return JournalError(
        f"cannot write the run's record {path}: its file system has no shared memory, as some network ones",
        "Choose a place on a local disk with --runs-dir.",
    )


def lacks_shared_memory(error: BaseException) -> bool:
    """Whether an error came of a file system without shared memory."""
    return getattr(error, "sqlite_errorcode", None) in _NO_SHARED_MEMORY


def lacks_room(error: BaseException) -> bool:
    """Whether an error came of a full disk, or a full quota."""
    return getattr(error, "sqlite_errorcode", None) in {*_NO_ROOM, sqlite3.SQLITE_IOERR_WRITE}


def is_denied(error: BaseException) -> bool:
    """Whether an error came of a file or folder that may not be opened."""
    return _code(error) in _DENIED


def _code(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _disk_error(error: BaseException) -> str:
    return f"the disk reports an error ({getattr(error, 'sqlite_errorname', '')})"


def _denied(path: Path, wanted: int) -> str:
    """Return what stands in the way of opening a journal, or "" if nothing is to be seen."""
    verb = "written" if wanted & os.W_OK else "read"
    for each in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if each.is_dir():
            return f"{each.name} is a folder"
        if each.exists() and not os.access(each, wanted):
            return f"{each.name} may not be {verb} by this user"
    if not path.exists():
        return "there is no such file"
    if not os.access(path.parent, wanted):
        return f"its folder may not be {verb} by this user"
    return ""
