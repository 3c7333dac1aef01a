"""Global tables, version 2017.11.29: their replicas and settings."""

from typing import TYPE_CHECKING, Any

from keyplan.engine import Engine
from tests.engine.support import Clock, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
INVALID = "One or more parameter values were invalid: "
DISABLED = {"AutoScalingDisabled": True, "ScalingPolicies": []}


def group(*regions: str) -> Any:
    return [{"RegionName": region} for region in regions]


def make_global(client: "DynamoDBClient", name: str, *regions: str, **settings: Any) -> Any:
    make_table(client, name=name, StreamSpecification=STREAM, **settings)
    return client.create_global_table(GlobalTableName=name, ReplicationGroup=group(*regions))["GlobalTableDescription"]


def test_a_global_table_is_created_changed_and_described(timed: Engine, clock: Clock) -> None:
    made: Any = make_global(timed, "music", "us-east-2", "us-east-1")
    assert made.pop("CreationDateTime").timestamp() == clock.now
    assert made == {
        "ReplicationGroup": group("us-east-2", "us-east-1"),
        "GlobalTableArn": "arn:aws:dynamodb::000000000000:global-table/music",
        "GlobalTableStatus": "CREATING",
        "GlobalTableName": "music",
    }
    described: Any = timed.describe_global_table(GlobalTableName="music")["GlobalTableDescription"]
    assert (described["GlobalTableStatus"], described["CreationDateTime"].timestamp()) == ("ACTIVE", clock.now)
    assert timed.describe_table(TableName="music")["Table"]["GlobalTableVersion"] == "2017.11.29"
    updated = timed.update_global_table(
        GlobalTableName="music", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}]
    )
    assert updated["GlobalTableDescription"]["ReplicationGroup"] == group("eu-west-1", "us-east-2", "us-east-1")
    timed.update_global_table(
        GlobalTableName="music",
        ReplicaUpdates=[{"Delete": {"RegionName": "us-east-2"}}, {"Delete": {"RegionName": "eu-west-1"}}],
    )
    described = timed.describe_global_table(GlobalTableName="music")["GlobalTableDescription"]
    assert described["ReplicationGroup"] == group("us-east-1")


def test_a_global_table_ends_with_its_last_replica_or_its_table(client: "DynamoDBClient") -> None:
    for name in ("first", "second"):
        make_global(client, name, "us-east-1")
    client.update_global_table(GlobalTableName="first", ReplicaUpdates=[{"Delete": {"RegionName": "us-east-1"}}])
    assert "GlobalTableVersion" not in client.describe_table(TableName="first")["Table"]
    client.delete_table(TableName="second")
    assert client.list_global_tables()["GlobalTables"] == []


def test_global_tables_are_listed(client: "DynamoDBClient") -> None:
    make_global(client, "aaa", "us-east-1", "eu-west-1")
    make_global(client, "bbb", "us-east-1")
    make_global(client, "ccc", "eu-west-1")
    page: Any = client.list_global_tables(Limit=2)
    assert page["GlobalTables"] == [
        {"GlobalTableName": "aaa", "ReplicationGroup": group("us-east-1", "eu-west-1")},
        {"GlobalTableName": "bbb", "ReplicationGroup": group("us-east-1")},
    ]
    page = client.list_global_tables(Limit=2, ExclusiveStartGlobalTableName=page["LastEvaluatedGlobalTableName"])
    assert [table["GlobalTableName"] for table in page["GlobalTables"]] == ["ccc"]
    assert "LastEvaluatedGlobalTableName" not in page
    there = client.list_global_tables(RegionName="eu-west-1")["GlobalTables"]
    assert [table["GlobalTableName"] for table in there] == ["aaa", "ccc"]


