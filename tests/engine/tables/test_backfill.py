"""Filling a new index of a large table while writes continue."""

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.storage.scopes import HOME, Place
from tests.engine.support import make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

ITEMS = 6_000
GROUPS = 7
ADD: dict[str, Any] = {
    "AttributeDefinitions": [
        {"AttributeName": "group", "AttributeType": "S"},
        {"AttributeName": "rank", "AttributeType": "N"},
    ],
    "GlobalSecondaryIndexUpdates": [
        {
            "Create": {
                "IndexName": "gsi",
                "KeySchema": [
                    {"AttributeName": "group", "KeyType": "HASH"},
                    {"AttributeName": "rank", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        }
    ],
}


def item(key: int, group: int, rank: int) -> dict[str, Any]:
    return {"pk": {"S": f"{key:05}"}, "group": {"S": f"g{group}"}, "rank": {"N": str(rank)}}


def fill(client: "DynamoDBClient", table: str, count: int = ITEMS) -> None:
    for start in range(0, count, 25):
        puts = [{"PutRequest": {"Item": item(key, key % GROUPS, key)}} for key in range(start, min(start + 25, count))]
        client.batch_write_item(RequestItems={table: puts})  # type: ignore[dict-item]


def status(client: "DynamoDBClient", table: str) -> str:
    (index,) = client.describe_table(TableName=table)["Table"]["GlobalSecondaryIndexes"]
    return index["IndexStatus"]


def wait(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.005)


def all_items(client: "DynamoDBClient", **arguments: Any) -> list[dict[str, Any]]:
    pages = client.get_paginator("scan").paginate(**arguments)
    return [found for page in pages for found in page["Items"]]


def expected(items: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    """What the index must contain, computed from the table."""
    return sorted(
        (each["group"]["S"], int(each["rank"]["N"]), each["pk"]["S"])
        for each in items
        if "S" in each.get("group", {}) and "N" in each.get("rank", {})
    )


def check_index(client: "DynamoDBClient", table: str) -> None:
    items = all_items(client, TableName=table)
    assert expected(all_items(client, TableName=table, IndexName="gsi")) == expected(items)
    for group in range(GROUPS):
        pages = client.get_paginator("query").paginate(
            TableName=table,
            IndexName="gsi",
            KeyConditionExpression="#g = :g",
            ExpressionAttributeNames={"#g": "group"},
            ExpressionAttributeValues={":g": {"S": f"g{group}"}},
        )
        ranks = [int(found["rank"]["N"]) for page in pages for found in page["Items"]]
        assert ranks == [rank for name, rank, _ in expected(items) if name == f"g{group}"]


class Writer(threading.Thread):
    """Puts, updates and deletes at random until it is stopped."""

    def __init__(self, client: "DynamoDBClient", table: str, seed: int) -> None:
        super().__init__()
        self.client, self.table = client, table
        self.random = random.Random(seed)
        self.enough = threading.Event()
        self.writes = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.enough.is_set():
                self.write()
                self.writes += 1
        except BaseException as error:  # noqa: BLE001 - the test raises it
            self.failure = error

    def write(self) -> None:
        key = self.random.randrange(ITEMS + 500)
        named: Any = {"pk": {"S": f"{key:05}"}}
        match self.random.randrange(4):
            case 0:
                made = item(key, self.random.randrange(GROUPS), self.random.randrange(10_000))
                self.client.put_item(TableName=self.table, Item=made)
            case 1:
                self.client.delete_item(TableName=self.table, Key=named)
            case 2:
                self.client.update_item(
                    TableName=self.table,
                    Key=named,
                    UpdateExpression="SET #r = :r",
                    ExpressionAttributeNames={"#r": "rank"},
                    ExpressionAttributeValues={":r": {"N": str(self.random.randrange(10_000))}},
                )
            case _:
                self.client.update_item(
                    TableName=self.table,
                    Key=named,
                    UpdateExpression="REMOVE #g SET seen = :s",
                    ExpressionAttributeNames={"#g": "group"},
                    ExpressionAttributeValues={":s": {"BOOL": True}},
                )


def test_writes_go_on_and_the_index_is_right_in_the_end(client: "DynamoDBClient") -> None:
    table = make_table(client)
    fill(client, table)
    writers = [Writer(client, table, seed) for seed in range(2)]
    for writer in writers:
        writer.start()
    try:
        client.update_table(TableName=table, **ADD)
        assert status(client, table) == "CREATING"
        before = sum(writer.writes for writer in writers)
        wait(lambda: status(client, table) == "ACTIVE")
        during = sum(writer.writes for writer in writers) - before
    finally:
        for writer in writers:
            writer.enough.set()
            writer.join()
    assert [writer.failure for writer in writers] == [None, None]
    assert during > 0
    check_index(client, table)


def test_what_is_refused_while_an_index_is_being_filled(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(engine)
    fill(engine, table, 1_500)
    # The rest of the filling waits until the test has seen what it wants to see.
    monkeypatch.setattr(engine.database._maintenance, "start", lambda: None)
    engine.update_table(TableName=table, **ADD)
    with refused("Cannot read from backfilling global secondary index: gsi"):
        engine.scan(TableName=table, IndexName="gsi")
    with refused(
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
        "LimitExceededException",
    ):
        other = {**ADD["GlobalSecondaryIndexUpdates"][0]["Create"], "IndexName": "other"}
        engine.update_table(TableName=table, **{**ADD, "GlobalSecondaryIndexUpdates": [{"Create": other}]})
    with refused(
        f"Attempt to change a resource which is still in use: Table is being updated: {table}",
        "ResourceInUseException",
    ):
        engine.delete_table(TableName=table)
    monkeypatch.undo()
    engine.database._maintenance.start()
    engine.get_waiter("table_exists").wait(TableName=table)
    wait(lambda: status(engine, table) == "ACTIVE")
    check_index(engine, table)
    engine.delete_table(TableName=table)


def test_an_index_that_replaces_a_half_filled_one_starts_over(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a step knows how far it was with the one before."""
    table = make_table(engine)
    fill(engine, table, 2_000)
    maintenance = engine.database._maintenance
    monkeypatch.setattr(maintenance, "start", lambda: None)
    engine.update_table(TableName=table, **ADD)
    steps = 0

    def write_between() -> None:
        nonlocal steps
        steps += 1
        if steps == 2:
            engine.update_table(TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "gsi"}}])
            engine.update_table(TableName=table, **ADD)

    monkeypatch.setattr("keyplan.engine.background.maintenance.time.sleep", lambda seconds: write_between())
    maintenance._fill_index(Place(HOME, table))
    assert steps > 2
    assert status(engine, table) == "ACTIVE"
    check_index(engine, table)


def test_a_file_that_was_closed_half_filled_is_filled_when_opened(tmp_path: Path) -> None:
    path = str(tmp_path / "app.db")
    with Engine(path) as engine:
        table = make_table(engine)
        fill(engine, table)
        engine.update_table(TableName=table, **ADD)
    with Engine(path) as engine:
        wait(lambda: status(engine, table) == "ACTIVE")
        check_index(engine, table)


def test_items_that_do_not_fit_the_index_are_left_out(client: "DynamoDBClient") -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item=item(1, 1, 1))
    client.put_item(TableName=table, Item={"pk": {"S": "no rank"}, "group": {"S": "g1"}})
    client.put_item(TableName=table, Item={"pk": {"S": "type"}, "group": {"N": "1"}, "rank": {"N": "1"}})
    client.put_item(TableName=table, Item={"pk": {"S": "empty"}, "group": {"S": ""}, "rank": {"N": "1"}})
    client.put_item(TableName=table, Item={"pk": {"S": "long"}, "group": {"S": "g" * 2049}, "rank": {"N": "1"}})
    client.update_table(TableName=table, **ADD)
    assert [found["pk"]["S"] for found in client.scan(TableName=table, IndexName="gsi")["Items"]] == ["00001"]
    client.put_item(TableName=table, Item={"pk": {"S": "long"}, "group": {"S": "g"}, "rank": {"N": "1"}})
    client.delete_item(TableName=table, Key={"pk": {"S": "type"}})
    assert client.scan(TableName=table, IndexName="gsi")["Count"] == 2


def test_an_index_with_several_sort_keys_holds_what_may_be_written_to_it(client: "DynamoDBClient") -> None:
    """The same items, whether they were written before it or after; a number doesn't count for the size."""
    table = make_table(client)
    keys = {"group": {"S": "g"}, "rank": {"N": "1"}, "name": {"S": "n" * 1024}}
    client.put_item(TableName=table, Item={"pk": {"S": "before"}, **keys})
    client.put_item(TableName=table, Item={"pk": {"S": "long"}, **keys, "name": {"S": "n" * 1025}})
    schema = [("group", "HASH"), ("rank", "RANGE"), ("name", "RANGE")]
    create: Any = {
        "IndexName": "gsi",
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in schema],
        "Projection": {"ProjectionType": "ALL"},
    }
    named: Any = {"AttributeName": "name", "AttributeType": "S"}
    client.update_table(
        TableName=table,
        AttributeDefinitions=[*ADD["AttributeDefinitions"], named],
        GlobalSecondaryIndexUpdates=[{"Create": create}],
    )
    client.put_item(TableName=table, Item={"pk": {"S": "after"}, **keys})
    found = client.scan(TableName=table, IndexName="gsi")["Items"]
    assert sorted(each["pk"]["S"] for each in found) == ["after", "before"]
    for gone in ("before", "after", "long"):
        client.delete_item(TableName=table, Key={"pk": {"S": gone}})
    assert client.scan(TableName=table, IndexName="gsi")["Count"] == 0
