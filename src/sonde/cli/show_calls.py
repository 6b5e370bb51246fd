"""The calls and cells of a run, one after the other, as people and programs read them."""

import json
from collections.abc import Iterator
from typing import Any

from sonde import jsontext
from sonde.cli.output import dollars, fault_line, seconds
from sonde.events import CallReused, CellFinished, CellStarted, Stored
from sonde.journal.reader import Reader
from sonde.record.sub_calls import encoded
from sonde.record.summary import head
from sonde.views.calls import CallRow, Calls
from sonde.views.summary import Summary

_MARKS = {"ok": "✓", "failed": "✗", "error": "✗", "timeout": "✗", "killed": "✗", "unfinished": "…"}
_SHOWN_CHARS = 4000


def call_lines(reader: Reader, summary: Summary, *, only_failed: bool) -> Iterator[str]:
    """Yield a line for each piece of work, then the ledger. Raises `JournalError`."""
    for row in _calls(reader, only_failed=only_failed):
        yield _call_line(row, reader)
    coverage = summary.coverage
    percent = "" if coverage.percent is None else f" ({coverage.percent:g} %)"
    yield (
        f"coverage  {coverage.items:,} items: {coverage.done:,} done{percent}, {coverage.failed:,} failed, "
        f"{coverage.open:,} under way"
    )


def calls_as_json(reader: Reader, coverage: dict[str, Any], *, only_failed: bool) -> Iterator[str]:
    """Yield the parts of one JSON object, which may be too large to hold. Raises `JournalError`."""
    yield '{"calls": ['
    between = ""
    for row in _calls(reader, only_failed=only_failed):
        yield between + encoded(row, reader).decode()
        between = ", "
    yield f'], "coverage": {jsontext.encode(coverage).decode()}}}'


def cell_lines(reader: Reader) -> Iterator[str]:
    """Yield each cell with its code, and what it printed and came to. Raises `JournalError`."""
    for started, finished, took in _cells(reader):
        status = "not finished" if finished is None else finished.status
        mark = _MARKS.get("unfinished" if finished is None else finished.status, "·")
        yield f"{mark} {started.agent} · cell {started.cell} · {status}" + (
            "" if took is None else f" · {seconds(took)}"
        )
        yield from (f"    {line}" for line in reader.text(started.code).splitlines())
        if finished is None:
            continue
        for name, stored in (("printed", finished.stdout), ("result", finished.value)):
            if stored is not None:
                yield from _block(name, reader.text(stored))
        if finished.fault is not None:
            yield f"  ✗ {finished.fault.kind}: {fault_line(finished.fault)}"


def cells_as_json(reader: Reader) -> Iterator[str]:
    """Yield the parts of one JSON object. Raises `JournalError`."""
    yield '{"cells": ['
    between = ""
    for started, finished, took in _cells(reader):
        plain: dict[str, Any] = {
            "agent": started.agent,
            "cell": started.cell,
            "status": None if finished is None else finished.status,
            "duration_s": None if took is None else round(took, 3),
            "code": reader.text(started.code),
            "stdout": None if finished is None else _text(finished.stdout, reader),
            "value": None if finished is None else _text(finished.value, reader),
            "error": None if finished is None or finished.fault is None else finished.fault.message,
        }
        yield between + json.dumps(plain)
        between = ", "
    yield "]}"


def _calls(reader: Reader, *, only_failed: bool) -> Iterator[CallRow]:
    calls = Calls()
    for record in reader.records():
        yield from (row for row in calls.add(record) if not only_failed or row.status == "failed")
    if not only_failed:
        yield from calls.unfinished()


def _call_line(row: CallRow, reader: Reader) -> str:
    asked, finished = row.asked, row.finished
    mark = _MARKS.get(row.status, "·")
    parts = [f"{mark} {asked.call} {asked.function}", asked.agent, row.status]
    if isinstance(asked, CallReused):
        parts.append(f"answered with the result of {asked.source}")
    else:
        parts.append(asked.label or head(asked.request, reader))
        if row.ended is not None:
            parts.append(seconds(row.ended - row.began))
    if finished is not None:
        used = finished.usage
        if used.requests:
            parts.append(f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out")
        if finished.cost_usd is not None:
            parts.append(dollars(finished.cost_usd))
        if finished.fault is not None:
            parts.append(fault_line(finished.fault))
    return " · ".join(parts)


def _cells(reader: Reader) -> Iterator[tuple[CellStarted, CellFinished | None, float | None]]:
    """Yield each cell when it has ended, and at last those that have not."""
    open_cells: dict[tuple[str, int], tuple[CellStarted, float]] = {}
    for record in reader.records():
        match record.fact:
            case CellStarted() as started:
                open_cells[started.agent, started.cell] = started, record.at
            case CellFinished() as finished:
                where = finished.agent, finished.cell
                started, began = open_cells.pop(where, (CellStarted(*where, ""), record.at))
                yield started, finished, record.at - began
            case _:
                pass
    yield from ((started, None, None) for started, _ in open_cells.values())


def _block(name: str, text: str) -> Iterator[str]:
    yield f"  {name}:"
    yield from (f"    {line}" for line in text[:_SHOWN_CHARS].splitlines())
    if len(text) > _SHOWN_CHARS:
        yield f"    [cut: {_SHOWN_CHARS:,} of {len(text):,} characters shown; --json has all]"


def _text(stored: Stored | None, reader: Reader) -> str | None:
    return None if stored is None else reader.text(stored)
