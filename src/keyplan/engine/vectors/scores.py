"""The arithmetic of vector search: which entries may be among the best, and their exact scores.

A score is computed here so that smaller is better: the negative of a dot product. A sum of products of 32-bit floats
differs from the exact sum by at most n * 2^-24 of the product of the two lengths (n numbers, in any order of adding),
plus what is lost where products are too small for a float. `bounds` turns that into a lowest and a highest score of
each entry. An entry can be among the k best only if its lowest score isn't above the k-th smallest highest score.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from keyplan.engine.storage.descriptions import Distance

Floats: TypeAlias = npt.NDArray[np.float32]
Doubles: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]

_UNIT = 2.0**-24
"""Half the distance from 1 to the next 32-bit float."""
_LOST = 2.0**-124
"""More than what one product can lose because it is too small for a 32-bit float with all its digits."""
_OVERFLOW = 1e38
"""Below this product of two lengths, no sum of their products exceeds the largest 32-bit float."""
_EXACT = 1e-12
"""More than the error of scores that are computed with 64-bit floats, relative to the squares of the lengths."""
COSINE_DIGITS = 12
"""Digits of a cosine distance. Beyond them is noise, because the vectors are 32-bit floats."""
_ROWS = 1024
"""The rows that are multiplied at a time with all queries, while they are in the processor's cache."""


class Bounds(NamedTuple):
    """The lowest and the highest score that each of some entries can have."""

    low: Doubles
    high: Doubles


def lengths(vectors: Floats) -> Doubles:
    """Return the Euclidean length of each row."""
    # Squares of 64-bit floats neither overflow nor vanish where those of 32-bit floats do.
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)))


def products(vectors: Floats, queries: Floats) -> Floats:
    """Return the product of each row with each query, as one row for each query."""
    result = np.empty((len(queries), len(vectors)), np.float32)
    with np.errstate(all="ignore"):  # what overflows is dealt with in `bounds`
        for first in range(0, len(vectors), _ROWS):
            part = vectors[first : first + _ROWS]
            for number, query in enumerate(queries):
                np.vecdot(part, query, out=result[number, first : first + _ROWS])
    return result


def bounds(distance: Distance, products: Floats, lengths: Doubles, query_length: float, dimensions: int) -> Bounds:
    """Return between which scores the exact scores are, given the products of 32-bit floats and the lengths."""
    scale = lengths * query_length
    found = products.astype(np.float64)
    error = scale * (dimensions * _UNIT * 1.01) + dimensions * _LOST
    if distance == "DOT_PRODUCT":
        middle = -found
        error += scale * _EXACT
    elif distance == "EUCLIDEAN":  # the square of the distance, which has the same order
        squares = lengths * lengths + query_length * query_length
        middle = squares - 2 * found
        error = 2 * error + squares * _EXACT
    else:
        with np.errstate(all="ignore"):
            middle = 1 - found / scale
            error = error / scale + 10.0**-COSINE_DIGITS
        middle[scale == 0] = 1.0
        error[scale == 0] = 0.0
    low, high = middle - error, middle + error
    unknown = ~((scale < _OVERFLOW) & np.isfinite(low) & np.isfinite(high))
    if unknown.any():
        low[unknown], high[unknown] = -np.inf, np.inf
    return Bounds(low, high)


def exact_scores(distance: Distance, vectors: Floats, query: Floats) -> Doubles:
    """Return the score of each row, as AWS defines it, but negative for dot products.

    Each row is added up by itself, so equal rows have equal scores, wherever they are.
    """
    rows, wanted = vectors.astype(np.float64), query.astype(np.float64)
    if distance == "DOT_PRODUCT":
        return np.asarray(0.0 - (rows * wanted).sum(axis=1))
    if distance == "EUCLIDEAN":
        return np.asarray(np.sqrt(((rows - wanted) ** 2).sum(axis=1)))
    # Half the squared distance of the directions is 1 minus the cosine, and exactly 0 for equal directions.
    own, other = np.sqrt((rows**2).sum(axis=1)), np.sqrt((wanted**2).sum())
    directions = np.divide(rows, own[:, None], out=np.zeros_like(rows), where=own[:, None] != 0)
    if other:
        wanted = wanted / other
    scores = ((directions - wanted) ** 2).sum(axis=1) / 2
    # A vector of zeros has no direction: it is as far from every other as one at a right angle.
    scores[(own == 0) | (other == 0)] = 1.0
    return np.asarray(np.round(scores, COSINE_DIGITS))


class Best:
    """Collects the entries that may be among the `count` best, by their row numbers."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._numbers: list[Numbers] = []
        self._bounds: list[Bounds] = []
        self._size = 0
        self._limit = np.inf
        """The lowest score that an entry may have to be among the best."""

    def add(self, numbers: Numbers, found: Bounds) -> None:
        """Add entries with their bounds; those that can't be among the best are left out."""
        possible = found.low <= self._limit
        if not possible.all():
            numbers, found = numbers[possible], Bounds(found.low[possible], found.high[possible])
        self._numbers.append(numbers)
        self._bounds.append(found)
        self._size += len(numbers)
        if self._size > self._count:
            self._prune()

    def _prune(self) -> None:
        numbers, found = self._all()
        self._limit = float(np.partition(found.high, self._count - 1)[self._count - 1])
        possible = found.low <= self._limit
        self._numbers = [numbers[possible]]
        self._bounds = [Bounds(found.low[possible], found.high[possible])]
        self._size = len(self._numbers[0])

    def _all(self) -> tuple[Numbers, Bounds]:
        low = np.concatenate([each.low for each in self._bounds])
        return np.concatenate(self._numbers), Bounds(low, np.concatenate([each.high for each in self._bounds]))

    @property
    def numbers(self) -> Numbers:
        """The row numbers of all entries that may be among the best."""
        return np.concatenate(self._numbers) if self._numbers else np.empty(0, np.int64)


def best(scores: Doubles, numbers: Numbers, count: int) -> Numbers:
    """Return the places of the `count` smallest scores, in order; of equal scores, the smaller row number first."""
    if len(scores) > count:
        limit = np.partition(scores, count - 1)[count - 1]
        (places,) = np.nonzero(scores <= limit)
    else:
        places = np.arange(len(scores))
    order = np.lexsort((numbers[places], scores[places]))
    return np.asarray(places[order[:count]], np.int64)
