"""What the calls of an earlier cell came to: for code that goes on after a failure."""

from typing import Any

from sonde import jsontext
from sonde.engine.context import Context
from sonde.engine.history import CellPast, Past
from sonde.engine.recorder import Place
from sonde.events import CallFinished, CallReused, CallStarted

_TOLD = frozenset({"llm", "task", "rlm", "workflow", "tool"})


async def finished_calls(context: Context, place: Place) -> list[dict[str, Any]]:
    """Return the finished calls of the last cell of an agent that made any, in the order in which they were made."""
    await context.journal.saved()
    history = context.history
    history.read(context.reader.records(history.seq))
    cells = history.agent(place.agent).cells
    for cell in range(place.cell - 1, 0, -1):
        if cell in cells and (found := _finished_in(context, cells[cell], Place(place.agent, cell))):
            return found
    return []


def _finished_in(context: Context, past: CellPast, place: Place) -> list[dict[str, Any]]:
    made = {
        fact.call: fact
        for record in context.reader.records(past.seq)
        if isinstance(fact := record.fact, CallStarted | CallReused) and (fact.agent, fact.cell) == place
    }
    return [
        _told(context, made[each.call], each)
        for each in sorted(past.answered)
        if each.call in made and made[each.call].function in _TOLD
    ]


def _told(context: Context, made: CallStarted | CallReused, past: Past) -> dict[str, Any]:
    text, ended = context.reader.text, context.reader.fact(past.seq)
    assert isinstance(ended, CallFinished), "what a call came to"
    return {
        "function": made.function,
        "label": made.label if isinstance(made, CallStarted) else "",
        "request": text(made.request) if isinstance(made, CallStarted) else "",
        "ok": ended.status == "ok",
        "value": None if ended.value is None else jsontext.decode(text(ended.value), object),
        "error": None if ended.fault is None else ended.fault.message,
    }
