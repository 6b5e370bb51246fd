"""Files in memory."""

from collections.abc import Iterator
from contextlib import nullcontext

from sonde.workspace import paths
from sonde.workspace.paths import refused, shown
from sonde.workspace.protocol import Entry, Files, Source

MOST_BYTES = 256 * 1024 * 1024


class _Folder:
    """Names and what they stand for; `folded` finds one that differs by case alone."""

    __slots__ = ("folded", "names")

    def __init__(self) -> None:
        self.names: dict[str, bytes | _Folder] = {}
        self.folded: dict[str, str] = {}

    def put(self, name: str, what: "bytes | _Folder") -> None:
        self.names[name] = what
        self.folded[paths.fold(name)] = name

    def drop(self, name: str) -> None:
        del self.names[name]
        self.folded.pop(paths.fold(name), None)


class Held:
    """A file's content, open for reading."""

    __slots__ = ("_content",)

    def __init__(self, content: bytes) -> None:
        self._content = content

    @property
    def size(self) -> int:
        """Bytes in it."""
        return len(self._content)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`."""
        return self._content[start:end]


class VirtualFiles(Files):
    """Files in memory, 256 MB of them at the most. A folder is there as long as it holds something."""

    def __init__(self) -> None:
        super().__init__()
        self._root = _Folder()
        self._bytes = 0

    def stat(self, path: str) -> Entry | None:
        """Return what is at a path, or None."""
        found = self._at(path)
        return None if found is None else _entry(path, found)

    def entries(self, path: str = "") -> list[Entry]:
        """Return what a folder holds, by name."""
        found = self._at(path)
        if not isinstance(found, _Folder):
            raise self.nothing_at(path) if found is None else refused(f"{shown(path)} is a file", "Read it.")
        return [_entry(paths.joined(path, name), what) for name, what in sorted(found.names.items(), key=_name)]

    def open(self, path: str) -> nullcontext[Source]:
        """Open a file for reading."""
        found = self._at(path)
        if isinstance(found, bytes):
            return nullcontext(Held(found))
        raise self.nothing_at(path) if found is None else refused(f"{shown(path)} is a folder", "Look into it with ls.")

    def twins(self, path: str) -> list[str]:
        """Return what differs from a path only by the case or normalisation of its last name."""
        parent, name = paths.split(path)
        folder = self._at(parent)
        twin = folder.folded.get(paths.fold(name), name) if isinstance(folder, _Folder) else name
        return [] if twin == name else [paths.joined(parent, twin)]

    def put(self, path: str, content: bytes) -> None:
        """Make a file hold `content`, whatever it held before; `write` checks more."""
        with self.lock:
            found = self._at(path)
            if isinstance(found, _Folder):
                raise refused(f"{shown(path)} is a folder", "Write to a file in it, or elsewhere.")
            grown = self._bytes + len(content) - len(found or b"")
            if grown > MOST_BYTES:
                raise refused(
                    f"no room for {shown(path)}: files may take {MOST_BYTES:,} bytes", "Remove some, or write less."
                )
            *above, name = path.split("/")
            folder = self._root
            for each in above:
                inner = folder.names.get(each)
                if isinstance(inner, bytes):
                    raise refused(f"{shown(path)}: {each} is a file, not a folder", "Write elsewhere.")
                if inner is None:
                    inner = _Folder()
                    folder.put(each, inner)
                folder = inner
            folder.put(name, content)
            self._bytes = grown

    def drop(self, path: str) -> None:
        """Remove a file, and the folders that hold nothing then."""
        with self.lock:
            found = self._at(path)
            if not isinstance(found, bytes):
                raise self.nothing_at(path) if found is None else refused(f"{shown(path)} is a folder", "Remove files.")
            self._bytes -= len(found)
            while path:
                parent, name = paths.split(path)
                folder = self._at(parent)
                assert isinstance(folder, _Folder)
                folder.drop(name)
                if folder.names:
                    return
                path = parent

    def all(self) -> Iterator[tuple[str, bytes]]:
        """Yield each file's path and content, by name."""
        yield from _below("", self._root)

    def _at(self, path: str) -> bytes | _Folder | None:
        found: bytes | _Folder | None = self._root
        for name in path.split("/") if path else ():
            found = found.names.get(name) if isinstance(found, _Folder) else None
        return found


def _entry(path: str, found: bytes | _Folder) -> Entry:
    if isinstance(found, _Folder):
        return Entry(path, "folder")
    return Entry(path, "file", len(found), found)  # what it holds is its own stamp: nothing is copied


def _name(item: tuple[str, object]) -> str:
    return item[0]


def _below(path: str, folder: _Folder) -> Iterator[tuple[str, bytes]]:
    for name, what in sorted(folder.names.items(), key=_name):
        inner = paths.joined(path, name)
        if isinstance(what, _Folder):
            yield from _below(inner, what)
        else:
            yield inner, what
