"""Reads the entries of vector indexes into matrices, and the items that were found."""

from collections.abc import Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import islice

from keyplan.engine.storage.catalog import VectorIndex
from keyplan.engine.storage.transaction import Transaction, VectorRow
from keyplan.engine.vectors import scores
from keyplan.engine.vectors.matrix import Matrix, Scored, floats_of
from keyplan.engine.vectors.queries import Found, Query
from keyplan.engine.vectors.source import Source

READ_BYTES = 2**20
"""The bytes of vectors that are read at a time. Others can write between two such reads."""
_LEAST_ROWS = 64
_MOST_ROWS = 500
"""The most rows that are looked for by their numbers at a time."""


def read_matrix(source: Source, change: int) -> Matrix:
    """Return a matrix of all entries. Those that change in the meantime are in the log after `change`."""
    matrix = Matrix(source.index)
    matrix.change = change
    for rows in _chunks(source, None):
        matrix.put(rows)
    return matrix


def bring_up_to_date(source: Source, matrix: Matrix) -> None:
    """Read the entries again that have changed since the matrix was read."""
    index, before = source.index, matrix.change

    def changed(transaction: Transaction) -> tuple[int, list[int]]:
        _, last = transaction.vectors_logged(index)
        return last, transaction.vectors_changed(index, before)

    last, numbers = source.read(changed)
    for start in range(0, len(numbers), _MOST_ROWS):
        some = numbers[start : start + _MOST_ROWS]
        rows = source.read(partial(_entries, index, some))
        matrix.put(rows)
        matrix.remove(set(some) - {number for number, _, _ in rows})
    matrix.change = last


def search_entries(source: Source, queries: Sequence[Query], prefix: bytes | None = None) -> list[list[Scored]]:
    """Search the stored entries, those whose keys begin with the prefix, with little memory."""
    best: list[list[Scored]] = [[] for _ in queries]
    for rows in _chunks(source, prefix):
        matrix = Matrix(source.index)
        matrix.put(rows)
        for position, found in enumerate(matrix.search(queries)):
            both = merge(best[position], found, key=lambda each: (each.score, each.number))
            best[position] = list(islice(both, queries[position].limit))
    return best


def items_found(source: Source, query: Query, found: Sequence[Scored], *, as_they_are: bool) -> list[Found] | None:
    """Return the items of entries that were found; None if one of them has changed in the meantime.

    With `as_they_are`, items that have changed are returned with their present scores, if they still match.
    """
    if not found:
        return []
    index, table = source.index, source.table
    numbers = [each.number for each in found]

    def items(transaction: Transaction) -> list[Found] | None:
        rows = transaction.rows_numbered(table, numbers)
        entries = [
            (number, vector)
            for number, vector, keys in transaction.vectors(index, numbers)
            if number in rows and query.accepts(keys)
        ]
        vectors = dict(entries)
        if all(vectors.get(each.number) == each.vector for each in found):
            return [Found(rows[each.number], each.score) for each in found]
        if not as_they_are:
            return None
        present = scores.exact_scores(
            index.distance, floats_of(index, list(vectors.values())), floats_of(index, [query.vector])[0]
        )
        scored = sorted(zip(present.tolist(), vectors, strict=True))
        return [Found(rows[number], float(score)) for score, number in scored]

    return source.read(items)


def _entries(index: VectorIndex, numbers: Sequence[int], transaction: Transaction) -> list[VectorRow]:
    return transaction.vectors(index, numbers)


def _chunks(source: Source, prefix: bytes | None) -> Iterator[list[VectorRow]]:
    """The entries of an index, each chunk in a read of its own."""
    index, position = source.index, (prefix or b"", 0)
    limit = max(_LEAST_ROWS, READ_BYTES // (4 * index.dimensions))
    while True:
        rows = source.read(partial(_next_rows, index, position, limit, prefix))
        if rows:
            yield rows
            number, _, keys = rows[-1]
            position = (keys, number)
        if len(rows) < limit:
            return


def _next_rows(
    index: VectorIndex, position: tuple[bytes, int], limit: int, prefix: bytes | None, transaction: Transaction
) -> list[VectorRow]:
    return transaction.vectors_after(index, position, limit, prefix)
