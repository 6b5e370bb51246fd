"""Files of a real folder, behind the path rules."""

import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from sonde.workspace import paths
from sonde.workspace.paths import refused, shown
from sonde.workspace.protocol import Entry, Files, Source

_WRITABLE = 0o222
_KEPT_MODE = 0o777


class Opened:
    """A file of a folder, open for reading."""

    def __init__(self, descriptor: int, path: str) -> None:
        self._descriptor = descriptor
        self._path = path
        self._status = os.fstat(descriptor)

    @property
    def size(self) -> int:
        """Bytes in it when it was opened."""
        return self._status.st_size

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`. Raises `TaskError` if the file is not what it was."""
        parts: list[bytes] = []
        while start < end:
            part = os.pread(self._descriptor, end - start, start)
            if not part:
                break
            parts.append(part)
            start += len(part)
        now = os.fstat(self._descriptor)
        if (now.st_size, now.st_mtime_ns) != (self._status.st_size, self._status.st_mtime_ns):
            raise refused(f"{shown(self._path)} was changed while it was read", "Read it again.")
        return parts[0] if len(parts) == 1 else b"".join(parts)


class FolderFiles(Files):
    """Files below a real folder. No link is followed, and nothing but plain files is opened.

    A file is replaced as a whole: nobody sees half of one, and a hard link to it elsewhere keeps what it had.
    """

    on_disk = True

    def __init__(self, root: Path | str) -> None:
        super().__init__()
        self.root = str(Path(root).absolute())

    def stat(self, path: str) -> Entry | None:
        """Return what is at a path, or None."""
        parent, name = paths.split(paths.cleaned(path))
        try:
            with paths.folder_at(self.root, parent) as folder:
                return _entry(path, os.stat(name, dir_fd=folder, follow_symlinks=False) if name else os.fstat(folder))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise paths.unreadable(path, error) from error

    def entries(self, path: str = "") -> list[Entry]:
        """Return what a folder holds, by name; without names that the rules do not allow."""
        found: list[Entry] = []
        with self._failing(path), paths.folder_at(self.root, path) as folder, os.scandir(folder) as scan:
            for each in scan:
                if not paths.fault_of(each.name):
                    with suppress(FileNotFoundError):  # it has just gone
                        found.append(_entry(paths.joined(path, each.name), each.stat(follow_symlinks=False)))
        return sorted(found)

    @contextmanager
    def open(self, path: str) -> Generator[Source]:
        """Open a file for reading."""
        parent, name = paths.split(paths.cleaned(path))
        if not name:
            raise refused(f"{shown(path)} is a folder, not a file", "Look into it with ls.")
        with self._failing(path), paths.folder_at(self.root, parent) as folder:
            descriptor = paths.open_file(folder, name, path)
        try:
            with self._failing(path):
                yield Opened(descriptor, path)
        finally:
            os.close(descriptor)

    def twins(self, path: str) -> list[str]:
        """Return what differs from a path only by the case or normalisation of its last name."""
        parent, name = paths.split(paths.cleaned(path))
        folded = paths.fold(name)
        try:
            with paths.folder_at(self.root, parent) as folder:
                names = os.listdir(folder)  # noqa: PTH208 - a descriptor, not a path
        except FileNotFoundError:
            return []
        except OSError as error:
            raise paths.unreadable(path, error) from error
        return [paths.joined(parent, each) for each in names if each != name and paths.fold(each) == folded]

    def put(self, path: str, content: bytes) -> None:
        """Make a file hold `content`, whatever it held before; `write` checks more."""
        parent, name = paths.split(paths.for_writing(path))
        with self._failing(path), paths.made_folder_at(self.root, parent) as folder:
            status = _changeable(folder, name, path)
            if status is None or status.st_size != len(content) or self.read(path) != content:
                _replace(folder, name, content, status)

    def drop(self, path: str) -> None:
        """Remove a file."""
        parent, name = paths.split(paths.for_writing(path))
        with self._failing(path), paths.folder_at(self.root, parent) as folder:
            _changeable(folder, name, path)
            os.unlink(name, dir_fd=folder)

    @contextmanager
    def _failing(self, path: str) -> Generator[None]:
        """Raise the operating system's errors as ours."""
        try:
            yield
        except FileNotFoundError as error:
            raise self.nothing_at(path) from error
        except OSError as error:
            raise paths.unreadable(path, error) from error


def _entry(path: str, status: os.stat_result) -> Entry:
    if stat.S_ISDIR(status.st_mode):
        return Entry(path, "folder")
    if not stat.S_ISREG(status.st_mode):
        return Entry(path, "other")
    return Entry(path, "file", status.st_size, (status.st_ino, status.st_size, status.st_mtime_ns))


def _changeable(folder: int, name: str, path: str) -> os.stat_result | None:
    """Return a file's status, None if it is not there. Raises `TaskError` if it cannot be changed."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    paths.refuse_all_but_files(status.st_mode, path)
    if not status.st_mode & _WRITABLE:
        raise refused(f"{shown(path)} is read-only", "Write elsewhere, or have its owner allow it.")
    return status


def _replace(folder: int, name: str, content: bytes, status: os.stat_result | None) -> None:
    """Write beside and rename. Raises `OSError`."""
    temporary = f".{secrets.token_hex(8)}.tmp"
    descriptor = paths.open_new(folder, temporary)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if status is not None:
                os.fchmod(descriptor, status.st_mode & _KEPT_MODE)
            file.write(content)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
