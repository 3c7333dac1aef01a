"""The catalog of tables and indexes, which every operation reads and few change.

A `Table` is made from its stored definition: AWS's TableDescription without what is counted or derived, plus what AWS
shows elsewhere (tags, time to live). A `Catalog` is a snapshot of all tables with a version. A transaction that
changes a table also increments the version, and every process compares it before it uses its cached catalog.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, NotRequired, Protocol, TypeAlias, TypedDict, cast

from keyplan.engine.errors import DynamoError, not_found, validation_error
from keyplan.engine.storage.descriptions import (
    Distance,
    IndexDescription,
    KeySchemaElements,
    TableDescription,
    VectorIndexDescription,
)
from keyplan.engine.storage.scopes import Place, Scope, scope_of
from keyplan.engine.storage.table_settings import (
    AutoScaling,
    ContributorInsights,
    KinesisDestination,
    Replication,
)
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import KeyAttribute, KeySchema, KeyType, TryRowKey

IndexKind: TypeAlias = Literal["GlobalSecondaryIndexes", "LocalSecondaryIndexes"]


class Recovery(TypedDict):
    """Point-in-time recovery of a table: its period, and the moment before which it can't be restored."""

    days: int
    since: float


class Definition(TypedDict):
    """The stored definition of a table."""

    description: TableDescription
    tags: dict[str, str]
    ttl: str | None
    """The attribute of the time to live, if it is enabled."""
    index_numbers: dict[str, int]
    """The number of each index, which names its SQLite table."""
    next_index: int
    """The number of the next index; numbers aren't reused."""
    stream: int | None
    """The number of the current stream, if one is enabled."""
    contributor_insights: NotRequired[dict[str, ContributorInsights]]
    """The contributor insights of the indexes that had some, and under an empty name those of the table."""
    kinesis_destinations: NotRequired[list[KinesisDestination]]
    recovery: NotRequired[Recovery]
    """Point-in-time recovery, if it is on."""
    history: NotRequired[str]
    """The SQLite table of the history, while it is recorded."""
    histories: NotRequired[int]
    """The number of histories so far; their names aren't reused."""
    replication: NotRequired[Replication]
    auto_scaling: NotRequired[dict[str, AutoScaling]]
    """By what is scaled; see `ScalingTarget` in operations/tables/auto_scaling.py."""


@dataclass(frozen=True)
class Index:
    """A secondary index."""

    name: str
    kind: IndexKind
    schema: KeySchema
    projection: str
    included: frozenset[str]
    """The attributes in the index, including the keys of index and table; not used if the index holds all."""
    status: str
    rows: str
    """The SQLite table of its entries."""

    @property
    def is_global(self) -> bool:
        return self.kind == "GlobalSecondaryIndexes"

    @property
    def holds_all(self) -> bool:
        return self.projection == "ALL"

    def project(self, item: Item) -> Item:
        """Return the attributes of an item that the index holds."""
        if self.holds_all:
            return item
        return {name: value for name, value in item.items() if name in self.included}


@dataclass(frozen=True)
class VectorIndex:
    """A vector index, which only SearchVectors reads."""

    name: str
    attribute: str
    """The attribute that holds the vectors."""
    dimensions: int
    distance: Distance
    partition: KeyAttribute | None
    """The HASH element of the search schema; an item without it isn't in the index."""
    filters: tuple[KeyAttribute, ...]
    """The INLINE_FILTER elements of the search schema."""
    projection: str
    included: frozenset[str]
    """The attributes in the index: keys, search schema, vector and what is projected; not used if it holds all."""
    status: str
    rows: str
    """The SQLite table of its entries."""

    @property
    def log(self) -> str:
        """The SQLite table that says which entries have changed."""
        return f"{self.rows}_log"

    @property
    def holds_all(self) -> bool:
        return self.projection == "ALL"

    @cached_property
    def schema(self) -> tuple[KeyAttribute, ...]:
        """The attributes that a search can be limited by, in the order in which entries hold their values."""
        return self.filters if self.partition is None else (self.partition, *self.filters)

    @cached_property
    def partition_schema(self) -> KeySchema:
        """The HASH element as a key, for the checks that it shares with the keys of other indexes."""
        return KeySchema(() if self.partition is None else (self.partition,), ())

    def project(self, item: Item) -> Item:
        """Return the attributes of an item that the index holds."""
        if self.holds_all:
            return item
        return {name: value for name, value in item.items() if name in self.included}


class Statements(NamedTuple):
    """The SQL for a single item of a table."""

    find: str
    insert: str
    replace: str


