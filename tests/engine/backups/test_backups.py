"""Backups: made, described, listed, restored and deleted."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from keyplan.engine import Engine
from keyplan.engine.operations.backups import on_demand
from keyplan.engine.storage import copies
from tests.engine.backups.support import (
    LARGE,
    back_up,
    check_indexes,
    contents,
    item,
    make_indexed_table,
    put_items,
    set_recovery,
    wait_for_table,
)
from tests.engine.support import Clock, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

MISSING = "arn:aws:dynamodb:us-east-1:000000000000:table/missing/backup/01700000000000-0123abcd"
MADE = datetime.fromtimestamp(1_700_000_000, UTC)


def test_backup_and_restore(client: "DynamoDBClient") -> None:
    table = make_indexed_table(client)
    put_items(client, table, range(40))
    before = contents(client, table)
    details = client.create_backup(TableName=table, BackupName="one")["BackupDetails"]
    arn = details["BackupArn"]
    prefix = f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}/backup/01700000000000-"
    assert arn.startswith(prefix)
    assert len(arn) == len(prefix) + 8
    size = client.describe_table(TableName=table)["Table"]["TableSizeBytes"]
    assert details == {
        "BackupArn": arn,
        "BackupName": "one",
        "BackupSizeBytes": size,
        "BackupStatus": "AVAILABLE",
        "BackupType": "USER",
        "BackupCreationDateTime": MADE,
    }
    put_items(client, table, range(100, 120))
    client.delete_item(TableName=table, Key={"pk": {"S": "p0"}, "sk": {"N": "0"}})
    client.put_item(TableName=table, Item=item(1, more={"S": "x"}))
    answer = client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)["TableDescription"]
    assert answer["TableStatus"] == "CREATING"
    assert answer["RestoreSummary"] == {
        "SourceBackupArn": arn,
        "SourceTableArn": f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}",
        "RestoreDateTime": MADE,
        "RestoreInProgress": True,
    }
    described = client.describe_table(TableName="restored")["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["RestoreSummary"]["RestoreInProgress"] is False
    assert contents(client, "restored") == before
    check_indexes(client, "restored")
    client.put_item(TableName="restored", Item=item(500))
    check_indexes(client, "restored")


def test_large_table(client: "DynamoDBClient") -> None:
    """It is copied and restored in steps; meanwhile the new table is described, but not used."""
    table = make_indexed_table(client)
    put_items(client, table, range(LARGE))
    before = contents(client, table)
    arn = back_up(client, table)
    client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
    wait_for_table(client, "restored")
    assert contents(client, "restored") == before
    check_indexes(client, "restored")
    assert contents(client, table) == before


def test_a_backup_outlives_its_table(client: "DynamoDBClient") -> None:
    table = make_indexed_table(client)
    put_items(client, table, range(30))
    before = contents(client, table)
    arn = back_up(client, table)
    client.delete_table(TableName=table)
    client.restore_table_from_backup(TargetTableName=table, BackupArn=arn)
    assert contents(client, table) == before
    check_indexes(client, table)


def test_description(client: "DynamoDBClient") -> None:
    units = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
    table = make_table(
        client,
        "pk",
        "sk:N",
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        SSESpecification={"Enabled": True},
    )
    client.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
    client.put_item(TableName=table, Item=item(1))
    described = client.describe_table(TableName=table)["Table"]
    details = client.create_backup(TableName=described["TableArn"], BackupName="b-1")["BackupDetails"]
    found = client.describe_backup(BackupArn=details["BackupArn"])["BackupDescription"]
    assert found == {
        "BackupDetails": details,
        "SourceTableDetails": {
            "TableName": table,
            "TableId": described["TableId"],
            "TableArn": described["TableArn"],
            "TableSizeBytes": described["TableSizeBytes"],
            "KeySchema": described["KeySchema"],
            "TableCreationDateTime": described["CreationDateTime"],
            "ProvisionedThroughput": units,
            "ItemCount": 1,
            "BillingMode": "PROVISIONED",
        },
        "SourceTableFeatureDetails": {
            "StreamDescription": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
            "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"},
            "SSEDescription": described["SSEDescription"],
        },
    }
    deleted = client.delete_backup(BackupArn=details["BackupArn"])["BackupDescription"]
    assert deleted == {**found, "BackupDetails": {**details, "BackupStatus": "DELETED"}}
    with refused(f"Backup not found: {details['BackupArn']}", "BackupNotFoundException"):
        client.describe_backup(BackupArn=details["BackupArn"])


def test_indexes_in_the_description(client: "DynamoDBClient") -> None:
    table = make_indexed_table(client)
    arn = back_up(client, table)
    features = client.describe_backup(BackupArn=arn)["BackupDescription"]["SourceTableFeatureDetails"]
    assert features["LocalSecondaryIndexes"] == [
        {
            "IndexName": "by-rank",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "rank", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ]
    assert features["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "by-group",
            "KeySchema": [{"AttributeName": "grp", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["rank"]},
            "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0},
        }
    ]


def test_list(client: "DynamoDBClient", clock: Clock) -> None:
    first, second = (make_table(client, name=name) for name in ("alpha", "beta"))
    arns = []
    for table, name in ((first, "one"), (first, "two"), (second, "three")):
        arns.append(back_up(client, table, name))
        clock.now += 10
    listed = client.list_backups()["BackupSummaries"]
    assert [backup["BackupName"] for backup in listed] == ["one", "two", "three"]
    assert listed[0] == {
        "TableName": first,
        "TableId": client.describe_table(TableName=first)["Table"]["TableId"],
        "TableArn": f"arn:aws:dynamodb:us-east-1:000000000000:table/{first}",
        "BackupArn": arns[0],
        "BackupName": "one",
        "BackupCreationDateTime": MADE,
        "BackupStatus": "AVAILABLE",
        "BackupType": "USER",
        "BackupSizeBytes": 0,
    }

    def names(**request: object) -> list[str]:
        return [each["BackupName"] for each in client.list_backups(**request)["BackupSummaries"]]  # type: ignore[arg-type]

    assert names(TableName=first) == ["one", "two"]
    assert names(TableName=f"arn:aws:dynamodb:us-east-1:000000000000:table/{second}") == ["three"]
    assert names(TableName="nowhere") == []
    # The lower bound is part of the range, the upper one isn't.
    assert names(TimeRangeLowerBound=1_700_000_010) == ["two", "three"]
    assert names(TimeRangeUpperBound=1_700_000_010) == ["one"]
    assert names(BackupType="ALL") == ["one", "two", "three"]
    assert names(BackupType="SYSTEM") == names(BackupType="AWS_BACKUP") == []
    page = client.list_backups(Limit=2)
    assert page["LastEvaluatedBackupArn"] == arns[1]
    rest = client.list_backups(Limit=2, ExclusiveStartBackupArn=arns[1])
    assert [each["BackupArn"] for each in rest["BackupSummaries"]] == arns[2:]
    assert "LastEvaluatedBackupArn" not in rest


def test_missing(client: "DynamoDBClient") -> None:
    with refused("Table not found: missing", "TableNotFoundException"):
        client.create_backup(TableName="missing", BackupName="one")
    with refused(f"Backup not found: {MISSING}", "BackupNotFoundException"):
        client.describe_backup(BackupArn=MISSING)
    with refused(f"Backup not found: {MISSING}", "BackupNotFoundException"):
        client.delete_backup(BackupArn=MISSING)
    with refused(f"Backup not found: {MISSING}", "BackupNotFoundException"):
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=MISSING)


def test_target_exists(client: "DynamoDBClient") -> None:
    table = make_table(client)
    arn = back_up(client, table)
    with refused(f"Table already exists: {table}", "TableAlreadyExistsException"):
        client.restore_table_from_backup(TargetTableName=table, BackupArn=arn)


@pytest.fixture
def idle(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Maintenance does nothing, so that a test can look at work in progress."""
    monkeypatch.setattr(engine.database._maintenance, "start", lambda: None)


