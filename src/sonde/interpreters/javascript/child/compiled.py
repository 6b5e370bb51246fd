"""Compiled WebAssembly, kept in the user's cache: compiling takes most of a second, loading what was compiled none."""

import hashlib
import os
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import wasmtime


def compiled(engine: wasmtime.Engine, source: bytes) -> wasmtime.Module:
    """Return the module, from the cache if it is there and this engine can use it."""
    kept = _place(source)
    try:
        if kept is not None and kept.stat().st_uid == os.getuid():
            return wasmtime.Module.deserialize_file(engine, str(kept))
    except (OSError, wasmtime.WasmtimeError):
        pass  # not there, or of another machine
    module = wasmtime.Module(engine, source)
    if kept is not None:
        with suppress(OSError):  # a cache that cannot be written is none
            _keep(kept, bytes(module.serialize()))
    return module


def _place(source: bytes) -> Path | None:
    """Return where a compiled module is kept; nowhere, for a user without a home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    name = hashlib.sha256(version("wasmtime").encode() + source).hexdigest()
    return home / ".cache" / "sonde" / f"{name[:32]}.wasm.bin"


def _keep(kept: Path, content: bytes) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = kept.with_suffix(f".{os.getpid()}")
    written.write_bytes(content)
    written.chmod(0o600)
    written.replace(kept)
