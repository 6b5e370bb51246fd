"""How and how often the server fails, and how long it takes."""

import random
from typing import Literal, NamedTuple, get_args

Fault = Literal["429", "500", "503", "disconnect", "cut", "drip", "garbage", "truncated", "hang"]
"""Refuse with Retry-After; fail; be overloaded; hang up; hang up in mid-body; send byte by byte; send what is not JSON;
stop at the length limit; never answer."""

FAULTS: tuple[Fault, ...] = get_args(Fault)


class Faults:
    """Which requests fail, decided by a seed and the order in which they come. With `spare_agents` only those
    without a system prompt may."""

    def __init__(
        self,
        rate: float = 0.0,
        kinds: tuple[Fault, ...] = ("429", "500", "disconnect"),
        *,
        seed: int = 0,
        spare_agents: bool = False,
    ) -> None:
        unknown = set(kinds) - set(FAULTS)
        if unknown:
            raise ValueError(f"unknown faults {sorted(unknown)}; known: {', '.join(FAULTS)}")
        self.rate = rate
        self.kinds = kinds
        self.spare_agents = spare_agents
        self._random = random.Random(seed)

    def draw(self, *, from_agent: bool) -> Fault | None:
        """Return how the next request fails, or None."""
        if from_agent and self.spare_agents:
            return None
        fails = self._random.random() < self.rate
        kind = self._random.choice(self.kinds)
        return kind if fails else None


class Latency(NamedTuple):
    """How long an answer takes, in seconds: `low` to `high`, or on average `low` if `shape` is "exp"."""

    low: float = 0.0
    high: float = 0.0
    shape: Literal["fixed", "uniform", "exp"] = "fixed"

    @classmethod
    def read(cls, text: str) -> "Latency":
        """Return what "0.5", "uniform:0.1,2" or "exp:0.8" means. Raises `ValueError`."""
        shape, _, figures = text.rpartition(":")
        numbers = [float(figure) for figure in figures.split(",")]
        match shape, numbers:
            case "", [fixed]:
                return cls(fixed)
            case "uniform", [low, high]:
                return cls(low, high, "uniform")
            case "exp", [mean]:
                return cls(mean, shape="exp")
            case _:
                raise ValueError(f"a latency is SECONDS, uniform:LOW,HIGH or exp:MEAN, not {text!r}")

    def draw(self, source: random.Random) -> float:
        """Return one latency."""
        if self.shape == "uniform":
            return source.uniform(self.low, self.high)
        return source.expovariate(1 / self.low) if self.shape == "exp" else self.low
