"""What a run would come to, before anything is sent: told by `plan`, and before a run that would be large."""

import math
from collections.abc import Callable
from typing import NamedTuple

from sonde.documents.attach import Inputs
from sonde.engine.opening import PIECE_CHARS
from sonde.engine.root import route_of, tokens_of
from sonde.errors import RunCancelled
from sonde.events import Usage
from sonde.spec import Route, RunSpec
from sonde.tasks.dispatch import PriceOf

LARGE_TOKENS = 500_000
_ROOT_REPLY_TOKENS = 4096
"""Enough for the code that a root writes."""
_TURNS = 6
_TURN_TOKENS = 3_000
PROMPT_TOKENS, REPLY_TOKENS = 100, 200  # what surrounds a piece, and what comes back


class Estimate(NamedTuple):
    """A guess from the sizes alone. Dollars are None where a price is not known."""

    route: Route
    input_tokens: int
    """Of all inputs together."""
    pieces: int
    requests: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    baseline_dollars: float | None
    """Of one request with all of the inputs, whether or not a window holds them."""

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.tokens_in + self.tokens_out


def estimate(spec: RunSpec, inputs: Inputs, price_of: PriceOf) -> Estimate:
    """Return what a run would come to if every piece of the inputs is asked about once."""
    route, size = route_of(spec, inputs), tokens_of(inputs)
    root = price_of(spec.models.root)
    sub = price_of(spec.models.sub or spec.models.root)
    whole = Usage(size + PROMPT_TOKENS, REPLY_TOKENS)
    baseline = None if root is None else root.cost(whole)
    if route == "direct":
        return Estimate(route, size, 1, 1, whole.input_tokens, whole.output_tokens, baseline, baseline)
    pieces = sum(math.ceil(len(document) / PIECE_CHARS) for document in inputs.documents)
    turns = Usage(_TURNS * _TURN_TOKENS, _TURNS * REPLY_TOKENS)
    calls = Usage(size + pieces * PROMPT_TOKENS, pieces * REPLY_TOKENS)
    dollars = None if root is None or sub is None else root.cost(turns) + sub.cost(calls)
    total = turns + calls
    return Estimate(route, size, pieces, _TURNS + pieces, total.input_tokens, total.output_tokens, dollars, baseline)


def large(spec: RunSpec, guess: Estimate) -> str:
    """Return what is to be said of a run that would be large and has no limit on what it costs; usually nothing."""
    limits = spec.limits
    caps = (limits.max_tokens, limits.max_usd, limits.max_input_tokens, limits.max_output_tokens)
    if guess.tokens <= LARGE_TOKENS or any(cap is not None for cap in caps):
        return ""
    cost = "" if guess.dollars is None else f", about ${guess.dollars:,.2f}"
    return (
        f"this may take some {guess.tokens:,} tokens in {guess.requests:,} requests{cost}, and no limit is set "
        "(--max-tokens, --max-usd)"
    )


def forewarned(spec: RunSpec, inputs: Inputs, price_of: PriceOf, confirm: Callable[[str], bool] | None) -> list[str]:
    """Return what is to be said before a run starts. Raises `RunCancelled` if somebody does not want one so large."""
    notes: list[str] = []
    note = large(spec, estimate(spec, inputs, price_of))
    if note:
        if confirm is not None and not confirm(note):
            raise RunCancelled("the run was not started")
        notes.append(note)
    tokens = spec.limits.reply_tokens
    if tokens is not None and tokens < _ROOT_REPLY_TOKENS and spec.workflow is None:
        short = f"--reply-tokens {tokens:,} is little for a root model, whose code may be cut"
        notes.append(f"{short}; {_ROOT_REPLY_TOKENS:,} is safe")
    return notes
