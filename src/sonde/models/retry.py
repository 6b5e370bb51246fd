"""When to send a failed request again: exponential back-off with full jitter, or what the server asked for."""

import random
from collections.abc import Callable

_LONGEST_WAIT_S = 60.0


def wait_s(
    attempt: int,
    base_s: float,
    retry_after: float | None,
    jitter: Callable[[], float] = random.random,
) -> float:
    """Return how long to wait after failed attempt number `attempt`, counted from 0.

    A server that names a time is given at least that much; the jitter on top keeps those who wait apart.
    """
    backoff = min(_LONGEST_WAIT_S, base_s * 2**attempt)
    if retry_after is None:
        return backoff * jitter()
    return retry_after + min(base_s, retry_after) * 0.1 * jitter()
