"""Look into the record of a run, as a witness."""

import json
from collections.abc import Iterator
from pathlib import Path

from sonde.events import TURN, CallFinished, CallStarted
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.testing.server import digest_of


def journaled(run: Path) -> Iterator[str]:
    """Yield the digests of the prompts whose answers are in the record."""
    with Reader(run / FILE_NAME) as reader:
        started: dict[int, CallStarted] = {}
        for record in reader.records():
            match record.fact:
                case CallStarted() as fact:
                    started[fact.call] = fact
                case CallFinished(call=call, status="ok") if started[call].function in {"llm", TURN}:
                    request = reader.text(started[call].request)
                    is_turn = started[call].function == TURN
                    yield digest_of(json.loads(request)[-1]["text"] if is_turn else request)
                case _:
                    pass
