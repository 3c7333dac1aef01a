"""Reads from a damaged file are correct or refused, and the file isn't changed."""

import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from keyplan.engine import Engine
from keyplan.engine.database import Database
from keyplan.engine.errors import DamagedFile, DynamoError
from keyplan.engine.storage.damage import PAGE_SIZE
from tests.engine.durability.image import (
    COLOURS,
    ITEMS,
    KEYS,
    Image,
    build,
    changed,
    flipped,
    pages,
)
from tests.engine.durability.support import TABLE, everything, server


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """One file, and no log."""
    folder = tmp_path_factory.mktemp("closed")
    build(folder / "made.db", ITEMS).close()
    main = (folder / "made.db").read_bytes()
    assert not (folder / "made.db-wal").exists()
    with_right = Database(str(folder / "made.db"))
    right = everything(with_right, KEYS, COLOURS)
    with_right.close()
    return Image(folder, main, b"", right)


def a_bit(page: bytes, chance: random.Random) -> bytes:
    return flipped(page, chance.randrange(len(page)), chance.randrange(8))


def zeros(page: bytes, chance: random.Random) -> bytes:
    return bytes(len(page))


def half_zeros(page: bytes, chance: random.Random) -> bytes:
    return page[: len(page) // 2] + bytes(len(page) // 2)


def noise(page: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(len(page))


def another_byte(page: bytes, chance: random.Random) -> bytes:
    """In the first bytes of the page, where its structure is."""
    at = chance.randrange(12)
    return changed(page, at, bytes([(page[at] + chance.randrange(1, 255)) % 256]))


@pytest.mark.parametrize("write_first", [False, True])
@pytest.mark.parametrize("damage", [a_bit, another_byte, zeros, half_zeros, noise])
def test_every_page_of_the_file(
    closed: Image, damage: Callable[[bytes, random.Random], bytes], write_first: bool
) -> None:
    chance = random.Random(damage.__name__)
    found = Counter[str]()
    for at in pages(closed.main):
        page = closed.main[at : at + PAGE_SIZE]
        main = changed(closed.main, at, damage(page, chance))
        if main != closed.main:
            found[closed.look(main, write_first=write_first)] += 1
    assert not found["wrong"]
    # Only pages that hold nothing for these reads may go unnoticed: leases, tokens, what is free.
    assert found["right"] <= (6 if not write_first else len(pages(closed.main)))
    assert found["refused"] >= len(pages(closed.main)) // 2


def test_every_bit_of_the_header(closed: Image) -> None:
    results = {closed.look(flipped(closed.main, at, bit)) for at in range(100) for bit in range(8)}
    assert results == {"refused"}


def test_truncated_file(closed: Image) -> None:
    cuts = [1, 15, 16, 99, 100, PAGE_SIZE - 1]
    cuts += [at + more for at in pages(closed.main)[1:] for more in (0, 1, PAGE_SIZE // 2, PAGE_SIZE - 1)]
    assert {closed.look(closed.main[:cut]) for cut in cuts} == {"refused"}


def test_damage_under_a_running_database(closed: Image) -> None:
    closed.write()
    database = Database(str(closed.path))
    with closed.path.open("r+b") as file:
        for at in pages(closed.main)[3:]:
            file.seek(at + PAGE_SIZE - 100)
            file.write(b"rotten")
    damaged = closed.read()
    with pytest.raises(DamagedFile, match="damaged"):
        database.execute("Scan", {"TableName": TABLE})
    requests: list[tuple[str, dict[str, object]]] = [
        ("ListTables", {}),
        ("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "a"}, "sk": {"N": "1"}}}),
        ("DescribeTable", {"TableName": TABLE}),
        ("DescribeLimits", {}),
    ]
    for operation, request in requests:
        with pytest.raises(DamagedFile):
            database.execute(operation, request)
    database.close()
    assert closed.read() == damaged


@pytest.mark.parametrize("content", [b"hello", b"x" * 100_000, bytes(PAGE_SIZE)])
def test_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match="is not a Keyplan database"):
        Database(str(path))
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["other"]


def test_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs(x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DamagedFile, match="is not a Keyplan database"):
        Database(str(path))
    assert path.read_bytes() == before


def damaged_leaf(image: Image) -> None:
    """A page of items is damaged, so that the file can be opened."""
    at = next(at for at in pages(image.main) if b"short-7" in image.main[at : at + PAGE_SIZE])
    image.write(changed(image.main, at + PAGE_SIZE - 50, b"rotten"))


def test_endpoint_refuses_with_a_clear_message(closed: Image) -> None:
    damaged_leaf(closed)
    with server(closed.path) as running:
        client = boto3.client("dynamodb", endpoint_url=running.url, config=Config(retries={"total_max_attempts": 1}))
        for _ in range(2):
            with pytest.raises(ClientError) as caught:
                client.scan(TableName=TABLE)
            assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
            assert caught.value.response["Error"]["Code"] == "InternalServerError"
            message = caught.value.response["Error"]["Message"]
            assert message.startswith("The database file is damaged. The log of the endpoint says where")
        with pytest.raises(ClientError, match="is damaged"):
            client.list_tables()
        client.close()


def test_the_log_names_the_damaged_file_and_answers_do_not(closed: Image, caplog: pytest.LogCaptureFixture) -> None:
    damaged_leaf(closed)
    database = Database(str(closed.path))
    (answer,) = database.execute_many([("Scan", {"TableName": TABLE})])
    database.close()
    assert isinstance(answer, DynamoError)
    assert answer.status == 500
    assert "image.db" not in answer.message
    assert "image.db is damaged" in caplog.text


def test_boto3_without_a_socket_refuses_with_a_clear_message(closed: Image) -> None:
    damaged_leaf(closed)
    with Engine(str(closed.path)) as engine:
        client = engine.boto3_client()
        with pytest.raises(ClientError, match="is damaged"):
            client.scan(TableName=TABLE)
        with pytest.raises(DamagedFile):
            engine.scan(TableName=TABLE)
