"""What is searched for, and what was found."""

from typing import NamedTuple

import orjson

from keyplan.engine.storage.transaction import Row


class Query(NamedTuple):
    """A search: the vector as 32-bit floats, how many entries to find, and the values that they must have."""

    vector: bytes
    limit: int
    equal: tuple[tuple[int, bytes], ...] = ()
    """Places in the search schema and the values there, as JSON."""
    partition: bytes | None = None
    """What the keys of all entries in the partition begin with, if the index is partitioned."""

    def accepts(self, keys: bytes) -> bool:
        """Return whether an entry with these keys has the values."""
        if not self.equal:
            return True
        values = orjson.loads(keys)
        return all(orjson.dumps(values[place]) == value for place, value in self.equal)


class Found(NamedTuple):
    """An item that was found, with its score, of which smaller is better."""

    row: Row
    score: float


class SearchResult(NamedTuple):
    """What was found, and about how many entries the index has."""

    found: list[Found]
    entries: int
