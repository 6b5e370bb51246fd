"""Where runs are kept: one folder each, found by id, and driven by one process at a time."""

import fcntl
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from sonde.errors import JournalError, RunChoiceError
from sonde.journal.schema import FILE_NAME

DEFAULT = Path(".sonde/runs")
LAST = "last"
_IGNORE = """# Runs may hold private text; agents and workflows are yours to keep.
*
!.gitignore
!agents/
!agents/**
!workflows/
!workflows/**
"""


def new_id() -> str:
    """Return an id that sorts by time."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)


class RunFolder:
    """One run's folder, held for this process alone until it is let go."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.run_id = path.name
        self._lock = lock

    @classmethod
    def create(cls, runs: Path, run_id: str | None = None) -> Self:
        """Make the folder of a new run. Raises `RunChoiceError` if the id is taken, `JournalError` if it cannot be."""
        path = runs / (run_id or new_id())
        if path.parent != runs or path.name.startswith("."):
            raise RunChoiceError(f"{run_id!r} cannot be a run's id", "Use letters, digits and dashes.")
        try:
            runs.mkdir(mode=0o700, parents=True, exist_ok=True)
            _keep_out_of_git(runs)
            path.mkdir(mode=0o700)
        except FileExistsError as error:
            raise RunChoiceError(f"there is already a run {path}", "Choose another --run-id, or resume it.") from error
        except OSError as error:
            raise JournalError(
                f"cannot make the folder {path}: {error.strerror}",
                "Choose another place with --runs-dir.",
            ) from error
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Take hold of a run's folder. Raises `RunChoiceError` if another process holds it."""
        try:
            lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise JournalError(f"cannot write in {path}: {error.strerror}", "Check who may write there.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            raise RunChoiceError(
                f"run {path.name} is being driven by another process", "Wait until it ends."
            ) from error
        return cls(path.absolute(), lock)

    @property
    def journal(self) -> Path:
        """The run's record."""
        return self.path / FILE_NAME

    @property
    def spool(self) -> Path:
        """Where inputs are copied that cannot be read in place."""
        return self.path / "inputs"

    def discard(self) -> None:
        """Remove the folder of a run that never began."""
        self.release()
        for path in (*self.spool.glob("*"), *self.path.glob("*")):
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        with suppress(OSError):
            self.path.rmdir()

    def release(self) -> None:
        """Let another process drive the run. The lock goes with the process too, so it cannot be stale."""
        os.close(self._lock)


def find(runs: Path, wanted: str) -> Path:
    """Return the folder of the run that `wanted` names: its id, a unique prefix, or "last". Raises `RunChoiceError`."""
    known = listed(runs)
    if wanted == LAST:
        if not known:
            raise RunChoiceError(f"there are no runs in {runs}", "Start one with `sonde ask`.")
        return known[-1]
    exact = [path for path in known if path.name == wanted]
    matches = exact or [path for path in known if path.name.startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise RunChoiceError(f"there is no run {wanted!r} in {runs}", "`sonde runs` lists them.")
    names = ", ".join(path.name for path in matches[:5])
    raise RunChoiceError(f"{wanted!r} fits {len(matches)} runs: {names}", "Write more of the id.")


def listed(runs: Path) -> list[Path]:
    """Return the folders of all runs, the oldest first. Its lock file is made with the run and never written."""
    locks = sorted((lock.stat().st_mtime_ns, lock) for lock in runs.glob("*/lock"))
    return [lock.parent for _, lock in locks if (lock.parent / FILE_NAME).exists()]


def is_driven(path: Path) -> bool:
    """Whether a process drives this run now."""
    try:
        lock = os.open(path / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _keep_out_of_git(runs: Path) -> None:
    """A folder that is ours alone carries its own ignore file."""
    if runs.parent.name == ".sonde":
        with suppress(FileExistsError), (runs.parent / ".gitignore").open("x", encoding="utf-8") as ignore:
            ignore.write(_IGNORE)  # not through a link that somebody has put there
