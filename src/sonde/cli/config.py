"""`sonde config`: which settings count, and where each comes from."""

from pathlib import Path
from typing import Any, cast

import click
from click.core import ParameterSource

from sonde.cli import options
from sonde.cli.output import harmless, print_json
from sonde.config.keys import ALIASES, INVERSE, KEYS
from sonde.config.layers import Setting
from sonde.config.resolve import Settings, resolve


def _flag(name: str) -> Any:
    """Return a flag of `ask` that is only looked at here."""
    flag = "--" + name.replace("_", "-")
    kind = KEYS[name].kind
    if kind.read is not str and kind.expects == "true or false":
        return click.option(flag, name, is_flag=True, flag_value="true", default=None, hidden=True)
    return click.option(flag, name, multiple=kind.is_list, hidden=True)


_flags = options.together(*(_flag(name) for name in KEYS if "." not in name and name != "profile"))
_profile = click.option("--profile", help="Show what holds with this profile.")


@click.group(short_help="Tell which settings count, and where each comes from.")
def config() -> None:
    """Tell which settings count, and where each comes from.

    Flags come first, then environment variables (SONDE_MAX_TURNS for --max-turns), the profile, sonde.toml of this
    folder or the nearest above, [tool.sonde] in pyproject.toml, ~/.config/sonde/sonde.toml, and what is usual.

    \b
    # sonde.toml
    model = "openai:gpt-5.5"
    max_usd = 5
    [rlm]
    chunk_strategy = "by_section"
    """


@config.command()
@_profile
@options.as_json
@_flags
@click.pass_context
def show(ctx: click.Context, /, profile: str | None, as_json: bool, **given: Any) -> None:
    """List every setting with its value and its source: a flag, an environment variable, a profile, a file with its
    key, or the default. Any setting can be given as a flag, to see what would hold.

    \b
    sonde config show --profile large-file
    sonde config show --json --max-turns 5
    """
    flags = {
        name: value if isinstance(value, str) else ",".join(value)
        for name, value in given.items()
        if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE
    }
    settings = resolve(Path.cwd(), profile, flags)
    if as_json:
        print_json(_as_json(settings))
        return
    for name, setting in _all(settings).items():
        click.echo(harmless(f"{name:28} {_shown(setting.value):32} {_source(setting)}".rstrip()))
    click.echo(harmless(f"\nprofiles: {', '.join(settings.profiles)}"))
    click.echo(harmless(f"files: {', '.join(map(str, settings.files)) or 'none'}"))


def _all(settings: Settings) -> dict[str, Setting]:
    """Return all settings, also under the names that the table `rlm` has for some."""
    aliases = {name: settings.values[same] for name, same in ALIASES.items()}
    aliases |= {name: aliases[name]._replace(value=not aliases[name].value) for name in INVERSE}
    models = {f"models.{name}": setting for name, setting in settings.models.items()}
    return {**settings.values, **aliases, **models}


def _as_json(settings: Settings) -> dict[str, Any]:
    return {
        "profile": settings.profile,
        "profiles": list(settings.profiles),
        "files": [str(path) for path in settings.files],
        "values": {name: setting._asdict() for name, setting in _all(settings).items()},
    }


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(cast("list[str]", value)) or "-" if isinstance(value, list) else str(value)


def _source(setting: Setting) -> str:
    return setting.where if setting.source == "file" else f"{setting.source} {setting.where}".rstrip()
