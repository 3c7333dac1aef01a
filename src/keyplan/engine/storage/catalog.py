"""The catalog of tables and indexes, which every operation reads and few change.

A `Table` is made from its stored definition: AWS's TableDescription without what is counted or derived, plus what AWS
shows elsewhere (tags, time to live). A `Catalog` is a snapshot of all tables with a version. A transaction that
changes a table also increments the version, and every process compares it before it uses its cached catalog.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NotRequired, TypeAlias, TypedDict, cast

from keyplan.engine.errors import DynamoError, not_found, validation_error
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import KeyAttribute, KeySchema, KeyType

ACCOUNT = "000000000000"
REGION = "us-east-1"

IndexKind: TypeAlias = Literal["GlobalSecondaryIndexes", "LocalSecondaryIndexes"]
KeySchemaElements: TypeAlias = list[dict[str, str]]


class Projection(TypedDict, total=False):
    ProjectionType: str
    NonKeyAttributes: list[str]


class IndexDescription(TypedDict, total=False):
    IndexName: str
    KeySchema: KeySchemaElements
    Projection: Projection
    IndexStatus: str
    Backfilling: bool
    ProvisionedThroughput: dict[str, object]
    OnDemandThroughput: dict[str, object]
    WarmThroughput: dict[str, object]
    IndexArn: str
    IndexSizeBytes: int
    ItemCount: int


class ReplicaDescription(TypedDict, total=False):
    """A replica of a global table; the overrides are those of its region."""

    RegionName: str
    ReplicaStatus: str
    ReplicaArn: str
    KMSMasterKeyId: str
    ProvisionedThroughputOverride: dict[str, int]
    OnDemandThroughputOverride: dict[str, int]
    GlobalSecondaryIndexes: list[dict[str, object]]
    ReplicaTableClassSummary: dict[str, object]
    GlobalTableSettingsReplicationMode: str


class TableDescription(TypedDict, total=False):
    AttributeDefinitions: list[dict[str, str]]
    TableName: str
    KeySchema: KeySchemaElements
    TableStatus: str
    CreationDateTime: float
    ProvisionedThroughput: dict[str, object]
    TableSizeBytes: int
    ItemCount: int
    TableArn: str
    TableId: str
    BillingModeSummary: dict[str, object]
    LocalSecondaryIndexes: list[IndexDescription]
    GlobalSecondaryIndexes: list[IndexDescription]
    StreamSpecification: dict[str, object]
    LatestStreamLabel: str
    LatestStreamArn: str
    RestoreSummary: dict[str, object]
    SSEDescription: dict[str, object]
    TableClassSummary: dict[str, object]
    DeletionProtectionEnabled: bool
    OnDemandThroughput: dict[str, object]
    WarmThroughput: dict[str, object]
    GlobalTableVersion: str
    Replicas: list[ReplicaDescription]
    GlobalTableWitnesses: list[dict[str, str]]
    GlobalTableSettingsReplicationMode: str
    DisassociationProtectionEnabled: bool
    MultiRegionConsistency: str


class ContributorInsights(TypedDict):
    """The contributor insights of a table or an index."""

    enabled: bool
    mode: str
    created: float
    updated: float


class KinesisDestination(TypedDict):
    """A Kinesis data stream to which the changes of a table would be sent."""

    stream: str
    status: str
    precision: str
    updated: float


class Recovery(TypedDict):
    """Point-in-time recovery of a table: its period, and the moment before which it can't be restored."""

    days: int
    since: float


class Replication(TypedDict):
    """What makes a table a global table (version 2019.11.21)."""

    replicas: dict[str, ReplicaDescription]
    """The replicas in other regions than the table's own, with their overrides, by region."""
    consistency: str
    witness: str | None
    protected: bool
    """Whether the replica in the table's own region is protected against disassociation."""


class ScalingPolicy(TypedDict):
    PolicyName: str
    TargetTrackingScalingPolicyConfiguration: dict[str, object]


class AutoScaling(TypedDict, total=False):
    """The auto scaling of the read or write capacity of a table or index."""

    MinimumUnits: int
    MaximumUnits: int
    AutoScalingDisabled: bool
    AutoScalingRoleArn: str
    ScalingPolicies: list[ScalingPolicy]


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
    def rows(self) -> str:
        """The SQLite table of its items."""
        return f"t{self.number}"

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
    def recovery(self) -> Recovery | None:
        return self.definition.get("recovery")

    @cached_property
    def history(self) -> str | None:
        """The SQLite table of its history, while it is recorded."""
        return self.definition.get("history")

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

    def index(self, name: str) -> Index:
        """Return the index with this name; raise AWS's error if it can't be read."""
        for index in self.indexes:
            if index.name == name:
                if index.status == "CREATING":
                    raise validation_error(f"Cannot read from backfilling global secondary index: {name}")
                return index
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


@dataclass(frozen=True)
class Catalog:
    """All tables at one version."""

    version: int
    tables: dict[str, Table]

    @cached_property
    def _usable(self) -> dict[str, Table]:
        """The tables that items can be read from and written to."""
        return {name: table for name, table in self.tables.items() if not table.is_being_created}

    def table(self, name: str) -> Table:
        """Return the table with this name or ARN, for an operation on items."""
        table = self._usable.get(name)
        if table is None:
            table = self._usable.get(table_name(name))
        if table is None:
            raise not_found("Requested resource not found")
        return table

    def table_for_administration(self, name: str) -> Table:
        """Return the table with this name or ARN, for an operation on tables; its error names the table."""
        plain = table_name(name)
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


def table_arn(name: str) -> str:
    return f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}"


def in_use(message: str) -> DynamoError:
    """AWS's error for a table that exists already or is being changed."""
    return DynamoError("ResourceInUseException", message)
