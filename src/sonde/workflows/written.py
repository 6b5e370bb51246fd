"""A value that is written out in a file, with the lines where its parts stand."""

from typing import Any, NamedTuple

Path = tuple[str | int, ...]


PLAIN = "Write the header out in full: texts, numbers, lists and objects, without anything to be worked out."


class Unfit(Exception):
    """A file is no workflow. `line` is where that shows."""

    def __init__(self, line: int, message: str, remedy: str = PLAIN) -> None:
        super().__init__(message)
        self.line = line
        self.remedy = remedy


class Written(NamedTuple):
    """A value, and for each part of it, by the fields and places that lead there, its line."""

    value: Any
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """Return where a part stands, or what it would be a part of."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)
