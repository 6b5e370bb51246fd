"""The JSON Schemas (draft 2020-12) of the files that a record is made of."""

from importlib.resources import files
from typing import Any

from sonde import jsontext

NAMES = ("task-state", "config", "trajectory", "cost")


def schema(name: str) -> dict[str, Any]:
    """Return one of `NAMES`: of `state.json`, `config` in `summary.json`, a line of `trajectory.jsonl`, `cost.json`."""
    assert name in NAMES, f"there is no schema {name!r}"
    return jsontext.decode((files("sonde.record") / "schemas" / f"{name}.json").read_bytes(), dict[str, Any])
