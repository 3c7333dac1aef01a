"""Backups that are taken while eight clients write have the table as of one moment.

Three rounds; `KEYPLAN_TEST_LONG=1` (`make test-long`) makes a hundred.
"""

import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread
from tests.engine.backups.support import (
    back_up,
    check_indexes,
    contents,
    make_indexed_table,
    put_items,
    set_recovery,
    wait_for_table,
)
from tests.engine.durability.wire import Wire

LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))
ROUNDS = 3
TABLES = 34 if LONG else 1
"""Each table has some rounds, because the writers make it larger all the time."""
CLIENTS = 8
ACCOUNTS = 600
BALANCE = 1_000


class Writer(threading.Thread):
    """Moves amounts between accounts, and puts numbered items of its own, one after the other."""

    def __init__(self, url: str, table: str, number: int) -> None:
        super().__init__()
        self.port, self.table, self.number = int(url.rpartition(":")[2]), table, number
        self.random = random.Random(number)
        self.enough = threading.Event()
        self.written = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with Wire(self.port) as wire:
                while not self.enough.is_set():
                    self.move(wire)
                    self.put(wire)
        except BaseException as error:  # noqa: BLE001 - the test raises it
            self.failure = error

    def move(self, wire: Wire) -> None:
        source, target = self.random.sample(range(ACCOUNTS), 2)
        amount = self.random.randrange(10)
        changes = [(source, -amount), (target, amount)]
        wire.call(
            "TransactWriteItems",
            TransactItems=[
                {
                    "Update": {
                        "TableName": self.table,
                        "Key": account(number),
                        "UpdateExpression": "ADD balance :by SET #r = :r",
                        "ExpressionAttributeNames": {"#r": "rank"},
                        "ExpressionAttributeValues": {
                            ":by": {"N": str(change)},
                            ":r": {"N": str(self.random.randrange(100))},
                        },
                    }
                }
                for number, change in changes
            ],
        )

    def put(self, wire: Wire) -> None:
        item = {"pk": {"S": f"writer-{self.number}"}, "sk": {"N": str(self.written)}, "grp": {"S": "own"}}
        wire.call("PutItem", TableName=self.table, Item=item)
        self.written += 1


def account(number: int) -> dict[str, dict[str, str]]:
    return {"pk": {"S": "account"}, "sk": {"N": str(number)}}


@pytest.fixture
def file_engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(str(tmp_path / "data.db")) as made:
        yield made


def check_moment(engine: Engine, table: str, before: list[int], after: list[int]) -> None:
    """The table has all of every transaction or nothing, and everything up to some moment of the backup."""
    items = contents(engine, table)
    assert sum(int(each["balance"]["N"]) for each in items if "balance" in each) == ACCOUNTS * BALANCE
    for number in range(CLIENTS):
        own = sorted(int(each["sk"]["N"]) for each in items if each["pk"]["S"] == f"writer-{number}")
        assert own == list(range(len(own)))
        assert before[number] <= len(own) <= after[number] + 1  # one more may not be acknowledged yet
    check_indexes(engine, table)


@pytest.mark.parametrize("_", range(TABLES))
def test_beside_eight_clients(file_engine: Engine, _: int) -> None:
    engine, table = file_engine, make_indexed_table(file_engine)
    put_items(engine, table, range(1_000, 2_500))
    for number in range(ACCOUNTS):
        item = {**account(number), "grp": {"S": "account"}, "rank": {"N": "0"}, "balance": {"N": str(BALANCE)}}
        engine.put_item(TableName=table, Item=item)
    with serve_in_thread(engine.database) as url:
        writers = [Writer(url, table, number) for number in range(CLIENTS)]
        for writer in writers:
            writer.start()
        try:
            for number in range(ROUNDS):
                round_of_backup(engine, table, writers)
                if number % 3 == 0:
                    round_of_recovery(engine, table, writers)
        finally:
            for writer in writers:
                writer.enough.set()
            for writer in writers:
                writer.join()
    assert [writer.failure for writer in writers] == [None] * CLIENTS


def round_of_backup(engine: Engine, table: str, writers: list[Writer]) -> None:
    before = [writer.written for writer in writers]
    started = engine.create_backup(TableName=table, BackupName="beside")["BackupDetails"]
    after = [writer.written for writer in writers]
    assert started["BackupStatus"] == "CREATING"
    arn = started["BackupArn"]
    while engine.list_backups(TableName=table)["BackupSummaries"][-1]["BackupStatus"] == "CREATING":
        threading.Event().wait(0.005)
    engine.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
    wait_for_table(engine, "restored")
    check_moment(engine, "restored", before, after)
    engine.delete_table(TableName="restored")
    engine.delete_backup(BackupArn=arn)


def round_of_recovery(engine: Engine, table: str, writers: list[Writer]) -> None:
    set_recovery(engine, table)
    before = [writer.written for writer in writers]
    engine.restore_table_to_point_in_time(
        SourceTableName=table, TargetTableName="restored", UseLatestRestorableTime=True
    )
    after = [writer.written for writer in writers]
    wait_for_table(engine, "restored")
    check_moment(engine, "restored", before, after)
    engine.delete_table(TableName="restored")
    set_recovery(engine, table, on=False)


def test_clients_dont_wait(file_engine: Engine) -> None:
    """Writes go on while a backup and a restore of 6,000 items are made."""
    table = make_indexed_table(file_engine)
    put_items(file_engine, table, range(6_000))
    done = threading.Event()

    def work() -> None:
        arn = back_up(file_engine, table)
        file_engine.restore_table_from_backup(TargetTableName="restored", BackupArn=arn)
        wait_for_table(file_engine, "restored")
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    writes = 0
    while not done.is_set():
        file_engine.put_item(TableName=table, Item={"pk": {"S": "x"}, "sk": {"N": str(writes)}})
        writes += 1
    worker.join()
    assert writes > 100
    assert len(contents(file_engine, "restored")) == 6_000
