"""The matrices of a database: which indexes are held in memory, within a budget, and the searches of them."""

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from keyplan.engine.storage.catalog import VectorIndex
from keyplan.engine.storage.transaction import VECTOR_LOG
from keyplan.engine.vectors.pressure import free_bytes
from keyplan.engine.vectors.queries import Query, SearchResult
from keyplan.engine.vectors.source import Source

if TYPE_CHECKING:
    from keyplan.engine.vectors.matrix import Matrix, Scored

TOGETHER = 16
"""The most searches that are computed together."""
TRIES = 4
"""How often a search is started over because items that it found have changed; then it takes them as they are now."""
RESERVE = 256 * 2**20
"""The bytes that the machine or the container should have left; with less, matrices are dropped."""
CHECK_SECONDS = 1.0
"""How often that is checked."""
RECOUNT_AFTER = 1000
"""After so many changes, the entries of an index that wasn't held are counted again."""


class _Waiting:
    """A search that waits to be computed."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.found: list[Scored] | None = None


class _Searches:
    """The searches of one index, and its matrix if it is held in memory."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """Held while the matrix is changed or searched."""
        self.waiting: deque[_Waiting] = deque()
        self.matrix: Matrix | None = None
        self.size = 0
        """The bytes that the matrix takes."""
        self.used = 0.0
        self.entries = 0
        self.counted_at: int | None = None
        """The number in the log at which the entries were counted."""


class VectorMemory:
    """The vector indexes of a database that are held in memory, up to `budget` bytes."""

    def __init__(self, budget: int, free: Callable[[], int | None] = free_bytes) -> None:
        self.budget = budget
        self._free = free
        self._lock = threading.Lock()
        self._indexes: dict[str, _Searches] = {}
        self._checked = 0.0

    @property
    def held_bytes(self) -> int:
        """The bytes that all matrices take."""
        with self._lock:
            return sum(each.size for each in self._indexes.values())

    def keep_only(self, indexes: Collection[str]) -> None:
        """Forget the indexes other than these, named by their SQLite tables."""
        with self._lock:
            self._indexes = {rows: each for rows, each in self._indexes.items() if rows in indexes}

    def search(self, source: Source, query: Query) -> SearchResult:
        """Return the nearest items, in order; of several with the same score, the one that was created first."""
        from keyplan.engine.vectors.reading import items_found  # it needs NumPy

        self._relieve()
        searches = self._searches_of(source.index)
        for attempt in range(TRIES):
            scored = self._nearest(source, searches, query)
            found = items_found(source, query, scored, as_they_are=attempt == TRIES - 1)
            if found is not None:
                return SearchResult(found, searches.entries)
        raise AssertionError("unreachable")

    def _searches_of(self, index: VectorIndex) -> _Searches:
        with self._lock:
            searches = self._indexes.setdefault(index.rows, _Searches())
            searches.used = time.monotonic()
            return searches

    def _nearest(self, source: Source, searches: _Searches, query: Query) -> "list[Scored]":
        """Compute a search, together with others that wait. All that is committed by now is seen."""
        own = _Waiting(query)
        searches.waiting.append(own)
        with searches.lock:
            if own.found is None:
                together = [own]
                while searches.waiting and len(together) < TOGETHER:
                    other = searches.waiting.popleft()
                    if other is not own and other.found is None:
                        together.append(other)
                results = self._compute(source, searches, [each.query for each in together])
                for each, found in zip(together, results, strict=True):
                    each.found = found
            return own.found or []

    def _compute(self, source: Source, searches: _Searches, queries: Sequence[Query]) -> "list[list[Scored]]":
        from keyplan.engine.vectors.reading import search_entries

        matrix = self._current_matrix(source, searches)
        if matrix is not None:
            return matrix.search(queries)
        if source.index.partition is None:
            return search_entries(source, queries)
        return [search_entries(source, [query], query.partition)[0] for query in queries]

    # Matrices

    def _current_matrix(self, source: Source, searches: _Searches) -> "Matrix | None":
        """Return the matrix of an index with all entries as they are now; None if there is no room for it."""
        from keyplan.engine.vectors.reading import bring_up_to_date, read_matrix

        index = source.index
        first, last = source.read(lambda transaction: transaction.vectors_logged(index))
        matrix = searches.matrix
        if matrix is None or first > matrix.change + 1 or last - matrix.change > VECTOR_LOG:
            self._drop(searches)
            if not self._has_room_for(source, searches, last):
                return None
            try:
                matrix = read_matrix(source, last)
            except MemoryError:
                self._drop(searches)
                return None
        elif last == matrix.change:
            return matrix
        bring_up_to_date(source, matrix)
        searches.entries = len(matrix)
        if not self._make_room(searches, _size(index, len(matrix))):
            self._drop(searches)
            return None
        searches.matrix = matrix
        return matrix

    def _has_room_for(self, source: Source, searches: _Searches, last: int) -> bool:
        """Return whether the entries of an index fit into memory; makes room for them."""
        if searches.counted_at is None or last - searches.counted_at > RECOUNT_AFTER:
            searches.entries = source.read(lambda transaction: transaction.count_vectors(source.index))
            searches.counted_at = last
        return self._make_room(searches, _size(source.index, searches.entries))

    def _make_room(self, searches: _Searches, size: int) -> bool:
        """Drop other matrices until one of this size fits into the budget and the memory; return whether it does."""
        with self._lock:
            while not self._fits(searches, size):
                others = [each for each in self._indexes.values() if each.size and each is not searches]
                if not others:
                    return False
                self._drop(min(others, key=lambda each: each.used))
            searches.size = size
            return True

    def _fits(self, searches: _Searches, size: int) -> bool:
        if sum(each.size for each in self._indexes.values() if each is not searches) + size > self.budget:
            return False
        more, free = size - searches.size, self._free()
        return free is None or more <= 0 or more + RESERVE <= free

    def _drop(self, searches: _Searches) -> None:
        """Drop a matrix; a search that is using it keeps it until it ends."""
        searches.matrix, searches.size = None, 0

    def _relieve(self) -> None:
        """Drop matrices if the machine or the container has too little memory left."""
        now = time.monotonic()
        with self._lock:
            if now < self._checked + CHECK_SECONDS or not any(each.size for each in self._indexes.values()):
                return
            self._checked = now
            free = self._free()
            if free is None or free >= RESERVE:
                return
            missing = RESERVE - free
            for each in sorted(self._indexes.values(), key=lambda each: each.used):
                if missing <= 0:
                    return
                missing -= each.size
                self._drop(each)


def _size(index: VectorIndex, entries: int) -> int:
    from keyplan.engine.vectors.matrix import bytes_of

    return bytes_of(index, entries)
