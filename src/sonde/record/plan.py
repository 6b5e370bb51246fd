"""`query-plan.md`: what was asked, and the way the run went about it, as it was seen."""

from collections import Counter
from typing import NamedTuple

from sonde.events import WORK, CallReused, CallStarted, CellStarted, Record, Stored
from sonde.journal.reader import Reader
from sonde.record.summary import limits_as_json, now_of
from sonde.spec import RunSpec
from sonde.views.phases import Phase, Phases
from sonde.views.summary import Summary

MOST_CELLS = 200
MOST_INPUTS = 100
_LINE_CHARS = 120


class _Cell(NamedTuple):
    agent: str
    number: int
    code: Stored
    calls: Counter[str]


class Plan:
    """A fold of records. Beyond `MOST_CELLS` cells are only counted."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        """All that was called, by function."""
        self.cells_seen = 0
        self.cells: dict[tuple[str, int], _Cell] = {}

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case CallStarted() | CallReused() as made if made.function in WORK:
                self.calls[made.function] += 1
                if (cell := self.cells.get((made.agent, made.cell))) is not None:
                    cell.calls[made.function] += 1
            case CellStarted(agent=agent, cell=number, code=code):
                self.cells_seen += 1
                if len(self.cells) < MOST_CELLS:
                    self.cells[agent, number] = _Cell(agent, number, code, Counter())
            case _:
                pass

    def as_lines(self, summary: Summary, phases: Phases, reader: Reader) -> list[str]:
        """Return the plan as lines of text. Raises `JournalError`."""
        spec = RunSpec.from_json(summary.spec)
        lines = ["# Query plan", "", "## Question", "", *_quote(spec.question)]
        lines += ["", "## Inputs", ""]
        lines += [
            f"- `{_one_line(each.source)}`: {each.chars:,} characters, {each.lines:,} lines"
            for each in summary.inputs[:MOST_INPUTS]
        ] or ["None."]
        if len(summary.inputs) > MOST_INPUTS:
            lines.append(f"- and {len(summary.inputs) - MOST_INPUTS:,} more")
        lines += ["", "## Route", "", f"- model: {spec.models.root}, below it {spec.models.sub or spec.models.root}"]
        taken = f", so {'rlm' if self.cells_seen else 'direct'}" if spec.route == "auto" and summary.turns else ""
        lines.append(f"- route: {spec.route}{taken}")
        if spec.interpreter:
            lines.append(f"- interpreter: {spec.interpreter}")
        lines += ["", "## Limits", ""]
        lines += [f"- {name}: {value:,}" for name, value in limits_as_json(now_of(summary, spec)).items()]
        lines += ["", "## Phases", ""]
        lines += [_phase_line(phase) for phase in (*phases.all, *phases.named.all)] or ["None yet."]
        lines += ["", "## Strategy, as it was seen", ""]
        lines.append("Calls: " + (", ".join(f"{count:,} {name}" for name, count in self.calls.items()) or "none") + ".")
        lines += ["", *(_cell_line(cell, reader) for cell in self.cells.values())]
        if self.cells_seen > len(self.cells):
            lines.append(f"- and {self.cells_seen - len(self.cells):,} more")
        return lines


def _phase_line(phase: Phase) -> str:
    whose = f" of {phase.agent}" if phase.agent else ""
    took = "under way" if phase.ended is None else f"{phase.ended - phase.began:.1f} s"
    items = f", {phase.items:,} items: {phase.done:,} done, {phase.failed:,} failed" if phase.items else ""
    return f"- {_one_line(phase.name)}{whose}: {took}{items}, {phase.tokens:,} tokens"


def _cell_line(cell: _Cell, reader: Reader) -> str:
    first = next((line for line in reader.text(cell.code).splitlines() if line.strip()), "")
    calls = ", ".join(f"{count:,} {name}" for name, count in cell.calls.items())
    return f"- {cell.agent}, cell {cell.number}: `{_one_line(first)}`" + (f" ({calls})" if calls else "")


def _one_line(text: str) -> str:
    line = " ".join(_printable(text).split()).replace("`", "'")
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…"


def _quote(text: str) -> list[str]:
    return [f"> {_printable(line)}".rstrip() for line in text.splitlines()] or [">"]


def _printable(text: str) -> str:
    return "".join(mark if mark.isprintable() else " " for mark in text)
