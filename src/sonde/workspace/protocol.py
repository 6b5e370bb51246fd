"""What files are to the rest of Sonde: a tree of texts under one root, and the changes made to it."""

import threading
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from itertools import count
from typing import Any, Literal, NamedTuple, Protocol

from sonde.workspace import paths
from sonde.workspace.paths import refused, shown

MOST_AT_ONCE = 16 * 1024 * 1024
"""Bytes of a file that are written, or held whole, at the most."""

_HEAD = 8192

ticks = count(1)
"""Numbers what is done to all files, in order."""


class Change(NamedTuple):
    """A file was written, or removed if there is no `content`. Where another file had its name, `wanted` is that name.
    `source` is the subagent that it came from."""

    path: str
    content: str | None
    source: str = ""
    wanted: str = ""


class Entry(NamedTuple):
    """What is at a path. `stamp` differs once a file's content does; `other` is a link or device: it cannot be used."""

    path: str
    kind: Literal["file", "folder", "other"]
    size: int = 0
    stamp: Any = None

    @property
    def label(self) -> str:
        """The path, marked: a folder by "/", what cannot be used by "@"."""
        return self.path + {"file": "", "folder": "/", "other": "@"}[self.kind]


class Source(Protocol):
    """A file that is open for reading. `read` raises `TaskError` if it has changed."""

    @property
    def size(self) -> int:
        """Bytes in it."""
        ...

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`."""
        ...


class Files(ABC):
    """Files below a root. Each method raises `TaskError` for what cannot be done, and for paths that are not allowed.

    `stat`, `entries`, `open`, `twins`, `put` and `drop` take paths in their one form (`paths.cleaned`), the others any.
    Safe to be used from several threads. `on_disk` tells that calls may wait for a disk.
    """

    on_disk: bool = False

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._changed: dict[str, int] | None = None

    @abstractmethod
    def stat(self, path: str) -> Entry | None:
        """Return what is at a path, or None."""

    @abstractmethod
    def entries(self, path: str = "") -> list[Entry]:
        """Return what a folder holds, by name."""

    @abstractmethod
    def open(self, path: str) -> AbstractContextManager[Source]:
        """Open a file for reading."""

    @abstractmethod
    def twins(self, path: str) -> list[str]:
        """Return what differs from a path only by the case or normalisation of its last name."""

    @abstractmethod
    def put(self, path: str, content: bytes) -> None:
        """Make a file hold `content`, whatever it held before; `write` checks more."""

    @abstractmethod
    def drop(self, path: str) -> None:
        """Remove a file."""

    def guard(self, path: str) -> None:
        """Raise `TaskError` where nothing may be written."""
        del path  # everywhere, unless told otherwise

    def note(self, path: str) -> None:
        """Note that a file was written or removed, now."""
        if self._changed is None:
            self._changed = {}
        self._changed[path] = next(ticks)

    def changed_since(self, path: str, tick: int) -> bool:
        """Whether a file was written or removed after a tick, by whoever has these files."""
        return self._changed is not None and self._changed.get(path, 0) > tick

    def look(self, path: str) -> None:
        """Note that somebody builds on what a file holds now."""
        del path  # only a view that is merged later needs it

    def ls(self, path: str = "") -> list[str]:
        """Return the paths of what a folder holds; folders end in "/", what cannot be opened in "@"."""
        entry = self._existing(path)
        return [entry.label] if entry.kind != "folder" else [each.label for each in self.entries(entry.path)]

    def read(self, path: str, start: int = 0, end: int | None = None) -> bytes:
        """Return the bytes from `start` to `end` of a file, 16 MB at the most."""
        clean, start = paths.cleaned(path), max(0, start)
        self.look(clean)
        with self.open(clean) as source:
            last = source.size if end is None else min(end, source.size)
            if last - start > MOST_AT_ONCE:
                raise refused(f"{shown(clean)} has {source.size:,} bytes: too many at once", "Read a part of it.")
            return source.read(start, last) if start < last else b""

    def read_text(self, path: str) -> str:
        """Return what a text file holds; bytes that are not UTF-8 become lone surrogates."""
        content = self.read(path)
        if looks_binary(content):
            raise binary(path, len(content))
        return content.decode("utf-8", "surrogateescape")

    def write(self, path: str, text: str) -> Change:
        """Make a file hold `text`; the folders it needs are made."""
        clean, content = paths.for_writing(path), encoded(path, text)
        with self.lock:
            self.check(clean)
            self.put(clean, content)
            self.note(clean)
        return Change(clean, text)

    def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> Change:
        """Put `new` in the place of `old`, which must be there once, unless all are to be replaced."""
        clean = paths.for_writing(path)
        with self.lock:
            text = self.read_text(clean)
            if not old:
                raise refused("the text to replace is empty", "Give the old text, or write the whole file.")
            if old not in text and "\r\n" in text:
                old, new = _with_crlf(old), _with_crlf(new)
            times = text.count(old)
            if times == 0:
                raise refused(f"the old text is not in {shown(clean)}", "Read the file and copy the text exactly.")
            if times > 1 and not replace_all:
                raise refused(
                    f"the old text is {times} times in {shown(clean)}",
                    "Give more of the lines around it, or replace all.",
                )
            return self.write(clean, text.replace(old, new))

    def remove(self, path: str) -> Change:
        """Remove a file."""
        clean = paths.for_writing(path)
        with self.lock:
            self.guard(clean)
            entry = self._existing(clean)
            if entry.kind != "file":
                raise refused(f"{shown(clean)} is not a file", "Only files can be removed, one at a time.")
            self.drop(clean)
            self.note(clean)
        return Change(clean, None)

    def apply(self, change: Change) -> None:
        """Make a change of an earlier life again."""
        clean = paths.for_writing(change.path)
        with self.lock:
            if change.content is not None:
                self.put(clean, encoded(clean, change.content))
            elif self.stat(clean) is not None:
                self.drop(clean)

    def check(self, path: str) -> None:
        """Raise `TaskError` if a file cannot be written at a clean path because of what is there."""
        self.guard(path)
        conflict = self.conflict(path)
        if conflict is None:
            return
        if twins := [twin for twin in self.twins(conflict) if twin != conflict]:
            raise refused(
                f"{shown(conflict)} could be taken for {shown(twins[0])}, which exists", "Use that name, or another."
            )
        is_here = conflict == path
        raise refused(
            f"{shown(conflict)} is not a {'file' if is_here else 'folder'}",
            "Look with ls at what is there, and write elsewhere.",
        )

    def conflict(self, path: str) -> str | None:
        """Return the first part of a clean path because of which no file can be written there, or None."""
        for part in (*paths.above(path), path):
            entry = self.stat(part)
            if entry is None:
                return part if self.twins(part) else None
            if entry.kind != ("file" if part == path else "folder"):
                return part
        return None

    def _existing(self, path: str) -> Entry:
        clean = paths.cleaned(path)
        entry = self.stat(clean)
        if entry is None:
            raise self.nothing_at(clean)
        return entry

    def nothing_at(self, path: str) -> Exception:
        """Return the error for a clean path where there is nothing; it tells of one that is nearly the same."""
        twins = self.twins(path)
        return refused(f"there is no {shown(path)}", f"There is {shown(twins[0])}.") if twins else paths.missing(path)


def encoded(path: str, text: str) -> bytes:
    """Return a text as a file holds it. Raises `TaskError` if it is no text, or too long."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - code in cells gives it
        raise refused(f"what {shown(path)} is to hold is not text but {type(text).__name__}", "Give text.")
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise refused(
            f"character {error.start:,} of what {shown(path)} is to hold is half of a pair", "Mend it."
        ) from error
    if len(content) > MOST_AT_ONCE:
        raise refused(f"{len(content):,} bytes are too many for {shown(path)}", f"{MOST_AT_ONCE:,} at most: split it.")
    return content


def looks_binary(content: bytes) -> bool:
    """Whether the beginning of a file tells that it is not text."""
    return b"\0" in content[:_HEAD]


def binary(path: str, size: int) -> Exception:
    """Return the error for a file that is not text."""
    return refused(f"{shown(path)} is not text: {size:,} bytes of something else", "It cannot be shown or edited.")


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
