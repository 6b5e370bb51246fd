"""From what the user named to the files that are meant: paths, folders, globs, standard input."""

import os
import re
import stat
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import NamedTuple

from sonde.documents.scan import looks_binary
from sonde.errors import InputError

STDIN = "-"
_NAMED = re.compile(r"(?P<name>[\w.-]+)=(?P<path>.+)", re.DOTALL)
_HEAD = 8192
_CHECK_PATH = "Check the path; quote a pattern so that the shell leaves it alone."


class Found(NamedTuple):
    """One file to attach. `name` is what code calls it by."""

    name: str
    path: str


class Skipped:
    """What was passed over in folders: for each reason how many, and the first as an example."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[int, str]] = {}

    def add(self, reason: str, path: str) -> None:
        """Note one file, folder or link that was passed over."""
        number, example = self._paths.get(reason, (0, path))
        self._paths[reason] = (number + 1, example)

    def __bool__(self) -> bool:
        return bool(self._paths)

    def __str__(self) -> str:
        return ", ".join(
            f"{number:,} {reason} ({'such as ' if number > 1 else ''}{path})"
            for reason, (number, path) in sorted(self._paths.items())
        )


def find(argument: str, skipped: Skipped) -> list[Found]:
    """Return the files that one input argument means. Raises `InputError` when it means none."""
    if argument == STDIN:
        return [Found("stdin", STDIN)]
    named = None if os.path.lexists(argument) else _NAMED.fullmatch(argument)
    if named:
        found = find(named["path"], skipped)
        return [Found(_renamed(named["name"], each, len(found)), each.path) for each in found]
    if not os.path.lexists(argument) and has_magic(argument):
        matches = sorted(glob(argument, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
        if not matches:
            raise InputError(f"no file matches {argument}", "Check the pattern, and quote it for the shell.")
        return [each for match in matches for each in _find_path(match, skipped, chosen=False)]
    return _find_path(argument, skipped, chosen=True)


def _renamed(name: str, found: Found, of: int) -> str:
    return name if of == 1 else f"{name}/{Path(found.path).name}"


def _find_path(path: str, skipped: Skipped, *, chosen: bool) -> list[Found]:
    """Return what is at a path. Only a file that the user `chosen` by name must be readable text."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(mode):
        found = list(_walk(path, skipped))
        if not found and chosen:
            seen = f" (passed over: {skipped})" if skipped else ""
            raise InputError(f"the folder {path} holds no text file{seen}", "Name the files that you mean.")
        return found
    if stat.S_ISREG(mode):
        reason = why_not(path)
        if reason is None or chosen:
            return [Found(path, path)]
        skipped.add(reason, path)
        return []
    if stat.S_ISFIFO(mode):
        return [Found(path, path)]
    raise InputError(f"{path} is neither a file nor a folder", "Name a file, a folder, or - for standard input.")


def _walk(folder: str, skipped: Skipped) -> Iterator[Found]:
    """Yield the text files below a folder. Links are not followed, so no loop can be met."""
    for parent, folders, names in os.walk(folder, onerror=_raise_unreadable):
        entered: list[str] = []
        for name in sorted(folders):
            reason = _why_not_enter(Path(parent, name))
            if reason is None:
                entered.append(name)
            else:
                skipped.add(reason, str(Path(parent, name)))
        folders[:] = entered
        for name in sorted(names):
            path = str(Path(parent, name))
            reason = "hidden" if name.startswith(".") else why_not(path)
            if reason is None:
                yield Found(path, path)
            else:
                skipped.add(reason, path)


def _why_not_enter(folder: Path) -> str | None:
    if folder.is_symlink():
        return "links"
    return "hidden" if folder.name.startswith(".") else None


def why_not(path: str) -> str | None:
    """Return why a file found in a folder is passed over, or None."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return "links"
        if not stat.S_ISREG(status.st_mode):
            return "not files"
        if status.st_size == 0:
            return "empty"
        if is_packed(path):
            return None
        with Path(path).open("rb") as file:
            return "binary" if looks_binary(file.read(_HEAD)) else None
    except OSError:
        return "unreadable"


def is_packed(path: str) -> bool:
    """Whether a file is read through a decompressor."""
    return path.endswith((".gz", ".zst"))


def _raise_unreadable(error: OSError) -> None:
    raise _unreadable(str(error.filename), error) from error


def _unreadable(path: str, error: OSError) -> InputError:
    remedy = "Check who may read it." if isinstance(error, PermissionError) else _CHECK_PATH
    return InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}", remedy)
