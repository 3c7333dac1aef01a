"""Point-in-time recovery: on, off, its period, and what a table can be restored to."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from tests.engine.backups.support import (
    LARGE,
    back_up,
    check_indexes,
    contents,
    item,
    make_indexed_table,
    put_items,
    restored,
    set_recovery,
    wait_for_table,
)
from tests.engine.support import Clock, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

DAY = 86_400
START = 1_700_000_000
INVALID_TIME = (
    "An invalid restore time was specified. RestoreDateTime must be between EarliestRestorableDateTime and "
    "LatestRestorableDateTime."
)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def described(client: "DynamoDBClient", table: str) -> dict[str, Any]:
    answer = client.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    assert answer["ContinuousBackupsStatus"] == "ENABLED"
    return dict(answer["PointInTimeRecoveryDescription"])


def test_on_and_off(client: "DynamoDBClient", clock: Clock) -> None:
    table = make_table(client)
    off = {"PointInTimeRecoveryStatus": "DISABLED"}
    assert described(client, table) == off
    on = {
        "PointInTimeRecoveryStatus": "ENABLED",
        "RecoveryPeriodInDays": 35,
        "EarliestRestorableDateTime": moment(START),
        "LatestRestorableDateTime": moment(START),
    }
    assert set_recovery(client, table) == on
    clock.now += 10.5
    assert described(client, table) == {**on, "LatestRestorableDateTime": moment(START + 10)}
    assert set_recovery(client, table, on=False) == off
    assert set_recovery(client, table, on=False) == off
    assert described(client, table) == off
    # The history doesn't come back.
    assert set_recovery(client, table)["EarliestRestorableDateTime"] == moment(START + 10)


def test_period(client: "DynamoDBClient", clock: Clock) -> None:
    table = make_table(client)
    set_recovery(client, table, RecoveryPeriodInDays=3)
    clock.now += 2 * DAY
    assert described(client, table)["EarliestRestorableDateTime"] == moment(START)
    clock.now += 2 * DAY
    assert described(client, table)["EarliestRestorableDateTime"] == moment(START + DAY)
    assert set_recovery(client, table, RecoveryPeriodInDays=1)["EarliestRestorableDateTime"] == moment(START + 3 * DAY)
    # A longer period doesn't bring back what is gone.
    assert set_recovery(client, table, RecoveryPeriodInDays=9)["EarliestRestorableDateTime"] == moment(START + 3 * DAY)
    clock.now += 30 * DAY
    assert described(client, table)["EarliestRestorableDateTime"] == moment(clock.now - 9 * DAY)
    # Without a period it is the longest.
    assert set_recovery(client, table)["RecoveryPeriodInDays"] == 35


def test_illegal_period(client: "DynamoDBClient") -> None:
    table = make_table(client)
    with refused(
        "1 validation error detected: Value '36' at 'pointInTimeRecoverySpecification.recoveryPeriodInDays' failed to "
        "satisfy constraint: Member must have value less than or equal to 35"
    ):
        set_recovery(client, table, RecoveryPeriodInDays=36)


def test_restore_to_a_second(client: "DynamoDBClient", clock: Clock) -> None:
    table = make_indexed_table(client)
    put_items(client, table, range(10))
    set_recovery(client, table)
    states = [contents(client, table)]
    for second in range(1, 5):
        clock.now = START + second
        client.put_item(TableName=table, Item=item(second, changed={"N": str(second)}))
        clock.now += 0.6
        client.delete_item(TableName=table, Key={name: item(second + 4)[name] for name in ("pk", "sk")})
        client.put_item(TableName=table, Item=item(100 + second))
        states.append(contents(client, table))
    for second, state in enumerate(states):
        assert restored(client, table, f"at-{second}", START + second) == state
        check_indexes(client, f"at-{second}")
    summary = client.describe_table(TableName="at-2")["Table"]["RestoreSummary"]
    assert summary == {
        "SourceTableArn": f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}",
        "RestoreDateTime": moment(START + 2),
        "RestoreInProgress": False,
    }
    assert restored(client, table, "latest") == states[-1]


def test_large_table(client: "DynamoDBClient", clock: Clock) -> None:
    table = make_indexed_table(client)
    put_items(client, table, range(LARGE))
    set_recovery(client, table)
    before = contents(client, table)
    clock.now += 10
    put_items(client, table, range(LARGE - 300, LARGE + 900))
    for number in range(0, LARGE, 5):
        client.delete_item(TableName=table, Key={name: item(number)[name] for name in ("pk", "sk")})
    after = contents(client, table)
    assert restored(client, table, "before", START) == before
    check_indexes(client, "before")
    assert restored(client, table, "after", START + 10) == after
    check_indexes(client, "after")


def test_by_arn(client: "DynamoDBClient") -> None:
    table = make_table(client, "pk", "sk:N")
    put_items(client, table, range(3))
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    client.update_continuous_backups(
        TableName=arn, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    client.restore_table_to_point_in_time(SourceTableArn=arn, TargetTableName="restored", UseLatestRestorableTime=True)
    assert contents(client, "restored") == contents(client, table)


def test_refusals(client: "DynamoDBClient", clock: Clock) -> None:
    table = make_table(client)
    with refused("Table not found: missing", "TableNotFoundException"):
        set_recovery(client, "missing")
    with refused("Table not found: missing", "TableNotFoundException"):
        client.describe_continuous_backups(TableName="missing")
    with refused("Table not found: missing", "TableNotFoundException"):
        restored(client, "missing", "restored")
    with refused(
        f"Point in time recovery is not enabled for table '{table}'", "PointInTimeRecoveryUnavailableException"
    ):
        restored(client, table, "restored")
    set_recovery(client, table)
    clock.now += 100
    for second in (START - 1, START + 101):
        with refused(INVALID_TIME, "InvalidRestoreTimeException"):
            restored(client, table, "restored", second)
    with refused(f"Table already exists: {table}", "TableAlreadyExistsException"):
        restored(client, table, table)
    both = "Exactly one of RestoreDateTime and UseLatestRestorableTime must be specified"
    with refused(both):
        client.restore_table_to_point_in_time(SourceTableName=table, TargetTableName="restored")
    with refused(both):
        client.restore_table_to_point_in_time(
            SourceTableName=table,
            TargetTableName="restored",
            RestoreDateTime=moment(START),
            UseLatestRestorableTime=True,
        )
    with refused("Exactly one of SourceTableArn and SourceTableName must be specified"):
        client.restore_table_to_point_in_time(TargetTableName="restored", UseLatestRestorableTime=True)


def test_deleted_table(client: "DynamoDBClient", engine: Engine, clock: Clock) -> None:
    """It leaves a system backup for 35 days."""
    table = make_indexed_table(client)
    put_items(client, table, range(30))
    client.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "t"})
    set_recovery(client, table)
    before = contents(client, table)
    client.delete_table(TableName=table)
    (summary,) = client.list_backups(BackupType="SYSTEM")["BackupSummaries"]
    assert summary["BackupName"] == f"{table}$DeletedTableBackup"
    assert summary["BackupExpiryDateTime"] == moment(START + 35 * DAY)
    assert client.list_backups()["BackupSummaries"] == []
    make_indexed_table(client, name=table)
    clock.now += 35 * DAY - 1
    engine.sweep_expired()
    client.restore_table_from_backup(TargetTableName="restored", BackupArn=summary["BackupArn"])
    assert contents(client, "restored") == before
    check_indexes(client, "restored")
    clock.now += 1
    with refused(f"Backup not found: {summary['BackupArn']}", "BackupNotFoundException"):
        client.describe_backup(BackupArn=summary["BackupArn"])
    assert client.list_backups(BackupType="ALL")["BackupSummaries"] == []
    rows = _sqlite_tables(engine)
    engine.sweep_expired()
    assert len(_sqlite_tables(engine)) == len(rows) - 1


def test_deleted_table_without_recovery(client: "DynamoDBClient") -> None:
    client.delete_table(TableName=make_table(client))
    assert client.list_backups(BackupType="ALL")["BackupSummaries"] == []


def _sqlite_tables(engine: Engine) -> list[str]:
    storage = engine.database._storage
    found = storage.read(lambda t: t.sql("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall())
    return sorted(str(name) for (name,) in found)


def _entries(engine: Engine, table: str) -> int:
    return engine.history_sizes()[table].changes


def test_history_is_trimmed(engine: Engine, clock: Clock) -> None:
    table = make_table(engine, "pk", "sk:N")
    set_recovery(engine, table, RecoveryPeriodInDays=1)
    put_items(engine, table, range(100))
    clock.now += DAY / 2
    put_items(engine, table, range(100, 140))
    state = contents(engine, table)
    assert _entries(engine, table) == 140
    clock.now += DAY / 2 + 1
    engine.sweep_expired()
    assert _entries(engine, table) == 40
    assert restored(engine, table, "restored", START + DAY // 2) == state
    clock.now += DAY
    engine.sweep_expired()
    assert _entries(engine, table) == 1  # its number must not be used again
    put_items(engine, table, range(140, 150))
    clock.now += 1
    assert restored(engine, table, "later", clock.now - 1) == contents(engine, table)


def test_size_of_the_history(engine: Engine) -> None:
    tables = [make_table(engine, "pk", "sk:N") for _ in range(3)]
    for table in tables[:2]:
        set_recovery(engine, table)
    engine.put_item(TableName=tables[0], Item=item(1, text={"S": "x" * 1_000}))
    assert engine.history_sizes() == {tables[0]: (1, 13), tables[1]: (0, 0)}
    engine.delete_item(TableName=tables[0], Key={name: item(1)[name] for name in ("pk", "sk")})
    size = engine.history_sizes()[tables[0]]
    assert size.changes == 2
    assert 1_000 < size.bytes < 1_300


def test_history_is_freed(engine: Engine) -> None:
    table = make_table(engine, "pk", "sk:N")
    before = _sqlite_tables(engine)
    set_recovery(engine, table)
    put_items(engine, table, range(20))
    assert len(_sqlite_tables(engine)) == len(before) + 1
    set_recovery(engine, table, on=False)
    assert _sqlite_tables(engine) == before


def test_only_what_needs_it_records_history(engine: Engine) -> None:
    """A backup of a large table records it for as long as it takes."""
    table = make_table(engine, "pk", "sk:N")
    put_items(engine, table, range(LARGE))
    assert engine.database._storage.read(lambda t: t.catalog.tables[table].history) is None
    back_up(engine, table)
    assert engine.database._storage.read(lambda t: t.catalog.tables[table].history) is None


def test_recovery_ends_during_a_restore(engine: Engine, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(engine, "pk", "sk:N")
    put_items(engine, table, range(LARGE))
    set_recovery(engine, table)
    before = contents(engine, table)
    clock.now += 5
    put_items(engine, table, range(LARGE, LARGE + 200))
    start = engine.database._maintenance.start
    monkeypatch.setattr(engine.database._maintenance, "start", lambda: None)
    engine.restore_table_to_point_in_time(
        SourceTableName=table, TargetTableName="restored", RestoreDateTime=moment(START)
    )
    set_recovery(engine, table, on=False)
    with refused(
        f"Attempt to change a resource which is still in use: Table is being backed up: {table}",
        "ResourceInUseException",
    ):
        engine.delete_table(TableName=table)
    start()
    wait_for_table(engine, "restored")
    assert contents(engine, "restored") == before
    engine.delete_table(TableName=table)
    assert engine.list_backups(BackupType="ALL")["BackupSummaries"] == []


def test_the_clock_is_set_back(client: "DynamoDBClient", clock: Clock) -> None:
    """The latest moment has everything all the same, whatever the times of some changes are."""
    table = make_table(client, "pk", "sk:N")
    set_recovery(client, table)
    put_items(client, table, range(3))
    clock.now += 3_600
    put_items(client, table, range(3, 6))
    clock.now -= 3_500
    restored = client.restore_table_to_point_in_time(
        SourceTableName=table, TargetTableName="at-once", UseLatestRestorableTime=True
    )
    assert restored["TableDescription"]["TableName"] == "at-once"
    assert contents(client, "at-once") == contents(client, table)
    put_items(client, table, range(6, 9))
    clock.now += 1
    client.restore_table_to_point_in_time(SourceTableName=table, TargetTableName="later", UseLatestRestorableTime=True)
    assert contents(client, "later") == contents(client, table)
