"""What a setting may hold: how it is checked, and how it is read from an environment variable or a flag."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from sonde.config.amounts import read_size, read_span

_WORDS = {
    word: value
    for value, words in ((True, "true 1 yes on t y"), (False, "false 0 no off f n"))
    for word in words.split()
}


class Kind(NamedTuple):
    """What a setting may hold. `take` returns a value as its flag takes it, and `read` one that stands in a text; both
    raise `ValueError` for what it may not hold."""

    expects: str
    take: Callable[[object], Any]
    read: Callable[[str], object] = str
    is_list: bool = False
    is_path: bool = False
    is_model: bool = False


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(value)
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        raise ValueError(value)
    return [_text(each) for each in cast("list[object]", value)]


def _yes_or_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def _word(text: str) -> bool:
    if text.strip().lower() not in _WORDS:
        raise ValueError(text)
    return _WORDS[text.strip().lower()]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(value)
    return value


def _price(value: object) -> str:
    """Return dollars for tokens in and out as the flag takes them."""
    if isinstance(value, str):
        prices = [float(each) for each in value.split(",")]
    elif isinstance(value, list):
        prices = [_number(each) for each in cast("list[object]", value)]
    else:
        raise ValueError("neither")
    if len(prices) != 2 or not all(0 <= each < math.inf for each in prices):
        raise ValueError(prices)
    return ",".join(f"{each:g}" for each in prices)


def _amount(read: Callable[[str], float]) -> Callable[[object], str]:
    def take(value: object) -> str:
        text = _text(value)
        read(text)
        return text

    return take


def _split(text: str) -> list[str]:
    return text.replace(",", " ").split()


TEXT = Kind("a text", _text)
TEXTS = Kind("a list of texts", _texts, _split, is_list=True)
PATH = Kind("a path", _text, is_path=True)
MODEL = Kind("a model, as PROVIDER:NAME", _text, is_model=True)
MODELS = Kind("a list of models", _texts, _split, is_list=True, is_model=True)
YES_OR_NO = Kind("true or false", _yes_or_no, _word)
PRICE = Kind("two prices, as [IN, OUT]", _price)
SPAN = Kind("a span of time, such as 7d, 12h or 30m", _amount(read_span))
SIZE = Kind("a size, such as 500MB or 2GB", _amount(read_size))


def number(least: float = 0) -> Kind:
    """Return the kind of a number."""

    def take(value: object) -> float:
        if not least <= _number(value) < math.inf:
            raise ValueError(value)
        return _number(value)

    return Kind(f"a number, at least {least:g}", take, float)


def whole(least: int, most: int | None = None) -> Kind:
    """Return the kind of a whole number."""

    def take(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= (most or value):
            raise ValueError(value)
        return value

    return Kind(f"a whole number, at least {least}" + (f" and at most {most}" if most else ""), take, int)


def one_of(*choices: str) -> Kind:
    """Return the kind of a choice."""

    def take(value: object) -> str:
        if value not in choices:
            raise ValueError(value)
        return str(value)

    return Kind("one of " + ", ".join(choices), take)
