"""Agents in files: markdown whose head says what an agent may use, and whose text is its system prompt."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from sonde.config.front_matter import Field, Misread, Page, read_page
from sonde.config.strangers import is_elsewhere
from sonde.errors import UsageError
from sonde.spec import Subagent

FOLDER = Path(".sonde/agents")
_PRESETS = Path(__file__).with_name("agents")
_LARGEST = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_LONGEST_DESCRIPTION = 1024
_NO_MODELS: Mapping[str, str] = {}

_KEYS = (
    "id",
    "name",
    "role",
    "tier",
    "model",
    "description",
    "allowed-tools",
    "tools",
    "interpreter",
    "can-delegate-to",
)
_TOOLS = {
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "edit_file",
    "Grep": "grep",
    "Glob": "glob",
    "LS": "ls",
    "Task": "task",
    "TodoWrite": "write_todos",
}
"""Tools by the names that other programs' agent files have for them."""
_INSTEAD = {"Bash": "`interpreter: true` lets it run code in cells"}
_OWN_TOOL = re.compile(r"[a-z][a-z0-9_]*")


class AgentFile(NamedTuple):
    """What an agent's file says. `model` is its wish; perhaps only the user's table of models knows that name."""

    path: Path
    name: str
    title: str
    role: str
    tier: str
    model: str
    description: str
    tools: tuple[str, ...] | None
    can_delegate_to: tuple[str, ...] | None
    interpreter: bool
    prompt: str
    notes: tuple[str, ...]
    """What the file asks for and does not get."""


def read_agents(folder: Path, models: Mapping[str, str] = _NO_MODELS, notes: list[str] | None = None) -> list[Subagent]:
    """Return the agents in a folder's markdown files, by name. `models` tells which models their wishes mean, and what
    they do not get is added to `notes`. Raises `UsageError` that names the file and the line.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".md")
    except OSError as error:
        raise UsageError(f"cannot read the agents in {folder}: {error.strerror}", "Name a folder.") from error
    found: dict[str, Path] = {}
    agents: list[Subagent] = []
    for path in paths:
        agent = read_agent(path, models, notes)
        if agent.name in found:
            raise UsageError(f"{path} and {found[agent.name]} both name an agent {agent.name!r}", "Rename one of them.")
        found[agent.name] = path
        agents.append(agent)
    return agents


def read_agent(path: Path, models: Mapping[str, str] = _NO_MODELS, notes: list[str] | None = None) -> Subagent:
    """Return the agent in a markdown file; see `read_agents`."""
    file = read_agent_file(path)
    model = models.get(file.model) or (file.model if ":" in file.model else None)
    more = list(file.notes)
    if file.model and model is None:
        more.append(
            f"{path}: no model is called {file.model!r}: it gets the usual one; [models] in sonde.toml can tell"
        )
    if notes is not None:
        notes += more
    return Subagent(
        name=file.name,
        description=file.description,
        system_prompt=file.prompt,
        model=model,
        tools=file.tools,
        interpreter=file.interpreter,
        can_delegate_to=file.can_delegate_to,
    )


def presets() -> list[Subagent]:
    """Return the agents that come with Sonde."""
    return read_agents(_PRESETS)


def read_agent_file(path: Path) -> AgentFile:
    """Return all that an agent's file says. Raises `UsageError` that names the file and the line."""
    try:
        page = read_page(_text(path))
        return _agent_file(path, page)
    except Misread as error:
        raise UsageError(
            f"{path}, line {error.line}: {error}", "Mend the file; docs/configuration.md shows one."
        ) from error


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise UsageError(f"{path} is larger than {_LARGEST:,} bytes", "A prompt is far shorter.")
        return content.decode()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "Check the path.") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}, line {line}: is not UTF-8", "Convert the file.") from error


def _agent_file(path: Path, page: Page) -> AgentFile:
    notes = [f"{path}, line {field.line}: {key} means nothing here" for key, field in _unknown(page).items()]
    texts = {key: _one(page, key) for key in ("id", "name", "role", "tier", "model", "description")}
    if is_elsewhere(texts["model"]):
        what = "sends data to another machine, which an agent's file may not choose: name it in [models] of your own"
        raise Misread(page.fields["model"].line, f"{what} ~/.config/sonde/sonde.toml")
    name_key = "id" if texts["id"] else "name"
    name, line = texts[name_key], page.fields[name_key].line if name_key in page.fields else 1
    if not _NAME.fullmatch(name):
        what = f"{name_key} {name!r} is not an agent's name" if name else "there is no name"
        raise Misread(line, f"{what}: up to 64 letters, digits, dashes, dots and underscores")
    description = " ".join(texts["description"].split())
    if not description or len(description) > _LONGEST_DESCRIPTION:
        line = page.fields["description"].line if "description" in page.fields else 1
        what = f"has {len(description):,} characters" if description else "is missing"
        raise Misread(line, f"the description {what}: 1 to {_LONGEST_DESCRIPTION:,} are possible")
    if not page.body:
        raise Misread(1, "there is no text below the second ---: it is the agent's system prompt")
    return AgentFile(
        path=path,
        name=name,
        title=texts["name"] or name,
        role=texts["role"],
        tier=texts["tier"],
        model=texts["model"],
        description=description,
        tools=_tools(path, page, notes),
        can_delegate_to=_names(page, "can-delegate-to"),
        interpreter=_yes_or_no(page, "interpreter"),
        prompt=page.body,
        notes=tuple(notes),
    )


def _unknown(page: Page) -> dict[str, Field]:
    """Return the fields that nobody knows. One that is nearly a known one is a slip. Raises `Misread`."""
    unknown = {key: field for key, field in page.fields.items() if key not in _KEYS}
    for key, field in unknown.items():
        near = get_close_matches(key.lower().replace("_", "-"), _KEYS, 1, 0.8)
        if near:
            raise Misread(field.line, f"{key} is not a key: did you mean {near[0]}?")
    return unknown


def _one(page: Page, key: str) -> str:
    field = page.fields.get(key, Field("", 1))
    if isinstance(field.value, list):
        raise Misread(field.line, f"{key} must be one text, not a list")
    return field.value


def _names(page: Page, key: str) -> tuple[str, ...] | None:
    """Return a list, which may also be written as one text with commas; None if there is none."""
    field = page.fields.get(key)
    if field is None:
        return None
    names = field.value.split(",") if isinstance(field.value, str) else field.value
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def _yes_or_no(page: Page, key: str) -> bool:
    text = _one(page, key).lower()
    if text not in {"", "true", "false"}:
        raise Misread(page.fields[key].line, f"{key} must be true or false, not {text!r}")
    return text == "true"


def _tools(path: Path, page: Page, notes: list[str]) -> tuple[str, ...] | None:
    """Return the tools under our names; those that there are not are noted."""
    key = "allowed-tools" if "allowed-tools" in page.fields else "tools"
    names = _names(page, key)
    if names is None:
        return None
    tools: list[str] = []
    for written in names:
        name = written.partition("(")[0].strip()
        tool = _TOOLS.get(name) or (name if _OWN_TOOL.fullmatch(name) else None)
        if tool is None:
            hint = f"; {_INSTEAD[name]}" if name in _INSTEAD else ""
            notes.append(f"{path}, line {page.fields[key].line}: there is no tool {name} here{hint}")
        else:
            tools.append(tool)
    return tuple(dict.fromkeys(tools))
