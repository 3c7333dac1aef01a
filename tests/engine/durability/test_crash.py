"""If the endpoint is killed at any moment, it has every acknowledged write, and nothing half written.

Twenty times: clients write, the endpoint is killed, started again, and looked through: items, indexes, streams.
"""

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from keyplan.engine import Engine
from tests.engine.durability.support import Server
from tests.engine.durability.wire import Wire
from tests.engine.durability.writers import EXTRA, TABLES, IndexChanger, Item, State, Writer, create_tables, place

ROUNDS = int(os.environ.get("KEYPLAN_CRASH_ROUNDS", "20"))
WRITERS = 4

# Copying the log into the main file after so few pages has it killed in the middle of that, too.
COMMAND = [
    sys.executable,
    "-c",
    """
import sys
from keyplan.cli import main
from keyplan.engine.storage import wal_checkpoints
wal_checkpoints.CHECKPOINT_PAGES = int(sys.argv.pop(1))
main()
""",
]


class Verifier:
    """Checks all content, and follows the streams from crash to crash."""

    def __init__(self) -> None:
        self._replayed: State = {}
        self._last: dict[str, str] = {}

    def check(self, wire: Wire) -> State:
        found: State = {}
        for table in TABLES:
            items = pages(wire, "Scan", TableName=table)
            found.update({place(table, item): item for item in items})
            self._check_indexes(wire, table, items)
            self._follow_stream(wire, table)
        assert self._replayed == found
        return found

    def _check_indexes(self, wire: Wire, table: str, items: list[Item]) -> None:
        grouped = ordered(item for item in items if "grp" in item)
        assert ordered(pages(wire, "Scan", TableName=table, IndexName="by-group")) == grouped
        assert ordered(pages(wire, "Scan", TableName=table, IndexName="local")) == grouped
        for group in {item["grp"]["S"] for item in grouped}:
            values = {":g": {"S": group}}
            by_query = pages(
                wire,
                "Query",
                TableName=table,
                IndexName="by-group",
                KeyConditionExpression="grp = :g",
                ExpressionAttributeValues=values,
            )
            assert ordered(by_query) == [item for item in grouped if item["grp"]["S"] == group]
        if EXTRA in active_indexes(wire, table):
            keys = [{name: item[name] for name in ("pk", "sk", "step")} for item in ordered(items) if "step" in item]
            assert ordered(pages(wire, "Scan", TableName=table, IndexName=EXTRA)) == keys

    def _follow_stream(self, wire: Wire, table: str) -> None:
        """The records since the last check lead from the items before to the items now."""
        arn = wire.call("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
        shard = wire.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        last = self._last.get(table)
        start = (
            {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": last}
            if last
            else {"ShardIteratorType": "TRIM_HORIZON"}
        )
        iterator = wire.call("GetShardIterator", StreamArn=arn, ShardId=shard, **start)["ShardIterator"]
        while records := (answer := wire.call("GetRecords", ShardIterator=iterator))["Records"]:
            for record in records:
                change = record["dynamodb"]
                assert change["SequenceNumber"] > self._last.get(table, "")
                self._last[table] = change["SequenceNumber"]
                at = place(table, change["Keys"])
                assert (at in self._replayed) == (record["eventName"] != "INSERT")
                if record["eventName"] == "REMOVE":
                    del self._replayed[at]
                else:
                    self._replayed[at] = change["NewImage"]
            iterator = answer["NextShardIterator"]


def pages(wire: Wire, operation: str, **request: Any) -> list[Item]:
    items: list[Item] = []
    while True:
        answer = wire.call(operation, **request)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return items
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def ordered(items: Any) -> list[Item]:
    return sorted(items, key=lambda item: (item["pk"]["S"], int(item["sk"]["N"])))


def active_indexes(wire: Wire, table: str) -> list[str]:
    """The indexes, all of them filled."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        indexes = wire.call("DescribeTable", TableName=table)["Table"]["GlobalSecondaryIndexes"]
        if all(index["IndexStatus"] == "ACTIVE" for index in indexes):
            return [index["IndexName"] for index in indexes]
        time.sleep(0.02)
    pytest.fail("an index is never filled")


def start(path: Path, durability: str, checkpoint_pages: int) -> Server:
    return Server(path, "--durability", durability, command=[*COMMAND, str(checkpoint_pages), "dynamodb"])


def write_until_killed(running: Server, writers: list[Writer | IndexChanger], seconds: float) -> None:
    threads = [threading.Thread(target=writer.run, args=(running.port,)) for writer in writers]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    running.kill()
    for thread in threads:
        thread.join()


def test_acknowledged_writes_survive_kill(tmp_path: Path) -> None:
    chance = random.Random()
    writers = [Writer(number, chance.randrange(10**9)) for number in range(WRITERS)]
    changer = IndexChanger(chance.randrange(10**9))
    verifier = Verifier()
    path = tmp_path / "data.db"
    for number in range(ROUNDS):
        running = start(path, "full" if number % 5 == 4 else "normal", chance.choice((20, 100, 4096)))
        try:
            with Wire(running.port) as wire:
                if number == 0:
                    create_tables(wire)
                found = verifier.check(wire)
            for writer in writers:
                writer.settle(found)
            write_until_killed(running, [*writers, changer], chance.uniform(0.02, 0.3))
        finally:
            running.kill()
    running = start(path, "normal", 4096)
    try:
        with Wire(running.port) as wire:
            found = verifier.check(wire)
        for writer in writers:
            writer.settle(found)
    finally:
        running.kill()
    assert sum(writer.written for writer in writers) > 20 * ROUNDS
    assert changer.changes


def test_sigterm_leaves_one_file(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    running = Server(path)
    with Wire(running.port) as wire:
        create_tables(wire)
    running.process.terminate()
    assert running.process.wait(10) == 0
    running.kill()
    assert [file.name for file in tmp_path.iterdir()] == ["data.db"]


def test_process_that_ends_without_closing(tmp_path: Path) -> None:
    """An engine that wasn't closed has lost nothing."""
    path = tmp_path / "data.db"
    script = (
        "import sys\nfrom keyplan.engine import Engine\nengine = Engine(sys.argv[1])\n"
        "engine.create_table(TableName='things', BillingMode='PAY_PER_REQUEST', KeySchema=[{'AttributeName': 'pk', "
        "'KeyType': 'HASH'}], AttributeDefinitions=[{'AttributeName': 'pk', 'AttributeType': 'S'}])\n"
        "engine.put_item(TableName='things', Item={'pk': {'S': 'a'}})\n"
    )
    for ending in ("", "import os; os._exit(3)", "raise SystemExit(3)"):
        path.unlink(missing_ok=True)
        subprocess.run([sys.executable, "-W", "error", "-c", script + ending, str(path)], check=False, timeout=30)
        with Engine(str(path)) as engine:
            assert engine.scan(TableName="things")["Count"] == 1
