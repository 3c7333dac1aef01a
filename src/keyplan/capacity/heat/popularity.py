"""Values of which some are more popular than others.

The popularity of the values of an entity follows Zipf's law: the value of rank n is asked for in proportion to
1 / n ** exponent. Beside that, the hottest one can have a share of its own, like a celebrity.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from keyplan.capacity.traffic.shape import Popularity

Ranks = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_HEAD = 1024
"""How many ranks are drawn with their exact shares. The shares of the others follow a curve."""


@dataclass(frozen=True)
class Zipf:
    """Ranks from 0 to `values` - 1, in proportion to 1 / (rank + 1) ** `exponent`."""

    values: int
    exponent: float
    head: Floats
    """The cumulative shares of the first ranks."""
    tail: float
    """The first rank that isn't in the head, as a limit of the curve."""

    def draw(self, uniform: Floats) -> Ranks:
        """A rank for each number between 0 and 1."""
        ranks = np.searchsorted(self.head, uniform, "right").astype(np.int64)
        after = ranks >= len(self.head)
        if after.any():
            known = float(self.head[-1])
            part = (uniform[after] - known) / max(1e-12, 1 - known)
            ranks[after] = np.clip(self._on_curve(part), len(self.head), self.values - 1)
        return ranks

    def _on_curve(self, part: Floats) -> Ranks:
        low, high = self.tail, self.values + 0.5
        if abs(self.exponent - 1) < 1e-9:
            found = low * (high / low) ** part
        else:
            power = 1 - self.exponent
            found = (low**power + part * (high**power - low**power)) ** (1 / power)
        rounded: Ranks = np.round(found).astype(np.int64) - 1
        return rounded

    @property
    def hottest(self) -> float:
        """The share of the most popular value."""
        return float(self.head[0])


@cache
def zipf(values: int, exponent: float) -> Zipf:
    """The distribution over so many values. Exponent 0: all values alike."""
    values = max(1, values)
    count = min(values, _HEAD)
    weights = 1 / np.arange(1, count + 1, dtype=np.float64) ** exponent
    tail = _area(count + 0.5, values + 0.5, exponent) if values > count else 0.0
    total = float(weights.sum()) + tail
    head = np.cumsum(weights) / total
    if values == count:
        head[-1] = 1.0
    return Zipf(values, exponent, head, count + 0.5)


def _area(low: float, high: float, exponent: float) -> float:
    """The area below the curve between two ranks, which is nearly the sum of their weights."""
    if abs(exponent - 1) < 1e-9:
        return float(np.log(high / low))
    power = 1 - exponent
    return float((high**power - low**power) / power)


def hottest_share(values: int, popularity: Popularity) -> float:
    """The share of requests that ask for the most popular of so many values."""
    plain = zipf(values, popularity.exponent).hottest
    return max(plain, popularity.hottest + (1 - popularity.hottest) * plain) if popularity.hottest else plain


def drawn(random: np.random.Generator, uniform: Floats, values: int, popularity: Popularity) -> Ranks:
    """The rank of a value for each number between 0 and 1, the most popular value being 0."""
    ranks = zipf(values, popularity.exponent).draw(uniform)
    if popularity.hottest:
        ranks[random.random(len(ranks)) < popularity.hottest] = 0
    return ranks
