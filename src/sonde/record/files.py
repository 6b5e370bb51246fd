"""Private files that are either whole or not there: each is written beside its place and put there by renaming it."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from sonde import jsontext


class LineFile:
    """A file of many lines that takes its place when it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new = _beside(path)
        self._file = os.fdopen(_open(self._new), "wb", buffering=1 << 20)

    def write(self, line: bytes) -> None:
        """Add a line."""
        self._file.write(line)
        self._file.write(b"\n")

    def close(self) -> None:
        """Put the file in its place."""
        self._file.close()
        self._new.replace(self._path)

    def discard(self) -> None:
        """Leave no file."""
        with suppress(OSError):
            self._file.close()
        self._new.unlink(missing_ok=True)


class NewFolder:
    """A folder that takes its place, and that of what was there, when it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.path = _beside(path)
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(mode=0o700)

    def put(self, name: str, content: bytes) -> None:
        """Add a file."""
        file = os.open(self.path / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            _write_all(file, content)
        finally:
            os.close(file)

    def close(self) -> None:
        """Put the folder in its place."""
        if self._path.exists():
            shutil.rmtree(self._path)
        self.path.rename(self._path)

    def discard(self) -> None:
        """Leave no folder."""
        shutil.rmtree(self.path, ignore_errors=True)


T = TypeVar("T", LineFile, NewFolder)


class Shelf:
    """Whatever is open while a record is written; all of it is let go if that fails."""

    def __init__(self) -> None:
        self._open: list[LineFile | NewFolder] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            for each in self._open:
                each.discard()

    def add(self, opened: T) -> T:
        """Hold what was opened, and return it."""
        self._open.append(opened)
        return opened


def put(path: Path, content: bytes, *, flush: bool = False) -> None:
    """Write a file; with `flush` it is on the medium before it is in its place."""
    new = _beside(path)
    file = _open(new)
    try:
        _write_all(file, content)
        if flush:
            os.fsync(file)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)
    new.replace(path)


def octets(text: str) -> bytes:
    """Return text as it was read: bytes that were not UTF-8 are given back."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def pretty(value: object) -> bytes:
    """Return JSON for people to read."""
    return msgspec.json.format(jsontext.encode_valid(value), indent=2) + b"\n"


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _open(path: Path) -> int:
    path.unlink(missing_ok=True)
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)


def make_private(folder: Path) -> None:
    """Make a folder for its owner alone, if it is not there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
