"""What a run may spend and has spent, in this life and before."""

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from sonde import jsontext
from sonde.errors import UsageError
from sonde.events import TURN, Blob, CallFinished, CallStarted, Usage
from sonde.limits.scope import Amounts
from sonde.spec import Limits, RunSpec
from sonde.tasks.dispatch import PriceOf, most_of_a_prompt
from sonde.views.summary import Summary

_COST = frozenset({TURN, "llm"})
"""Functions that are requests; all others are made of requests."""


def check_prices(spec: RunSpec, price_of: PriceOf) -> None:
    """Raise `UsageError` if dollars are limited and a model's price is not known."""
    for name in spec.named_models:
        if spec.limits.max_usd is not None and price_of(name) is None:
            raise UsageError(f"the price of {name} is not known, so --max-usd cannot be kept", "Give --price IN,OUT.")


def total_of(limits: Limits) -> Amounts:
    """Return what a run may spend."""
    most = (
        limits.max_calls, limits.max_tokens, limits.max_usd, limits.timeout_s, limits.max_input_tokens,
        limits.max_output_tokens,
    )  # fmt: skip
    return Amounts(*[math.inf if each is None else each for each in most])


def as_data(amounts: Amounts) -> dict[str, float | None]:
    """Return amounts as code gets them; no limit is None."""
    return {name: None if value == math.inf else value for name, value in amounts._asdict().items()}


def spent_in(summary: Summary) -> Amounts:
    """Return what earlier lives of a run spent."""
    used = summary.usage
    return Amounts(
        calls=summary.calls_made,
        tokens=summary.most_tokens,
        dollars=summary.most_usd,
        seconds=summary.duration_s,
        input_tokens=used.input_tokens + used.unreported_tokens,
        output_tokens=used.output_tokens + used.unreported_tokens,
    )


def spec_now(asked: RunSpec, limits: str, options: Mapping[str, Any]) -> tuple[RunSpec, str]:
    """Return a spec with the limits of its last life and what options change, and those as JSON if they change any."""
    before = jsontext.decode(limits, Limits) if limits else asked.limits
    now = before.changed(options)
    return msgspec.structs.replace(asked, limits=now), "" if now == before else jsontext.encode(now).decode()


def end_of_lost(call: CallStarted, spec: RunSpec, price_of: PriceOf) -> CallFinished:
    """Return the end of a call that was under way when its process ended: what it may have cost is not known."""
    request = call.request
    if not request or call.function not in _COST:
        return CallFinished(call.call, "cancelled")
    size = request.size if isinstance(request, Blob) else len(request.encode("utf-8", "surrogatepass"))
    most = most_of_a_prompt(size, spec.limits)
    usual = spec.models.root if call.function == TURN else spec.models.sub or spec.models.root
    price = price_of(call.model or usual)
    dollars = 0.0 if price is None else price.cost(most)
    return CallFinished(call.call, "cancelled", usage=Usage(unreported_tokens=most.tokens), unreported_usd=dollars)
