"""What the tools do, over files: plain functions that may wait for a disk."""

from collections.abc import Callable, Iterable
from typing import Any

from sonde.tools.arguments import EditFile, Glob, Grep, Ls, ReadFile, Todo, WriteFile
from sonde.workspace import paths, search
from sonde.workspace.lines import count, shape, some_lines
from sonde.workspace.protocol import Change, Files, Source, binary, looks_binary

WHOLE_BELOW = 1000
FIRST_LINES = 50
MOST_CHARS = 80_000

_HEAD = 8192
_LONGEST_LINE = 4000
_LONGEST_ENTRY = 120
_MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}


def ls(files: Files, asked: Ls) -> list[str]:
    """Return the paths of what a folder holds. Raises `TaskError`."""
    return files.ls(asked.path)


def glob(files: Files, asked: Glob) -> list[str]:
    """Return the paths of the files whose names match. Raises `TaskError`."""
    return search.glob(files, asked.pattern, asked.path)


def read_file(files: Files, asked: ReadFile) -> str:
    """Return lines of a file with their numbers; of a long one its outline, unless a part is asked for.

    Raises `TaskError`.
    """
    path = paths.cleaned(asked.path)
    files.look(path)
    with files.open(path) as source:
        if looks_binary(source.read(0, min(_HEAD, source.size))):
            raise binary(path, source.size)
        if source.size == 0:
            return f"[{path} is empty]"
        if asked.offset is None and asked.limit is None:
            if count(source, WHOLE_BELOW) >= WHOLE_BELOW:
                return _overview(path, source)
            return _numbered(path, some_lines(source, 1, WHOLE_BELOW), 1)
        return _part(path, source, asked.offset or 1, asked.limit or WHOLE_BELOW)


def write_file(files: Files, asked: WriteFile) -> Change:
    """Write a file whole. Raises `TaskError`."""
    return files.write(asked.path, asked.content)


def edit_file(files: Files, asked: EditFile) -> Change:
    """Replace a text in a file. Raises `TaskError`."""
    return files.edit(asked.path, asked.old, asked.new, replace_all=asked.replace_all)


def grep(files: Files, asked: Grep) -> str:
    """Return the lines that match, as `path:number: text`. Raises `TaskError`."""
    found = search.grep(files, asked.pattern, asked.path, asked.glob, asked.context)
    text: list[str] = []
    room, before = MOST_CHARS, None
    for line in found.lines:
        if asked.context and before and (before.path, before.number + 1) != (line.path, line.number):
            text.append("--")
        mark = ":" if line.is_match else "-"
        text.append(f"{line.path}{mark}{line.number}{mark} {line.text}")
        before, room = line, room - len(text[-1]) - 1
        if room < 0:
            text.append(f"[cut at {MOST_CHARS:,} characters: search for less, or in one file]")
            break
    return "\n".join((*text, *_grep_notes(found)))


def told_todos(asked: Iterable[Todo]) -> str:
    """Return a list of things to do as text."""
    return "\n".join(f"{_MARKS[each.status]} {each.content}" for each in asked) or "[nothing to do]"


def _grep_notes(found: search.Found) -> Iterable[str]:
    if not found.lines:
        yield f"[no match in {found.files:,} files]"
    if found.cut:
        yield f"[{found.cut}: search for less, or in one folder]"
    if found.passed_over:
        yield f"[{found.passed_over:,} files passed over: not text, or unreadable]"


def _overview(path: str, source: Source) -> str:
    found = shape(source)
    outline = [f"{number:>7}  {text.rstrip()[:_LONGEST_ENTRY]}" for number, text in found.entries]
    head = (
        f"[{path}: {found.lines:,} lines, {source.size:,} bytes: too long to show whole. "
        "Find the lines you need with grep, then read them with offset and limit.]"
    )
    what = f"[Its outline, {len(outline)} lines:]" if outline else "[It has no headings or functions.]"
    first = _numbered(path, some_lines(source, 1, FIRST_LINES), 1)
    return "\n".join((head, what, *outline, f"[Its first {FIRST_LINES} lines:]", first))


def _part(path: str, source: Source, offset: int, limit: int) -> str:
    lines = some_lines(source, offset, limit)
    if not lines:
        return f"[{path} has {count(source):,} lines: there is none at offset {offset:,}]"
    text = _numbered(path, lines, offset)
    if len(lines) < limit or text.endswith("]"):
        return text
    return f"{text}\n[lines {offset:,} to {offset + len(lines) - 1:,}; go on with offset={offset + len(lines)}]"


def _numbered(path: str, lines: list[str], first: int) -> str:
    text: list[str] = []
    room = MOST_CHARS
    for number, line in enumerate(lines, first):
        more = len(line) - _LONGEST_LINE
        shown = line if more <= 0 else f"{line[:_LONGEST_LINE]} [… {more:,} more characters]"
        room -= len(shown) + 8
        if room < 0:
            text.append(f"[cut at {MOST_CHARS:,} characters: {path} goes on with offset={number}]")
            break
        text.append(f"{number:>6}\t{shown}")
    return "\n".join(text)


LOOKS: dict[str, Callable[[Files, Any], Any]] = {"ls": ls, "read_file": read_file, "glob": glob, "grep": grep}
CHANGES: dict[str, Callable[[Files, Any], Change]] = {"write_file": write_file, "edit_file": edit_file}
