"""Keep the pieces of inputs in a folder, with a manifest; and find them again."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from sonde.documents.attach import Inputs
from sonde.documents.cut import Cut, Plan, cut
from sonde.errors import UsageError
from sonde.guest.document import Document

VERSION = 1
MANIFEST, INDEX, META, CHUNKS = "manifest.json", "index.json", "meta.json", "chunks"
_HASH_CHARS = 16
_IGNORE = "# Pieces of inputs may hold private text.\n*\n"


class Entry(msgspec.Struct, frozen=True):
    """One piece: where it is from, and where its text is kept. `file` is the input, `chunk` the piece's own file."""

    id: str
    file: str
    start_line: int
    end_line: int
    overlap_start: int
    overlap_end: int
    boundary_type: str
    boundary_label: str
    chunk: str
    bytes: int


class Source(msgspec.Struct, frozen=True):
    """One input, as it was when it was cut."""

    name: str
    source: str
    bytes: int
    lines: int
    sha256: str


class Meta(msgspec.Struct, frozen=True):
    """What was cut, and how."""

    version: int
    source_hash: str
    strategy: str
    size: int
    overlap: int
    chunks: int
    sources: list[Source]


class _Manifest(msgspec.Struct, frozen=True):
    version: int
    chunks: list[Entry]


class Prepared(msgspec.Struct, frozen=True):
    """A folder with pieces, and whether it was there already."""

    folder: Path
    entries: list[Entry]
    reused: bool


def entries(inputs: Inputs, how: Plan) -> Iterator[tuple[Entry, Cut]]:
    """Yield each piece of all inputs, with its entry for the manifest."""
    number = 0
    for document in inputs.documents:
        for piece in cut(document, how):
            number += 1
            yield _entry(f"{number:05}", document.name, piece), piece


def prepare(inputs: Inputs, how: Plan, into: Path, *, anew: bool = False) -> Prepared:
    """Return a folder below `into` with the pieces, its name made of what is in the inputs. It is used as it is if it
    was cut this way before and is whole, unless `anew`. Raises `UsageError` if it cannot be written.
    """
    sources = [
        Source(each.name, each.source, document.size, document.line_count, digest_of(document))
        for each, document in zip(inputs.all, inputs.documents, strict=True)
    ]
    named = msgspec.json.encode([(each.name, each.sha256) for each in sources])
    source_hash = hashlib.sha256(named).hexdigest()[:_HASH_CHARS]
    folder = into / source_hash
    if not anew and (kept := _kept(folder, how)) is not None:
        return Prepared(folder, kept, reused=True)
    meta = Meta(VERSION, source_hash, *how, 0, sources)
    try:
        return Prepared(folder, _write(inputs, how, folder, meta), reused=False)
    except OSError as error:
        raise UsageError(f"cannot write in {into}: {error.strerror}", "Choose another place with --out.") from error


def digest_of(document: Document) -> str:
    """Return the SHA-256 of what a document holds, in hexadecimal."""
    digest = hashlib.sha256()
    for start, end in document.blocks():
        digest.update(document.read(start, end))
    return digest.hexdigest()


def _write(inputs: Inputs, how: Plan, folder: Path, meta: Meta) -> list[Entry]:
    """Write all beside where it belongs, then put it there at once."""
    making = folder.with_name(f".{folder.name}.{os.getpid()}")
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (ignore := folder.parent / ".gitignore").exists():
        ignore.write_text(_IGNORE, encoding="utf-8")
    shutil.rmtree(making, ignore_errors=True)
    try:
        (making / CHUNKS).mkdir(mode=0o700, parents=True)
        made: list[Entry] = []
        for entry, piece in entries(inputs, how):
            _put(making / entry.chunk, piece.text.encode("utf-8", "surrogateescape"))
            made.append(entry)
        _put(making / MANIFEST, msgspec.json.encode(_Manifest(VERSION, made)))
        _put(making / INDEX, msgspec.json.encode(_index(meta, made)))
        _put(making / META, msgspec.json.encode(msgspec.structs.replace(meta, chunks=len(made))))
        shutil.rmtree(folder, ignore_errors=True)
        making.rename(folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return made


def _index(meta: Meta, made: list[Entry]) -> dict[str, Any]:
    """Return where to look: for each input its pieces, and for each label the pieces that begin with it."""
    files: dict[str, Any] = {each.name: {"lines": each.lines, "chunks": []} for each in meta.sources}
    labels: dict[str, list[str]] = {}
    for entry in made:
        files[entry.file]["chunks"].append(entry.id)
        if entry.boundary_type in {"section", "function"}:
            labels.setdefault(entry.boundary_label, []).append(entry.id)
    return {"version": VERSION, "files": files, "labels": labels}


def _kept(folder: Path, how: Plan) -> list[Entry] | None:
    """Return the entries of a folder that was cut this way and is whole, or None."""
    with suppress(OSError, msgspec.MsgspecError):
        meta = msgspec.json.decode((folder / META).read_bytes(), type=Meta)
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=_Manifest)
        is_same = (meta.version, meta.strategy, meta.size, meta.overlap) == (VERSION, *how)
        if is_same and all((folder / each.chunk).stat().st_size == each.bytes for each in manifest.chunks):
            return manifest.chunks
    return None


def _entry(identity: str, name: str, piece: Cut) -> Entry:
    size = len(piece.text.encode("utf-8", "surrogateescape"))
    return Entry(identity, name, *piece[:-1], f"{CHUNKS}/{identity}.txt", size)


def _put(path: Path, content: bytes) -> None:
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