def test_which_global_tables_are_refused(client: "DynamoDBClient") -> None:
    make_global(client, "music", "us-east-1")
    with refused("Global table with name: 'music' already exists.", "GlobalTableAlreadyExistsException"):
        client.create_global_table(GlobalTableName="music", ReplicationGroup=group("us-east-1"))
    with refused("Table not found: missing", "TableNotFoundException"):
        client.create_global_table(GlobalTableName="missing", ReplicationGroup=group("us-east-1"))
    wrong_group = INVALID + "ReplicationGroup must contain at least one Region, and each Region only once"
    for regions in ((), ("us-east-1", "us-east-1")):
        with refused(wrong_group):
            client.create_global_table(GlobalTableName="other", ReplicationGroup=group(*regions))
    with refused("1 validation error detected: Invalid AWS region in 'mars'"):
        client.create_global_table(GlobalTableName="other", ReplicationGroup=group("us-east-1", "mars"))
    plain = make_table(client)
    with refused(INVALID + "The table must have a stream with the view type NEW_AND_OLD_IMAGES to be a replica"):
        client.create_global_table(GlobalTableName=plain, ReplicationGroup=group("us-east-1"))
    full = make_table(client, StreamSpecification=STREAM)
    client.put_item(TableName=full, Item={"pk": {"S": "a"}})
    with refused(INVALID + "The table must be empty to become a replica"):
        client.create_global_table(GlobalTableName=full, ReplicationGroup=group("us-east-1"))
    client.update_table(TableName=full, ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    with refused(INVALID + "The table is a replica of a global table with version 2019.11.21"):
        client.create_global_table(GlobalTableName=full, ReplicationGroup=group("us-east-1"))


def test_which_updates_are_refused(client: "DynamoDBClient") -> None:
    make_global(client, "music", "us-east-1")
    own: Any = {"RegionName": "us-east-1"}
    other: Any = {"RegionName": "eu-west-1"}
    with refused(
        "Global table 'music' already has a replica in the Region us-east-1.", "ReplicaAlreadyExistsException"
    ):
        client.update_global_table(GlobalTableName="music", ReplicaUpdates=[{"Create": own}])
    with refused("Global table 'music' has no replica in the Region eu-west-1.", "ReplicaNotFoundException"):
        client.update_global_table(GlobalTableName="music", ReplicaUpdates=[{"Delete": other}])
    with refused(INVALID + "A replica update must have either Create or Delete"):
        client.update_global_table(GlobalTableName="music", ReplicaUpdates=[{}])
    with refused("1 validation error detected: Invalid AWS region in 'mars'"):
        client.update_global_table(GlobalTableName="music", ReplicaUpdates=[{"Create": {"RegionName": "mars"}}])
    missing = "Global table with name: 'missing' does not exist."
    with refused(missing, "GlobalTableNotFoundException"):
        client.describe_global_table(GlobalTableName="missing")
    with refused(missing, "GlobalTableNotFoundException"):
        client.update_global_table(GlobalTableName="missing", ReplicaUpdates=[])
    with refused(missing, "GlobalTableNotFoundException"):
        client.describe_global_table_settings(GlobalTableName="missing")
    with refused(missing, "GlobalTableNotFoundException"):
        client.update_global_table_settings(GlobalTableName="missing")


def test_settings_of_a_provisioned_global_table(client: "DynamoDBClient") -> None:
    units = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 5}
    by_name = {**index("by-name", "name"), "ProvisionedThroughput": units}
    make_global(
        client,
        "music",
        "us-east-1",
        "us-east-2",
        gsis=[by_name],
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units,
    )
    found: Any = client.describe_global_table_settings(GlobalTableName="music")
    assert found["GlobalTableName"] == "music"
    assert found["ReplicaSettings"][1] == {
        "RegionName": "us-east-2",
        "ReplicaStatus": "ACTIVE",
        "ReplicaProvisionedReadCapacityUnits": 10,
        "ReplicaProvisionedReadCapacityAutoScalingSettings": DISABLED,
        "ReplicaProvisionedWriteCapacityUnits": 5,
        "ReplicaProvisionedWriteCapacityAutoScalingSettings": DISABLED,
        "ReplicaGlobalSecondaryIndexSettings": [
            {
                "IndexName": "by-name",
                "IndexStatus": "ACTIVE",
                "ProvisionedReadCapacityUnits": 10,
                "ProvisionedReadCapacityAutoScalingSettings": DISABLED,
                "ProvisionedWriteCapacityUnits": 5,
                "ProvisionedWriteCapacityAutoScalingSettings": DISABLED,
            }
        ],
    }
    scaling: Any = {"MinimumUnits": 1, "MaximumUnits": 20}
    answer = client.update_global_table_settings(
        GlobalTableName="music",
        GlobalTableProvisionedWriteCapacityUnits=15,
        GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate=scaling,
        GlobalTableGlobalSecondaryIndexSettingsUpdate=[
            {
                "IndexName": "by-name",
                "ProvisionedWriteCapacityUnits": 16,
                "ProvisionedWriteCapacityAutoScalingSettingsUpdate": scaling,
            }
        ],
        ReplicaSettingsUpdate=[
            {"RegionName": "us-east-1", "ReplicaProvisionedReadCapacityUnits": 11},
            {
                "RegionName": "us-east-2",
                "ReplicaProvisionedReadCapacityUnits": 12,
                "ReplicaTableClass": "STANDARD_INFREQUENT_ACCESS",
                "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate": scaling,
                "ReplicaGlobalSecondaryIndexSettingsUpdate": [
                    {
                        "IndexName": "by-name",
                        "ProvisionedReadCapacityUnits": 13,
                        "ProvisionedReadCapacityAutoScalingSettingsUpdate": scaling,
                    }
                ],
            },
        ],
    )
    assert [replica["ReplicaStatus"] for replica in answer["ReplicaSettings"]] == ["UPDATING", "UPDATING"]
    own, other = client.describe_global_table_settings(GlobalTableName="music")["ReplicaSettings"]
    assert (own["ReplicaProvisionedReadCapacityUnits"], own["ReplicaProvisionedWriteCapacityUnits"]) == (11, 15)
    assert "ReplicaTableClassSummary" not in own
    assert (other["ReplicaProvisionedReadCapacityUnits"], other["ReplicaProvisionedWriteCapacityUnits"]) == (12, 15)
    assert other["ReplicaTableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert other["ReplicaProvisionedReadCapacityAutoScalingSettings"]["MaximumUnits"] == 20
    assert own["ReplicaProvisionedReadCapacityAutoScalingSettings"] == DISABLED
    assert own["ReplicaProvisionedWriteCapacityAutoScalingSettings"]["MaximumUnits"] == 20
    (indexed,) = other["ReplicaGlobalSecondaryIndexSettings"]
    assert (indexed["ProvisionedReadCapacityUnits"], indexed["ProvisionedWriteCapacityUnits"]) == (13, 16)
    table = client.describe_table(TableName="music")["Table"]
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 11
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 15
    client.update_global_table_settings(GlobalTableName="music", GlobalTableBillingMode="PAY_PER_REQUEST")
    own, other = client.describe_global_table_settings(GlobalTableName="music")["ReplicaSettings"]
    assert own["ReplicaBillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert (own["ReplicaProvisionedReadCapacityUnits"], other["ReplicaProvisionedReadCapacityUnits"]) == (0, 0)
    both_missing = (
        INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
    )
    with refused(both_missing):
        client.update_global_table_settings(
            GlobalTableName="music", GlobalTableBillingMode="PROVISIONED", GlobalTableProvisionedWriteCapacityUnits=5
        )


def test_which_settings_are_refused(client: "DynamoDBClient") -> None:
    make_global(client, "music", "us-east-1")
    with refused("Global table 'music' has no replica in the Region eu-west-1.", "ReplicaNotFoundException"):
        client.update_global_table_settings(
            GlobalTableName="music", ReplicaSettingsUpdate=[{"RegionName": "eu-west-1"}]
        )
    with refused("Index not found: missing", "IndexNotFoundException"):
        client.update_global_table_settings(
            GlobalTableName="music", GlobalTableGlobalSecondaryIndexSettingsUpdate=[{"IndexName": "missing"}]
        )
    with refused(
        INVALID
        + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
    ):
        client.update_global_table_settings(GlobalTableName="music", GlobalTableProvisionedWriteCapacityUnits=5)
    make_global(client, "books", "us-east-1", "us-east-2")
    with refused(
        INVALID
        + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
    ):
        client.update_global_table_settings(
            GlobalTableName="books",
            ReplicaSettingsUpdate=[{"RegionName": "us-east-2", "ReplicaProvisionedReadCapacityUnits": 5}],
        )
