"""GetItem while others scan, hold the write lock, enable time to live, add an index or back up: nobody should wait."""

from __future__ import annotations

import json
import shutil
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from bench.engine import cache
from bench.engine.cache import Unavailable
from bench.engine.over_wire import WireContender, skip
from bench.engine.rounds import Plan, say
from bench.engine.servers import OURS, Launch, Running, Server, keyplan_command
from bench.engine.wire import Sample, call, encode, operation_file, seed_file
from bench.engine.workload import READS, Json, OperationName, Request, Workload, fresh_numbers, read_once, table_request

CLIENTS = (1, 8)
SETTLE_SECONDS = 0.2
FILTER: Request = {
    "TableName": READS,
    "Select": "COUNT",
    "FilterExpression": "contains(note, :word) AND version > :most",
    "ExpressionAttributeValues": {":word": {"S": "amber"}, ":most": {"N": "1000"}},
}
Load: TypeAlias = "Callable[[Bench], Iterator[None]]"
Samples: TypeAlias = "dict[tuple[str, int], list[Sample]]"


class Bench:
    """A server with a large table, and the one client that gets items from it."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        workload = Workload(size)
        self._folder = path.parent
        files: dict[OperationName, Path] = {"get": operation_file(self._folder, workload, "get")}
        self.running = Running(_server(path), cache.scratch("beside-server"))
        self.contender = WireContender(self.running, cache.load_client(), files)

    def fill(self, size: int) -> None:
        began = time.perf_counter()
        call(self.running.port, "CreateTable", table_request(READS))
        self.contender.fill(*seed_file(self._folder, Workload(size)))
        say(f"beside: {size:,} items in {time.perf_counter() - began:.0f} s")


def measure(size: int, plan: Plan, skipped: dict[str, str]) -> Samples:
    """GetItem's times by what happens beside it and by the number of clients that get items."""
    folder = cache.scratch("beside")
    samples: Samples = {}
    try:
        bench = Bench(folder / "beside.db", size)
        try:
            bench.fill(size)
            read_once(lambda request: call(bench.running.port, "Scan", request))
            for _ in range(plan.rounds):
                for name, load in LOADS.items():
                    for clients in CLIENTS:
                        samples.setdefault((name, clients), []).append(_beside(bench, load, clients, plan.seconds))
        finally:
            bench.running.stop()
    except Unavailable as reason:
        skip(skipped, f"{OURS} beside", str(reason))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return samples


def _beside(bench: Bench, load: Load, clients: int, seconds: float) -> Sample:
    with contextmanager(load)(bench):
        time.sleep(SETTLE_SECONDS)
        return bench.contender.measure("get", clients, max(seconds, 2.0))


def nothing(bench: Bench) -> Iterator[None]:
    yield


def two_scans(bench: Bench) -> Iterator[None]:
    yield from _together([_scanning, _scanning], bench)


def transactions(bench: Bench) -> Iterator[None]:
    yield from _together([_transacting], bench)


def held_lock(bench: Bench) -> Iterator[None]:
    """Another process holds the write lock, and a client wants to write."""
    lock = sqlite3.connect(bench.path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        yield from _together([_putting], bench, finish=lambda: lock.execute("ROLLBACK"))
    finally:
        lock.close()


def time_to_live(bench: Bench) -> Iterator[None]:
    yield from _together([_switching_ttl], bench)


def new_index(bench: Bench) -> Iterator[None]:
    yield from _together([_adding_index], bench)


def backup(bench: Bench) -> Iterator[None]:
    yield from _together([_backing_up], bench)


LOADS: dict[str, Load] = {
    "nothing": nothing,
    "two scans with a filter": two_scans,
    "transactions of 100": transactions,
    "a held write lock": held_lock,
    "time to live switched on and off": time_to_live,
    "an index that is filled": new_index,
    "a backup": backup,
}


def _together(
    works: list[Callable[[Bench, threading.Event], None]], bench: Bench, finish: Callable[[], object] | None = None
) -> Iterator[None]:
    ended = threading.Event()
    threads = [threading.Thread(target=work, args=(bench, ended)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if finish:
            finish()
        for thread in threads:
            thread.join()


def _scanning(bench: Bench, ended: threading.Event) -> None:
    """Page after page over one connection, with a filter that finds nothing."""
    with socket.create_connection(("127.0.0.1", bench.running.port)) as connection, connection.makefile("rb") as reader:
        request = FILTER
        while not ended.is_set():
            answer = _ask(connection, reader, "Scan", request)
            start = cast("dict[str, Json] | None", answer.get("LastEvaluatedKey"))
            request = FILTER if start is None else {**FILTER, "ExclusiveStartKey": start}


def _ask(connection: socket.socket, reader: BinaryIO, api: str, request: Request) -> dict[str, object]:
    connection.sendall(encode(api, request))
    length = 0
    while (line := reader.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    decoded: dict[str, object] = json.loads(reader.read(length))
    return decoded


def _transacting(bench: Bench, ended: threading.Event) -> None:
    workload, fresh = Workload(1_000), fresh_numbers(1)
    while not ended.is_set():
        puts: list[Json] = []
        for _ in range(100):
            item = cast("dict[str, Json]", workload.build("put", fresh)["Item"])
            puts.append({"Put": {"TableName": READS, "Item": item}})
        call(bench.running.port, "TransactWriteItems", {"TransactItems": puts})


def _putting(bench: Bench, ended: threading.Event) -> None:
    item: Request = {"pk": {"S": "HELD"}, "sk": {"S": "HEAD"}}
    call(bench.running.port, "PutItem", {"TableName": READS, "Item": item}, seconds=120)


def _switching_ttl(bench: Bench, ended: threading.Event) -> None:
    enabled = True
    while not ended.is_set() or not enabled:
        wanted: Request = {"Enabled": enabled, "AttributeName": "version"}
        call(bench.running.port, "UpdateTimeToLive", {"TableName": READS, "TimeToLiveSpecification": wanted})
        enabled = not enabled


def _adding_index(bench: Bench, ended: threading.Event) -> None:
    create: Request = {
        "IndexName": "by_status",
        "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    call(
        bench.running.port,
        "UpdateTable",
        {
            "TableName": READS,
            "AttributeDefinitions": [{"AttributeName": "status", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": create}],
        },
    )
    ended.wait()
    while "CREATING" in json.dumps(call(bench.running.port, "DescribeTable", {"TableName": READS})):
        time.sleep(0.2)
    delete: Request = {"TableName": READS, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_status"}}]}
    call(bench.running.port, "UpdateTable", delete)


def _backing_up(bench: Bench, ended: threading.Event) -> None:
    """One backup, which at 1,000,000 items takes longer than the measuring."""
    made = call(bench.running.port, "CreateBackup", {"TableName": READS, "BackupName": "beside"})["BackupDetails"]
    named: Request = {"BackupArn": cast("dict[str, Json]", made)["BackupArn"]}
    while "CREATING" in json.dumps(call(bench.running.port, "DescribeBackup", named)):
        time.sleep(0.2)
    call(bench.running.port, "DeleteBackup", named)


def _server(path: Path) -> Server:
    def launch(port: int, folder: Path) -> Launch:
        return Launch([keyplan_command(), "dynamodb", "--port", str(port), "--path", str(path)])

    return Server(OURS, "disk", launch)
