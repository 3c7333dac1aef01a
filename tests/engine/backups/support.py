"""Tables to back up, and waiting for what maintenance does."""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tests.engine.support import index, make_table

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client
else:
    Client = object

GSI = index("by-group", "grp", projection=["rank"])
LSI = index("by-rank", "pk", "rank:N", projection="KEYS_ONLY")
LARGE = 1_300
"""More items than one step copies."""


def make_indexed_table(client: Client, **settings: Any) -> str:
    return make_table(client, "pk", "sk:N", gsis=[GSI], lsis=[LSI], **settings)


def item(number: int, **others: Any) -> dict[str, Any]:
    return {
        "pk": {"S": f"p{number % 7}"},
        "sk": {"N": str(number)},
        "grp": {"S": f"g{number % 3}"},
        "rank": {"N": str(number * 31 % 100)},
        **others,
    }


def put_items(client: Client, table: str, numbers: Iterable[int]) -> None:
    puts = [{"PutRequest": {"Item": item(number)}} for number in numbers]
    for start in range(0, len(puts), 25):
        client.batch_write_item(RequestItems={table: puts[start : start + 25]})  # type: ignore[dict-item]


def contents(client: Client, table: str, **scan: Any) -> list[dict[str, Any]]:
    """All items, in a fixed order."""
    pages = client.get_paginator("scan").paginate(TableName=table, **scan)
    found: list[dict[str, Any]] = [each for page in pages for each in page["Items"]]
    return sorted(found, key=repr)


def check_indexes(client: Client, table: str) -> None:
    """Both indexes have exactly what the items of the table say."""
    items = contents(client, table)
    names = ("pk", "sk", "grp", "rank")
    grouped = [{name: each[name] for name in names if name in each} for each in items if "grp" in each]
    assert contents(client, table, IndexName="by-group") == sorted(grouped, key=repr)
    ranked = [{name: each[name] for name in ("pk", "sk", "rank")} for each in items if "rank" in each]
    assert contents(client, table, IndexName="by-rank") == sorted(ranked, key=repr)


def wait(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.005)


def wait_for_backup(client: Client, arn: str) -> None:
    def status() -> str:
        return client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"]

    wait(lambda: status() == "AVAILABLE")


def wait_for_table(client: Client, table: str) -> None:
    wait(lambda: client.describe_table(TableName=table)["Table"]["TableStatus"] == "ACTIVE")


def back_up(client: Client, table: str, name: str = "backup") -> str:
    """Make a backup, wait until it is complete, and return its ARN."""
    arn = client.create_backup(TableName=table, BackupName=name)["BackupDetails"]["BackupArn"]
    wait_for_backup(client, arn)
    return arn


def set_recovery(client: Client, table: str, *, on: bool = True, **specification: Any) -> dict[str, Any]:
    wanted: Any = {"PointInTimeRecoveryEnabled": on, **specification}
    answer = client.update_continuous_backups(TableName=table, PointInTimeRecoverySpecification=wanted)
    return dict(answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"])


def restored(client: Client, table: str, target: str, second: float | None = None) -> list[dict[str, Any]]:
    """The content of a table at a second, or now, as a restore has it."""
    when: dict[str, Any] = {"UseLatestRestorableTime": True} if second is None else {"RestoreDateTime": second}
    client.restore_table_to_point_in_time(SourceTableName=table, TargetTableName=target, **when)
    wait_for_table(client, target)
    return contents(client, target)
