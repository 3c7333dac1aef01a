"""The capacity that an operation consumes, by AWS's rules.

A strongly consistent read of 4 KB costs one unit, an eventually consistent one half, and a transactional one two. A
write of 1 KB costs one unit, and two in a transaction. A write is charged for the larger of the old and new item. An
index is charged if its entry changes: twice if the entry moves to another key, not at all if it stays the same, and in
a transaction as much as outside of one.

Vector indexes are metered in bytes, apart from the units. A write of an entry counts its vector as 32-bit floats and
its other attributes, and at least 1 KB. What AWS counts for a search depends on the inside of its index, so that figure
is an estimate: see `search_bytes`.
"""

from dataclasses import dataclass, field

from keyplan.engine.storage.catalog import Index, Table, VectorIndex
from keyplan.engine.values.attribute_values import Item, item_size
from keyplan.engine.vectors.entries import in_index

READ_UNIT = 4096
WRITE_UNIT = 1024
LEAST_VECTOR_BYTES = 1024


def read_units(size: int, *, consistent: bool) -> float:
    """Return the units for reading this many bytes."""
    blocks = max(1, -(-size // READ_UNIT))
    return float(blocks) if consistent else blocks / 2


def write_units(size: int) -> float:
    """Return the units for writing this many bytes."""
    return float(max(1, -(-size // WRITE_UNIT)))


@dataclass(slots=True)
class Consumed:
    """The capacity that one operation consumed of a table and of its indexes."""

    table: float = 0.0
    indexes: dict[str, float] = field(default_factory=dict)
    reads: float | None = None
    """Set for transactional operations, which report reads and writes separately."""
    writes: float | None = None
    vectors: dict[str, float] = field(default_factory=dict)
    """The bytes that were written to vector indexes."""

    def add(self, other: "Consumed") -> None:
        self.table += other.table
        for name, units in other.indexes.items():
            self.indexes[name] = self.indexes.get(name, 0.0) + units
        for name, size in other.vectors.items():
            self.vectors[name] = self.vectors.get(name, 0.0) + size

    @property
    def total(self) -> float:
        return self.table + sum(self.indexes.values())

    def in_transaction(self) -> "Consumed":
        """What the same write consumes in a transaction: twice as much of the table, and as much of its indexes."""
        return Consumed(self.table * 2, self.indexes, vectors=self.vectors)


def write_consumption(table: Table, old: Item | None, new: Item | None, old_size: int, new_size: int) -> Consumed:
    """Return what a write consumes of the table and of each of its indexes."""
    consumed = Consumed(table=write_units(max(old_size, new_size)))
    for index in table.indexes:
        units = _entry_units(index, _entry(index, old, old_size), _entry(index, new, new_size))
        if units:
            consumed.indexes[index.name] = units
    for vectors in table.vector_indexes:
        size = _vector_bytes(vectors, old, new)
        if size:
            consumed.vectors[vectors.name] = float(max(size, LEAST_VECTOR_BYTES))
    return consumed


def _entry(index: Index, item: Item | None, size: int) -> tuple[Item, int] | None:
    """What an index holds of an item, and its size; None if the item isn't in it."""
    if item is None or not index.schema.covers(item):
        return None
    if index.holds_all:
        return item, size
    entry = index.project(item)
    return entry, item_size(entry)


def _entry_units(index: Index, before: tuple[Item, int] | None, after: tuple[Item, int] | None) -> float:
    if before is None or after is None:
        return sum(write_units(size) for _, size in filter(None, (before, after)))
    (old, old_size), (new, new_size) = before, after
    if old == new:
        return 0.0
    if all(old[name] == new[name] for name in index.schema.names):
        return write_units(max(old_size, new_size))
    return write_units(old_size) + write_units(new_size)


def _vector_bytes(index: VectorIndex, old: Item | None, new: Item | None) -> int:
    """The bytes that a write replicates into a vector index: none if its entry stays the same."""
    before, after = (index.project(item) if item is not None and in_index(index, item) else None for item in (old, new))
    if before == after:
        return 0
    sizes = [vector_entry_size(index, item) for item in (before, after) if item is not None]
    if before is not None and after is not None and index.partition is not None:
        name, _ = index.partition
        if before[name] != after[name]:
            return sum(sizes)
    return max(sizes)


def vector_entry_size(index: VectorIndex, item: Item) -> int:
    """Return what an item takes in an index: the vector as 32-bit floats, the other attributes as in the table."""
    entry = index.project(item)
    return 4 * index.dimensions + item_size({name: entry[name] for name in entry if name != index.attribute})


def search_bytes(index: VectorIndex, entries: int, returned: int, size: int) -> float:
    """Return an estimate of what AWS counts for a search: `returned` of so many entries, with `size` bytes in all.

    By its documentation, a search examines vectors in a number that grows with the logarithm of the number of entries,
    and what it returns counts as well. How many vectors that are isn't documented.
    """
    examined = 4 * index.dimensions * (returned + entries.bit_length())
    return float(max(examined + size, LEAST_VECTOR_BYTES))


def describe_consumed(
    wanted: str | None, table: Table, consumed: Consumed, kind: str | None = None, *, name: str | None = None
) -> dict[str, object] | None:
    """Return the ConsumedCapacity member of an answer, or None if the request doesn't ask for it.

    `kind` is "ReadCapacityUnits" or "WriteCapacityUnits" for operations that report them separately. `name` is the
    table's name or ARN as given in the request.
    """
    if wanted is None or wanted == "NONE":
        return None
    answer: dict[str, object] = {"TableName": name or table.name, **_units(consumed.total, kind)}
    if wanted == "INDEXES":
        answer["Table"] = _units(consumed.table, kind)
        kinds = {index.name: index.kind for index in table.indexes}
        for name, units in consumed.indexes.items():
            part = answer.setdefault(kinds[name], {})
            assert isinstance(part, dict)
            part[name] = _units(units, kind)
        if consumed.vectors:
            answer["VectorIndexes"] = {
                name: {"VectorWriteRequestBytes": size} for name, size in consumed.vectors.items()
            }
    return answer


def _units(units: float, kind: str | None) -> dict[str, object]:
    return {"CapacityUnits": units} if kind is None else {"CapacityUnits": units, kind: units}
