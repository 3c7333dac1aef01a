"""What can be different from the design while it is metered: a change in memory, to find out what it would consume."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.capacity.consumed import TableOrIndex
from keyplan.design import Op
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import BatchGet, Get, Lookup, Together
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.design.tables.attributes import Projection


@dataclass(frozen=True)
class IndexHolds:
    """What an index holds: another projection than the declared one."""

    projection: Projection
    keys: tuple[str, ...]
    """The attributes of the index's key."""


@dataclass(frozen=True)
class Altered:
    """Patterns that read eventually consistently, and indexes that aren't there or hold less."""

    eventual: frozenset[str] = frozenset()
    """The names of patterns."""
    dropped: frozenset[TableOrIndex] = frozenset()
    projections: Mapping[TableOrIndex, IndexHolds] = field(default_factory=dict)

    def create_table(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request that creates a table, with these changes."""
        changed = dict(request)
        for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            indexes = [self._index(request["TableName"], each) for each in request.get(member, ())]
            changed[member] = [each for each in indexes if each is not None]
            if not changed[member]:
                del changed[member]
        used = set(_key_attributes(changed))
        changed["AttributeDefinitions"] = [
            each for each in request["AttributeDefinitions"] if each["AttributeName"] in used
        ]
        return changed

    def _index(self, table: str, index: dict[str, Any]) -> dict[str, Any] | None:
        place = TableOrIndex(table, index["IndexName"])
        if place in self.dropped:
            return None
        if place not in self.projections:
            return index
        projection = self.projections[place].projection
        described: dict[str, Any] = {"ProjectionType": projection.type}
        if projection.attributes:
            described["NonKeyAttributes"] = list(projection.attributes)
        return {**index, "Projection": described}

    def query(self, request: dict[str, Any], keys: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """A Query that asks an index only for what it has: the data layer knows the index as it is declared."""
        place = TableOrIndex(request["TableName"], request.get("IndexName"))
        if place not in self.projections or "ProjectionExpression" not in request:
            return request
        held = {*keys[place.table], *self.projections[place].keys, *self.projections[place].projection.attributes}
        names: dict[str, str] = request.get("ExpressionAttributeNames", {})
        asked = [each.strip() for each in request["ProjectionExpression"].split(",")]
        kept = [each for each in asked if names.get(each, each) in held]
        used = " ".join((*kept, *(request.get(each, "") for each in ("KeyConditionExpression", "FilterExpression"))))
        words = set(re.findall(r"#\w+", used))
        left = {each: name for each, name in names.items() if each in words}
        return {**request, "ProjectionExpression": ", ".join(kept), "ExpressionAttributeNames": left}


UNALTERED = Altered()


def _key_attributes(request: dict[str, Any]) -> Iterator[str]:
    """The attributes that a table has to define."""
    indexes = [*request.get("GlobalSecondaryIndexes", ()), *request.get("LocalSecondaryIndexes", ())]
    yield from (each["AttributeName"] for schema in (request, *indexes) for each in schema["KeySchema"])
    for index in request.get("VectorIndexes", ()):
        yield from (each["AttributeName"] for each in index.get("SearchSchema", ()))


def eventual(op: Op[object]) -> Op[object]:
    """An operation whose reads are all eventually consistent."""
    match op:
        case Get() | Lookup() | BatchGet() | Query() | Scan():
            return op.changed(consistent=False)
        case ItemCount(source=source) | Aggregated(source=source) | Follow(source=source):
            return op.changed(source=eventual(source))
        case Merge(queries=queries):
            return op.changed(queries=tuple(map(eventual, queries)))
        case Together(gets=gets):
            return op.changed(gets=tuple(map(eventual, gets)))
    return op


def is_consistent(op: Op[object]) -> bool:
    """Whether an operation has a strongly consistent read that could be an eventually consistent one."""
    match op:
        case Get() | Lookup() | BatchGet() | Query() | Scan():
            return op.consistent
        case ItemCount(source=source) | Aggregated(source=source) | Follow(source=source):
            return is_consistent(source)
        case Merge(queries=parts) | Together(gets=parts):
            return any(map(is_consistent, parts))
    return False