@dataclass(frozen=True)
class Table:
    """A table with its indexes."""

    number: int
    definition: Definition = field(repr=False)

    @cached_property
    def description(self) -> TableDescription:
        return self.definition["description"]

    @cached_property
    def name(self) -> str:
        return self.description["TableName"]

    @cached_property
    def arn(self) -> str:
        return self.description["TableArn"]

    @cached_property
    def place(self) -> "Place":
        """Its scope and its name, which no other table has."""
        return Place(scope_of(self.arn), self.name)

    @cached_property
    def rows(self) -> str:
        """The SQLite table of its items."""
        return f"t{self.number}"

    @cached_property
    def statements(self) -> Statements:
        """Made once for each version of the table: putting them together takes time in every request."""
        return Statements(
            find=f"SELECT id, size, item FROM {self.rows} WHERE key = ?",
            insert=f"INSERT INTO {self.rows}(key, size, item) VALUES (?, ?, ?)",
            replace=f"UPDATE {self.rows} SET size = ?, item = ? WHERE id = ?",
        )

    @cached_property
    def schema(self) -> KeySchema:
        return key_schema(self.description["KeySchema"], self.description["AttributeDefinitions"])

    @cached_property
    def indexes(self) -> tuple[Index, ...]:
        """The indexes by name: of several that an item doesn't fit, AWS reports the first."""
        kinds: tuple[IndexKind, ...] = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
        made = [
            self._index(kind, index)
            for kind in kinds
            for index in self.description.get(kind, [])
            if index["IndexName"] in self.definition["index_numbers"]
        ]
        return tuple(sorted(made, key=lambda index: index.name))

    @cached_property
    def index_row_keys(self) -> tuple[TryRowKey, ...]:
        """What returns the row key of an item in each index."""
        return tuple(index.schema.try_row_key for index in self.indexes)

    @cached_property
    def recovery(self) -> Recovery | None:
        return self.definition.get("recovery")

    @cached_property
    def history(self) -> str | None:
        """The SQLite table of its history, while it is recorded."""
        return self.definition.get("history")

    @cached_property
    def vector_indexes(self) -> tuple[VectorIndex, ...]:
        """The vector indexes by name."""
        described = self.description.get("VectorIndexes", [])
        numbers = self.definition["index_numbers"]
        made = [self._vector_index(index) for index in described if index["IndexName"] in numbers]
        return tuple(sorted(made, key=lambda index: index.name))

    @cached_property
    def all_indexes(self) -> tuple[Index | VectorIndex, ...]:
        """The indexes of all kinds: their names are different, and only one of them is created at a time."""
        return (*self.indexes, *self.vector_indexes)

    @cached_property
    def needs_old_items(self) -> bool:
        """Whether a write needs the old item even if the request doesn't."""
        return bool(self.all_indexes) or self.stream is not None

    @cached_property
    def stream(self) -> int | None:
        return self.definition["stream"]

    @cached_property
    def view(self) -> str:
        """The stream's view type."""
        return cast(str, self.description["StreamSpecification"]["StreamViewType"])

    @property
    def is_being_created(self) -> bool:
        """Whether it is still being filled, by a restore or an import."""
        return self.description["TableStatus"] == "CREATING"

    @cached_property
    def key_names(self) -> frozenset[str]:
        return frozenset(self.schema.names)

    @cached_property
    def index_key_names(self) -> frozenset[str]:
        return frozenset(name for index in self.indexes for name in index.schema.names)

    @cached_property
    def has_local_indexes(self) -> bool:
        return bool(self.description.get("LocalSecondaryIndexes"))

    def _index(self, kind: IndexKind, index: IndexDescription) -> Index:
        schema = key_schema(index["KeySchema"], self.description["AttributeDefinitions"])
        projection = index["Projection"]
        return Index(
            name=index["IndexName"],
            kind=kind,
            schema=schema,
            projection=projection["ProjectionType"],
            included=frozenset((*self.schema.names, *schema.names, *projection.get("NonKeyAttributes", ()))),
            status=index.get("IndexStatus", "ACTIVE"),
            rows=f"{self.rows}_{self.definition['index_numbers'][index['IndexName']]}",
        )

    def _vector_index(self, index: VectorIndexDescription) -> VectorIndex:
        types = {made["AttributeName"]: made["AttributeType"] for made in self.description["AttributeDefinitions"]}

        def elements(kind: str) -> list[KeyAttribute]:
            return [
                (element["AttributeName"], cast(KeyType, types[element["AttributeName"]]))
                for element in index.get("SearchSchema", [])
                if element["SearchSchemaElementType"] == kind
            ]

        partition, filters = elements("HASH"), elements("INLINE_FILTER")
        attribute, projection = index["VectorAttribute"]["AttributeName"], index["Projection"]
        named = [name for name, _ in (*partition, *filters)]
        return VectorIndex(
            name=index["IndexName"],
            attribute=attribute,
            dimensions=index["Dimensions"],
            distance=index["DistanceFunction"],
            partition=partition[0] if partition else None,
            filters=tuple(filters),
            projection=projection["ProjectionType"],
            included=frozenset((*self.schema.names, *named, attribute, *projection.get("NonKeyAttributes", ()))),
            status=index.get("IndexStatus", "ACTIVE"),
            rows=f"{self.rows}_{self.definition['index_numbers'][index['IndexName']]}",
        )

    def vector_index(self, name: str) -> VectorIndex | None:
        """Return the vector index with this name, or None."""
        return next((index for index in self.vector_indexes if index.name == name), None)

    def index(self, name: str, operation: str = "Query") -> Index:
        """Return the index with this name; raise AWS's error if the operation can't read it."""
        for index in self.indexes:
            if index.name == name:
                if index.status == "CREATING":
                    raise validation_error(f"Cannot read from backfilling global secondary index: {name}")
                return index
        if self.vector_index(name) is not None:
            raise validation_error(f"{operation} operation not supported on this index type.")
        raise validation_error(f"The table does not have the specified index: {name}")

    def row_key(self, item: Item) -> bytes:
        return self.schema.row_key(item)


