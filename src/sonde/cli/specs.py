"""Make the spec of a run of what the flags say: the same for every verb that starts one."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import click
import msgspec

from sonde.cli.output import say
from sonde.cli.person import in_terminal
from sonde.config.agents import FOLDER, presets, read_agents
from sonde.config.resolve import resolve
from sonde.engine.run import Surroundings
from sonde.errors import UsageError
from sonde.models.prices import read_price
from sonde.spec import Limits, ModelChoice, RunSpec, Subagent


def bare_spec(question: str, inputs: tuple[str, ...], given: Mapping[str, Any], limits: Mapping[str, Any]) -> RunSpec:
    """Return what a run is asked to do, as far as all verbs have flags for it. `limits` are those that a verb changes.
    Raises `UsageError`."""
    if not given["model"]:
        raise UsageError("no model was chosen", "Give --model PROVIDER:NAME, or set SONDE_MODEL.")
    if not question.strip():
        raise UsageError("the question is empty", "Say what you want to know.")
    return RunSpec(
        question=question,
        models=ModelChoice(given["model"], given["sub_model"], given["key_env"], given["also_model"]),
        inputs=inputs,
        limits=Limits.from_options({**given, **limits}),
        price=None if given["price"] is None else read_price(given["price"]),
        strict=given["strict"],
    )


def spec_of(question: str, inputs: tuple[str, ...], given: Mapping[str, Any]) -> RunSpec:
    """Return what a run is asked to do. Raises `UsageError`."""
    at_once = given["concurrency"] if given["parallel_sub_calls"] else given["concurrency"] or 1
    return msgspec.structs.replace(
        bare_spec(question, inputs, given, {"concurrency": at_once}),
        schema=_schema(given["schema"]),
        fallback=not given["no_fallback"],
        approve=given["approve"],
        cut=_cut(given["chunk_strategy"], given["chunk_size"]),
        sends_from_code=not given["no_code_subagents"],
        cache=given["cache_intermediate"],
        subagents=subagents_of(given),
        interpreter=given["interpreter"],
        unconfined=given["interpreter_unconfined"],
        guest_packages=tuple(name.strip() for name in given["guest_packages"].split(",") if name.strip()),
    )


def surroundings_of(given: Mapping[str, Any]) -> Surroundings:
    """Return what a run finds around it."""
    asks = None if given["yes"] or not (sys.stdin.isatty() and sys.stderr.isatty()) else _confirm
    person = in_terminal if sys.stdin.isatty() and sys.stderr.isatty() else None
    return Surroundings(given["runs_dir"], given["run_id"], record=given["record"], confirm=asks, person=person)


def _confirm(note: str) -> bool:
    say(f"sonde: {note}")
    return click.confirm("Go on?", err=True)


def subagents_of(given: Mapping[str, Any]) -> tuple[Subagent, ...]:
    """Return the user's kinds of agents: of the folder that is named, or of the usual one if it is there. What their
    files ask for and cannot have is said."""
    if given["agents"] is None and not FOLDER.is_dir():
        return ()
    notes: list[str] = []
    names = resolve(Path.cwd(), given["profile"]).model_names()
    agents = read_agents(given["agents"] or FOLDER, names, notes)
    for note in notes:
        say(f"sonde: note: {note}")
    return tuple(agents)


def with_presets(own: tuple[Subagent, ...], wanted: str | None) -> tuple[Subagent, ...]:
    """Return the user's kinds of agents with those that come with Sonde. Raises `UsageError` if the wanted one is not
    among them."""
    taken = {each.name for each in own}
    known = (*own, *(each for each in presets() if each.name not in taken))
    if wanted is not None and all(each.name != wanted for each in known):
        names = ", ".join(sorted(each.name for each in known))
        raise UsageError(
            f"there is no agent {wanted!r}; known: {names}", "Name one of these, or add a file to --agents."
        )
    return known


def _cut(strategy: str, size: int) -> str:
    """Return how inputs are best cut, in words; nothing where the model may decide."""
    if strategy == "auto":
        return ""
    return f"{strategy.replace('_', ' ')}, in pieces of at most {size:,} lines"


def _schema(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the schema {path}: {error.strerror}", "Check the path.") from error
    except ValueError as error:
        raise UsageError(f"the schema {path} is not JSON: {error}", "Mend the file.") from error
    if not isinstance(schema, dict):
        raise UsageError(f"the schema {path} is not a JSON object", "Mend the file.")
    return cast("dict[str, Any]", schema)
