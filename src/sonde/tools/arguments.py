"""What each tool takes, as a model is told of it and as it is checked."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from sonde.errors import TaskError
from sonde.models.protocol import Tool

Number = Annotated[int, Meta(ge=1)]
Around = Annotated[int, Meta(ge=0, le=100)]


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base of all arguments."""


class Ls(Arguments, frozen=True):
    """Of `ls`."""

    path: str = "."


class ReadFile(Arguments, frozen=True):
    """Of `read_file`."""

    path: str
    offset: Number | None = None
    limit: Number | None = None


class WriteFile(Arguments, frozen=True):
    """Of `write_file`."""

    path: str
    content: str


class EditFile(Arguments, frozen=True):
    """Of `edit_file`."""

    path: str
    old: str
    new: str
    replace_all: bool = False


class Glob(Arguments, frozen=True):
    """Of `glob`."""

    pattern: str
    path: str = "."


class Grep(Arguments, frozen=True):
    """Of `grep`."""

    pattern: str
    path: str = "."
    glob: str | None = None
    context: Around = 0


class Todo(Arguments, frozen=True):
    """One thing to do."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


class WriteTodos(Arguments, frozen=True):
    """Of `write_todos`."""

    todos: list[Todo]


def read(tool: Tool, kind: type[Arguments], given: Any) -> Any:
    """Return arguments as their kind. Raises `TaskError`, which tells what the tool takes."""
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise TaskError("tool_error", f"{tool.name}: {str(error)[:300]}. It takes {_told(tool)}.") from error


def _told(tool: Tool) -> str:
    needed = tool.parameters["required"]
    return ", ".join(
        f"{name} ({each['type']}{'' if name in needed else ', optional'})"
        for name, each in tool.parameters["properties"].items()
    )


def _tool(name: str, description: str, needed: list[str], **properties: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    return Tool(name, description, schema)


_PATH = {"type": "string", "description": "A file's path, relative, with forward slashes."}
_FOLDER = {"type": "string", "description": "Where to look; the whole workspace if not given."}
_SKIPS = "Skips .git, .sonde, .venv and node_modules unless one is named as path."

TOOLS = {
    tool.name: tool
    for tool in (
        _tool(
            "ls",
            "List what a folder holds, one path a line. Folders end in '/'; links and devices, which cannot be opened, "
            "in '@'. The run's inputs are in inputs/, read-only.",
            [],
            path={"type": "string", "description": "The folder; the workspace's root if not given."},
        ),
        _tool(
            "read_file",
            "Read a text file, with line numbers. Of a file of 1,000 lines or more you get size, outline and the "
            "first lines, unless you give offset or limit.",
            ["path"],
            path=_PATH,
            offset={"type": "integer", "minimum": 1, "description": "The first line to show, counted from 1."},
            limit={"type": "integer", "minimum": 1, "description": "How many lines to show; 1,000 if not given."},
        ),
        _tool(
            "write_file",
            "Write a text file whole: it is made, or replaced if it is there.",
            ["path", "content"],
            path=_PATH,
            content={"type": "string", "description": "All that the file is to hold."},
        ),
        _tool(
            "edit_file",
            "Replace a text in a file. It must be there exactly once, written as in the file and without line numbers, "
            "unless replace_all is true.",
            ["path", "old", "new"],
            path=_PATH,
            old={"type": "string", "description": "The text to replace."},
            new={"type": "string", "description": "What to put in its place."},
            replace_all={"type": "boolean", "description": "Replace every occurrence."},
        ),
        _tool(
            "glob",
            "Find files by name, one a line: '*' and '?' within a name, '**/' for any folders, '{a,b}' for a or b. "
            + _SKIPS,
            ["pattern"],
            pattern={"type": "string", "description": "Such as src/**/*.py."},
            path=_FOLDER,
        ),
        _tool(
            "grep",
            "Find the lines of text files that match a regular expression (RE2: no look-around, no back-references), "
            "1,000 at most. " + _SKIPS,
            ["pattern"],
            pattern={"type": "string", "description": "The expression; (?i) in front ignores case."},
            path={"type": "string", "description": "The file or folder to search; all if not given."},
            glob={"type": "string", "description": "Only files whose name matches, such as *.py."},
            context={"type": "integer", "minimum": 0, "maximum": 100, "description": "Lines around each match."},
        ),
        _tool(
            "write_todos",
            "Keep your list of things to do: give the whole list each time. Use it for work of several steps.",
            ["todos"],
            todos={
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string"},
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                    },
                    "required": ["content", "status"],
                    "additionalProperties": False,
                },
            },
        ),
    )
}
NAMES = tuple(TOOLS)
KINDS: dict[str, type[Arguments]] = {
    "ls": Ls,
    "read_file": ReadFile,
    "write_file": WriteFile,
    "edit_file": EditFile,
    "glob": Glob,
    "grep": Grep,
    "write_todos": WriteTodos,
}
