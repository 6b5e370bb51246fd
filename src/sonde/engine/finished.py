"""What the calls of an earlier cell came to: for code that goes on after a failure."""

from typing import Any

from sonde import jsontext
from sonde.engine.context import Context
from sonde.engine.history import CellPast
from sonde.engine.recorder import Place
from sonde.errors import TaskError
from sonde.events import WORK, Blob, CallFinished, CallReused, CallStarted, Stored

MOST_BYTES = 32 << 20


async def finished_calls(context: Context, place: Place) -> list[dict[str, Any]]:
    """Return the finished calls of the last cell of an agent that made any, in the order in which they were made.

    Raises `TaskError` if they are too large to be handed over at once.
    """
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
    room, found = MOST_BYTES, list[dict[str, Any]]()
    for each in sorted(past.answered):
        if each.call in made and made[each.call].function in WORK:
            asked, ended = made[each.call], context.reader.fact(each.seq)
            assert isinstance(ended, CallFinished), "what a call came to"
            room -= _size(ended.value) + _size(asked.request if isinstance(asked, CallStarted) else None)
            if room < 0:
                raise TaskError("tool_error", f"the results take more than {MOST_BYTES >> 20} MB: `save` what you need")
            found.append(_told(context, asked, ended))
    return found


def _size(text: Stored | None) -> int:
    return text.size if isinstance(text, Blob) else len(text or "")


def _told(context: Context, made: CallStarted | CallReused, ended: CallFinished) -> dict[str, Any]:
    text = context.reader.text
    return {
        "function": made.function,
        "label": made.label if isinstance(made, CallStarted) else "",
        "request": text(made.request) if isinstance(made, CallStarted) else "",
        "ok": ended.status == "ok",
        "value": None if ended.value is None else jsontext.decode(text(ended.value), object),
        "error": None if ended.fault is None else ended.fault.message,
    }
