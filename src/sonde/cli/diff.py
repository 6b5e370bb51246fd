"""`sonde diff`: where two runs differ."""

import difflib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from sonde import jsontext
from sonde.cli import options
from sonde.cli.output import dollars, harmless, print_json, seconds
from sonde.engine.folder import find
from sonde.errors import RunChoiceError
from sonde.events import ROOT, TURN, WORK, CallReused, CallStarted, CellStarted, Stored
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.spec import RunSpec
from sonde.views.summary import Summary

_MOST_LINES = 40
_NESTED = frozenset({"limits", "models"})

Pair = tuple[Any, Any]


class _Run:
    """What is compared of a run."""

    def __init__(self, path: Path, reader: Reader) -> None:
        self.reader = reader
        self.summary = Summary()
        self.calls: Counter[str] = Counter()
        self.cells: dict[tuple[str, int], Stored] = {}
        for record in reader.records():
            self.summary.add(record)
            match record.fact:
                case CallStarted(function=function) | CallReused(function=function) if function in WORK | {TURN}:
                    self.calls[function] += 1
                case CellStarted(agent=agent, cell=cell, code=code):
                    self.cells[agent, cell] = code
                case _:
                    pass
        if not self.summary.spec:
            raise RunChoiceError(
                f"run {path.name} has no beginning in its record", f"`sonde doctor {path.name}` tells more."
            )
        self.spec: dict[str, Any] = msgspec.to_builtins(RunSpec.from_json(self.summary.spec))
        answer = self.summary.answer
        self.answer: Any = None if answer is None else jsontext.decode(reader.text(answer), object)

    @property
    def figures(self) -> dict[str, Any]:
        """What a run came to, by name."""
        summary, used = self.summary, self.summary.usage
        return {
            "status": summary.status or "not finished",
            "answer": self.answer,
            "turns": summary.turns,
            "cells": summary.cells,
            "items": summary.coverage.items,
            "items_failed": summary.coverage.failed,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cost_usd": summary.cost_usd,
            "duration_s": round(summary.duration_s, 3),
        }


@click.command(short_help="Tell where two runs differ.")
@click.argument("one")
@click.argument("other")
@options.runs_dir
@options.as_json
def diff(one: str, other: str, runs_dir: Path, as_json: bool) -> None:
    """Compare two runs: each an id, the beginning of one, or "last"."""
    paths = find(runs_dir, one), find(runs_dir, other)
    with Reader(paths[0] / FILE_NAME) as first, Reader(paths[1] / FILE_NAME) as second:
        runs = _Run(paths[0], first), _Run(paths[1], second)
        spec = _differences(_flat(runs[0].spec), _flat(runs[1].spec))
        figures = _differences(runs[0].figures, runs[1].figures)
        calls = _differences(dict(runs[0].calls), dict(runs[1].calls), absent=0)
        cell = _first_other_cell(*runs)
        if as_json:
            both = (("spec", spec), ("figures", figures), ("calls", calls))
            plain = {name: {key: list(pair) for key, pair in pairs.items()} for name, pairs in both}
            print_json({"runs": [path.name for path in paths], **plain, "first_cell_that_differs": cell})
            return
        for line in _lines(runs, {"spec": spec, "": figures, "calls": calls}, cell):
            click.echo(harmless(line))


def _lines(runs: tuple[_Run, _Run], parts: dict[str, dict[str, Pair]], cell: dict[str, Any] | None) -> Iterator[str]:
    yield f"{'':24} {runs[0].summary.run_id}  →  {runs[1].summary.run_id}"
    for part, pairs in parts.items():
        for key, (left, right) in pairs.items():
            name = f"{part} {key}".strip()
            yield f"{name:24} {_shown(key, left)}  →  {_shown(key, right)}"
    if not any(parts.values()) and cell is None:
        yield "They do not differ."
    if cell is None:
        return
    yield f"first cell that differs: {cell['agent']}, cell {cell['cell']}"
    codes = [str(code or "").splitlines() for code in cell["code"]]
    lines = list(difflib.unified_diff(codes[0], codes[1], lineterm="", n=2))[2:]
    yield from (f"    {line}" for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"    and {len(lines) - _MOST_LINES:,} lines more; --json has both cells whole"


def _shown(key: str, value: Any) -> str:
    if key == "cost_usd":
        return dollars(value)
    if key == "duration_s":
        return seconds(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = value if isinstance(value, str) else jsontext.encode(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= 200 else f"{text[:200]}…"


def _flat(plain: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Return nested settings by their names joined with dots."""
    flat: dict[str, Any] = {}
    for name, value in plain.items():
        if name in _NESTED:
            flat |= _flat(value, f"{above}{name}.")
        else:
            flat[f"{above}{name}"] = value
    return flat


def _differences(left: dict[str, Any], right: dict[str, Any], absent: Any = None) -> dict[str, Pair]:
    pairs = {name: (left.get(name, absent), right.get(name, absent)) for name in {**left, **right}}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _first_other_cell(one: _Run, other: _Run) -> dict[str, Any] | None:
    """Return the first cell whose code is not the same in both; the root's come first. None if there is none."""
    places = dict.fromkeys([*one.cells, *other.cells])
    for agent, cell in sorted(places, key=lambda place: place[0] != ROOT):
        codes = one.cells.get((agent, cell)), other.cells.get((agent, cell))
        if codes[0] != codes[1]:
            texts = [
                None if code is None else run.reader.text(code) for run, code in zip((one, other), codes, strict=True)
            ]
            return {"agent": agent, "cell": cell, "code": texts}
    return None
