"""The capacity in DynamoDB's answers, by table and index."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any

__all__ = ["INDEXES", "METERED", "READS", "SEARCHES", "WRITES", "TableOrIndex", "Units", "consumed", "summed"]

READS = frozenset({"get_item", "query", "scan", "batch_get_item", "transact_get_items"})
WRITES = frozenset({"put_item", "update_item", "delete_item", "batch_write_item", "transact_write_items"})
SEARCHES = frozenset({"search_vectors"})
METERED = READS | WRITES | SEARCHES
"""The operations whose answers say what they consumed, if the request asks for it."""

INDEXES = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
"""Where answers say what indexes consumed."""


@dataclass(frozen=True)
class TableOrIndex:
    """A table, or an index of it."""

    table: str
    index: str | None = None


@dataclass(frozen=True)
class Units:
    """Capacity: units read and written, and the bytes that vector indexes read and wrote."""

    reads: float = 0.0
    writes: float = 0.0
    searched: float = 0.0
    """Bytes of vector searches."""
    vectors: float = 0.0
    """Bytes written to a vector index."""
    changes: float = 0.0
    """Change data capture units: 1 KB of each item that changed. Not in answers; metering finds them out."""

    def __add__(self, other: "Units") -> "Units":
        return Units(*(mine + others for mine, others in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, factor: float) -> "Units":
        return Units(*(each * factor for each in astuple(self)))

    def __bool__(self) -> bool:
        return any(astuple(self))


def summed(all_units: Iterable[tuple[TableOrIndex, Units]]) -> dict[TableOrIndex, Units]:
    """The sums by place, in the order of the places, without those where nothing was consumed."""
    sums: dict[TableOrIndex, Units] = {}
    for place, units in all_units:
        if units:
            sums[place] = sums.get(place, Units()) + units
    return dict(sorted(sums.items(), key=lambda each: (each[0].table, each[0].index or "")))


def consumed(
    operation: str, request: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[tuple[TableOrIndex, Units]]:
    """What a call consumed in each table and index.

    The request has to ask for `INDEXES`; an answer to `TOTAL` doesn't tell indexes from their table. DynamoDB doesn't
    say what a refused call consumed.
    """
    found = answer.get("ConsumedCapacity") or []
    for each in found if isinstance(found, list) else [found]:
        table = each.get("TableName") or request["TableName"]
        if "VectorSearchRequestBytes" in each:
            yield TableOrIndex(table, request["IndexName"]), Units(searched=each["VectorSearchRequestBytes"])
            continue
        own = each.get("Table", each)
        yield TableOrIndex(table), _units(operation, own.get("CapacityUnits", 0.0))
        for member in INDEXES:
            for index, part in each.get(member, {}).items():
                yield TableOrIndex(table, index), _units(operation, part["CapacityUnits"])
        for index, part in each.get("VectorIndexes", {}).items():
            yield TableOrIndex(table, index), Units(vectors=part["VectorWriteRequestBytes"])


def _units(operation: str, units: float) -> Units:
    return Units(reads=units) if operation in READS else Units(writes=units)
