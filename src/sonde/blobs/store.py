"""Bytes kept under the hash of their content, in a table of an SQLite file that someone else opened.

Living in the same file as the journal, a value and the fact that names it are committed together: neither can be
there without the other. The same content is kept once. An address names its algorithm, so that a later change
of it can be told.
"""

import hashlib
import sqlite3
from collections.abc import Iterable

TABLE = "CREATE TABLE blob (address TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID"


def address(content: bytes) -> str:
    """Return where `content` is kept."""
    return "b2:" + hashlib.blake2b(content, digest_size=20).hexdigest()


def put(database: sqlite3.Connection, contents: Iterable[tuple[str, bytes]]) -> None:
    """Keep (address, content) pairs; those already there cost nothing."""
    database.executemany("INSERT OR IGNORE INTO blob VALUES (?, ?)", contents)


def get(database: sqlite3.Connection, where: str) -> bytes | None:
    """Return the content at an address, or None."""
    row = database.execute("SELECT content FROM blob WHERE address = ?", (where,)).fetchone()
    return None if row is None else row[0]
