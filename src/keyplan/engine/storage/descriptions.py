"""Tables and indexes as DescribeTable shows them, which is also how they are stored."""

from typing import Literal, TypeAlias, TypedDict

KeySchemaElements: TypeAlias = list[dict[str, str]]
Distance: TypeAlias = Literal["COSINE", "EUCLIDEAN", "DOT_PRODUCT"]


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


class VectorIndexDescription(TypedDict, total=False):
    IndexName: str
    VectorAttribute: dict[str, str]
    Dimensions: int
    DistanceFunction: Distance
    SearchSchema: list[dict[str, str]]
    Projection: Projection
    IndexStatus: str
    Backfilling: bool
    IndexArn: str
    IndexSizeBytes: int
    ItemCount: int


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
    VectorIndexes: list[VectorIndexDescription]
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
