"""Which value of a setting counts: flags, environment, profile, files, defaults, in this order."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sonde.config.files import ConfigFile, find_files, read_toml
from sonde.config.keys import KEYS
from sonde.config.layers import Layer, Setting, read_layer, read_layers
from sonde.errors import UsageError

_PROFILES = Path(__file__).with_name("profiles.toml")
_PARALLEL, _WIDTH = "rlm.parallel_sub_calls", "concurrency"


class Settings(NamedTuple):
    """What counts, by name; and all that it was taken from."""

    values: dict[str, Setting]
    profile: str | None
    profiles: tuple[str, ...]
    """The names that can be chosen."""
    models: dict[str, Setting]
    """Models by the names that the user gave them."""
    files: tuple[Path, ...]

    def value(self, name: str) -> Any:
        """Return what counts for one setting."""
        return self.values[name].value

    def chosen(self) -> dict[str, Any]:
        """Return what files and a profile set, and nothing else."""
        return {name: each.value for name, each in self.values.items() if each.source in {"file", "profile"}}

    def model_names(self) -> dict[str, str]:
        """Return the models by the names that the user gave them."""
        return {name: each.value for name, each in self.models.items()}


def resolve(folder: Path, profile: str | None = None, flags: Mapping[str, str] | None = None) -> Settings:
    """Return what counts in a folder. `profile` is one that a flag chose, `flags` the others as they were written.

    Raises `UsageError` that names the file, variable or flag that is wrong.
    """
    files = find_files(folder)
    read = [read_layers(file) for file in files]
    written = {**(flags or {}), **({"profile": profile} if profile else {})}
    given = [_from_environment(), _from_flags(written)]
    profiles = _shipped() | {name: layer for each in read for name, layer in each.profiles.items()}
    models = {name: model for each in read for name, model in each.models.items()}

    layers = [{name: Setting(key.default, "default") for name, key in KEYS.items()}, *(each.settings for each in read)]
    chosen = _last([*layers, *given], "profile")
    if chosen.value:
        layers.append(_profile(chosen, profiles))
    layers += given
    values = {name: _last(layers, name) for name in KEYS}
    _one_at_a_time(values, layers)
    for name in ("model", "sub_model", "also_model"):
        values[name] = _by_its_name(values[name], models)
    return Settings(values, chosen.value, tuple(sorted(profiles)), models, tuple(file.path for file in files))


def _last(layers: list[Layer], name: str) -> Setting:
    return next(layer[name] for layer in reversed(layers) if name in layer)


def _one_at_a_time(values: dict[str, Setting], layers: list[Layer]) -> None:
    """Where sub-calls may not be parallel, one request is on the wire, unless a stronger layer says how many are."""
    parallel = values[_PARALLEL]
    set_by = {name: max(rank for rank, layer in enumerate(layers) if name in layer) for name in (_PARALLEL, _WIDTH)}
    if not parallel.value and set_by[_WIDTH] < set_by[_PARALLEL]:
        values[_WIDTH] = parallel._replace(value=1)


def _by_its_name(setting: Setting, models: Mapping[str, Setting]) -> Setting:
    """Return a setting from a file with the models that it calls by a name of the user's own."""
    if setting.source not in {"file", "profile"}:
        return setting
    named = [setting.value] if isinstance(setting.value, str) else setting.value
    found = [models[name].value if name in models else name for name in named]
    return setting._replace(value=found[0] if isinstance(setting.value, str) else found)


def _shipped() -> dict[str, Layer]:
    file = ConfigFile(_PROFILES, read_toml(_PROFILES), is_users=True)
    return {name: read_layer(file, table, f"{name}.") for name, table in file.table.items()}


def _profile(chosen: Setting, profiles: Mapping[str, Layer]) -> Layer:
    if chosen.value not in profiles:
        where = f" ({chosen.where})" if chosen.where else ""
        raise UsageError(f"there is no profile {chosen.value!r}{where}", f"Known: {', '.join(sorted(profiles))}.")
    return {name: Setting(each.value, "profile", chosen.value) for name, each in profiles[chosen.value].items()}


def _from_environment() -> Layer:
    texts = {name: os.environ.get(key.variable, "") for name, key in KEYS.items()}
    return {
        name: Setting(
            _read(name, text, f"the environment variable {KEYS[name].variable}"), "environment", KEYS[name].variable
        )
        for name, text in texts.items()
        if text
    }


def _from_flags(flags: Mapping[str, str]) -> Layer:
    return {
        name: Setting(_read(name, text, "--" + name.replace("_", "-")), "flag", "--" + name.replace("_", "-"))
        for name, text in flags.items()
    }


def _read(name: str, text: str, where: str) -> Any:
    kind = KEYS[name].kind
    try:
        return kind.take(kind.read(text))
    except ValueError as error:
        raise UsageError(f"{where} must be {kind.expects}, not {text!r}", "Set it again.") from error
