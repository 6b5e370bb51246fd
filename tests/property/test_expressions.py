"""Regular expressions over bytes find what Python's own find, whichever engine runs them."""

import re
import time
import warnings

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sonde.guest.expressions import Expression, LinearExpression

atoms = st.sampled_from(
    [*"abX1 _-.\\éß日", r"\d", r"\w", r"\s", r"\b", r"\W", r"\.", "[a-c]", "[^a]", "^", "$", "(?:ab|b)", "(a)", r"\x41"]
)
repeats = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "*?", "{,2}"])
expressions = st.lists(st.tuples(atoms, repeats), min_size=1, max_size=5).map(
    lambda parts: "".join(atom + repeat for atom, repeat in parts)
)
flags = st.sampled_from([0, re.I, re.M, re.S, re.I | re.M, re.A, re.X])
blocks = st.lists(st.sampled_from([*"aabbX1 _-.Aéß日\n\n", "\udcff"]), max_size=30).map("".join)


def compiled(source: str, flag: int) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(source, flag)
        except re.error:
            assume(condition=False)
            raise


@given(source=expressions, flag=flags, text=blocks)
def test_both_engines_find_the_same(source: str, flag: int, text: str) -> None:
    exact, expression = compiled(source, flag), Expression(source, flag)
    block = text.encode("utf-8", "surrogateescape")
    assert expression.count(block) == sum(1 for _ in exact.finditer(text))
    match = exact.search(text)
    first = len(text[: match.start()].encode("utf-8", "surrogateescape")) if match else -1
    assert expression.first(block, 0) == first
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    assert list(expression.lines(block)) == [(n, line) for n, line in enumerate(lines) if exact.search(line)]


@given(source=expressions, text=blocks.filter(str.isascii))
def test_what_never_falls_back_finds_the_same_in_ascii(source: str, text: str) -> None:
    exact = compiled(source, re.M)
    try:
        expression = LinearExpression(source)
    except ValueError:
        assume(condition=False)
        raise
    assert expression.first(text.encode(), 0) == (match.start() if (match := exact.search(text)) else -1)


@pytest.mark.parametrize("source", [r"(a+)+$", r"(a|aa)+$", r"(.*)*x", r"(\w+\s?)*!", "a?" * 25 + "a" * 25])
def test_hostile_expressions_take_no_longer_than_others(source: str) -> None:
    block = (b"a" * 2000 + b" b\n") * 50
    began = time.process_time()
    list(LinearExpression(source).lines(block))
    assert time.process_time() - began < 5


def test_what_cannot_be_linear_is_refused() -> None:
    for source in (r"(?=a)b", r"(a)\1", "a" * 20_000):
        with pytest.raises(ValueError, match=r"cannot be used here|at most"):
            LinearExpression(source)
