"""`intermediate/`: what code saved under a name, one file each."""

import re
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from sonde import jsontext
from sonde.events import Record, Saved
from sonde.journal.reader import Reader
from sonde.record.files import NewFolder, octets, pretty
from sonde.record.names import moment, safe_name

INLINE_BYTES = 10_240
"""A value that takes more is a reference to its file in `state.json`."""
MOST_VARIABLES = 1000

_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_TYPES: dict[type, str] = {
    str: "text", bool: "boolean", int: "number", float: "number", type(None): "null", list: "array", dict: "json"
}  # fmt: skip


class _Named(NamedTuple):
    seq: int
    began: float
    at: float
    times: int


class Intermediate:
    """A fold of records. It holds where the last value of each name is, not the values."""

    def __init__(self) -> None:
        self._saved: dict[tuple[str, str], _Named] = {}

    @property
    def count(self) -> int:
        """How many names there are, over all agents."""
        return len(self._saved)

    def add(self, record: Record) -> None:
        """Take in the next record."""
        if isinstance(saved := record.fact, Saved):
            where = saved.agent, saved.name
            before = self._saved.get(where)
            began, times = (record.at, 0) if before is None else (before.began, before.times)
            self._saved[where] = _Named(record.seq, began, record.at, times + 1)

    def finish(self, folder: NewFolder, reader: Reader) -> list[dict[str, Any]]:
        """Write a file for each name and return the first of them as variables. Raises `JournalError`."""
        variables: list[dict[str, Any]] = []
        taken: set[str] = set()
        for (agent, name), named in self._saved.items():
            saved = reader.fact(named.seq)
            assert isinstance(saved, Saved), "its number was kept when it was read"
            value = jsontext.decode(reader.text(saved.value), object)
            file = _free(name, agent, _ending(name, value), taken)
            folder.put(file, octets(value) if isinstance(value, str) else pretty(value))
            if len(variables) < MOST_VARIABLES:
                variables.append(_variable(saved, value, file, named))
        return variables


def as_variable(name: str, value: object, at: float, reference: str = "") -> dict[str, Any]:
    """Return a variable as `state.json` has it; a large value is a reference to a file."""
    inline = jsontext.encode_valid(value)
    plain: dict[str, Any] = {"name": msgspec.Raw(jsontext.encode_valid(name)), "value": msgspec.Raw(inline)}
    plain["type"] = _TYPES.get(type(value), "json")
    if len(inline) > INLINE_BYTES and reference:
        plain |= {"value": f"file:{reference}", "type": "file_path", "size_bytes": len(inline)}
    return plain | {"created_at": moment(at), "updated_at": moment(at)}


def _variable(saved: Saved, value: object, file: str, named: _Named) -> dict[str, Any]:
    plain = as_variable(saved.name, value, named.at, f"intermediate/{file}")
    plain |= {"created_at": moment(named.began), "source": saved.agent, "file": f"intermediate/{file}"}
    return plain | {"times_saved": named.times}


def _ending(name: str, value: object) -> str:
    """Return the ending of a file's name: the one that its name has already, where it fits what is in it."""
    if not isinstance(value, str):
        return "" if PurePath(name).suffix == ".json" else ".json"
    if PurePath(name).suffix in {".md", ".txt"}:
        return ""
    return ".md" if _HEADING.search(value) else ".txt"


def _free(name: str, agent: str, ending: str, taken: set[str]) -> str:
    """Return a file's name that is not taken, on no file system, by another agent's value or another name."""
    file = safe_name(name) + ending
    stem, suffix, where = PurePath(file).stem, PurePath(file).suffix, f"{agent}/{name}"
    while file.lower() in taken:
        marked = safe_name(where).rpartition("-")[2]
        file, where = f"{stem}-{marked}{suffix}", f"{where}/"
    taken.add(file.lower())
    return file