def key_schema(elements: KeySchemaElements, definitions: list[dict[str, str]]) -> KeySchema:
    """Return the key with the types from the attribute definitions."""
    types = {definition["AttributeName"]: definition["AttributeType"] for definition in definitions}

    def attributes(key_type: str) -> tuple[KeyAttribute, ...]:
        names = [element["AttributeName"] for element in elements if element["KeyType"] == key_type]
        return tuple((name, cast(KeyType, types[name])) for name in names)

    return KeySchema(attributes("HASH"), attributes("RANGE"))


class AllTables(Protocol):
    """All tables of a file, by number; see `regional_tables`."""

    tables: dict[int, Table]

    def catalog(self, version: int, scope: Scope, *, separate: bool = False) -> "Catalog":
        """Return the catalog of a scope."""
        ...


@dataclass(frozen=True)
class Catalog:
    """The tables of one scope at one version, and the way to those of other scopes."""

    version: int
    tables: dict[str, Table]
    scope: Scope
    everything: "AllTables"
    separate: bool = False
    """Whether callers see only the tables of this scope, also by ARN. Otherwise the name in an ARN is enough."""

    def of(self, scope: Scope) -> "Catalog":
        """Return the catalog of another scope."""
        return self.seen(scope, separate=self.separate)

    def seen(self, scope: Scope, *, separate: bool) -> "Catalog":
        """Return the catalog of a scope as a caller sees it."""
        if (scope, separate) == (self.scope, self.separate):
            return self
        return self.everything.catalog(self.version, scope, separate=separate)

    def in_region(self, region: str) -> "Catalog":
        """Return the catalog of the same account in another region."""
        return self.of(Scope(self.scope.account, region))

    @cached_property
    def _usable(self) -> dict[str, Table]:
        """The tables that items can be read from and written to."""
        return {name: table for name, table in self.tables.items() if not table.is_being_created}

    def name_of(self, name_or_arn: str) -> str:
        """Return the name of a table that is given by name or ARN; an ARN that the caller can't see stays as it is."""
        if self.separate and name_or_arn.startswith("arn:") and not name_or_arn.startswith(self.scope.arn("table/")):
            return name_or_arn
        return table_name(name_or_arn)

    def table(self, name: str) -> Table:
        """Return the table with this name or ARN, for an operation on items."""
        table = self._usable.get(name)
        if table is None:
            table = self._usable.get(self.name_of(name))
        if table is None:
            raise not_found("Requested resource not found")
        return table

    def table_for_administration(self, name: str) -> Table:
        """Return the table with this name or ARN, for an operation on tables; its error names the table."""
        plain = self.name_of(name)
        if plain not in self.tables:
            raise not_found(f"Requested resource not found: Table: {plain} not found")
        return self.tables[plain]

    def table_to_change(self, name: str) -> Table:
        """The same for an operation that changes the table, which waits until it is created."""
        table = self.table_for_administration(name)
        if table.is_being_created:
            raise in_use(f"Attempt to change a resource which is still in use: Table is being created: {table.name}")
        return table


def table_name(name_or_arn: str) -> str:
    """Return the name of a table that is given by name or ARN."""
    return name_or_arn.rpartition(":table/")[2] if name_or_arn.startswith("arn:") else name_or_arn


def in_use(message: str) -> DynamoError:
    """AWS's error for a table that exists already or is being changed."""
    return DynamoError("ResourceInUseException", message)