@pytest.mark.usefixtures("idle")
def test_backup_in_progress(client: "DynamoDBClient") -> None:
    table = make_table(client, "pk", "sk:N")
    put_items(client, table, range(copies.SMALL_ROWS + 1))
    arn = client.create_backup(TableName=table, BackupName="one")["BackupDetails"]["BackupArn"]
    assert client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"] == "CREATING"
    with refused(on_demand.IN_USE, "BackupInUseException"):
        client.create_backup(TableName=table, BackupName="two")
    with refused(on_demand.IN_USE, "BackupInUseException"):
        client.delete_backup(BackupArn=arn)
    with refused(on_demand.IN_USE, "BackupInUseException"):
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
    with refused(
        f"Attempt to change a resource which is still in use: Table is being backed up: {table}",
        "ResourceInUseException",
    ):
        client.delete_table(TableName=table)
    set_recovery(client, table)
    with refused(f"A backup of the table is being created: {table}", "ContinuousBackupsUnavailableException"):
        set_recovery(client, table, on=False)


def test_restore_in_progress(client: "DynamoDBClient", engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_indexed_table(client)
    put_items(client, table, range(copies.SMALL_ROWS + 1))
    arn = back_up(client, table)
    monkeypatch.setattr(engine.database._maintenance._jobs, "_runnable", list)  # the thread may still be awake
    client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
    described = client.describe_table(TableName="restored")["Table"]
    assert described["TableStatus"] == "CREATING"
    assert described["GlobalSecondaryIndexes"][0]["IndexStatus"] == "CREATING"
    assert "restored" in client.list_tables()["TableNames"]
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.get_item(TableName="restored", Key={"pk": {"S": "p0"}, "sk": {"N": "0"}})
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.put_item(TableName="restored", Item=item(1))
    changing = "Attempt to change a resource which is still in use: Table is being created: restored"
    with refused(changing, "ResourceInUseException"):
        client.delete_table(TableName="restored")
    with refused(changing, "ResourceInUseException"):
        client.update_table(TableName="restored", DeletionProtectionEnabled=True)
    with refused(changing, "ResourceInUseException"):
        client.update_time_to_live(
            TableName="restored", TimeToLiveSpecification={"Enabled": True, "AttributeName": "a"}
        )
    with refused("Table is being created: restored", "TableInUseException"):
        client.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
    with refused("Table is being created: restored", "TableInUseException"):
        client.create_backup(TableName="restored", BackupName="one")
    with refused(on_demand.IN_USE, "BackupInUseException"):
        client.delete_backup(BackupArn=arn)
    monkeypatch.setattr("keyplan.engine.operations.backups.restores.MAXIMUM_RESTORES", 1)
    with refused("Too many restores are in progress. The limit is 1.", "LimitExceededException"):
        client.restore_table_from_backup(TargetTableName="another", BackupArn=arn)


def test_deleted_backups_are_freed(engine: Engine) -> None:
    def sqlite_tables() -> int:
        counted = engine.database._storage.read(lambda t: t.sql("SELECT count(*) FROM sqlite_schema").get)
        return int(counted)

    table = make_table(engine, "pk", "sk:N")
    put_items(engine, table, range(2_500))
    before = sqlite_tables()
    arn = back_up(engine, table)
    engine.delete_backup(BackupArn=arn)
    engine.database._maintenance.stop()
    assert sqlite_tables() <= before + 2  # a restart continues
