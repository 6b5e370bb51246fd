"""Attach inputs to a run: find them, unpack what is packed, and measure them once."""

import gzip
import os
import shutil
import sys
import zlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple, cast

from sonde.documents.find import STDIN, Found, Skipped, find, is_packed
from sonde.documents.scan import Scan, looks_binary, scan
from sonde.errors import InputChanged, InputError
from sonde.guest.document import Document, joined
from sonde.guest.files import Files, Mark

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_HEAD = 8192
_HINTS = {
    b"%PDF": "Convert it to text first, for example with pdftotext.",
    b"PK\x03\x04": "Unpack it first.",
    b"\xff\xfe": "If it is UTF-16, convert it with `iconv -f utf-16 -t utf-8`.",
    b"\xfe\xff": "If it is UTF-16, convert it with `iconv -f utf-16 -t utf-8`.",
}


class Input(NamedTuple):
    """One attached input. `source` is what the user named, `path` the file that is read."""

    name: str
    source: str
    path: Path
    mark: Mark
    found: Scan


class Inputs:
    """The inputs of a run, and their documents as the host reads them."""

    def __init__(self, inputs: list[Input], notes: list[str]) -> None:
        self.all = inputs
        self.notes = notes
        self.files = Files([each.mark for each in inputs], self.open_file, _changed)
        self.documents = [
            Document(each.name, lambda a, b, n=number: self.files.read(n, a, b), each.found.blocks)
            for number, each in enumerate(inputs)
        ]

    @property
    def whole(self) -> Document:
        """All of them as one document."""
        return self.documents[0] if len(self.documents) == 1 else joined("context", self.documents)

    def only(self, number: int) -> "Inputs":
        """Return one of them alone."""
        return Inputs([self.all[number]], [])

    def open_file(self, number: int) -> int:
        """Return a new descriptor for reading an input's file."""
        return os.open(self.all[number].path, os.O_RDONLY | os.O_CLOEXEC)


def attach(arguments: Iterable[str], spool: Path, *, strict: bool) -> Inputs:
    """Return the inputs that `arguments` name; what cannot be read in place is spooled into the folder `spool`.

    Raises `InputError` for an input that is missing, empty, unreadable, packed wrongly, or not text.
    """
    skipped = Skipped()
    found = [each for argument in arguments for each in find(argument, skipped)]
    inputs = [_attach_one(each, spool, number) for number, each in enumerate(_distinct(found))]
    notes = [f"passed over: {skipped}"] if skipped else []
    for each in inputs:
        if each.found.invalid_bytes:
            what = f"{each.source} has {each.found.invalid_bytes:,} bytes that are not UTF-8"
            if strict:
                raise InputError(what, "Convert it, or leave out --strict to keep them as they are.")
            notes.append(f"{what}; they are kept as they are")
    return Inputs(inputs, notes)


@contextmanager
def opened(arguments: Iterable[str], *, strict: bool) -> Generator[Inputs]:
    """Give the inputs that `arguments` name to somebody who only looks at them. Raises as `attach` does."""
    with TemporaryDirectory(prefix="sonde-") as spool:
        inputs = attach(arguments, Path(spool), strict=strict)
        try:
            yield inputs
        finally:
            inputs.files.close()


def attach_text(name: str, text: str, target: Path) -> Inputs:
    """Return a text as the only input; it is written to the file `target`."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(target, "wb", opener=_private) as copy:
        copy.write(_as_bytes(text))
    status = target.stat()
    return Inputs([reattach(name, name, target, Mark(name, status.st_size, status.st_mtime_ns))], [])


def reattach(name: str, source: str, path: Path, mark: Mark) -> Input:
    """Return an input of an earlier run again. Raises `InputChanged` if it is not what it was."""
    files = Files([mark], lambda _: os.open(path, os.O_RDONLY | os.O_CLOEXEC), _changed)
    try:
        found = scan(lambda start, end: files.read(0, start, end), mark.size)
    finally:
        files.close()
    return Input(name, source, path, mark, found)


def _distinct(found: Iterable[Found]) -> list[Found]:
    """Give each its own name: the second `a.txt` becomes `a.txt#2`."""
    taken: dict[str, int] = {}
    distinct: list[Found] = []
    for each in found:
        taken[each.name] = number = taken.get(each.name, 0) + 1
        distinct.append(each if number == 1 else each._replace(name=f"{each.name}#{number}"))
    return distinct


def _attach_one(found: Found, spool: Path, number: int) -> Input:
    source = "standard input" if found.path == STDIN else found.path
    path = _spooled(found, source, spool / f"{number:04}.txt")
    try:
        status = path.stat()
        if status.st_size == 0:
            raise InputError(f"{source} is empty", "There is nothing in it to ask about.")
        with path.open("rb") as file:
            _refuse_binary(source, file.read(_HEAD))
        return reattach(found.name, source, path, Mark(source, status.st_size, status.st_mtime_ns))
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror}", "Check who may read it.") from error


def _refuse_binary(source: str, head: bytes) -> None:
    if looks_binary(head) or head.startswith(tuple(_HINTS)):
        hint = next((hint for magic, hint in _HINTS.items() if head.startswith(magic)), "Name a text file.")
        if head[257:262] == b"ustar":
            hint = "It is a tar archive: unpack it first."
        raise InputError(f"{source} is binary, not text", hint)


def _spooled(found: Found, source: str, target: Path) -> Path:
    """Return the file to read: the named one, or a copy where it cannot be read in place."""
    try:
        if found.path == STDIN:
            return _spool(sys.stdin.buffer, target)
        if is_packed(found.path):
            with _unpacked(Path(found.path)) as stream:
                return _spool(stream, target)
        if Path(found.path).is_fifo():
            with Path(found.path).open("rb") as stream:
                return _spool(stream, target)
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        target.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise InputError(f"cannot unpack {source}: {error.strerror}", "Check the disk and the path.") from error
        raise InputError(f"{source} is damaged or cut short: {error}", "Make or fetch it again.") from error
    return Path(found.path).absolute()


def _unpacked(path: Path) -> BinaryIO:
    unpack = gzip.open if path.suffix == ".gz" else zstd.open
    return cast("BinaryIO", unpack(path, "rb"))


def _spool(stream: BinaryIO, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb", opener=_private) as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
    return target


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _as_bytes(text: str) -> bytes:
    """Return text as the bytes that it was read from; what never was a byte is replaced."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _changed(what: str) -> InputChanged:
    return InputChanged(what, "Work on a copy, or pipe it in with -, and start again.")
