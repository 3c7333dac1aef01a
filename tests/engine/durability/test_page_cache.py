"""The page cache grows with pages that are read repeatedly, and not with those that are only written."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.engine import Engine
from keyplan.engine.storage import limits, page_cache, storage
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
        assert kept(again) == 1024 * limits.cache_mib()


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("0::/\n", {"memory.max": "536870912\n"}, [536870912]),
        ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "1000\n", "memory.max": "2000\n"}, [1000, 2000]),
        ("5:cpu:/x\n4:memory:/x\n", {"memory/x/memory.limit_in_bytes": "3000\n"}, [3000]),
        ("4:memory,hugetlb:/y\n", {"memory/memory.limit_in_bytes": "9223372036854771712\n"}, [9223372036854771712]),
        ("0::/\n", {}, []),
    ],
)
def test_limits_of_control_groups(tmp_path: Path, membership: str, files: dict[str, str], expected: list[int]) -> None:
    (tmp_path / "membership").write_text(membership)
    for name, text in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(text)
    assert limits._cgroup_limits(tmp_path / "membership", tmp_path / "groups") == expected
    assert limits._cgroup_limits(tmp_path / "none", tmp_path / "groups") == []


def test_cache_of_a_small_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memory", lambda: 64 * 2**20)
    assert limits.cache_mib() == 8
    with Engine(str(tmp_path / "data.db")) as engine:
        assert kept(engine) == 8 * 1024
    monkeypatch.setenv("KEYPLAN_CACHE_MIB", "3")
    with Engine(str(tmp_path / "data.db")) as engine:
        assert kept(engine) == 3 * 1024


@pytest.mark.parametrize("wrong", ["0", "-1", "much", "1.5"])
def test_wrong_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("KEYPLAN_CACHE_MIB", wrong)
    with pytest.raises(ValueError, match=f"KEYPLAN_CACHE_MIB is '{wrong}'. Set it to a number of MiB, at least 1."):
        Engine(str(tmp_path / "data.db"))


def test_a_log_limit_that_is_too_low(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPLAN_LOG_LIMIT_MIB", "63")
    with pytest.raises(ValueError, match="Set it to a number of MiB, at least 64"):
        Engine(str(tmp_path / "data.db"))
