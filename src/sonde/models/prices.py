"""What models cost, from the price list in the package genai-prices. Nothing is ever looked up elsewhere, nor guessed.

Amounts are floats: list prices have few digits, so a million of them added up are exact to far less than a cent.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import msgspec

from sonde.errors import ModelChoiceError, UsageError
from sonde.events import Usage
from sonde.models.names import OTHERS, PROVIDERS, Choice, is_loopback, take_apart

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

_MILLION = 1_000_000
_UNPAID = {"local", "replay"}
_LISTED_AS = {"bedrock": "aws", "google-cloud": "google", "xai": "x-ai"}
_FOR_TEXT = ("input_mtok", "output_mtok", "cache_read_mtok")
# What no request of ours asks for. A model that is charged for in any other way has no price here.
_NEVER_ASKED_FOR = ("audio", "image", "video", "document", "searches", "cache_write")


class Price(msgspec.Struct, frozen=True, omit_defaults=True):
    """Dollars for one token. `cached_usd` is for input that the provider still had.

    `steps` tell what holds instead for a request with more input tokens than so many, in rising order.
    """

    input_usd: float
    output_usd: float
    cached_usd: float
    steps: tuple[tuple[int, "Price"], ...] = ()

    @classmethod
    def of_millions(cls, into: float, out: float, cached: float | None = None) -> "Price":
        """Return a price from dollars for a million tokens; cached ones cost as much as others if nothing is said."""
        return cls(into / _MILLION, out / _MILLION, (into if cached is None else cached) / _MILLION)

    def cost(self, usage: Usage) -> float:
        """Return what one request with this usage costs, in dollars. Cached input is part of the input."""
        price = next((step for above, step in reversed(self.steps) if usage.input_tokens > above), self)
        cached = min(usage.cached_tokens, usage.input_tokens)
        fresh = usage.input_tokens - cached
        return fresh * price.input_usd + cached * price.cached_usd + usage.output_tokens * price.output_usd


FREE = Price(0.0, 0.0, 0.0)


def read_price(text: str) -> tuple[float, float]:
    """Return the dollars for a million tokens that `IN,OUT` names. Raises `UsageError`."""
    try:
        dollars = [float(figure) for figure in text.split(",")]
    except ValueError:
        dollars = []
    if len(dollars) != 2 or not all(0 <= each < math.inf for each in dollars):
        raise UsageError(f"{text!r} is not a price", "Give dollars for a million tokens as IN,OUT, such as 0.5,1.5.")
    return dollars[0], dollars[1]


def prices_for(given: tuple[float, float] | None) -> Callable[[str], Price | None]:
    """Return what tells the price of a model: that of the list, or where there is none, what a user gave."""
    otherwise = None if given is None else Price.of_millions(*given)

    @cache
    def look_up(name: str) -> Price | None:
        return price_of(name) or otherwise

    return look_up


def price_of(name: str) -> Price | None:
    """Return what a model costs now, by the name a user writes; None if that is not known."""
    try:
        choice = take_apart(name)
    except ModelChoiceError:
        return None
    if choice.provider in _UNPAID:
        return FREE
    try:
        model = _listed(choice)
    except LookupError:
        return None
    return _of_list(model.get_prices(datetime.now(UTC)))


def _listed(choice: Choice) -> "ModelInfo":
    """Return a model's entry in the list. Raises `LookupError`."""
    if choice.provider not in PROVIDERS | OTHERS or is_loopback(urlsplit(choice.base_url).hostname or ""):
        raise LookupError(choice.provider)
    # It takes some 150 ms to import: only now is it known to be needed.
    prices = cast("DataSnapshot", import_module("genai_prices.data_snapshot").get_snapshot())
    usual = PROVIDERS[choice.provider].base_url if choice.provider in PROVIDERS else ""
    if choice.base_url and choice.base_url.rstrip("/") != usual:
        provider = prices.find_provider(None, None, choice.base_url)
    else:
        listed_as = _LISTED_AS.get(choice.provider, choice.provider)
        provider = prices.find_provider(None, listed_as, None)
        if provider.id != listed_as:
            raise LookupError(choice.provider)  # the list also takes names that are merely alike
    return prices.find_provider_model(choice.name, provider, None, None)[1]


def _of_list(listed: "ModelPrice") -> Price | None:
    """Return a price of the list; None if something else than tokens of text is charged for."""
    prices: dict[str, Decimal | TieredPrices] = {key: value for key, value in vars(listed).items() if value is not None}
    charged = [prices.pop(key, None) for key in _FOR_TEXT]
    if None in charged[:2] or not all(any(word in key for word in _NEVER_ASKED_FOR) for key in prices):
        return None
    starts = sorted({tier.start for each in charged for tier in getattr(each, "tiers", ())})
    steps = tuple((start, _beyond(start, charged)) for start in starts)
    return msgspec.structs.replace(_beyond(-1, charged), steps=steps)


def _beyond(tokens: int, charged: "Sequence[Decimal | TieredPrices | None]") -> Price:
    """Return what holds for requests with more input tokens than this."""
    into, out, cached = (None if each is None else _rate(tokens, each) for each in charged)
    return Price.of_millions(cast("float", into), cast("float", out), cached)


def _rate(tokens: int, charged: "Decimal | TieredPrices") -> float:
    tiers = getattr(charged, "tiers", None)
    if tiers is None:
        return float(cast("Decimal", charged))
    tiered = cast("TieredPrices", charged)
    reached = [tier.price for tier in tiered.tiers if tier.start <= tokens]
    return float(reached[-1] if reached else tiered.base)
