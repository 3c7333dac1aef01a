"""Tables as DynamoDB has them: what a design declares, and what DescribeTable answers, in the same values.

Templates are written from these values, and differences are found by comparing them. `None` for a setting means that
the design doesn't say: AWS's default is used, and nothing is compared.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyplan.design import Design, Table
from keyplan.design.tables.attributes import KeyAttribute, Projection
from keyplan.design.tables.tables import Index
from keyplan.design.tables.vector_indexes import VectorIndex
from keyplan.design.words import MOST_RECOVERY_DAYS

_VARIABLE = re.compile(r"\{([a-z_]+)(?:=([^{}]*))?\}")
_WORD = re.compile(r"[A-Za-z0-9]+")

Capacity = tuple[int, int]
"""Read and write capacity units."""


@dataclass(frozen=True)
class IndexShape:
    """A global or local secondary index."""

    name: str
    hash: tuple[KeyAttribute, ...]
    range: tuple[KeyAttribute, ...]
    projection: Projection
    local: bool = False
    capacity: Capacity | None = None


@dataclass(frozen=True)
class VectorShape:
    """A vector index."""

    name: str
    attribute: str
    dimensions: int
    distance: str
    partition: KeyAttribute | None
    filters: tuple[KeyAttribute, ...]
    projection: Projection


@dataclass(frozen=True)
class TableShape:
    """A table: its keys, its indexes and its settings."""

    id: str
    """The name in templates, from the declared name; empty if the table was found in a DynamoDB."""
    name: str
    hash: tuple[KeyAttribute, ...]
    range: tuple[KeyAttribute, ...]
    indexes: tuple[IndexShape, ...] = ()
    vectors: tuple[VectorShape, ...] = ()
    ttl: str | None = None
    stream: str | None = None
    billing: str = "PAY_PER_REQUEST"
    capacity: Capacity | None = None
    recovery: int | None = None
    """Days of point-in-time recovery; 0 for none, None if the design doesn't say."""
    protected: bool | None = None
    encryption: str | None = None
    table_class: str = "STANDARD"
    tags: tuple[tuple[str, str], ...] = ()
    consumers: tuple[str, ...] = ()
    """What reads the stream. A DynamoDB doesn't know."""

    @property
    def attributes(self) -> Iterator[KeyAttribute]:
        """The attributes of all keys, and those that searches can be limited by; each once."""
        indexed = (each for index in self.indexes for each in (*index.hash, *index.range))
        searched = (each for index in self.vectors for each in elements_of(index))
        yield from dict.fromkeys((*self.hash, *self.range, *indexed, *searched))


def elements_of(index: VectorShape) -> tuple[KeyAttribute, ...]:
    """The attributes that searches of a vector index can be limited by."""
    return index.filters if index.partition is None else (index.partition, *index.filters)


# Names


def logical_id(declared: str) -> str:
    """The name of a table in templates. It depends on the declared name alone, not on the environment or on the order.

    `3fc-{env=dev}-app` is `T3fcAppTable` in every environment, and `{table=WavyBlog}` is `WavyBlogTable`.
    """
    fixed = _VARIABLE.sub(" ", declared)
    words = _WORD.findall(fixed) or _WORD.findall(_VARIABLE.sub(lambda match: match[2] or match[1], declared))
    return identifier(*words, "Table")


def identifier(*texts: str) -> str:
    """A name of letters and digits that begins with a letter: `search index` becomes `SearchIndex`."""
    words = (word for text in texts for word in _WORD.findall(text))
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else f"T{name}"


# From a design


def shapes_of(design: Design) -> tuple[TableShape, ...]:
    """The tables of a design, with the housekeeping table, in its environment."""
    return tuple(shape_of(table, design.table_name(table)) for table in design.all_tables)


def shape_of(table: Table, name: str) -> TableShape:
    """A declared table, with its name in an environment."""
    units = table.capacity if table.billing == "PROVISIONED" else None
    return TableShape(
        id=logical_id(table.name),
        name=name,
        hash=table.hash,
        range=table.range,
        indexes=tuple(_index(index, units) for index in table.by_name.values()),
        vectors=tuple(_vector(index) for index in table.vectors_by_name.values()),
        ttl=table.ttl,
        stream=table.stream,
        billing=table.billing,
        capacity=units,
        recovery=MOST_RECOVERY_DAYS if table.recovery is True else None if table.recovery is None else +table.recovery,
        protected=table.protected,
        encryption=table.encryption,
        table_class=table.table_class,
        tags=tuple(sorted(table.tags.items())),
        consumers=tuple(consumer.name for consumer in table.consumers),
    )


