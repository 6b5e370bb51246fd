"""Check what files say, and lay it in layers: what each one sets, and where it says so."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, cast

from sonde.config.files import ConfigFile, spelled_out
from sonde.config.keys import ALIASES, INVERSE, KEYS, ONLY_USERS, TABLES, Key, spellings
from sonde.config.strangers import is_elsewhere
from sonde.errors import UsageError

_SECRET = re.compile(r"(?:^|[_.-])(?:api_?keys?|keys?|tokens?|secrets?|passwords?)$", re.IGNORECASE)
_SHOWN = 60


class Setting(NamedTuple):
    """A value with where it comes from: `source` is default, file, profile, environment or flag."""

    value: Any
    source: str
    where: str = ""


Layer = dict[str, Setting]


class Layers(NamedTuple):
    """What one file says: its settings, the profiles it defines, and the models it names."""

    settings: Layer
    profiles: dict[str, Layer]
    models: dict[str, Setting]


def read_layers(file: ConfigFile) -> Layers:
    """Return what a file says, checked. Raises `UsageError` that names the file and the key."""
    table = dict(file.table)
    models = {
        name: Setting(_checked(file, f"models.{name}", _MODEL, value), "file", file.key(f"models.{name}"))
        for name, value in _table(file, table.pop("models", {}), "models").items()
    }
    profiles = {
        name: read_layer(file, _table(file, settings, f"profiles.{name}"), f"profiles.{name}.")
        for name, settings in _table(file, table.pop("profiles", {}), "profiles").items()
    }
    return Layers(read_layer(file, table), profiles, models)


def read_layer(file: ConfigFile, table: Mapping[str, Any], inside: str = "") -> Layer:
    """Return the settings of one table. Raises `UsageError` that names the file and the key."""
    layer: Layer = {}
    for written, value in spelled_out(dict(table), TABLES):
        name = ALIASES.get(written, written)
        where = inside + written
        key = KEYS.get(name)
        if key is None:
            raise _unknown(file, where, written)
        if name in layer:
            raise UsageError(f"{file.key(where)} and {layer[name].where} are the same setting", "Keep one of them.")
        if name in ONLY_USERS and not file.is_users:
            raise UsageError(
                f"{file.key(where)} may not be set in a folder's file",
                f"Give it as a flag, as {key.variable}, or in your own ~/.config/sonde/sonde.toml.",
            )
        taken = _checked(file, where, key, value)
        layer[name] = Setting(not taken if written in INVERSE else taken, "file", file.key(where))
    return layer


def _checked(file: ConfigFile, where: str, key: Key, value: object) -> Any:
    try:
        taken = key.kind.take(value)
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"{file.key(where)} must be {key.kind.expects}, not {_short(value)}", "Mend the file."
        ) from error
    if key.kind.is_model and not file.is_users:
        for model in taken if key.kind.is_list else [taken]:
            _refuse_strange_address(file, where, model)
    return _from(file.path.parent, taken) if key.kind.is_path else taken


def _refuse_strange_address(file: ConfigFile, where: str, model: str) -> None:
    """Raise for a model at an address that only the maker of the folder has chosen: data and keys go there."""
    if is_elsewhere(model):
        raise UsageError(
            f"{file.key(where)} sends data to another machine, which a folder's file may not choose",
            "Give the model as a flag, in the environment, or in your own ~/.config/sonde/sonde.toml.",
        )


def _from(folder: Path, path: str) -> str:
    """Return a path that a file in `folder` names."""
    named = Path(path).expanduser()
    return str(named if folder == Path.cwd() else folder / named)


def _table(file: ConfigFile, value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{file.key(where)} must be a table, not {_short(value)}", "Mend the file.")
    return cast("dict[str, Any]", value)


def _unknown(file: ConfigFile, where: str, written: str) -> UsageError:
    if _SECRET.search(written):
        return UsageError(
            f"{file.key(where)}: keys and passwords do not belong in a file",
            'Put it in an environment variable, and name that one: key_env = "NAME".',
        )
    table = written.partition(".")[0] + "." if "." in written else ""
    near = get_close_matches(written.replace("-", "_"), [name for name in spellings() if name.startswith(table)], 1)
    hint = f"Did you mean {near[0]}?" if near else "`sonde config show` lists all settings."
    return UsageError(f"{file.key(where)} is not a setting", hint)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


_MODEL = KEYS["model"]
