"""A run whose record lost a fact in a repair can be shown, and goes on or says why it cannot."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import sonde
from sonde.cli.show import show
from sonde.engine.result import Result
from sonde.engine.run import Surroundings, resume
from sonde.errors import RunChoiceError
from sonde.events import AgentStarted
from sonde.journal.reader import Reader
from sonde.testing.scripted import ScriptedModel, code

CELLS = ("a = await gather(llm('one'), llm('two'))", "b = [await llm('three'), await llm('four')]", "FINAL(a + b)")


def model(*cells: str) -> ScriptedModel:
    return ScriptedModel(*map(code, cells), answer=lambda request: request.messages[-1].text.upper())


def first_life(runs: Path) -> Path:
    """A run that has used up its turns with two cells done."""
    result = sonde.ask("What?", model=model(*CELLS), route="rlm", runs_dir=runs, run_id="whole", max_turns=2)
    assert result.status == "limit"
    return Path(result.run_dir)


def without(run: Path, seq: int, to: Path) -> Path:
    """Copy a run without one fact, as a repair leaves it."""
    shutil.copytree(run, to)
    with closing(sqlite3.connect(to / "journal.db")) as database, database:
        database.execute("DELETE FROM event WHERE seq = ?", (seq,))
        database.execute("INSERT INTO lost VALUES (?, ?)", (seq, seq))
    return to


async def second_life(run: Path) -> Result:
    """Take a run up with as many turns as it likes; a model that is asked again says the same again."""
    again = model(*CELLS, CELLS[-1])
    around = Surroundings(models={"scripted:model": again}, limits={"max_turns": 9})
    return await asyncio.wait_for(resume(run, around), 20)


def test_a_run_that_lost_any_one_fact_goes_on_or_says_why_not(tmp_path: Path) -> None:
    run = first_life(tmp_path)
    with Reader(run / "journal.db") as reader:
        records = list(reader.records())
    begun = next(record.seq for record in records if isinstance(record.fact, AgentStarted))
    for record in records[:-1]:
        copy = without(run, record.seq, tmp_path / f"without-{record.seq}")
        if record.seq <= begun:
            with pytest.raises(RunChoiceError, match="has no beginning"):
                asyncio.run(second_life(copy))
            continue
        show.main([copy.name, "--tree", "--json", "--runs-dir", str(tmp_path)], standalone_mode=False)
        result = asyncio.run(second_life(copy))
        assert (result.status, result.answer) == ("completed", ["ONE", "TWO", "THREE", "FOUR"]), record.fact
