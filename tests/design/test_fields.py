"""Declared fields: who may set and see them, and their names and labels."""

from typing import Annotated

import pytest
from pydantic import SecretStr, ValidationError

from keyplan.design import (
    CREATE_ONLY,
    HIDDEN,
    OPEN,
    READ_ONLY,
    Count,
    Created,
    DesignError,
    Entity,
    Fields,
    Id,
    Refusal,
    Secret,
    Table,
    Ttl,
    Updated,
    Version,
    about,
    created,
    key,
    new_id,
    new_ulid,
    public,
    stored,
    updated,
)
from keyplan.design.fields.declarations import FieldAccess

table = Table("Things", key("PK", "SK"), ttl="gone_at")


class ThingFields(Fields):
    """Fields that callers set."""

    title: Annotated[str, about("Headline", "Shown in lists.", example="Hello")]
    owner_id: Annotated[Id, public("owner"), stored("Owner")]
    note: str | None = None


class Thing(ThingFields, Entity, table=table, noun="gadget", exists=Refusal("taken", "There is one.")):
    """Fields of every kind."""

    thing_id: Id = new_id()
    number: Id = new_ulid()
    chosen: Annotated[Id, CREATE_ONLY] = new_id()
    password: Secret[str]
    token: SecretStr | None = None
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0
    gone_at: Ttl | None = None
    post_count: Count = 0
    votes: Annotated[Count, OPEN] = 0
    status: Annotated[str, READ_ONLY] = "new"
    secret_note: Annotated[str, HIDDEN] = ""

    primary = key("THING#{thing_id}", "THING")


@pytest.mark.parametrize(
    ("field", "access"),
    [
        ("title", "open"),
        ("note", "open"),
        ("thing_id", "read-only"),
        ("number", "read-only"),
        ("chosen", "create-only"),
        ("password", "hidden"),
        ("token", "hidden"),
        ("created_at", "read-only"),
        ("updated_at", "read-only"),
        ("version", "read-only"),
        ("gone_at", "read-only"),
        ("post_count", "read-only"),
        ("votes", "open"),
        ("status", "read-only"),
        ("secret_note", "hidden"),
    ],
)
def test_who_may_set_and_see_a_field(field: str, access: FieldAccess) -> None:
    """Generated values are read-only and secrets are hidden by default. A declaration can override it."""
    assert Thing.spec.fields[field].access == access


def test_a_field_has_names_a_label_and_help() -> None:
    title, owner = Thing.spec.fields["title"], Thing.spec.fields["owner_id"]
    assert (title.label, title.help, title.public, title.stored) == ("Headline", "Shown in lists.", "title", "title")
    assert (owner.label, owner.help, owner.public, owner.stored) == ("Owner", None, "owner", "Owner")
    assert Thing.declared_fields["title"].examples == ["Hello"]


def test_an_entity_has_a_noun() -> None:
    class TeamMember(Entity, table=table):
        id: Id
        primary = key("MEMBER#{id}", "MEMBER")

    assert (Thing.spec.noun, TeamMember.spec.noun) == ("gadget", "team member")
    assert Thing.spec.refusal == Refusal("taken", "There is one.")


def test_an_entity_is_made_from_another_object_with_its_fields() -> None:
    class NewThing(ThingFields):
        ignored: int = 0
        chosen: str | None = None

    made = Thing.from_fields(NewThing(title="T", owner_id="ada", note=None), password=Secret("x"), status="old")
    assert (made.title, made.owner_id, made.note, made.status) == ("T", "ada", None, "old")
    assert made.chosen, "None is left out where the entity takes none, so that its default applies"
    with pytest.raises(ValidationError, match="password"):
        Thing.from_fields(NewThing(title="T", owner_id="ada"))


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(DesignError, match="noun"):

        class Wrong(Entity, tabel=table):
            pass
