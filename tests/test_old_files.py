"""Database files of an older commit: they are opened, read, and found to be in order."""

from collections.abc import Iterator
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from keyplan.data import Store, set_stored_item, stored_item, update
from keyplan.design import Design, InvalidValue, get, scan
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


CHANGES: dict[tuple[str, str], dict[str, Any]] = {
    ("funkedupshift", "Site"): {"scraped_content": "New."},
    ("funkedupshift", "Comment"): {"display_name": "Ada"},
    ("funkedupshift", "Group"): {"permissions": ["squash:read"]},
    ("hacktracker", "User"): {"last_name": "Jones"},
    ("hacktracker", "Team"): {"name": "Falcons"},
    ("hacktracker", "Game"): {"status": "FINAL"},
    ("hacktracker", "AtBat"): {"rbi": 1},
    ("threefc", "Player"): {"user_id": "olga"},
    ("threefc", "Season"): {"ends_on": date(2026, 6, 1)},
    ("vcm", "Media"): {"filename": "new.png"},
    ("vcm", "Location"): {"name": "Halle"},
    ("vcm", "Member"): {"name": "Mona"},
    ("vcm", "Team"): {"gender": "mixed"},
    ("vcm", "News"): {"status": "draft"},
    ("vcm", "Event"): {"status": "draft"},
    ("vcm", "Sponsor"): {"name": "Bank"},
    ("wavyblog", "Post"): {"is_published": True},
}
"""A change of another field of each entity that has one."""

BROKEN = [item for item in over_limits() if item["over"]]


@pytest.mark.parametrize("system", SYSTEMS)
def test_items_over_their_limits_are_listed(system: str, loose: Engine) -> None:
    store = store_of(system, loose)
    for kind in store.design.entities:
        wanted = [item["key"] for item in BROKEN if (item["system"], item["entity"]) == (system, kind.__name__)]
        listed = [entity.key_values for entity in store.each(scan(kind))] if wanted else []
        assert [each for each in wanted if each not in listed] == []


def _longer(value: Any) -> Any:
    """A text or list with one more at its end; None for anything else."""
    match value:
        case str() if value:
            return f"{value}x"
        case list() if value:
            return [*value, value[0]]
    return None


@pytest.mark.parametrize("item", BROKEN, ids=lambda item: f"{item['system']}-{item['entity']}-{item['key']}")
def test_an_item_over_its_limits_is_changed_in_its_other_fields_only(item: dict[str, Any], tmp_path: Path) -> None:
    with Engine(str(unpacked("over_limits.db", tmp_path))) as engine:
        store = store_of(item["system"], engine)
        entity = store.run(get(store.design.entity(item["entity"]), **item["key"]))
        assert entity is not None
        for name, value in CHANGES.get((item["system"], item["entity"]), {}).items():
            setattr(entity, name, value)
            store.run(update(entity))
            assert getattr(store.run(get(type(entity), **item["key"])), name) == value
        for name in item["over"]:
            value = getattr(entity, name)
            longer = _longer(value)
            if longer is not None and name not in entity.spec.primary.fields:
                changed = entity.model_copy(update={name: longer})
                set_stored_item(changed, stored_item(entity))
                with pytest.raises(InvalidValue) as refused:
                    store.run(update(changed))
                assert refused.value.field == name


@pytest.mark.parametrize("system", SYSTEMS)
def test_verify_reports_what_is_over_its_limits(system: str, loose: Engine) -> None:
    found = [finding for finding in store_of(system, loose).verify() if finding.kind == "over-limit"]
    assert not any(finding.repairable for finding in found)
    for item in BROKEN:
        if item["system"] == system:
            for name in item["over"]:
                place = f"{item['entity']}.{name}"
                assert any(finding.problem.startswith(place) for finding in found), place
