"""The header of a workflow: what it is for, its phases and its arguments. It is read, and nothing is run."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, cast

import msgspec

from sonde.errors import UsageError
from sonde.workflows import python
from sonde.workflows.literal import Literals
from sonde.workflows.written import PLAIN, Unfit, Written
from sonde.workflows.written import Path as Place

Language = Literal["python", "javascript"]

SUFFIXES: dict[str, Language] = {".py": "python", ".js": "javascript"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_FIELDS = ("name", "description", "whenToUse", "when_to_use", "phases", "args")
_OF_A_PHASE = ("title", "detail", "model")
_OPTIONAL = "optional"
_CALLED_ON = frozenset(".([+-*/,?&|=<>%^`")
"""What makes something else of a value that it follows."""
_LARGEST = 1 << 20
_BEGIN = 'Begin it with export const meta = { name: "…", description: "…" }; only comments may come before.'


class Phase(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a workflow's work."""

    title: str
    detail: str = ""
    model: str = ""


class Meta(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a workflow says of itself."""

    name: str
    description: str
    when_to_use: str = ""
    phases: tuple[Phase, ...] = ()
    args: dict[str, str] | None = None
    """What each argument is; None if the workflow does not tell."""

    @property
    def needed(self) -> list[str]:
        """The arguments that must be given: all but those whose description begins with "optional"."""
        return [name for name, about in (self.args or {}).items() if not about.lower().startswith(_OPTIONAL)]


class Workflow(NamedTuple):
    """A saved workflow."""

    path: Path
    language: Language
    code: str
    meta: Meta


def read(path: Path) -> Workflow:
    """Return the workflow in a file. Raises `UsageError`, with the line, if it is none."""
    language = SUFFIXES.get(path.suffix)
    if language is None:
        raise UsageError(f"{path} is neither a .py nor a .js file", "Workflows are written in Python or JavaScript.")
    code = _text(path)
    try:
        meta = _meta(python.header(code) if language == "python" else _javascript_header(code))
        if language == "python":
            python.check_syntax(code)
    except Unfit as error:
        raise UsageError(f"{path}, line {error.line}: {error}", error.remedy) from error
    return Workflow(path, language, code, meta)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise UsageError(f"{path} is larger than {_LARGEST:,} bytes", "Hand data over as inputs or --args.")
        return content.decode().removeprefix("\ufeff").replace("\r\n", "\n")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text", "Mend the file.") from error


def _javascript_header(code: str) -> Written:
    literals = Literals(code)
    word = literals.take_word()
    word = literals.take_word() if word == "export" else word
    if word != "const" or literals.take_word() != "meta" or not literals.take("="):
        literals.fail("the first statement is not `const meta = {…}`", _BEGIN)
    written = literals.written()
    passed = literals.skip_space()
    follows = literals.peek()
    if follows and follows != ";" and ("\n" not in passed or follows in _CALLED_ON):
        literals.fail(f"{follows!r} follows the header: it must stand for itself")
    return written


def _meta(written: Written) -> Meta:
    fields = _object(written, (), _FIELDS)
    name, description = _need(written, fields, "name"), _need(written, fields, "description")
    if not _NAME.fullmatch(name):
        _unfit(written, ("name",), f"{name!r} is no name", "Use letters, digits, dashes, points and underscores.")
    both = [each for each in ("whenToUse", "when_to_use") if each in fields]
    if len(both) > 1:
        _unfit(written, (both[1],), "whenToUse and when_to_use are the same", "Leave one of them out.")
    phases = _list(written, fields.get("phases", []), ("phases",))
    args = fields.get("args")
    return Meta(
        name=name,
        description=" ".join(description.split()),
        when_to_use=_string(written, fields[both[0]], (both[0],)) if both else "",
        phases=tuple(_phase(written, ("phases", number)) for number in range(len(phases))),
        args=None if args is None else _args(written, ("args",)),
    )


def _phase(written: Written, place: Place) -> Phase:
    fields = _object(written, place, _OF_A_PHASE)
    if "title" not in fields:
        _unfit(written, place, "a phase has no title", 'Write {"title": "…"}.')
    return Phase(**{name: _string(written, value, (*place, name)) for name, value in fields.items()})


def _args(written: Written, place: Place) -> dict[str, str]:
    fields = _object(written, place, None)
    return {name: _string(written, value, (*place, name)) for name, value in fields.items()}


def _need(written: Written, fields: dict[str, Any], name: str) -> str:
    if name not in fields:
        _unfit(written, (), f"the header has no {name}", f'Add "{name}": "…".')
    text = _string(written, fields[name], (name,))
    if not text.strip():
        _unfit(written, (name,), f"the {name} is empty", "Say what it is.")
    return text


def _object(written: Written, place: Place, known: Iterable[str] | None) -> dict[str, Any]:
    value = written.value
    for step in place:
        value = value[step]
    if not isinstance(value, dict):
        _unfit(written, place, f"{_called(place)} must be an object, not {_kind(value)}", PLAIN)
    fields = cast("dict[str, Any]", value)
    for name in fields:
        if known is not None and name not in known:
            what = f"{_called(place)} has a field {name!r} that nothing reads"
            _unfit(written, (*place, name), what, f"Known: {', '.join(known)}.")
    return fields


def _list(written: Written, value: object, place: Place) -> list[Any]:
    if not isinstance(value, list | tuple):
        _unfit(written, place, f"{_called(place)} must be a list, not {_kind(value)}", PLAIN)
    return list(cast("list[Any]", value))


def _string(written: Written, value: object, place: Place) -> str:
    if not isinstance(value, str):
        _unfit(written, place, f"{_called(place)} must be a text, not {_kind(value)}", "Put it in quotes.")
    return value


def _called(place: Place) -> str:
    return "meta" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    kinds = {dict: "an object", list: "a list", tuple: "a list", str: "a text"}
    return next((said for kind, said in kinds.items() if isinstance(value, kind)), "a number")


def _unfit(written: Written, place: Place, message: str, remedy: str) -> NoReturn:
    raise Unfit(written.line(place), message, remedy)
