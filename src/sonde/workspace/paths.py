"""Which paths are allowed, and how one is opened below a folder without ever leaving it.

A path is relative to the workspace's root and has forward slashes. Its one form is "a/b"; the root is "". A name is
refused if it leads elsewhere, cannot be seen, or looks like one that does. Below a real folder each part is opened
from the one before by its descriptor and no link is followed, so that nothing swapped in between leads out.
"""

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sonde.errors import TaskError

LONGEST_NAME = 255
LONGEST_PATH = 4096
INPUTS = "inputs"

_PLAIN = re.compile(r"(?!\.+(?:/|$))[A-Za-z0-9_.-]+(?:/(?!\.+(?:/|$))[A-Za-z0-9_.-]+)*")
_DRIVE = re.compile(r"[A-Za-z]:")
_LOOKS_LIKE_SLASH = re.compile("[/\\\\\u2044\u2215\u2216\u29f5\u29f8\u29f9\u3033\u4e36\u4e3f]")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # Persian and emoji need them
_CLOSED = frozenset({".git", "git~1", ".sonde"})
_ROLE = re.compile(r"[^A-Za-z0-9_-]+")
_MOST_SHOWN = 200

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def refused(what: str, remedy: str) -> TaskError:
    """Return the error for a file that cannot be used as it was asked."""
    return TaskError("tool_error", f"{what}. {remedy}")


def shown(path: object) -> str:
    """Return a path as a message shows it: cut, and with what cannot be seen written out."""
    text = repr(path) if isinstance(path, str) and path.isprintable() else ascii(path)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def cleaned(path: str) -> str:
    """Return a path in its one form. Raises `TaskError` for one that is not allowed."""
    if _is_plain(path):
        return path
    _refuse_other_forms(path)
    names = [name for name in path.split("/") if name not in {"", "."}]
    for name in names:
        if why := fault_of(name):
            raise refused(f"the path {shown(path)} is not allowed: {why}", "Give a plain path below the workspace.")
    clean = "/".join(names)
    if len(clean.encode()) > LONGEST_PATH:
        raise refused(f"the path {shown(path)} is longer than {LONGEST_PATH:,} bytes", "Give a shorter one.")
    return clean


def for_writing(path: str) -> str:
    """Return a path in its one form. Raises `TaskError` if no file may be written there."""
    clean = cleaned(path)
    if not clean:
        raise refused(f"{shown(path)} is the workspace's root, not a file", "Give a file's path, such as notes.md.")
    for name in clean.split("/"):
        if fold(name) in _CLOSED:
            raise refused(f"{shown(path)} cannot be written: {name} is closed to agents", "Write elsewhere.")
    return clean


def fault_of(name: str) -> str:
    """Return why a name cannot be used, or nothing."""
    if name == "..":
        return "'..' is not followed"
    try:
        if len(name.encode()) > LONGEST_NAME:
            return f"a name is longer than {LONGEST_NAME} bytes"
    except UnicodeEncodeError:
        return "a name is not Unicode text"
    return _fault_in_looks(name)


def fold(name: str) -> str:
    """Return what two names share that differ only by case, normalisation, or what nobody can see."""
    if name.isascii():
        return name.lower().lstrip().rstrip(" .")
    return _seen(_seen(name).casefold()).lstrip().rstrip(" .")


def above(path: str) -> Iterator[str]:
    """Yield the folders that hold a path, the outermost first, without the root."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def split(path: str) -> tuple[str, str]:
    """Return a path's folder and its name."""
    folder, _, name = path.rpartition("/")
    return folder, name


def joined(folder: str, name: str) -> str:
    """Return the path of a name in a folder."""
    return f"{folder}/{name}" if folder else name


def beside(path: str, role: str, number: int) -> str:
    """Return a path for what cannot be kept at `path`, which is taken: `{stem}.{role}-{n}{suffix}`."""
    folder, name = split(path)
    dot = name.rfind(".")
    stem, suffix = (name[:dot], name[dot:]) if dot > 0 else (name, "")
    mark = f".{_ROLE.sub('-', role)[:40].strip('-') or 'agent'}-{number}"
    if len(f"{stem}{mark}{suffix}".encode()) > LONGEST_NAME:
        suffix = suffix.encode()[:20].decode(errors="ignore")
        stem = stem.encode()[: LONGEST_NAME - len(f"{mark}{suffix}".encode())].decode(errors="ignore")
    return joined(folder, f"{stem}{mark}{suffix}")


