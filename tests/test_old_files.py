"""Database files of an older commit: they are opened, read, and found to be in order."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from keyplan.data import Store
from keyplan.design import Design, get
from keyplan.engine import Engine
from tests.old_files import over_limits, unpacked
from tools.calls import Clock
from tools.capture import BEGAN, SYSTEMS, fixture, stored_items


def store_of(system: str, engine: Engine) -> Store[Design]:
    """A system's store at the time when the file was written."""
    design: type[Design] = import_module(f"keyplan.apps.{system}.api").SYSTEM.design
    return Store(design(), engine, clock=Clock(BEGAN), secret=b"of tests")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(str(unpacked("demo.db", tmp_path_factory.mktemp("old")))) as engine:
        yield engine


@pytest.mark.parametrize("system", SYSTEMS)
def test_verify_finds_nothing_in_an_older_file(system: str, demo: Engine) -> None:
    assert store_of(system, demo).verify() == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_older_file_holds_what_it_held(system: str, demo: Engine) -> None:
    captured = fixture(system)
    assert stored_items(demo, captured["tables"]) == captured["items"]


@pytest.fixture(scope="module")
def loose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(str(unpacked("over_limits.db", tmp_path_factory.mktemp("loose")))) as engine:
        yield engine


def test_every_system_has_items_over_their_limits() -> None:
    assert {each["system"] for each in over_limits() if each["over"]} == set(SYSTEMS)


@pytest.mark.parametrize("item", over_limits(), ids=lambda item: f"{item['system']}-{item['entity']}-{item['key']}")
def test_an_item_over_its_limits_is_read_as_it_was_written(item: dict[str, Any], loose: Engine) -> None:
    store = store_of(item["system"], loose)
    (kind,) = (each for each in store.design.entities if each.__name__ == item["entity"])
    entity = store.run(get(kind, **item["key"]))
    assert entity is not None
    for name, stated in item["over"].items():
        assert _measured(getattr(entity, name)) == {key: stated[key] for key in stated if key != "limit"}


def _measured(value: Any) -> dict[str, Any]:
    if isinstance(value, str | list):
        return {"length": len(value)}
    if isinstance(value, int):
        return {"value": value}
    members = value.model_dump(exclude_none=True)
    return {"value": {name: _measured(each) for name, each in members.items()}}
