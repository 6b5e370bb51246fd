"""Attacks on parts of what orchestrates a run: views of files, answers of people, agents in files, work in threads."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sonde.cli.output import harmless
from sonde.config.strangers import is_elsewhere
from sonde.engine.approval import Approval
from sonde.engine.history import History
from sonde.engine.recorder import Asked, Place
from sonde.errors import Escalation
from sonde.events import Escalated, Fact, PersonAnswered, Record
from sonde.journal.writer import Journal
from sonde.workspace.folder import FolderFiles
from sonde.workspace.overlay import Overlay
from sonde.workspace.protocol import Files
from sonde.workspace.stopping import go_on, in_thread
from sonde.workspace.virtual import VirtualFiles

PLACE = Place("root", 1)


def both_kinds(tmp_path: Path, kind: str) -> Files:
    return VirtualFiles() if kind == "virtual" else FolderFiles(tmp_path)


@pytest.mark.parametrize("kind", ["virtual", "folder"])
def test_a_blind_write_takes_the_place_of_nothing_that_came_since(tmp_path: Path, kind: str) -> None:
    base = both_kinds(tmp_path, kind)
    base.write("old.md", "old")
    first, second, third = Overlay(base, "a"), Overlay(base, "a"), Overlay(base, "a")
    first.write("x.md", "FIRST")
    first.merge("first")
    second.write("x.md", "SECOND")
    second.write("old.md", "new")
    assert [(each.path, each.wanted) for each in second.merge("second").changes] == [
        ("old.md", ""),
        ("x.a-1.md", "x.md"),
    ]
    assert third.read_text("x.md") == "FIRST"
    third.write("x.md", "FIRST, read by the third")
    assert third.merge("third").changes[0].path == "x.md", "it builds on what it read"


def test_a_blind_write_far_below_is_one_too() -> None:
    base = VirtualFiles()
    child = Overlay(base, "a")
    grandchild = Overlay(child, "b")
    base.write("x.md", "FROM ABOVE")
    grandchild.write("x.md", "FROM BELOW")
    grandchild.merge()
    assert (child.read_text("x.md"), child.read_text("x.b-1.md")) == ("FROM ABOVE", "FROM BELOW")


def test_a_merge_that_was_cut_short_takes_no_second_name() -> None:
    base = VirtualFiles()
    base.write("x.md", "of another")
    base.write("x.a-1.md", "mine")
    again = Overlay(base, "a")
    again.write("x.md", "mine")
    again.distrust("x.md")
    assert again.merge().changes[0].path == "x.a-1.md"


def test_work_in_a_thread_ends_when_nobody_waits() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        try:
            while True:
                go_on()
        finally:
            ended.set()

    async def test() -> None:
        waiting = asyncio.ensure_future(in_thread(work))
        await asyncio.to_thread(begun.wait, 5)
        waiting.cancel()
        assert await asyncio.to_thread(ended.wait, 5)
        go_on()  # who comes after is not meant

    asyncio.run(test())


@pytest.mark.parametrize(
    "model",
    [
        "openai:x@http://evil.example/v1",
        "openai:x@https://127.0.0.1@evil.example/v1",
        "openai:x@http_@http://evil.example/v1",
        "openai:x@http://127.0.0.1.evil.example/v1",
        "openai:x@http://127.0.0.1;.evil.example/v1",
    ],
)
def test_an_address_elsewhere_is_one_however_it_is_written(model: str) -> None:
    assert is_elsewhere(model)


def test_what_nobody_would_see_is_shown() -> None:
    for hidden in "\u200b\u200e\u202e\u2066\u2028\u2063\ufeff\u3164\U000e0041\xad\x1b\r":
        assert harmless(f"a{hidden}b") != f"a{hidden}b"
        assert hidden not in harmless(f"a{hidden}b")
    assert harmless("a\tb\n\u0645\u06cc\u200c\u062e") == "a\tb\n\u0645\u06cc\u200c\u062e", "Persian stays as it is"


def in_journal(folder: Path, test: Callable[[Journal], Awaitable[None]]) -> None:
    """Run a test with a journal."""

    async def main() -> None:
        journal = Journal(folder / "journal.db")
        try:
            await test(journal)
        finally:
            await journal.close()

    asyncio.run(main())


def heard(*facts: Fact) -> History:
    history = History()
    history.read(Record(seq, 0.0, fact) for seq, fact in enumerate(facts, 1))
    return history


def test_an_answer_is_to_one_cell_and_its_code(tmp_path: Path) -> None:
    said = heard(Escalated("root", "Run this code?", "A", 1), PersonAnswered("yes")).said

    async def test(journal: Journal) -> None:
        assert await Approval("eval", journal, None, said).before_cell(PLACE, "A") is None
        for place, code in ((PLACE, "B"), (Place("root", 2), "A"), (Place("root/1.x", 1), "A")):
            with pytest.raises(Escalation):
                await Approval("eval", journal, None, said).before_cell(place, code)

    in_journal(tmp_path, test)


def test_of_two_that_ask_at_once_the_first_is_answered(tmp_path: Path) -> None:
    asked: list[object] = []

    async def test(journal: Journal) -> None:
        journal.listen(lambda record: asked.append(record.fact))
        approval = Approval("eval", journal, None, {})
        for code in ("A", "B"):
            with pytest.raises(Escalation, match="A"):
                await approval.before_cell(PLACE, code)

    in_journal(tmp_path, test)
    assert asked == [Escalated("root", "Run this code?", "A", 1)]


def test_leave_for_one_function_is_none_for_another(tmp_path: Path) -> None:
    shown: list[str] = []

    async def person(question: str, subject: str) -> str:
        shown.append(subject)
        return "yes"

    async def test(journal: Journal) -> None:
        approval = Approval("dispatch", journal, person, {})
        for function, request in (("llm", "a"), ("llm", "b"), ("task", "c")):
            assert await approval.before_dispatch(PLACE, Asked(PLACE, function, "key", request)) is None

    in_journal(tmp_path, test)
    assert shown == ["a", "c"]


def test_an_answer_to_nothing_is_none() -> None:
    assert heard(PersonAnswered("yes"), Escalated("root", "Run this code?", "A", 1)).said == {}
