"""Entities: names of stored attributes, kinds of fields, and keys that can't be mistaken for each other."""

from datetime import datetime
from itertools import product
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from keyplan.data.codec.entities import codec_of
from keyplan.design import (
    Count,
    Created,
    Design,
    DesignError,
    Entity,
    Id,
    InvalidValue,
    Secret,
    Table,
    Ttl,
    Updated,
    Version,
    created,
    ids_from,
    key,
    make_id,
    new_id,
    on_top,
    stored,
    updated,
)
from keyplan.design.fields.declarations import stored_name

PAIRS = ["A#{x}", "A#{x}#B", "A", "{x}#{y}", "{x}"]
"""Templates for hash and range keys; the fields are ids."""


def entity_of(name: str, table: Table, hash: str, range: str) -> type[Entity]:
    """An entity with these templates for its key."""

    class Made(Entity, table=table):
        x: Id = "x"
        y: Id = "y"
        primary = key(hash, range)

    Made.__name__ = name
    return Made


TEXTS = ["".join(letters) for size in (1, 2, 3, 4, 5) for letters in product("AB#", repeat=size)]


@given(st.tuples(*[st.sampled_from(PAIRS)] * 4))
def test_two_entities_are_refused_if_an_item_could_be_either(templates: tuple[str, str, str, str]) -> None:
    table = Table("Things", key("PK", "SK"))
    first = entity_of("First", table, *templates[:2])
    second = entity_of("Second", table, *templates[2:])

    def shared(position: int) -> bool:
        both = [entity.spec.primary.parts[position].template for entity in (first, second)]
        return any(all(each is not None and each.read(text) is not None for each in both) for text in TEXTS)

    expected = shared(0) and shared(1)
    assert first.spec.may_be_mistaken_for(second.spec) is expected
    if not expected:
        type("Right", (Design,), {"tables": (table,), "entities": (first, second)})
        return
    with pytest.raises(DesignError) as caught:
        type("Wrong", (Design,), {"tables": (table,), "entities": (first, second)})
    assert caught.value.code == "ambiguous-entities"


def test_a_type_attribute_distinguishes_entities() -> None:
    table = Table("Things", key("PK"), type_attribute="EntityType")

    class First(Entity, table=table, type="FIRST"):
        id: Id
        primary = key("{id}")

    class Second(Entity, table=table, type="SECOND"):
        id: Id
        primary = key("{id}")

    class Untyped(Entity, table=table):
        id: Id
        primary = key("{id}")

    assert not First.spec.may_be_mistaken_for(Second.spec)
    assert First.spec.may_be_mistaken_for(Untyped.spec)
    first = codec_of(First).encode(First(id="1"))
    assert codec_of(First).recognizes(first)
    assert not codec_of(Second).recognizes(first)


@pytest.mark.parametrize(
    ("field", "camel", "pascal"),
    [
        ("id", "id", "Id"),
        ("published_date", "publishedDate", "PublishedDate"),
        ("s3_key", "s3Key", "S3Key"),
        ("address_line_2", "addressLine2", "AddressLine2"),
    ],
)
def test_names_of_stored_attributes(field: str, camel: str, pascal: str) -> None:
    assert stored_name(field, "as is") == field
    assert stored_name(field, "camel") == camel
    assert stored_name(field, "pascal") == pascal


class Everything(Entity, table=Table("Things", key("PK"), case="pascal", envelope="data", ttl="Expires")):
    id: Id = new_id("thing_")
    user_id: Annotated[str, stored("UserID")] = ""
    seen: Annotated[bool, on_top()] = False
    password: Secret[str] | None = None
    expires: Ttl | None = None
    count: Count = 0
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("{id}")


def test_kinds_of_fields() -> None:
    fields = Everything.spec.fields
    assert {name: field.kind for name, field in fields.items() if field.kind != "plain"} == {
        "expires": "ttl",
        "count": "count",
        "created_at": "created",
        "updated_at": "updated",
        "version": "version",
    }
    assert fields["user_id"].stored == "UserID"
    assert fields["expires"].optional
    assert fields["expires"].annotation is datetime
    assert {name for name, field in fields.items() if field.on_top} == {
        "seen",
        "expires",
        "count",
        "created_at",
        "updated_at",
        "version",
    }


def test_a_secret_is_not_shown() -> None:
    assert "hunter2" not in repr(Everything(password=Secret("hunter2")))


@pytest.mark.parametrize("value", ["", "a#b", "x" * 129])
def test_invalid_ids(value: str) -> None:
    """The limit is checked on write. An entity with such an id can still be created and read."""
    assert Everything(id=value).id == value
    with pytest.raises(InvalidValue) as refused:
        Everything.spec.limits.check({"id": value})
    assert (refused.value.place, refused.value.field) == ("Everything.id", "id")


def test_ids_sort_in_order_of_creation() -> None:
    ids = [make_id() for _ in range(5000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {(len(each), each[14]) for each in ids} == {(36, "7")}


def test_ids_come_from_the_current_id_maker() -> None:
    with ids_from(iter(["1", "2"]).__next__):
        assert [Everything().id, Everything().id] == ["thing_1", "thing_2"]
    assert len(Everything().id) == len("thing_") + 36


def test_declarations_are_inherited() -> None:
    class Base(Entity, abstract=True):
        id: Id
        primary = key("BASE#{id}")

    class Thing(Base, table=Table("Things", key("PK"))):
        name: str = ""

    assert Thing.spec.primary.fields == ("id",)
    assert Thing(id="1").key_values == {"id": "1"}


def test_an_entity_made_from_fields_leaves_out_none_where_it_is_not_allowed() -> None:
    class Sent(BaseModel):
        id: str | None = None
        user_id: str = "ada"
        other: str = "not a field of the entity"

    made, chosen = Everything.from_fields(Sent(), seen=True), Everything.from_fields(Sent(id="mine"))
    assert (made.user_id, made.seen) == ("ada", True)
    assert made.id.startswith("thing_")
    assert chosen.id == "mine"
