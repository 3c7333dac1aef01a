"""Nobody waits for what another client does: what takes long or has to wait is executed in slices, or in threads."""

import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from keyplan.engine import database as module
from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer, Later, Outcome, Request
from keyplan.engine.operations.items import paged_reads
from keyplan.engine.storage.file_creation import VFS
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.wire import serve_in_thread
from tests.engine.durability.support import GSI, TABLE, definition
from tests.engine.wire.client import Client, post

ITEMS = 3_000


def key(number: int) -> dict[str, Any]:
    return {"pk": {"S": "many"}, "sk": {"N": str(number)}}


def filled(path: str) -> Database:
    database = Database(path)
    database.execute("CreateTable", definition(stream=False))
    for first in range(0, ITEMS, 25):
        puts = [
            {
                "PutRequest": {
                    "Item": {**key(number), "colour": {"S": f"c{number % 2}"}, "weight": {"N": str(number % 7)}}
                }
            }
            for number in range(first, first + 25)
        ]
        database.execute("BatchWriteItem", {"RequestItems": {TABLE: puts}})
    return database


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("beside") / "data.db"


@pytest.fixture(scope="module")
def database(path: Path) -> Iterator[Database]:
    made = filled(str(path))
    yield made
    made.close()


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    with serve_in_thread(database) as url:
        yield url


def call(operation: str, **request: object) -> bytes:
    return post(operation, orjson.dumps(request))


GET = call("GetItem", TableName=TABLE, Key=key(7))
FEW = {
    "TableName": TABLE,
    "KeyConditionExpression": "pk = :p AND sk < :s",
    "ExpressionAttributeValues": {":p": {"S": "many"}, ":s": {"N": "3"}},
}
NOTHING_FOUND = {
    "TableName": TABLE,
    "FilterExpression": "contains(colour, :no)",
    "ExpressionAttributeValues": {":no": {"S": "x"}},
}


@contextmanager
def held_write_lock(path: Path) -> Iterator[None]:
    """As if another process wrote all the time."""
    lock = apsw.Connection(str(path), vfs=VFS)
    lock.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        lock.execute("ROLLBACK")
        lock.close()


def put(number: int, **more: object) -> Request:
    return {"TableName": TABLE, "Item": {"pk": {"S": "new"}, "sk": {"N": str(number)}}, **more}


