"""Where an option's default comes from if neither a flag nor its environment variable sets it: a profile, or a file."""

from importlib import import_module
from pathlib import Path
from typing import Any

import click

_GOES_ON = frozenset({"runs_dir", "quiet", "no_panel"})
"""All that `resume` takes from files: a run's own limits and models stay as they were."""
_GROUPS = {"models": ("test",)}


class VerbDefaults(dict[str, Any]):
    """What files and a profile set for one verb's options. They are read when the first option asks: `--help` works
    whatever they hold."""

    def __init__(self, verb: str, profile: str | None = None) -> None:
        super().__init__()
        self._verb = verb
        self._profile = profile
        self._is_read = False

    def __contains__(self, name: object) -> bool:
        ctx = click.get_current_context(silent=True)
        if ctx is not None and ctx.resilient_parsing:
            return False  # help is being shown
        if not self._is_read:
            self._is_read = True
            self.update(_read(self._verb, self._profile))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return one value, or the defaults of a verb below this one."""
        if name in _GROUPS.get(self._verb, ()):
            return VerbDefaults(name)
        return super().get(name, default) if name in self else default


class AllDefaults(dict[str, Any]):
    """The defaults of every verb, by its name."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return the defaults of a verb."""
        return VerbDefaults(name)


def use_profile(ctx: click.Context, _: click.Parameter, name: str | None) -> str | None:
    """Let the profile that was chosen set the defaults of the options that come after. Raises `UsageError`."""
    if name:
        ctx.default_map = VerbDefaults(ctx.info_name or "", name)
    return name


def _read(verb: str, profile: str | None) -> dict[str, Any]:
    found = import_module("sonde.config.resolve").resolve(Path.cwd(), profile).chosen()
    defaults: dict[str, Any] = {}
    for name, value in found.items():
        table, _, key = name.rpartition(".")
        if table in {"", "rlm"}:
            defaults[key] = ",".join(value) if key == "guest_packages" else value
    if verb == "resume":
        return {name: value for name, value in defaults.items() if name in _GOES_ON}
    if verb == "chunk":
        defaults |= {name: defaults[f"chunk_{name}"] for name in ("strategy", "size") if f"chunk_{name}" in defaults}
    return defaults | {
        name.removeprefix(verb + "."): value for name, value in found.items() if name.startswith(verb + ".")
    }
