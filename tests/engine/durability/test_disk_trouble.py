"""On a full disk, a write is refused as a whole, reads continue, and writes continue once there is space again.

The limit on the size of files (Linux) stands for the full disk.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("only Linux lets us limit a running process", allow_module_level=True)

import resource

from keyplan.engine import Engine
from keyplan.engine.storage.damage import log_of
from tests.engine.durability.support import GSI, TABLE, Server, definition, server
from tests.engine.durability.wire import Refused, Wire

BODY = {"S": "x" * 50_000}


@contextmanager
def full(running: Server, size: int) -> Iterator[None]:
    """Limit the size of files."""
    process = running.process.pid
    unlimited = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, unlimited[1]))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, unlimited)


def item(number: int) -> dict[str, object]:
    return {"pk": {"S": "a"}, "sk": {"N": str(number)}, "colour": {"S": "red"}, "weight": {"N": "1"}, "body": BODY}


def put_until_refused(wire: Wire, first: int) -> int:
    """The number of the item that was refused."""
    for number in range(first, first + 1000):
        try:
            wire.call("PutItem", TableName=TABLE, Item=item(number))
        except Refused as refused:
            refusal = refused
            break
    else:
        pytest.fail("there is room for everything")
    assert (refusal.status, refusal.code) == (500, "InternalServerError")
    assert "data.db could not be written: " in refusal.message
    return number


def check(wire: Wire, expected: int) -> None:
    """Items and index have all that was acknowledged and nothing else."""
    for index in ({}, {"IndexName": GSI}):
        found = 0
        request: dict[str, object] = {"TableName": TABLE, "Select": "COUNT", **index}
        while True:
            answer = wire.call("Scan", **request)
            found += answer["Count"]
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        assert found == expected


def test_no_room_for_the_log(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with server(path) as running, Wire(running.port) as wire:
        wire.call("CreateTable", **definition())
        with full(running, log_of(path).stat().st_size + 1_000_000):
            count = put_until_refused(wire, 0)
            assert count > 2
            check(wire, count)
            assert put_until_refused(wire, count) == count
            with pytest.raises(Refused, match="could not be written"):
                wire.call(
                    "TransactWriteItems",
                    TransactItems=[{"Put": {"TableName": TABLE, "Item": item(count + n)}} for n in range(20)],
                )
            check(wire, count)
        wire.call("PutItem", TableName=TABLE, Item=item(count))
        check(wire, count + 1)
    # It was killed: the log has what was acknowledged, whatever else was left in it.
    with server(path) as running, Wire(running.port) as wire:
        check(wire, count + 1)


def test_no_room_for_the_main_file(tmp_path: Path) -> None:
    """The log can't be copied, and grows; requests aren't affected."""
    path = tmp_path / "data.db"
    program = (
        "from keyplan.engine.storage import wal_checkpoints; wal_checkpoints.CHECKPOINT_PAGES = 200; "
        "from keyplan.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "dynamodb"]
    running = Server(path, command=command)
    try:
        with Wire(running.port) as wire:
            wire.call("CreateTable", **definition())
            for number in range(40):
                wire.call("PutItem", TableName=TABLE, Item=item(number))
            deadline = time.monotonic() + 5
            while path.stat().st_size < 1_000_000 and time.monotonic() < deadline:
                time.sleep(0.01)
            size = max(path.stat().st_size, log_of(path).stat().st_size)
            with full(running, size):
                count = put_until_refused(wire, 40)
                check(wire, count)
            for number in range(count, count + 40):
                wire.call("PutItem", TableName=TABLE, Item=item(number))
            check(wire, count + 40)
        running.process.terminate()
        assert running.process.wait(10) == 0
    finally:
        running.kill()
    with Engine(str(path)) as engine:
        assert engine.describe_table(TableName=TABLE)["Table"]["ItemCount"] == count + 40


def test_no_room_for_a_new_file(tmp_path: Path) -> None:
    script = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))\n"
        "from keyplan.cli import main\nmain()"
    )
    with pytest.raises(AssertionError, match=r"Can't open .*data\.db: "):
        Server(tmp_path / "data.db", command=[sys.executable, "-c", script, "dynamodb"])
    assert list(tmp_path.iterdir()) == []


def test_refusal_in_process(tmp_path: Path) -> None:
    """The exception is the one that boto3 has for a failure of the service."""
    path = tmp_path / "data.db"
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Engine(str(path)) as engine:
        engine.create_table(**definition())  # type: ignore[arg-type]
        resource.setrlimit(resource.RLIMIT_FSIZE, (log_of(path).stat().st_size + 10_000, unlimited[1]))
        try:
            with pytest.raises(engine.exceptions.InternalServerError, match="could not be written"):
                engine.put_item(TableName=TABLE, Item=item(1))  # type: ignore[arg-type]
            assert engine.scan(TableName=TABLE)["Count"] == 0
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        engine.put_item(TableName=TABLE, Item=item(1))  # type: ignore[arg-type]
        assert engine.scan(TableName=TABLE)["Count"] == 1
