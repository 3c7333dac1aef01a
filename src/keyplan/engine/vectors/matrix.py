"""A vector index in memory: its entries as arrays, in blocks, so that it grows without being copied.

The rows of all blocks are numbered one after the other. They have no order and no gaps: a new entry comes last, and the
last row takes the place of a removed one.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import orjson

from keyplan.engine.storage.catalog import VectorIndex
from keyplan.engine.storage.descriptions import Distance
from keyplan.engine.storage.transaction import VectorRow
from keyplan.engine.vectors import scores
from keyplan.engine.vectors.queries import Query
from keyplan.engine.vectors.scores import Bounds, Doubles, Floats, Numbers

BLOCK_BYTES = 4 * 2**20
"""The size of a block's vectors."""
_EXACT_ROWS = 4096
_FEW = 8
"""If a condition leaves less than one of so many rows, only those are multiplied."""
BYTES_BESIDE = 120
"""What a row takes beside its vector: its number, its length, and its place in a dict."""
_ABSENT = -1

Codes: TypeAlias = npt.NDArray[np.int32]


def block_rows(dimensions: int) -> int:
    """Return the number of rows of a block."""
    return max(1, BLOCK_BYTES // (4 * dimensions))


def bytes_of(index: VectorIndex, entries: int) -> int:
    """Return about how much memory the matrix of an index with so many entries takes."""
    rows = block_rows(index.dimensions)
    blocks = -(-entries // rows)
    return blocks * rows * (4 * index.dimensions + 16 + 4 * len(index.schema)) + entries * BYTES_BESIDE


class Scored(NamedTuple):
    """An entry that was found: its row in the table, its score (smaller is better), and what it was computed from."""

    number: int
    score: float
    vector: bytes


class _Block:
    """The arrays of some rows."""

    def __init__(self, rows: int, index: VectorIndex) -> None:
        self.count = 0
        self.numbers: Numbers = np.zeros(rows, np.int64)
        self.vectors: Floats = np.zeros((rows, index.dimensions), np.float32)
        self.lengths: Doubles = np.zeros(rows, np.float64)
        self.codes: Codes = np.zeros((len(index.schema), rows), np.int32)

    def copy_row(self, row: int, other: "_Block", source: int) -> None:
        self.numbers[row] = other.numbers[source]
        self.vectors[row] = other.vectors[source]
        self.lengths[row] = other.lengths[source]
        self.codes[:, row] = other.codes[:, source]


class Values:
    """The different values of each attribute of a search schema, as numbers."""

    def __init__(self, count: int) -> None:
        self._numbers: list[dict[bytes, int]] = [{} for _ in range(count)]

    def codes(self, keys: Sequence[bytes]) -> list[list[int]]:
        """Return the numbers of the values in the keys of entries: a list for each attribute."""
        if not self._numbers:
            return []
        parsed: list[list[object]] = orjson.loads(b"[" + b",".join(keys) + b"]")
        return [
            [
                _ABSENT if row[place] is None else known.setdefault(orjson.dumps(row[place]), len(known))
                for row in parsed
            ]
            for place, known in enumerate(self._numbers)
        ]

    def conditions(self, query: Query) -> list[tuple[int, int]] | None:
        """Return the places and numbers of the values that a query is limited to; None if no entry has one of them."""
        found = []
        for place, value in query.equal:
            number = self._numbers[place].get(value)
            if number is None:
                return None
            found.append((place, number))
        return found


class Matrix:
    """The entries of an index. Whoever changes or searches it must hold its owner's lock."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self._rows = block_rows(index.dimensions)
        self._blocks: list[_Block] = []
        self._places: dict[int, int] = {}
        """The place of the entry of each row of the table."""
        self._values = Values(len(index.schema))
        self.change = 0
        """The number in the log of the index up to which the entries are known."""

    def __len__(self) -> int:
        return len(self._places)

    def put(self, entries: Sequence[VectorRow]) -> None:
        """Add entries, or replace those of the same rows."""
        if not entries:
            return
        vectors = floats_of(self._index, [vector for _, vector, _ in entries])
        lengths = scores.lengths(vectors)
        codes = np.array(self._values.codes([keys for _, _, keys in entries]), np.int32)
        codes = codes.reshape(len(self._index.schema), len(entries))
        new = [position for position, (number, _, _) in enumerate(entries) if number not in self._places]
        for position in range(len(entries)) if len(new) < len(entries) else ():
            number = entries[position][0]
            if number in self._places:
                block, row = self._at(self._places[number])
                block.vectors[row], block.lengths[row] = vectors[position], lengths[position]
                block.codes[:, row] = codes[:, position]
        numbers = np.array([number for number, _, _ in entries], np.int64)
        start = 0
        while start < len(new):
            if not self._blocks or self._blocks[-1].count == self._rows:
                self._blocks.append(_Block(self._rows, self._index))
            block = self._blocks[-1]
            chosen = new[start : start + self._rows - block.count]
            end = block.count + len(chosen)
            block.numbers[block.count : end] = numbers[chosen]
            block.vectors[block.count : end] = vectors[chosen]
            block.lengths[block.count : end] = lengths[chosen]
            block.codes[:, block.count : end] = codes[:, chosen]
            first = (len(self._blocks) - 1) * self._rows + block.count
            self._places.update({entries[position][0]: first + n for n, position in enumerate(chosen)})
            block.count = end
            start += len(chosen)

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove the entries of these rows, as far as there are any."""
        for number in numbers:
            place = self._places.pop(number, None)
            if place is None:
                continue
            last = self._blocks[-1]
            block, row = self._at(place)
            end = last.count - 1
            if block is not last or row != end:
                block.copy_row(row, last, end)
                self._places[int(last.numbers[end])] = place
            last.count = end
            if not end:
                self._blocks.pop()

    def _at(self, place: int) -> tuple[_Block, int]:
        block, row = divmod(place, self._rows)
        return self._blocks[block], row

    def search(self, queries: Sequence[Query]) -> list[list[Scored]]:
        """Return the nearest entries of each query, in order."""
        vectors = floats_of(self._index, [query.vector for query in queries])
        searches = [
            _Search(self._index, query, vector, self._values.conditions(query))
            for query, vector in zip(queries, vectors, strict=True)
        ]
        for position, block in enumerate(self._blocks):
            _search_block(searches, block, position * self._rows)
        return [self._exact(search) for search in searches]

    def _exact(self, search: "_Search") -> list[Scored]:
        """Compute the exact scores of the entries that may be among the best."""
        places = np.sort(search.best.numbers)
        found: list[tuple[Doubles, Numbers, Numbers]] = []
        for start in range(0, len(places), _EXACT_ROWS):
            some = places[start : start + _EXACT_ROWS]
            blocks, rows = np.divmod(some, self._rows)
            vectors = np.concatenate([self._blocks[b].vectors[rows[blocks == b]] for b in np.unique(blocks)])
            numbers = np.concatenate([self._blocks[b].numbers[rows[blocks == b]] for b in np.unique(blocks)])
            computed = scores.exact_scores(self._index.distance, vectors, search.vector)
            kept = scores.best(computed, numbers, search.count)
            found.append((computed[kept], numbers[kept], some[kept]))
        if not found:
            return []
        computed, numbers, places = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return [
            Scored(int(numbers[n]), float(computed[n]), self._vector(int(places[n])))
            for n in cast(list[int], scores.best(computed, numbers, search.count).tolist())
        ]

    def _vector(self, place: int) -> bytes:
        block, row = self._at(place)
        return bytes(block.vectors[row].astype("<f4", copy=False).tobytes())


class _Search:
    """One search in progress."""

    def __init__(
        self, index: VectorIndex, query: Query, vector: Floats, conditions: list[tuple[int, int]] | None
    ) -> None:
        self.vector = vector
        self.count = query.limit
        self.best = scores.Best(query.limit)
        self._length = float(scores.lengths(vector[None, :])[0])
        self._distance: Distance = index.distance
        self._dimensions = index.dimensions
        self._conditions = conditions

    def rows(self, block: _Block) -> Numbers | None:
        """The rows of a block that meet the condition; None for all."""
        if self._conditions is None:
            return np.empty(0, np.int64)
        if not self._conditions:
            return None
        meets = np.ones(block.count, np.bool_)
        for place, number in self._conditions:
            meets &= block.codes[place, : block.count] == number
        return np.asarray(np.flatnonzero(meets), np.int64)

    def add(self, block: _Block, first: int, rows: Numbers | None, products: Floats) -> None:
        """Add rows of a block, whose first row has the place `first`, with their products."""
        lengths = block.lengths[: block.count] if rows is None else block.lengths[rows]
        places = np.arange(first, first + block.count) if rows is None else first + rows
        self.best.add(places, self._bounds(products, lengths))

    def _bounds(self, products: Floats, lengths: Doubles) -> Bounds:
        return scores.bounds(self._distance, products, lengths, self._length, self._dimensions)


def _search_block(searches: Sequence[_Search], block: _Block, first: int) -> None:
    """Add the rows of a block to all searches; those that look at most of it are multiplied together."""
    together: list[tuple[_Search, Numbers | None]] = []
    for search in searches:
        rows = search.rows(block)
        if rows is None or len(rows) * _FEW > block.count:
            together.append((search, rows))
        elif len(rows):
            search.add(block, first, rows, scores.products(block.vectors[rows], search.vector[None, :])[0])
    if together:
        vectors = block.vectors[: block.count]
        products = scores.products(vectors, np.stack([search.vector for search, _ in together]))
        for (search, rows), row in zip(together, products, strict=True):
            search.add(block, first, rows, row if rows is None else row[rows])


def floats_of(index: VectorIndex, vectors: Sequence[bytes]) -> Floats:
    """Return packed vectors as rows of 32-bit floats."""
    array = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), index.dimensions)
    return np.asarray(array, np.float32)
