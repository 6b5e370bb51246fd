"""Find saved workflows: by path, or by name among those of the project, of the user, and those that Sonde brings."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from sonde.errors import TaskError, UsageError
from sonde.events import RunStarted
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.spec import RunSpec
from sonde.workflows.meta import SUFFIXES, Language, Workflow, read

PROJECT = Path(".sonde/workflows")
LIBRARY = Path(__file__).parent / "library"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


class Place(NamedTuple):
    """A folder of workflows, and whose they are."""

    folder: Path
    owner: str


class Known(NamedTuple):
    """A workflow that can be called by its name."""

    name: str
    path: Path
    owner: str


def places() -> tuple[Place, ...]:
    """Return where workflows are looked for by name; an earlier place wins."""
    own = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "sonde/workflows"
    return (Place(PROJECT, "project"), Place(own, "user"), Place(LIBRARY, "sonde"))


def known() -> list[Known]:
    """Return all workflows that can be called by name, in the order of their names."""
    found: dict[str, Known] = {}
    for place in places():
        for path in _files_in(place.folder):
            found.setdefault(path.stem, Known(path.stem, path, place.owner))
    return sorted(found.values())


def find(wanted: str) -> Workflow:
    """Return the workflow that a path or a name stands for. Raises `UsageError`."""
    path = Path(wanted)
    if path.is_file() or os.sep in wanted:
        return read(path)
    named = _named(wanted)
    if named is None:
        names = ", ".join(each.name for each in known())
        raise UsageError(
            f"there is no workflow {wanted!r}; known: {names}", f"Name one of these, or add {PROJECT / path.stem}.py."
        )
    return read(named)


def code_in(language: Callable[[], Language]) -> Callable[[str], str | None]:
    """Return what gives a workflow that runs another its code, by name. `language` tells, when it is needed, what all
    workflows of that run are written in."""

    def code_of(name: str) -> str | None:
        path = _named(name)
        if path is None:
            return None
        try:
            found = read(path)
        except UsageError as error:
            raise TaskError("tool_error", str(error)) from error
        if found.language != language():
            raise TaskError("tool_error", f"{path} is not written in {language()}, as the workflow that runs it is")
        return found.code

    return code_of


def language_of(interpreter: str | None) -> Language:
    """Return what an interpreter runs; None is the usual one."""
    return "javascript" if interpreter == "javascript" else "python"


def language_of_run(folder: Path) -> Language:
    """Return what the workflows of a run are written in, from its record. Raises `JournalError`."""
    with Reader(folder / FILE_NAME) as reader:
        for record in reader.records():
            if isinstance(record.fact, RunStarted):
                return language_of(RunSpec.from_json(record.fact.spec).interpreter)
    return "python"


def _named(name: str) -> Path | None:
    """Return the file of a workflow's name. Code says such names too, so none leads out of the folders."""
    if not _NAME.fullmatch(name):
        return None
    paths = (place.folder / f"{name}{suffix}" for place in places() for suffix in SUFFIXES)
    return next((path for path in paths if path.is_file()), None)


def _files_in(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.stem != "__init__")
