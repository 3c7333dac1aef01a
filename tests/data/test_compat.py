"""Fast paths use pydantic's private interfaces. Without them, everything is the same except for the speed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from keyplan.data import Store, compat, create, delete, patch, update
from keyplan.data.codec import entities
from keyplan.data.codec.entities import EntityCodec
from keyplan.data.codec.values import decode_untyped
from keyplan.data.writes import effects
from keyplan.design import Entity, Id, Table, get, key, ref, scan
from keyplan.design import compat as switch
from keyplan.engine import Engine
from tests.data.samples import AT, CLASSES, Quick, anything, new, same, values_of

CACHES = (compat.field_validator, effects._guards)


@contextmanager
def codecs_made(*, fast: bool) -> Iterator[None]:
    """Codecs that are created inside the block use private interfaces, or none."""
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(switch, "fast_paths", fast and switch.fast_paths)
        patching.setattr(entities, "_codecs", {})
        for each in CACHES:
            each.cache_clear()
        yield
        for each in CACHES:
            each.cache_clear()


@pytest.mark.parametrize(
    ("release", "tested"),
    [
        ("2.11.0", True),
        ("2.14.3", True),
        ("2.14", True),
        ("2.10.6", False),
        ("2.15.0", False),
        ("3.0.0", False),
        ("2.14.0b1", False),
        ("2.14.0+local", False),
    ],
)
def test_fast_paths_are_used_only_with_tested_releases(release: str, tested: bool) -> None:
    assert switch.is_tested(release) is tested


@pytest.mark.parametrize("fast", [True, False])
def test_fast_paths_can_be_turned_off(fast: bool) -> None:
    with codecs_made(fast=fast):
        quickly = [each for each in CLASSES if EntityCodec(each)._read_quickly is not None]
    assert bool(quickly) is (fast and switch.fast_paths)


def stages(entity: type[Entity], values: dict[str, Any], changes: dict[str, Any]) -> list[object]:
    """What is stored and read after an item was created, updated, patched and deleted."""
    with Engine() as engine:
        store = Store(Quick(), engine, clock=lambda: AT, secret=b"of the tests")
        store.create_tables()
        seen: list[object] = []

        def carry_out(write: Any) -> Any:
            store.run(write)
            found = store.run(get(entity, id="1"))
            seen.extend((engine.scan(TableName="Quick")["Items"], found, *store.run(scan(entity)).items))
            return found

        stamps = {"at": AT} if "at" in entity.model_fields else {}
        found = carry_out(create(new(entity, {**values, **stamps})))
        for field, value in changes.items():
            setattr(found, field, value)
        found = carry_out(update(found))
        for field in {"text", "kind"} & entity.model_fields.keys():
            changed: dict[str, Any] = {field: "patched"}
            found = carry_out(patch(ref(entity, id="1"), **changed))
        carry_out(delete(found))
        return seen


@settings(max_examples=10, deadline=None)
@given(st.data())
@pytest.mark.parametrize("entity", CLASSES, ids=[each.__name__ for each in CLASSES])
def test_items_are_stored_changed_and_read_the_same_way(entity: type[Entity], data: st.DataObject) -> None:
    values, changes = data.draw(values_of(entity)), data.draw(values_of(entity))
    with codecs_made(fast=True):
        fast = stages(entity, values, changes)
    with codecs_made(fast=False):
        public = stages(entity, values, changes)
    assert same(fast, public)


def validated(validate: compat.Validate, content: object) -> object:
    try:
        return validate(content)
    except ValidationError as error:
        return [(each["type"], each["msg"]) for each in error.errors(include_url=False)]
    except TypeError as error:  # from a validator that looks at another field
        return str(error)


@settings(max_examples=40, deadline=None)
@given(st.data())
@pytest.mark.parametrize("entity", CLASSES, ids=[each.__name__ for each in CLASSES])
def test_a_field_accepts_the_same_values(entity: type[Entity], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(entity.model_fields)))
    content = decode_untyped(data.draw(anything))
    with codecs_made(fast=True):
        fast = compat.field_validator(entity, name)
    public = compat._by_model(entity, name)
    assert same(validated(fast, content), validated(public, content))


_shelves = Table("Shelves", key("PK", "SK"))


class OnShelf(Entity, table=_shelves, abstract=True):
    shelf: Id


class Thing(OnShelf):
    thing: Id

    primary = key("SHELF#{shelf}", "THING#{thing}")


@pytest.mark.parametrize("fast", [True, False])
def test_a_field_of_an_entity_whose_table_is_inherited_is_validated(fast: bool) -> None:
    with codecs_made(fast=fast):
        validate = compat.field_validator(Thing, "thing")
    assert validate("a") == "a"
    with pytest.raises(ValidationError):
        validate(1)
