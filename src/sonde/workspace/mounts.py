"""The inputs of a run among its files: at `inputs/NAME`, for reading only."""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property

from sonde.errors import InputChanged
from sonde.guest.document import Document
from sonde.workspace import paths
from sonde.workspace.paths import refused, shown
from sonde.workspace.protocol import Entry, Files, Source
from sonde.workspace.virtual import VirtualFiles


class _Attached:
    """A document as a file that is open for reading."""

    def __init__(self, document: Document, path: str, lock: threading.RLock) -> None:
        self._document = document
        self._path = path
        self._lock = lock

    @property
    def size(self) -> int:
        """Bytes in it."""
        return self._document.size

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`. Raises `TaskError` if the input has changed."""
        try:
            with self._lock:  # what reads documents is made for one thread
                return self._document.read(start, end)
        except InputChanged as error:
            raise refused(f"{shown(self._path)}: {error.what}", error.remedy) from error


class Mounted(Files):
    """Files, and documents among them at `inputs/NAME`. A name that is no path below is made one."""

    def __init__(self, base: Files, documents: Sequence[Document]) -> None:
        super().__init__()
        self._base = base
        self._attached = documents
        self.on_disk = base.on_disk or bool(documents)

    @cached_property
    def _mounts(self) -> "_Mounts":
        return _Mounts(self._attached)  # only now: most agents never look

    def stat(self, path: str) -> Entry | None:
        """Return what is at a path, or None."""
        entry = self._mounts.names.stat(path) or self._base.stat(path)
        return self._measured(entry) if entry is not None else None

    def entries(self, path: str = "") -> list[Entry]:
        """Return what a folder holds, by name."""
        mounted = self._mounts.names.stat(path)
        if mounted is None or mounted.kind == "file":
            return self._base.entries(path)
        below = self._base.stat(path)
        found = {each.path: each for each in self._base.entries(path)} if below and below.kind == "folder" else {}
        found.update({each.path: self._measured(each) for each in self._mounts.names.entries(path)})
        return sorted(found.values(), key=_path)

    def open(self, path: str) -> AbstractContextManager[Source]:
        """Open a file for reading."""
        if path in self._mounts.documents:
            return nullcontext(_Attached(self._mounts.documents[path], path, self.lock))
        if self._mounts.names.stat(path) is not None:
            raise refused(f"{shown(path)} is a folder, not a file", "Look into it with ls.")
        return self._base.open(path)

    def twins(self, path: str) -> list[str]:
        """Return what differs from a path only by the case or normalisation of its last name."""
        return list({*self._mounts.names.twins(path), *self._base.twins(path)})

    def put(self, path: str, content: bytes) -> None:
        """Make a file hold `content`, whatever it held before; `write` checks more."""
        self.guard(path)
        self._base.put(path, content)

    def drop(self, path: str) -> None:
        """Remove a file."""
        self.guard(path)
        self._base.drop(path)

    def guard(self, path: str) -> None:
        """Raise `TaskError` where nothing may be written."""
        if self._attached and path.split("/", 1)[0] == paths.INPUTS:
            raise refused(f"{shown(path)}: the run's inputs are read-only", "Write elsewhere.")
        self._base.guard(path)

    def _measured(self, entry: Entry) -> Entry:
        document = self._mounts.documents.get(entry.path)
        return entry if document is None else entry._replace(size=document.size, stamp=document.name)


class _Mounts:
    """Documents by their paths."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.names = VirtualFiles()
        self.documents: dict[str, Document] = {}
        for number, document in enumerate(documents, 1):
            wanted = _as_path(document.name)
            path = wanted if wanted and self._is_free(wanted) else f"{paths.INPUTS}/input-{number}"
            while not self._is_free(path):
                path += "-again"
            self.names.put(path, b"")
            self.documents[path] = document

    def _is_free(self, path: str) -> bool:
        return path not in self.documents and self.names.conflict(path) is None


def _as_path(name: str) -> str | None:
    """Return where an input of a name is found below `inputs`, or None if its name cannot be a path."""
    names = [each for each in name.replace("\\", "/").split("/") if each not in {"", ".", ".."}]
    if not names or any(paths.fault_of(each) for each in names):
        return None
    return "/".join((paths.INPUTS, *names))


def _path(entry: Entry) -> str:
    return entry.path
