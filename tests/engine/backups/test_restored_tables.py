"""What a restored table takes over from its source, what it doesn't, and what a restore can override."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.backups.support import (
    back_up,
    contents,
    item,
    make_indexed_table,
    put_items,
    restored,
    set_recovery,
    wait_for_table,
)
from tests.engine.support import make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

UNITS: Any = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
OTHER: Any = {"ReadCapacityUnits": 30, "WriteCapacityUnits": 40}
PREFIX = "One or more parameter values were invalid: "


@pytest.fixture
def provisioned(client: "DynamoDBClient") -> str:
    """The backup of a table with every setting."""
    table = make_table(
        client,
        BillingMode="PROVISIONED",
        ProvisionedThroughput=UNITS,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"},
        TableClass="STANDARD_INFREQUENT_ACCESS",
        DeletionProtectionEnabled=True,
        Tags=[{"Key": "team", "Value": "a"}],
    )
    client.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "t"})
    set_recovery(client, table)
    return back_up(client, table)


def restore(client: "DynamoDBClient", backup: str, **overrides: Any) -> dict[str, Any]:
    client.restore_table_from_backup(TargetTableName="restored", BackupArn=backup, **overrides)
    return dict(client.describe_table(TableName="restored")["Table"])


def units_of(described: Any) -> dict[str, int]:
    return {name: described["ProvisionedThroughput"][name] for name in UNITS}


def test_settings(client: "DynamoDBClient", provisioned: str) -> None:
    table = restore(client, provisioned)
    assert units_of(table) == UNITS
    assert table["SSEDescription"]["KMSMasterKeyArn"].endswith(":alias/mine")
    assert table["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    # These have to be set again, as on AWS.
    assert table["DeletionProtectionEnabled"] is False
    assert "StreamSpecification" not in table
    assert client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == []
    ttl = client.describe_time_to_live(TableName="restored")["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "DISABLED"}
    backups = client.describe_continuous_backups(TableName="restored")["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}


def test_throughput(client: "DynamoDBClient", provisioned: str) -> None:
    assert units_of(restore(client, provisioned, ProvisionedThroughputOverride=OTHER)) == OTHER


def test_on_demand(client: "DynamoDBClient", provisioned: str) -> None:
    limits = {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 6}
    table = restore(client, provisioned, BillingModeOverride="PAY_PER_REQUEST", OnDemandThroughputOverride=limits)
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["OnDemandThroughput"] == limits
    assert units_of(table) == {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}


def test_encryption(client: "DynamoDBClient", provisioned: str) -> None:
    assert "SSEDescription" not in restore(client, provisioned, SSESpecificationOverride={"Enabled": False})


def test_provisioned_from_on_demand(client: "DynamoDBClient") -> None:
    backup = back_up(client, make_table(client))
    missing = "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
    with refused(PREFIX + missing):
        restore(client, backup, BillingModeOverride="PROVISIONED")
    forbidden = "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
    with refused(PREFIX + forbidden):
        restore(client, backup, ProvisionedThroughputOverride=OTHER)
    assert client.list_tables()["TableNames"] == [backup.split("/")[1]]
    table = restore(client, backup, BillingModeOverride="PROVISIONED", ProvisionedThroughputOverride=OTHER)
    assert units_of(table) == OTHER


def test_indexes_are_left_out(client: "DynamoDBClient") -> None:
    table = make_indexed_table(client)
    put_items(client, table, range(20))
    restored_table = restore(
        client, back_up(client, table), GlobalSecondaryIndexOverride=[], LocalSecondaryIndexOverride=[]
    )
    assert "GlobalSecondaryIndexes" not in restored_table
    assert "LocalSecondaryIndexes" not in restored_table
    assert [each["AttributeName"] for each in restored_table["AttributeDefinitions"]] == ["pk", "sk"]
    assert contents(client, "restored") == contents(client, table)


def test_indexes_are_overridden(client: "DynamoDBClient") -> None:
    table = make_indexed_table(client)
    put_items(client, table, range(20))
    override = [
        {
            "IndexName": "by-group",
            "KeySchema": [{"AttributeName": "grp", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["rank"]},
            "ProvisionedThroughput": OTHER,
        }
    ]
    restored_table = restore(
        client,
        back_up(client, table),
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride=UNITS,
        GlobalSecondaryIndexOverride=override,
        LocalSecondaryIndexOverride=[],
    )
    assert units_of(restored_table["GlobalSecondaryIndexes"][0]) == OTHER
    assert len(contents(client, "restored", IndexName="by-group")) == 20


@pytest.mark.parametrize(
    ("member", "index"),
    [
        ("GlobalSecondaryIndexOverride", {"IndexName": "other"}),
        ("GlobalSecondaryIndexOverride", {"IndexName": "by-group", "Projection": {"ProjectionType": "ALL"}}),
        ("LocalSecondaryIndexOverride", {"IndexName": "by-group"}),
    ],
)
def test_other_indexes(client: "DynamoDBClient", member: str, index: dict[str, Any]) -> None:
    backup = back_up(client, make_indexed_table(client))
    given = {
        "KeySchema": [{"AttributeName": "grp", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["rank"]},
        **index,
    }
    kind = member.removesuffix("Override") + "es"
    with refused(f"{PREFIX}{kind} of the restored table must match those of its source: {index['IndexName']}"):
        restore(client, backup, **{member: [given]})


def test_point_in_time_takes_the_settings_of_today(client: "DynamoDBClient") -> None:
    table = make_table(client, "pk", "sk:N", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    set_recovery(client, table)
    client.put_item(TableName=table, Item=item(1))
    client.update_table(TableName=table, ProvisionedThroughput=OTHER)
    assert restored(client, table, "restored") == [item(1)]
    assert units_of(client.describe_table(TableName="restored")["Table"]) == OTHER


VECTORS: Any = {
    "IndexName": "near",
    "VectorAttribute": {"AttributeName": "v"},
    "Dimensions": 2,
    "DistanceFunction": "EUCLIDEAN",
    "SearchSchema": [{"AttributeName": "kind", "SearchSchemaElementType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}


def make_vector_table(client: Any, count: int) -> str:
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "kind")]
    key = [{"AttributeName": "pk", "KeyType": "HASH"}]
    client.create_table(
        TableName="vectors",
        KeySchema=key,
        AttributeDefinitions=definitions,
        BillingMode="PAY_PER_REQUEST",
        VectorIndexes=[VECTORS],
    )
    for number in range(count):
        vector = {"L": [{"N": str(number)}, {"N": "1"}]}
        client.put_item(TableName="vectors", Item={"pk": {"S": str(number)}, "kind": {"S": "a"}, "v": vector})
    return "vectors"


def nearest(client: Any, table: str) -> list[str]:
    found = client.search_vectors(
        TableName=table,
        IndexName="near",
        SearchVector=[{"N": "3"}, {"N": "1"}],
        TopK=3,
        SearchConditionExpression="kind = :k",
        ExpressionAttributeValues={":k": {"S": "a"}},
    )
    return [each["Item"]["pk"]["S"] for each in found["SearchResults"]]


@pytest.mark.parametrize("count", [20, 520])
def test_vector_indexes(client: Any, count: int) -> None:
    pytest.importorskip("numpy")
    table = make_vector_table(client, count)
    backup = back_up(client, table)
    features = client.describe_backup(BackupArn=backup)["BackupDescription"]["SourceTableFeatureDetails"]
    assert features["VectorIndexes"] == [VECTORS]
    client.restore_table_from_backup(TargetTableName="restored", BackupArn=backup)
    wait_for_table(client, "restored")
    assert client.describe_table(TableName="restored")["Table"]["VectorIndexes"][0]["ItemCount"] == count
    assert sorted(nearest(client, "restored")) == ["2", "3", "4"]
    set_recovery(client, table)
    client.restore_table_to_point_in_time(
        SourceTableName=table, TargetTableName="later", UseLatestRestorableTime=True, VectorIndexOverride=[VECTORS]
    )
    wait_for_table(client, "later")
    assert sorted(nearest(client, "later")) == ["2", "3", "4"]
    without = {"TargetTableName": "without", "BackupArn": backup, "VectorIndexOverride": []}
    client.restore_table_from_backup(**without)
    wait_for_table(client, "without")
    described = client.describe_table(TableName="without")["Table"]
    assert "VectorIndexes" not in described
    assert [each["AttributeName"] for each in described["AttributeDefinitions"]] == ["pk"]
    with refused(PREFIX + "VectorIndexes of the restored table must match those of its source: near"):
        client.restore_table_from_backup(
            TargetTableName="other", BackupArn=backup, VectorIndexOverride=[{**VECTORS, "Dimensions": 3}]
        )