@contextmanager
def folder_at(root: str, path: str) -> Generator[int]:
    """Yield a descriptor of the folder at `path` below `root`. Raises `TaskError`; `FileNotFoundError` if it is not
    there."""
    descriptor = _open_root(root)
    try:
        for name in _names(path):
            following = _open_folder(descriptor, name, path)
            os.close(descriptor)
            descriptor = following
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def made_folder_at(root: str, path: str) -> Generator[int]:
    """Yield what `folder_at` does; each folder that is not there is made."""
    descriptor = _open_root(root)
    try:
        for name in _names(path):
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=descriptor)
            following = _open_folder(descriptor, name, path)
            os.close(descriptor)
            descriptor = following
        yield descriptor
    finally:
        os.close(descriptor)


def open_file(folder: int, name: str, path: str) -> int:
    """Return a descriptor for reading a file. Raises `TaskError` for what is no plain file, and `OSError`."""
    # Looked at before it is opened: opening a device may already do something.
    kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    refuse_all_but_files(kind, path)
    descriptor = os.open(name, _FILE, dir_fd=folder)
    try:
        refuse_all_but_files(os.fstat(descriptor).st_mode, path)
    except TaskError:
        os.close(descriptor)
        raise
    return descriptor


def refuse_all_but_files(mode: int, path: str) -> None:
    """Raise `TaskError` if a mode is not that of a plain file."""
    if stat.S_ISREG(mode):
        return
    if stat.S_ISLNK(mode):
        raise _is_link(path)
    if stat.S_ISDIR(mode):
        raise refused(f"{shown(path)} is a folder, not a file", "Look into it with ls.")
    raise refused(f"{shown(path)} is a device, pipe or socket, not a file", "Only plain files can be read.")


def open_new(folder: int, name: str) -> int:
    """Return a descriptor for writing a file that was not there before. Raises `OSError`."""
    return os.open(name, _NEW, 0o666, dir_fd=folder)


def unreadable(path: str, error: OSError) -> TaskError:
    """Return an operating system's error as ours."""
    if isinstance(error, FileNotFoundError):
        return missing(path)
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return _is_link(path)
    remedy = "Check who may use it." if isinstance(error, PermissionError) else "Look with ls at what is there."
    return refused(f"{shown(path)}: {type(error).__name__}: {(error.strerror or str(error)).lower()}", remedy)


def missing(path: str) -> TaskError:
    """Return the error for a path where there is nothing."""
    return refused(f"there is no {shown(path)}", "Look with ls or glob at what is there.")


def _is_plain(path: Any) -> bool:
    """Whether a path is one of the many that need no closer look."""
    return isinstance(path, str) and len(path) <= LONGEST_NAME and _PLAIN.fullmatch(path) is not None


def _refuse_other_forms(path: Any) -> None:
    if not isinstance(path, str):
        raise refused(f"a path must be text, not {type(path).__name__}", "Give a path such as notes.md.")
    if "\0" in path:
        raise refused(f"the path {shown(path)} holds a NUL character", "Leave it out.")
    if path.startswith("/"):
        raise refused(
            f"{shown(path)} is an absolute path", "Paths are relative: leave the leading / off; '.' is the root."
        )
    if "\\" in path:
        raise refused(f"the path {shown(path)} holds a backslash", "Write forward slashes.")
    if _DRIVE.match(path):
        raise refused(f"{shown(path)} names a drive", "Give a path relative to the workspace.")
    if path == "~" or path.startswith("~/"):
        raise refused(f"{shown(path)}: '~' does not stand for a folder here", "Give a path relative to the workspace.")


def _fault_in_looks(name: str) -> str:
    for character in name:
        if unicodedata.category(character) in _INVISIBLE and character not in _JOINERS:
            return f"a name holds the invisible character U+{ord(character):04X}"
    seen = _seen(name)
    if not "".join(seen.split()).strip("."):
        return f"the name {name!a} could be taken for '..' or '.'"
    if _LOOKS_LIKE_SLASH.search(seen):
        return "a name holds a character that could be taken for a slash"
    return ""


def _seen(name: str) -> str:
    """Return a name as eyes and lenient file systems take it."""
    plain = unicodedata.normalize("NFKC", name)
    return "".join(each for each in plain if unicodedata.category(each) not in _INVISIBLE)


def _names(path: str) -> list[str]:
    clean = cleaned(path)
    return clean.split("/") if clean else []


def _open_root(root: str) -> int:
    try:
        return os.open(root, _FOLDER)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise refused(f"the folder {root} is gone, or is none", "Check the folder that was named.") from error


def _open_folder(parent: int, name: str, path: str) -> int:
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        if error.errno not in {errno.ENOTDIR, errno.ELOOP, errno.EMLINK}:
            raise
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise _is_link(path) from error
        raise FileNotFoundError(errno.ENOENT, f"{name} is not a folder", path) from error


def _is_link(path: str) -> TaskError:
    return refused(f"{shown(path)} is, or lies behind, a symbolic link", "Links are not followed; use the real path.")
