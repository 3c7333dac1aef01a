"""The page cache grows with pages that are read repeatedly, and not with those that are only written."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.engine import Engine
from keyplan.engine.storage import page_cache, storage
from tests.engine.durability.support import TABLE, definition

ITEMS = 200
TEXT = {"S": "x" * 20_000}


def kept(engine: Engine) -> int:
    """The size of the cache in KiB, as SQLite says it."""
    size: int = engine.database._storage._primary.pragma("cache_size")
    return -size


def key(number: int) -> dict[str, dict[str, str]]:
    return {"pk": {"S": f"item-{number}"}, "sk": {"N": "1"}}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A file of 4 MB with a cache of 1 MB at first."""
    monkeypatch.setattr(storage, "MINIMUM_MIB", 1)
    monkeypatch.setattr(page_cache, "CHECK_EVERY", 20)
    with Engine(str(tmp_path / "data.db")) as made:
        made.create_table(**definition())  # type: ignore[arg-type]
        for number in range(ITEMS):
            made.put_item(TableName=TABLE, Item={**key(number), "text": TEXT})
        yield made


def test_it_grows_with_what_is_missed(engine: Engine) -> None:
    assert kept(engine) == 1024
    numbers = random.Random(1)
    for _ in range(5 * ITEMS):
        found = engine.get_item(TableName=TABLE, Key=key(numbers.randrange(ITEMS)))
        assert found["Item"]["text"] == TEXT
    assert kept(engine) >= 4096


def test_tables_that_go_do_not_count(engine: Engine) -> None:
    engine.delete_table(TableName=TABLE)
    engine.create_table(**definition())  # type: ignore[arg-type]
    for number in range(ITEMS):
        engine.put_item(TableName=TABLE, Item={**key(number), "text": TEXT})
    assert kept(engine) == 1024


def test_a_large_file_has_all_of_it_at_once(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "SMALL_FILE_BYTES", 4096)
    with Engine(str(tmp_path / "data.db")) as again:
        assert kept(again) == 1024 * page_cache.maximum_mib()
