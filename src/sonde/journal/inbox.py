"""The inbox of a run: commands for the process that drives it, in an SQLite file beside its journal.

Anybody who may write to the run's folder may put a command in. The driver takes those that came after it began.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from sonde import jsontext
from sonde.commands import Command
from sonde.errors import JournalError

FILE_NAME = "inbox.db"

_TABLE = "CREATE TABLE IF NOT EXISTS command (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)"


def put(folder: Path, command: Command) -> None:
    """Put a command into the inbox of the run in `folder`. Raises `JournalError`."""
    path = folder / FILE_NAME
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            path.chmod(0o600)
            database.execute(_TABLE)
            database.execute("INSERT INTO command (body) VALUES (?)", (jsontext.encode(command).decode(),))
    except (sqlite3.Error, OSError) as error:
        raise JournalError(f"cannot write to {path}: {error}", "Check who may write there.") from error


class Inbox:
    """The driver's view of an inbox: it takes each command once."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._seen = self._after(0)[0]

    def take(self) -> list[Command]:
        """Return the commands that came since it was last asked. Raises `JournalError`."""
        self._seen, commands = self._after(self._seen)
        return commands

    def _after(self, seen: int) -> tuple[int, list[Command]]:
        """Return the number of the last command, and those after `seen`. Until one is put in there is no file."""
        if not self._path.exists():
            return seen, []
        try:
            with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as database:
                rows = database.execute("SELECT seq, body FROM command WHERE seq > ? ORDER BY seq", (seen,)).fetchall()
        except sqlite3.OperationalError:  # it is being made this very moment
            return seen, []
        except sqlite3.Error as error:
            raise JournalError(f"cannot read {self._path}: {error}", "Remove the file.") from error
        return rows[-1][0] if rows else seen, [command for _, body in rows if (command := _read(body)) is not None]


def _read(body: str) -> Command | None:
    """Return a command; None for one that only a newer version knows."""
    try:
        return jsontext.decode(body, Command)
    except msgspec.DecodeError:
        return None
