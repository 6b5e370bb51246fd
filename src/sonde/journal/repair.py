"""Put what can be saved of a damaged journal in its place, and keep the damaged one beside it."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec

from sonde import jsontext
from sonde.errors import JournalError
from sonde.events import SCHEMA_VERSION, Blob, CallStarted, CellStarted, Fact
from sonde.journal import schema
from sonde.journal.pages import user_version_of
from sonde.journal.reader import decode, texts_of
from sonde.journal.salvage import salvage
from sonde.journal.whole import crc_of

_MANY = 1000
_NO_VERSION = 1000
"""A number as high as this is damage."""


class Repaired(NamedTuple):
    """What a repair saved, and the numbers that it could not."""

    records: int
    texts: int
    lost: list[tuple[int, int]]
    kept_as: str
    """The name of the damaged file."""


def repair(path: Path) -> Repaired:
    """Save what is whole of a journal that nobody has open. Raises `JournalError` if that cannot be."""
    mended = path.with_name(path.name + ".mended")
    try:
        if SCHEMA_VERSION < user_version_of(path) < _NO_VERSION:
            raise JournalError(f"{path} was written by a newer version of Sonde", "Upgrade Sonde to repair it.")
        _remove(mended)
        records, texts, lost = _mend(path, mended)
        return Repaired(records, texts, lost, _put_in_place(mended, path))
    except (OSError, sqlite3.Error) as error:
        raise JournalError(
            f"cannot repair the run's record {path}: {error}", "Nothing is lost. Mend that, and repair it again."
        ) from error
    finally:
        with suppress(OSError):
            _remove(mended)


def spans(numbers: list[tuple[int, int]]) -> str:
    """Return ranges of numbers as people write them."""
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in numbers)


def _mend(path: Path, mended: Path) -> tuple[int, int, list[tuple[int, int]]]:
    os.close(os.open(mended, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(mended, isolation_level=None)
    try:
        # Nobody knows of this file until it is whole and flushed.
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        for source in (path, *_second_names(path)):
            salvage(source, database)
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            raise JournalError(f"nothing in {path} can be read any more", "Start the run again.")
        _leave_out_missing_texts(database)
        lost = list(_gaps(database))
        database.executemany("INSERT INTO lost VALUES (?, ?)", lost)
        records = database.execute("SELECT count(*) FROM event").fetchone()[0]
        texts = database.execute("SELECT count(*) FROM blob").fetchone()[0]
        database.execute("COMMIT")
    finally:
        database.close()
    with mended.open("rb") as file:
        os.fsync(file.fileno())
    return records, texts, lost


def _leave_out_missing_texts(database: sqlite3.Connection) -> None:
    """Leave out facts whose text is lost, as if they had not happened yet. What was only asked stays, without it."""
    salt = schema.salt_of(database)
    seq = 0
    while rows := database.execute(
        "SELECT seq, at, CAST(fact AS BLOB) FROM event WHERE seq > ? AND fact LIKE '%\"blob\":%' ORDER BY seq LIMIT ?",
        (seq, _MANY),
    ).fetchall():
        for seq, at, fact in rows:
            decoded = _decoded(fact)
            missing = [name for name, blob in texts_of(decoded) if not _is_kept(database, blob)]
            if missing and isinstance(decoded, CallStarted | CellStarted):
                text = jsontext.encode(msgspec.structs.replace(decoded, **dict.fromkeys(missing, "")))
                crc = crc_of(salt, seq, at, text)
                database.execute("UPDATE event SET fact = ?, crc = ? WHERE seq = ?", (text.decode(), crc, seq))
            elif missing:
                database.execute("DELETE FROM event WHERE seq = ?", (seq,))


def _gaps(database: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    expected = 1
    for (seq,) in database.execute("SELECT seq FROM event ORDER BY seq"):
        if seq > expected:
            yield expected, seq - 1
        expected = seq + 1


def _is_kept(database: sqlite3.Connection, blob: Blob) -> bool:
    return database.execute("SELECT 1 FROM blob WHERE address = ?", (blob.blob,)).fetchone() is not None


def _decoded(fact: bytes) -> Fact | None:
    try:
        return decode(fact)
    except msgspec.DecodeError:
        return None


def _put_in_place(mended: Path, path: Path) -> str:
    """Give the damaged file and its log another name, and the mended one theirs. It can be stopped and done again."""
    log = schema.log_of(path)
    broken = next(iter(_second_names(path)), None) or _free_name(path)
    if not broken.exists():
        _link(path, broken)
    if log.exists() and not schema.log_of(broken).exists():
        _link(log, schema.log_of(broken))
    schema.flush_folder(path.parent)
    _remove(log)
    _remove(path.with_name(path.name + "-shm"))
    mended.replace(path)
    schema.flush_folder(path.parent)
    return broken.name


def _second_names(path: Path) -> list[Path]:
    """Return what a repair that was stopped midway already calls this very file: its log may have that name only."""
    return [other for other in sorted(path.parent.glob(f"{path.name}.broken-*")) if other.samefile(path)]


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.broken-{n}") for n in count(1))
    return next(name for name in names if not name.exists() and not schema.log_of(name).exists())


def _link(path: Path, other: Path) -> None:
    try:
        other.hardlink_to(path)
    except OSError:  # a file system without links
        shutil.copy2(path, other)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
