"""A subagent's view of files: those of its parent, and over them what it wrote itself, until that is merged."""

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from sonde.errors import TaskError
from sonde.workspace import paths
from sonde.workspace.paths import refused, shown
from sonde.workspace.protocol import Change, Entry, Files, Source, ticks
from sonde.workspace.virtual import VirtualFiles


class Left(NamedTuple):
    """A file that could not be merged, and why."""

    path: str
    why: str


class Merged(NamedTuple):
    """What a merge has done to the base, and what it could not do. `str` tells it in a line."""

    changes: tuple[Change, ...]
    left: tuple[Left, ...]

    def __str__(self) -> str:
        return "; ".join((*map(_told, self.changes), *(f"{each.path}: {each.why}" for each in self.left)))


class Overlay(Files):
    """Files over a base that others may change meanwhile. Overlays nest.

    Nothing is copied. `merge` gives a file another name if the base's file of that name was written by somebody else
    since this overlay first read it, or was made if it never read it: `{stem}.{role}-{n}{suffix}`.
    """

    def __init__(self, base: Files, role: str = "agent") -> None:
        super().__init__()
        self.role = role
        self.on_disk = base.on_disk
        self._base = base
        self._made = next(ticks)
        # Thousands of these are in flight: what most never need is made when it is needed.
        self._own: VirtualFiles | None = None
        self._gone: set[str] = _NOTHING_GONE
        self._looks: dict[str, Any] | None = None
        self._kept: dict[str, str] | None = None

    def stat(self, path: str) -> Entry | None:
        """Return what is at a path, or None."""
        own = self._own.stat(path) if self._own else None
        if own is not None and path:
            return own
        entry = self._base.stat(path)
        return entry if entry is not None and not self._is_gone(entry) else None

    def entries(self, path: str = "") -> list[Entry]:
        """Return what a folder holds, by name."""
        entry = self.stat(path)
        if entry is None or entry.kind != "folder":
            raise self.nothing_at(path) if entry is None else refused(f"{shown(path)} is no folder", "Read it.")
        below = self._base.stat(path)
        found = {
            each.path: each
            for each in (self._base.entries(path) if below is not None and below.kind == "folder" else ())
            if not self._is_gone(each)
        }
        if self._own and self._own.stat(path):
            found.update({each.path: each for each in self._own.entries(path)})
        return sorted(found.values(), key=_path)

    def open(self, path: str) -> AbstractContextManager[Source]:
        """Open a file for reading."""
        if self._own and self._own.stat(path):
            return self._own.open(path)
        if (self._own or self._gone) and self.stat(path) is None:
            raise self.nothing_at(path)
        return self._base.open(path)

    def twins(self, path: str) -> list[str]:
        """Return what differs from a path only by the case or normalisation of its last name."""
        found = set(self._own.twins(path)) if self._own else set[str]()
        found.update(twin for twin in self._base.twins(path) if not self._gone or self.stat(twin) is not None)
        return sorted(found)

    def put(self, path: str, content: bytes) -> None:
        """Make a file hold `content`, whatever it held before; `write` checks more."""
        with self.lock:
            self._look_unread(path)
            if self._own is None:
                self._own = VirtualFiles()
            self._own.put(path, content)

    def drop(self, path: str) -> None:
        """Remove a file."""
        with self.lock:
            self._look_unread(path)
            if self._own and self._own.stat(path):
                self._own.drop(path)
            if self._base.stat(path) is not None:
                self._gone = {*self._gone, path}

    def guard(self, path: str) -> None:
        """Raise `TaskError` where nothing may be written."""
        self._base.guard(path)

    def look(self, path: str) -> None:
        """Note what the base's file is now, unless that was noted before: a merge asks whether it still is."""
        if self._looks is None:
            self._looks = {}
        if path not in self._looks:
            self._base.look(path)
            self._looks[path] = _stamp(self._base, path)

    def changed_since(self, path: str, tick: int) -> bool:
        """Whether a file was written or removed after a tick, here or below."""
        return super().changed_since(path, tick) or self._base.changed_since(path, tick)

    def _look_unread(self, path: str) -> None:
        """Note what the base's file is to one who writes it: if it was never read, what it was at first."""
        if path not in (self._looks or {}) and self._base.changed_since(path, self._made):
            self.distrust(path)
        self.look(path)

    def distrust(self, path: str) -> None:
        """Note that the base's file is not what it was when this overlay first looked at it."""
        self._looks = {**(self._looks or {}), path: _SOMETHING_ELSE}

    def keep(self, path: str, at: str) -> None:
        """Note that an earlier merge kept a file under another name, which is its own now."""
        self._kept = {**(self._kept or {}), path: at}

    def merge(self, source: str = "") -> Merged:
        """Make all changes in the base and be empty again. A removal is left undone if the file was changed meanwhile;
        what cannot be written stays here."""
        done: list[Change | Left | None] = []
        with self.lock, self._base.lock:
            looks = self._looks or {}
            written = dict(self._own.all()) if self._own else {}
            done.extend(self._removed(path, looks.get(path), source) for path in sorted(self._gone - written.keys()))
            renamed: dict[str, str] = {}
            for path, content in written.items():
                done.append(self._written(path, content, source, renamed))
            # Only now: had anything unforeseen been raised, all would still be here.
            self._own, self._gone, self._looks = None, _NOTHING_GONE, None
            self._made = next(ticks)
            for each in done:
                if isinstance(each, Left) and each.path in written:
                    self._restore(each.path, written[each.path], looks)
        changes = tuple(each for each in done if isinstance(each, Change))
        return Merged(changes, tuple(each for each in done if isinstance(each, Left)))

    def _removed(self, path: str, look: Any, source: str) -> Change | Left | None:
        try:
            now = _stamp(self._base, path)
            if now is None:
                return None
            if now != look:
                return Left(path, "not removed, since another has changed it")
            self._base.drop(path)
            self._base.note(path)
        except TaskError as error:
            return Left(path, f"not removed: {error}")
        return Change(path, None, source)

    def _written(self, path: str, content: bytes, source: str, renamed: dict[str, str]) -> Change | Left:
        try:
            kept = self._free(path, content, renamed)
            self._base.put(kept, content)
            self._base.note(kept)
        except TaskError as error:
            return Left(path, f"not written: {error}")
        return Change(kept, content.decode("utf-8", "surrogateescape"), source, path if kept != path else "")

    def _free(self, path: str, content: bytes, renamed: dict[str, str]) -> str:
        """Return where a file can be kept in the base: under its name, unless somebody else has that."""
        taken = self._base.conflict(path)
        if taken is None:
            look, now = (self._looks or {}).get(path), _stamp(self._base, path)
            if now == look or now is None or self._holds(path, content):
                return path
            if self._kept and path in self._kept:
                return self._kept[path]
            taken = path
        if taken not in renamed:
            renamed[taken] = self._free_beside(taken, content)
        return renamed[taken] + path[len(taken) :]

    def _free_beside(self, path: str, content: bytes) -> str:
        """Return a free name, in few steps also where thousands are taken; or the last one taken, if a merge that was
        cut short has put this very content there."""
        low, high = 0, 1
        while not self._is_free(paths.beside(path, self.role, high)):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            if self._is_free(paths.beside(path, self.role, middle)):
                high = middle
            else:
                low = middle
        last = self._base.stat(paths.beside(path, self.role, low)) if low else None
        if last is not None and last.kind == "file" and self._holds(last.path, content):
            return last.path
        return paths.beside(path, self.role, high)

    def _is_free(self, path: str) -> bool:
        return self._base.stat(path) is None and not self._base.twins(path)

    def _holds(self, path: str, content: bytes) -> bool:
        with self._base.open(path) as file:
            return file.size == len(content) and file.read(0, file.size) == content

    def _restore(self, path: str, content: bytes, looks: dict[str, Any]) -> None:
        if self._own is None:
            self._own, self._looks = VirtualFiles(), {}
        self._own.put(path, content)
        if self._looks is not None:
            self._looks[path] = looks.get(path)

    def _is_gone(self, entry: Entry) -> bool:
        """Whether an entry of the base is not seen: it was removed, or all that it holds was."""
        if not self._gone or not entry.path:
            return False
        if entry.kind != "folder":
            return entry.path in self._gone
        if not any(path.startswith(f"{entry.path}/") for path in self._gone):
            return False
        return all(self._is_gone(each) for each in self._base.entries(entry.path))


_NOTHING_GONE: set[str] = set()
_SOMETHING_ELSE = ("other", None)


def _stamp(files: Files, path: str) -> Any:
    entry = files.stat(path)
    return None if entry is None else (entry.kind, entry.stamp)


def _told(change: Change) -> str:
    if change.content is None:
        return f"{change.path} removed"
    return f"{change.wanted} was taken, kept as {change.path}" if change.wanted else f"{change.path} written"


def _path(entry: Entry) -> str:
    return entry.path