def _index(index: Index, units: Capacity | None) -> IndexShape:
    capacity = None if index.local else units
    return IndexShape(index.name, index.hash, index.range, index.projection, index.local, capacity)


def _vector(index: VectorIndex) -> VectorShape:
    distance = index.distance.upper().replace(" ", "_")
    return VectorShape(
        index.name, index.attribute, index.dimensions, distance, index.partition, index.filters, index.projection
    )


# From a description

Described = Mapping[str, Any]
"""An answer of DynamoDB, or a part of it."""


def described_shape(
    table: Described, ttl: Described | None = None, backups: Described | None = None, tags: Sequence[Described] = ()
) -> TableShape:
    """A table as DescribeTable, DescribeTimeToLive, DescribeContinuousBackups and ListTagsOfResource describe it."""
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    stream = table.get("StreamSpecification") or {}
    billing = (table.get("BillingModeSummary") or {}).get("BillingMode", "PROVISIONED")
    return TableShape(
        id="",
        name=table["TableName"],
        hash=_schema(table, types, "HASH"),
        range=_schema(table, types, "RANGE"),
        indexes=(
            *(_described_index(each, types, billing) for each in table.get("GlobalSecondaryIndexes") or ()),
            *(_described_index(each, types, None) for each in table.get("LocalSecondaryIndexes") or ()),
        ),
        vectors=tuple(_described_vector(each, types) for each in table.get("VectorIndexes") or ()),
        ttl=_ttl(ttl or {}),
        stream=stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        billing=billing,
        capacity=_capacity(table, billing),
        recovery=None if backups is None else _recovery(backups),
        protected=bool(table.get("DeletionProtectionEnabled")),
        encryption=_encryption(table.get("SSEDescription") or {}),
        table_class=(table.get("TableClassSummary") or {}).get("TableClass", "STANDARD"),
        tags=tuple(sorted((each["Key"], each["Value"]) for each in tags if not each["Key"].lower().startswith("aws:"))),
    )


def _schema(described: Described, types: Mapping[str, str], kind: str) -> tuple[KeyAttribute, ...]:
    names = [each["AttributeName"] for each in described["KeySchema"] if each["KeyType"] == kind]
    return tuple(KeyAttribute(name, types[name]) for name in names)


def _described_index(index: Described, types: Mapping[str, str], billing: str | None) -> IndexShape:
    return IndexShape(
        index["IndexName"],
        _schema(index, types, "HASH"),
        _schema(index, types, "RANGE"),
        _projection(index),
        billing is None,
        None if billing is None else _capacity(index, billing),
    )


def _described_vector(index: Described, types: Mapping[str, str]) -> VectorShape:
    elements = {each["AttributeName"]: each["SearchSchemaElementType"] for each in index.get("SearchSchema") or ()}
    named = {
        kind: [KeyAttribute(name, types[name]) for name, own in elements.items() if own == kind] for kind in _KINDS
    }
    return VectorShape(
        index["IndexName"],
        index["VectorAttribute"]["AttributeName"],
        index["Dimensions"],
        index["DistanceFunction"],
        next(iter(named["HASH"]), None),
        tuple(named["INLINE_FILTER"]),
        _projection(index),
    )


_KINDS = ("HASH", "INLINE_FILTER")


def _projection(index: Described) -> Projection:
    described = index["Projection"]
    return Projection(described["ProjectionType"], tuple(described.get("NonKeyAttributes") or ()))


def _capacity(described: Described, billing: str) -> Capacity | None:
    if billing != "PROVISIONED":
        return None
    units = described["ProvisionedThroughput"]
    return units["ReadCapacityUnits"], units["WriteCapacityUnits"]


def _ttl(described: Described) -> str | None:
    is_on = described.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
    return described["AttributeName"] if is_on else None


def _recovery(described: Described) -> int:
    recovery = described.get("PointInTimeRecoveryDescription") or {}
    if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
        return 0
    return int(recovery.get("RecoveryPeriodInDays", MOST_RECOVERY_DAYS))


def _encryption(described: Described) -> str:
    if described.get("Status") not in ("ENABLED", "ENABLING", "UPDATING"):
        return "AWS_OWNED"
    return str(described.get("KMSMasterKeyArn", "AWS_MANAGED"))
