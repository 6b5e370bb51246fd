"""Find and read configuration files: `sonde.toml`, `pyproject.toml`, and the user's own."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from sonde.errors import UsageError

FILE_NAME = "sonde.toml"
PYPROJECT = "pyproject.toml"
_LARGEST = 1 << 20


class ConfigFile(NamedTuple):
    """A file's settings. `prefix` is the table that they stand in; `is_users` tells that it is the user's own."""

    path: Path
    table: dict[str, Any]
    prefix: str = ""
    is_users: bool = False

    def key(self, name: str) -> str:
        """Return where a key stands, for people."""
        return f"{self.path}:{self.prefix}{name}"


def find_files(folder: Path) -> list[ConfigFile]:
    """Return the files that count in a folder, the weakest first. Raises `UsageError` for one that cannot be read."""
    own = users_file()
    found = [_read(own, is_users=True)] if own.is_file() else []
    above = [folder, *folder.parents]
    pyproject = next((file for each in above if (file := _pyproject(each / PYPROJECT, folder))), None)
    near = next((path for each in above if (path := each / FILE_NAME).is_file()), None)
    found += [pyproject] if pyproject else []
    if near is not None and not (found and _is_same(near, own)):
        _refuse_strangers(near, folder)
        found.append(_read(near))
    return found


def users_file() -> Path:
    """Return where the user's own settings are."""
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "sonde" / FILE_NAME


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds. Raises `UsageError`."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise UsageError(
                f"{path} is larger than {_LARGEST:,} bytes", "Settings are short: see docs/configuration.md."
            )
        return tomllib.loads(content.decode())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "Check who may read it.") from error
    except RecursionError as error:
        raise UsageError(f"{path} is nested too deeply", "Mend the file.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {' '.join(str(error).split())}", "Mend the file.") from error


def _read(path: Path, *, is_users: bool = False) -> ConfigFile:
    return ConfigFile(path, read_toml(path), is_users=is_users)


def _pyproject(path: Path, folder: Path) -> ConfigFile | None:
    """Return the settings in a `pyproject.toml`, or None; one that never names Sonde is not even parsed."""
    try:
        if b"sonde" not in path.read_bytes():
            return None
    except OSError:
        return None
    tools = read_toml(path).get("tool")
    table = cast("dict[str, Any]", tools).get("sonde") if isinstance(tools, dict) else None
    if table is None:
        return None
    _refuse_strangers(path, folder)
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.sonde must be a table", "Write [tool.sonde], and settings below it.")
    return ConfigFile(path, cast("dict[str, Any]", table), "tool.sonde.")


def _refuse_strangers(path: Path, folder: Path) -> None:
    """Raise for a file above the folder that somebody else may have put there, such as in /tmp."""
    trusted = {0, os.geteuid(), folder.stat().st_uid}
    if path.stat().st_uid not in trusted:
        raise UsageError(f"{path} belongs to another user", "Work in a folder of your own, or take the file away.")


def _is_same(path: Path, other: Path) -> bool:
    return other.exists() and path.samefile(other)


def spelled_out(table: dict[str, Any], tables: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """Yield each key with its value; those in one of `tables` as `TABLE.KEY`."""
    for name, value in table.items():
        if name in tables and isinstance(value, dict):
            yield from ((f"{name}.{key}", each) for key, each in cast("dict[str, object]", value).items())
        else:
            yield name, value
