"""Several processes on one file."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from keyplan.engine import Engine
from keyplan.engine.storage.transaction import Transaction
from tests.engine.durability.support import GSI, TABLE, definition, server

ROOT = Path(__file__).parents[3]
PROCESSES = 4


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.db"


@contextmanager
def workers(path: Path, task: str, times: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that wait for a line before they begin."""
    command = [sys.executable, "-m", "tests.engine.durability.worker", str(path), task]
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [*command, str(number), str(times)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    cwd=ROOT,
                )
            )
            for number in range(PROCESSES)
        ]
        for worker in started:
            expect(worker, "ready")
        yield started


def expect(worker: "subprocess.Popen[str]", line: str) -> None:
    assert worker.stdout is not None
    assert worker.stdout.readline() == line + "\n"


def begin(started: "list[subprocess.Popen[str]]") -> None:
    for worker in started:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()


def counter(engine: Engine, sk: int) -> str:
    key = {"pk": {"S": "shared"}, "sk": {"N": str(sk)}}
    return engine.get_item(TableName=TABLE, Key=key)["Item"]["n"]["N"]


def test_counters_are_exact(path: Path) -> None:
    """They start on a file that doesn't exist yet."""
    times = 200
    with workers(path, "count", times) as started:
        begin(started)
        for worker in started:
            expect(worker, "done")
            assert worker.wait(30) == 0
    with Engine(str(path)) as engine:
        assert counter(engine, 0) == str(PROCESSES * times)
        assert counter(engine, 1) == str(PROCESSES * times // 5)
        assert engine.scan(TableName=TABLE)["Count"] == 2 + PROCESSES * times // 5


def test_index_added_while_others_write(path: Path) -> None:
    """From the commit of the index on, every process keeps it; the rest is filled in."""
    times = 400
    with workers(path, "put", times) as started, Engine(str(path)) as engine:
        begin(started)
        while engine.scan(TableName=TABLE, Select="COUNT", Limit=50)["Count"] < 50:
            time.sleep(0.01)
        engine.update_table(
            TableName=TABLE,
            AttributeDefinitions=[{"AttributeName": "later", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[
                {
                    "Create": {
                        "IndexName": "by-later",
                        "KeySchema": [{"AttributeName": "later", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                }
            ],
        )
        for worker in started:
            expect(worker, "done")
            assert worker.wait(30) == 0
        wait_for(lambda: index_status(engine, "by-later") == "ACTIVE")
        for index in ("by-later", GSI):
            assert engine.scan(TableName=TABLE, IndexName=index, Select="COUNT")["Count"] == PROCESSES * times
        assert engine.scan(TableName=TABLE, Select="COUNT")["Count"] == PROCESSES * times


def index_status(engine: Engine, name: str) -> str:
    indexes = engine.describe_table(TableName=TABLE)["Table"]["GlobalSecondaryIndexes"]
    return next(index["IndexStatus"] for index in indexes if index["IndexName"] == name)


def wait_for(true: Any, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


@pytest.fixture
def two(path: Path) -> Iterator[tuple[Engine, Engine]]:
    """Two engines on one file, as independent as two processes."""
    with Engine(str(path)) as one, Engine(str(path)) as other:
        one.create_table(**definition())  # type: ignore[arg-type]
        yield one, other


def item(sk: int, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": "a"}, "sk": {"N": str(sk)}, **more}


def test_changes_of_tables_are_noticed_at_once(two: tuple[Engine, Engine]) -> None:
    one, other = two
    assert other.list_tables()["TableNames"] == [TABLE]
    other.put_item(TableName=TABLE, Item=item(1, later={"S": "x"}, colour={"S": "red"}))
    one.update_table(
        TableName=TABLE,
        AttributeDefinitions=[{"AttributeName": "later", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "by-later",
                    "KeySchema": [{"AttributeName": "later", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    )
    other.put_item(TableName=TABLE, Item=item(2, later={"S": "x"}))
    found = one.query(
        TableName=TABLE,
        IndexName="by-later",
        KeyConditionExpression="later = :x",
        ExpressionAttributeValues={":x": {"S": "x"}},
    )["Items"]
    assert sorted(it["sk"]["N"] for it in found) == ["1", "2"]
    other.update_table(TableName=TABLE, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-later"}}])
    one.put_item(TableName=TABLE, Item=item(3, later={"S": "x"}))
    with pytest.raises(one.exceptions.ClientError, match="does not have the specified index"):
        one.scan(TableName=TABLE, IndexName="by-later")
    one.delete_table(TableName=TABLE)
    with pytest.raises(other.exceptions.ResourceNotFoundException):
        other.put_item(TableName=TABLE, Item=item(4))
    other.create_table(**definition())  # type: ignore[arg-type]
    assert one.scan(TableName=TABLE)["Count"] == 0


def test_a_long_read_does_not_block_writers_elsewhere(two: tuple[Engine, Engine]) -> None:
    one, other = two
    one.put_item(TableName=TABLE, Item=item(1))
    reading, written = threading.Event(), threading.Event()
    counts: list[int] = []

    def read(transaction: Transaction) -> None:
        table = transaction.catalog.tables[TABLE]
        counts.append(transaction.measure(table)[0])
        reading.set()
        assert written.wait(10)
        counts.append(transaction.measure(table)[0])

    thread = threading.Thread(target=one.database._storage.read, args=(read,))
    thread.start()
    assert reading.wait(10)
    began = time.monotonic()
    other.put_item(TableName=TABLE, Item=item(2))
    assert time.monotonic() - began < 1
    written.set()
    thread.join()
    assert counts == [1, 1]
    assert one.scan(TableName=TABLE)["Count"] == 2


def test_a_write_elsewhere_does_not_block_readers(two: tuple[Engine, Engine]) -> None:
    one, other = two
    one.put_item(TableName=TABLE, Item=item(1))
    writing, read = threading.Event(), threading.Event()

    def write(transaction: Transaction) -> None:
        transaction.sql("UPDATE meta SET version = version")
        writing.set()
        assert read.wait(10)

    thread = threading.Thread(target=one.database._storage.write, args=(write,))
    thread.start()
    assert writing.wait(10)
    for engine in (one, other):
        assert engine.scan(TableName=TABLE)["Count"] == 1
    read.set()
    thread.join()


def sweeper(path: Path) -> str | None:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        owner: str | None = connection.execute("SELECT owner FROM leases").get
        return owner


def test_one_sweeper_and_its_successor(path: Path) -> None:
    interval = 0.1
    with server(path, "--ttl-interval", str(interval)) as first:
        wait_for(lambda: sweeper(path))
        owner = sweeper(path)
        with Engine(str(path), ttl_interval=interval) as engine:
            engine.create_table(**definition())  # type: ignore[arg-type]
            engine.update_time_to_live(
                TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
            )
            engine.put_item(TableName=TABLE, Item=item(1, expires={"N": str(int(time.time()) - 10)}))
            wait_for(lambda: engine.scan(TableName=TABLE)["Count"] == 0)
            time.sleep(5 * interval)
            assert sweeper(path) == owner
            first.kill()
            engine.put_item(TableName=TABLE, Item=item(2, expires={"N": str(int(time.time()) - 10)}))
            wait_for(lambda: engine.scan(TableName=TABLE)["Count"] == 0)
            assert sweeper(path) not in (owner, None)


def test_sweeper_that_is_closed_makes_room_at_once(path: Path) -> None:
    with Engine(str(path), ttl_interval=60):
        wait_for(lambda: sweeper(path))
    assert sweeper(path) is None


def test_killed_writer_leaves_the_others_at_work(path: Path) -> None:
    with workers(path, "put", 100_000) as started, Engine(str(path)) as engine:
        begin(started)
        for worker in started:
            wait_for(lambda: engine.scan(TableName=TABLE, Select="COUNT", Limit=20)["Count"] == 20)
            time.sleep(0.05)
            worker.kill()
            worker.wait()
            engine.put_item(TableName=TABLE, Item=item(1, colour={"S": "red"}, weight={"N": "1"}))
        items = count(engine)
        assert count(engine, IndexName=GSI) == items
        # One that opens the file now finds the end of the log as the killed have left it.
        with Engine(str(path)) as late:
            assert count(late) == items


def count(engine: Engine, **request: Any) -> int:
    pages = engine.get_paginator("scan").paginate(TableName=TABLE, Select="COUNT", **request)
    return sum(page["Count"] for page in pages)


def test_engine_is_refused_in_a_forked_process(path: Path) -> None:
    script = """
import os, sys
from keyplan.engine import Engine
engine = Engine(sys.argv[1])
engine.list_tables()
child = os.fork()
if child == 0:
    try:
        engine.list_tables()
    except RuntimeError as error:
        engine.close()
        with Engine(sys.argv[1]) as own:
            own.list_tables()
        os._exit(0 if "forked" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
engine.list_tables()
engine.close()
"""
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=30)
