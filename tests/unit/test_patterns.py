"""The patterns and data-set words from close by: what is said of too many, of odd verdicts and of odd labels."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.guest import dataset, delegation, patterns, vocabulary
from sonde.guest.document import of_text
from sonde.guest.manual import manual
from sonde.interpreters.monty.words import source


class Told:
    """Stands for the host: notes what is called, and answers by function."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Callable[[dict[str, Any]], Any]] = {}

    async def call(self, function: str, arguments: dict[str, Any]) -> Any:
        self.calls.append((function, arguments))
        return self.answers.get(function, lambda _: None)(arguments)


def as_it_is(item: Any) -> Any:
    return item


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    host = Told()
    known = {"most_items": None, "tools": ["glob"], "manual": manual(js=False, agents=["a"], tools=["glob"])}
    for module in (vocabulary, delegation, patterns, dataset):
        monkeypatch.setattr(module, "host_call", host.call, raising=False)
        monkeypatch.setattr(module, "world", known, raising=False)
    return host


def test_verdicts_come_in_many_forms(told: Told) -> None:
    said: list[Any] = [True, {"confirmed": True}, "Yes, it is so", "confirmed", 1]
    said += [False, {"confirmed": False}, "no", "Refuted: there is none", None, {"confirmed": None}, {}, "perhaps"]
    assert asyncio.run(patterns.verify(said, n=1, verifier=as_it_is)) == said[:5]


def test_many_that_were_dropped_are_counted(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(patterns.verify([0] * 30, n=1, verifier=bool))
    out = capsys.readouterr().out
    assert "0 of 30 kept" in out
    assert out.rstrip().endswith("number 19 refuted 1:0 and 10 more")


def test_labels_are_matched_as_people_write_them(told: Told) -> None:
    labels = [" Bug\n", "BUG", {"label": "bug"}, "bug", 3]
    routes: dict[Any, Any] = {"bug": as_it_is, 3: str}
    done = asyncio.run(patterns.classify_and_act(range(5), labels.__getitem__, routes))
    assert done == [0, 1, 2, 3, "4"]


@given(st.integers(1, 40))
def test_a_tournament_takes_one_judgement_less_than_there_are_entries(count: int) -> None:
    judged: list[Any] = []

    def judge(first: int, second: int) -> int:
        judged.append((first, second))
        return max(first, second)

    assert asyncio.run(patterns.tournament(range(count), judge)) == count - 1
    assert len(judged) == count - 1


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=8), st.integers(1, 3))
def test_a_loop_finds_each_once_in_the_order_in_which_they_came(rounds: list[list[int]], dry_rounds: int) -> None:
    asked = iter(rounds)

    def step(found: list[int]) -> list[int]:
        return next(asked, list[int]())

    found = asyncio.run(patterns.loop_until_done(step, None, dry_rounds, 20))
    assert len(set(found)) == len(found)
    everything = [each for some in rounds for each in some]
    assert found == list(dict.fromkeys(everything))[: len(found)]


@given(st.lists(st.integers()), st.integers(2, 5))
def test_batches_come_to_the_same_as_one_by_one(numbers: list[int], batch: int) -> None:
    assert asyncio.run(dataset.reduce_items(numbers, sum, batch=batch)) == (sum(numbers) if numbers else None)


@given(st.lists(st.integers()), st.integers(1, 5))
def test_parts_hold_all_in_order(numbers: list[int], size: int) -> None:
    parts = dataset.partition(numbers, size)
    assert [each for part in parts for each in part] == numbers
    assert all(len(part) == size for part in parts[:-1])


def test_values_that_are_alike_are_known_again() -> None:
    assert patterns.canonical({"a": 1, "b": 2}) == patterns.canonical({"b": 2, "a": 1})
    assert patterns.canonical("1") != patterns.canonical(1)
    assert patterns.canonical({1, 2}) == patterns.canonical({2, 1})


@pytest.mark.parametrize(
    "call",
    [
        lambda: patterns.verify([1], n=0),
        lambda: patterns.verify([1], rule="most"),
        lambda: patterns.generate_and_filter(-1, len, len),
        lambda: patterns.loop_until_done(len, max_rounds=0),
        lambda: patterns.loop_until_done(len, dry_rounds=0),
        lambda: dataset.reduce_items([1], len, batch=1),
        lambda: dataset.map_items([1], "no place for it"),
        lambda: dataset.map_items([1], len, {}),
        lambda: patterns.tournament([], len),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_sent(told: Told, call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        asyncio.run(call())
    assert told.calls == []


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("# one\na\n## two\nb\n", 2),
        ("import x\n# a remark\ndef f():\n    pass\n\ndef g():\n    pass\n", 3),
        ("a\n" * 1500, 2),
        ("x" * 30_000, 2),
        ("", 0),
    ],
    ids=["sections", "functions", "lines", "characters", "nothing"],
)
def test_a_text_suggests_how_it_is_cut(text: str, pieces: int) -> None:
    cut = of_text(text).chunks("auto")
    assert len(cut) == pieces
    assert "".join(cut) == text


def test_the_manual_tells_every_word_with_a_line() -> None:
    for js in (False, True):
        words = manual(js=js, agents=["one"], tools=["glob"])
        assert all(len(entry) > 1 and entry[1] for entry in words.values())
        assert all(len(line) < 120 for entry in words.values() for line in entry)
        assert words["task"][-1] == "There are: one."
    assert not {"task", "tools"} & set(manual(js=True, agents=[], tools=[]))
    assert "fanOut" in manual(js=True, agents=[], tools=[])


def test_monty_gets_task_only_with_agents() -> None:
    assert "\ntask = " in source("show", with_task=True)
    assert "\ntask = " not in source("show", with_task=False)
