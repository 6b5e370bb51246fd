"""The law of resuming: whatever prefix of its record a run was cut down to, it comes to the same end, and asks for
nothing again that the prefix holds."""

import asyncio
import json
import random
import sqlite3
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from sonde.engine.result import Result
from sonde.engine.run import Surroundings, resume, start
from sonde.events import TURN, CallFinished, CallStarted, CellFinished, Record, Warned
from sonde.journal.reader import Reader
from sonde.journal.schema import FILE_NAME
from sonde.models.protocol import Reply, Request
from sonde.spec import Limits, ModelChoice, RunSpec
from sonde.testing.scripted import FunctionModel, code

CELLS = [
    # The order in which answers come decides what is asked next.
    """
import asyncio, time
order, began = [], time.time()
async def one(n):
    order.append((n, await llm(f'first {n}')))
    if len(order) % 3 == 0:
        order.append((n, await llm(f'third after {order[-1][1]}')))
await gather(*[one(n) for n in range(7)])
""",
    "await asyncio.sleep(0.01)\nprint(order, random.random() if 'random' in globals() else 0)\n1 / 0",
    "import random\nsame = [await llm('the same') for _ in 'ab']\nlater = time.time() - began >= 0.01",
    "typed = await llm('typed', schema={'properties': {'n': {'type': 'integer'}}})\nbudget.spent().calls",
    "FINAL([sorted(order), same, typed, later, budget.spent().calls])",
]
CELLS_IN = {"python": CELLS, "monty": [CELLS[0], "await asyncio.sleep(0.01)\nprint(order)\n1 / 0", *CELLS[2:]]}


class Whole(NamedTuple):
    """A run that came to its end."""

    interpreter: str
    run: Path
    result: Result


def answer(cells: list[str], request: Request) -> Reply | str:
    if request.messages[0].role == "system":
        return code(cells[sum(message.role == "assistant" for message in request.messages)])
    prompt = request.messages[0].text
    return json.dumps({"n": 3}) if prompt.startswith("typed") else f"<{prompt}>"


def model(interpreter: str, seed: int) -> FunctionModel:
    chance = random.Random(seed)
    return FunctionModel(partial(answer, CELLS_IN[interpreter]), delay=lambda _: chance.random() * 0.002)


def paid_prompts(records: list[Record], reader: Reader) -> list[str]:
    started = {record.fact.call: record.fact for record in records if isinstance(record.fact, CallStarted)}
    return [
        reader.text(started[record.fact.call].request)
        for record in records
        if isinstance(record.fact, CallFinished)
        and record.fact.status == "ok"
        and started[record.fact.call].function == "llm"
    ]


def copy_of(run: Path, target: Path, until: int) -> None:
    """Copy a run as it was when only the records up to `until` had been written."""
    target.mkdir(parents=True)
    (target / "lock").touch()
    with sqlite3.connect(run / FILE_NAME) as source, sqlite3.connect(target / FILE_NAME) as copy:
        source.backup(copy)
        copy.execute("DELETE FROM event WHERE seq > ?", (until,))
    copy.close()
    source.close()


def run_to_its_end(interpreter: str, runs: Path) -> Result:
    limits = Limits(concurrency=100)
    spec = RunSpec("Do it.", ModelChoice("function:model"), limits=limits, interpreter=interpreter)
    return asyncio.run(start(spec, Surroundings(runs, "whole", {"function:model": model(interpreter, 0)})))


@pytest.fixture(scope="module", params=list(CELLS_IN))
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    runs = tmp_path_factory.mktemp("runs")
    result = run_to_its_end(request.param, runs)
    assert result.status == "completed", result
    return Whole(request.param, runs / "whole", result)


def check_prefix(whole: Whole, tmp_path: Path, until: int) -> None:
    interpreter, run, result = whole
    copy_of(run, tmp_path / "cut", until)
    with Reader(tmp_path / "cut" / FILE_NAME) as reader:
        records = list(reader.records())
        paid = paid_prompts(records, reader)
    again = model(interpreter, until)
    resumed = asyncio.run(resume(tmp_path / "cut", Surroundings(tmp_path, models={"function:model": again})))

    assert resumed.status == "completed", resumed
    with Reader(tmp_path / "cut" / FILE_NAME) as reader:
        assert not [record.fact for record in reader.records() if isinstance(record.fact, Warned)]
    cell_one_finished = any(isinstance(record.fact, CellFinished) for record in records)
    if cell_one_finished:
        assert resumed.answer == result.answer
    else:
        assert resumed.answer[1:4] == result.answer[1:4]
    asked = [request.messages[0].text for request in again.requests if request.messages[0].role != "system"]
    for prompt in set(paid):
        # Asking the same twice on purpose is two questions, so it is counted.
        assert asked.count(prompt) + paid.count(prompt) <= 2 if prompt == "the same" else prompt not in asked
    turns = sum(request.messages[0].role == "system" for request in again.requests)
    assert turns == len(CELLS) - sum(_is_turn(record, records) for record in records)


def _is_turn(record: Record, records: list[Record]) -> bool:
    if not isinstance(record.fact, CallFinished) or record.fact.status != "ok":
        return False
    call = record.fact.call
    return any(isinstance(r.fact, CallStarted) and r.fact.call == call and r.fact.function == TURN for r in records)


def length(run: Path) -> int:
    with Reader(run / FILE_NAME) as reader:
        last = reader.last()
    assert last is not None
    return last.seq


def test_every_prefix(whole: Whole, tmp_path: Path) -> None:
    for until in range(2, length(whole.run)):
        check_prefix(whole, tmp_path / str(until), until)
