"""How many figures are spread: their mean, their ends and their percentiles, without keeping them all."""

import math
from array import array
from collections import Counter

PERCENTILES = (25, 50, 75, 90, 95, 99)
_MOST_KEPT = 10_000
_STEP = math.log(1.01)


class Distribution:
    """Figures of zero and above. The percentiles of up to ten thousand are exact, of more right to within one in a
    hundred."""

    def __init__(self) -> None:
        self.count = 0
        self.least = math.inf
        self.most = -math.inf
        self.mean = 0.0
        self._squares = 0.0
        self._kept: array[float] = array("d")
        self._buckets: Counter[int] = Counter()

    @property
    def is_exact(self) -> bool:
        """Whether the percentiles are exact."""
        return not self._buckets

    @property
    def deviation(self) -> float:
        """The standard deviation of all figures."""
        return math.sqrt(self._squares / self.count) if self.count else 0.0

    def add(self, figure: float) -> None:
        """Take in one figure."""
        self.count += 1
        self.least, self.most = min(self.least, figure), max(self.most, figure)
        before = figure - self.mean
        self.mean += before / self.count
        self._squares += before * (figure - self.mean)
        if self._buckets:
            self._buckets[_bucket(figure)] += 1
            return
        self._kept.append(figure)
        if len(self._kept) > _MOST_KEPT:
            self._buckets.update(map(_bucket, self._kept))
            self._kept = array("d")

    def percentiles(self) -> dict[int, float]:
        """Return the figure that so many in a hundred do not exceed, for each of `PERCENTILES`; none of no figures."""
        if not self.count:
            return {}
        ranks = {percent: max(1, math.ceil(self.count * percent / 100)) for percent in PERCENTILES}
        if self.is_exact:
            figures = sorted(self._kept)
            return {percent: figures[rank - 1] for percent, rank in ranks.items()}
        return {percent: min(self.most, max(self.least, self._at(rank))) for percent, rank in ranks.items()}

    def _at(self, rank: int) -> float:
        passed = 0
        for bucket in sorted(self._buckets):
            passed += self._buckets[bucket]
            if passed >= rank:
                return 0.0 if bucket == _ZERO else math.exp(bucket * _STEP)
        return self.most


_ZERO = -(1 << 31)


def _bucket(figure: float) -> int:
    return _ZERO if figure <= 0 else round(math.log(figure) / _STEP)