def writes() -> list[bytes]:
    """Writes of all kinds; the last one is also a large request."""
    create = {
        "IndexName": "later",
        "KeySchema": [{"AttributeName": "weight", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    attributes = [{"AttributeName": "weight", "AttributeType": "N"}]
    large = put(999)
    large["Item"]["text"] = {"S": "x" * 100_000}  # type: ignore[index]
    return [
        call("PutItem", **put(0)),
        call("TransactWriteItems", TransactItems=[{"Put": put(number)} for number in range(1, 101)]),
        call("CreateTable", **definition("Another")),
        call(
            "UpdateTable",
            TableName=TABLE,
            AttributeDefinitions=attributes,
            GlobalSecondaryIndexUpdates=[{"Create": create}],
        ),
        call(
            "UpdateTimeToLive",
            TableName=TABLE,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
        ),
        call("PutItem", **large),
    ]


def test_reads_are_answered_while_writes_wait(url: str, path: Path) -> None:
    """They are answered before any of the writes, although these came first."""
    with Client(url) as reader:
        waiting = [Client(url) for _ in writes()]
        with held_write_lock(path):
            for client, request in zip(waiting, writes(), strict=True):
                client.send(request)
            for _ in range(20):
                assert reader.ask(GET).json["Item"] is not None
            assert reader.ask(call("Query", **FEW)).json["Count"] == 3
            assert reader.ask(call("Scan", **NOTHING_FOUND)).json["ScannedCount"] == ITEMS
            assert reader.ask(call("DescribeTable", TableName=TABLE)).status == 200
            assert reader.ask(call("BatchGetItem", RequestItems={TABLE: {"Keys": [key(1), key(2)]}})).status == 200
            assert not select.select([client.socket for client in waiting], [], [], 0)[0]
        for client in waiting:
            assert client.read().status == 200
            client.close()
        while True:  # the new index is filled meanwhile
            assert reader.ask(GET).status == 200
            described: Any = reader.ask(call("DescribeTable", TableName=TABLE)).json["Table"]
            if all(index["IndexStatus"] == "ACTIVE" for index in described["GlobalSecondaryIndexes"]):
                break
        assert reader.ask(call("Query", TableName=TABLE, **counted("new"))).json["Count"] == 102


def counted(partition: str) -> dict[str, object]:
    return {
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": partition}},
        "Select": "COUNT",
    }


def test_a_get_does_not_wait_for_a_page(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page was asked for first, and is answered last, unless the machine was too busy to send the second one."""
    monkeypatch.setattr(module, "SLICE_SECONDS", 0)
    answered_last = 0
    with Client(url) as scanner, Client(url) as reader:
        for _ in range(10):
            scanner.send(call("Scan", **NOTHING_FOUND))
            assert reader.ask(GET).status == 200
            answered_last += not select.select([scanner.socket], [], [], 0)[0]
            assert scanner.read().json["Count"] == 0
    assert answered_last


def test_reads_of_many_clients_beside_scans_and_writes(url: str) -> None:
    """A bit of everything at once; every answer is right."""
    ended = threading.Event()
    failures: list[BaseException] = []

    def until_ended(work: Any) -> threading.Thread:
        def run() -> None:
            try:
                with Client(url) as client:
                    while not ended.is_set():
                        work(client)
            except BaseException as error:  # noqa: BLE001 - shown by the test
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def scan(client: Client) -> None:
        assert client.ask(call("Scan", **NOTHING_FOUND)).json["Count"] == 0

    def transact(client: Client) -> None:
        items = [{"Put": put(number)} for number in range(1, 61)]
        assert client.ask(call("TransactWriteItems", TransactItems=items)).status == 200

    def write(client: Client) -> None:
        assert client.ask(call("PutItem", **put(0))).status == 200

    threads = [until_ended(work) for work in (scan, scan, transact, write, write)]
    try:
        with Client(url) as reader:
            for number in range(150):
                found = reader.ask(call("GetItem", TableName=TABLE, Key=key(number))).json["Item"]
                assert found["sk"] == {"N": str(number)}  # type: ignore[index]
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert failures == []


# The same on the database itself, where each step is seen.


def whole(database: Database, operation: str, request: Request) -> tuple[Answer | DynamoError, int]:
    """The outcome of a read in slices, and their number."""
    slices = 1
    (outcome,) = database.execute_now([(operation, request)])
    while isinstance(outcome, Later):
        assert outcome.place == "loop"
        outcome = outcome.go_on()
        slices += 1
    assert outcome is not None
    return outcome, slices


def plain(answer: Answer | DynamoError) -> object:
    return orjson.loads(orjson.dumps(answer))


STATEMENT = f'SELECT * FROM "{TABLE}" WHERE '
PAGES: list[tuple[str, Request]] = [
    ("Scan", {"TableName": TABLE}),
    ("Scan", {"TableName": TABLE, "Limit": 100}),
    ("Scan", {"TableName": TABLE, "Limit": 64, "ReturnConsumedCapacity": "TOTAL"}),
    ("Scan", {**NOTHING_FOUND, "Segment": 0, "TotalSegments": 2}),
    ("Scan", {"TableName": TABLE, "IndexName": GSI, "ProjectionExpression": "sk", "Limit": 500}),
    ("Query", {"TableName": TABLE, "ScanIndexForward": False, **counted("many"), "Select": "ALL_ATTRIBUTES"}),
    ("Query", {"TableName": TABLE, **counted("many"), "ReturnConsumedCapacity": "INDEXES"}),
    ("ExecuteStatement", {"Statement": STATEMENT + "weight = 3", "ReturnConsumedCapacity": "TOTAL"}),
    ("ExecuteStatement", {"Statement": STATEMENT + "pk = 'many' AND sk > 2000", "Limit": 333}),
]


@pytest.mark.parametrize(("operation", "request_"), PAGES)
def test_a_page_in_slices_is_the_same_page(
    database: Database, operation: str, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLICE_SECONDS", 0)
    monkeypatch.setattr(paged_reads, "_LOOK_BYTES", 100)
    answer, slices = whole(database, operation, request_)
    assert slices > 1
    expected = plain(database.execute(operation, request_))
    assert plain(answer) == expected


def test_a_table_that_is_deleted_between_two_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICE_SECONDS", 0)
    database = filled(":memory:")
    for again in (False, True):
        paused: Outcome | None = database.execute_now([("Scan", {"TableName": TABLE})])[0]
        assert isinstance(paused, Later)
        database.execute("DeleteTable", {"TableName": TABLE})
        if again:
            database.execute("CreateTable", definition(stream=False))
        outcome = paused.go_on()
        assert isinstance(outcome, DynamoError)
        assert outcome.code == "ResourceNotFoundException"
        assert outcome.message == "Requested resource not found"
        if not again:
            database.close()
            database = filled(":memory:")
    database.close()


@pytest.mark.parametrize("place", ["memory", "file"])
def test_nothing_waits_for_another_thread(place: str, tmp_path: Path) -> None:
    """While a thread writes, writes are for later; reads are too if the data is in memory, where there is one copy."""
    database = filled(":memory:" if place == "memory" else str(tmp_path / "data.db"))
    writing, go_on = threading.Event(), threading.Event()

    def write(transaction: Transaction) -> None:
        transaction.sql("UPDATE meta SET version = version + 1")
        writing.set()
        assert go_on.wait(20)

    thread = threading.Thread(target=database._storage.write, args=(write,))
    thread.start()
    assert writing.wait(10)
    get: Request = {"TableName": TABLE, "Key": key(1)}
    first, second, third = database.execute_now([("GetItem", get), ("PutItem", put(1)), ("GetItem", get)])
    go_on.set()
    assert isinstance(second, Later)
    assert second.place == "writes"
    for read in (first, third):
        assert isinstance(read, Later) == (place == "memory")
        found = read.go_on() if isinstance(read, Later) else read
        assert isinstance(found, dict)
        assert found["Item"] is not None
    assert database.execute_writes([second]) == [{}]
    thread.join()
    database.close()


def test_commits_that_wait_for_the_disk_are_for_later(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "data.db"), durability="full")
    database.execute("CreateTable", definition(stream=False))
    write, read = database.execute_now([("PutItem", put(1)), ("Scan", {"TableName": TABLE})])
    assert isinstance(write, Later)
    assert isinstance(read, dict)
    assert read["Count"] == 0
    assert database.execute_writes([write]) == [{}]
    database.close()


def test_closing_ends_writes_that_wait(tmp_path: Path) -> None:
    database = filled(str(tmp_path / "data.db"))
    errors: list[DynamoError] = []

    def write() -> None:
        try:
            database.execute("PutItem", put(1))
        except DynamoError as error:
            errors.append(error)

    with held_write_lock(tmp_path / "data.db"):
        thread = threading.Thread(target=write)
        thread.start()
        while not database._storage._turns._lock.locked():
            pass
        database.close()
        thread.join()
    (error,) = errors
    assert (error.code, error.status) == ("InternalServerError", 500)
    assert "could not be written" in error.message
