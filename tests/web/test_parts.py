"""Models that are part of an entity, in bodies and answers; and limits that are only checked on write."""

from datetime import UTC, datetime
from typing import Annotated

import pytest
from pydantic import Field, JsonValue, StringConstraints, ValidationError

from keyplan.design import Entity, Fields, Id, InvalidValue, Link, Table, key, limit, new_id
from keyplan.web import Change, In, Out

Short = Annotated[str, StringConstraints(min_length=1, max_length=5)]


def _is_small(document: dict[str, JsonValue]) -> None:
    if len(document) > 1:
        raise ValueError("too many names")


class Address(Fields):
    """The address of a place."""

    street: Short | None = None


class PlaceFields(Fields):
    address: Address | None = None
    former: list[Address] = Field(default_factory=list)
    notes: Annotated[dict[str, JsonValue], limit(_is_small, in_bodies=False)] | None = None
    website: Link | None = None
    opened: datetime = datetime(2026, 1, 1, tzinfo=UTC)


class Place(PlaceFields, Entity, table=Table("places", key("id"))):
    """A place."""

    id: Id = new_id()

    primary = key("{id}")


class NewPlace(PlaceFields, In):
    """The body for creating a place."""


class PlaceChange(Change[PlaceFields]):
    """A partial change of a place."""


class PlaceOut(PlaceFields, Out):
    """An answer with a place."""


@pytest.mark.parametrize("body", [NewPlace, PlaceChange])
@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"address": {"town": "Ulm"}}, ("address", "town")),
        ({"address": {"street": "123456"}}, ("address", "street")),
        ({"former": [{"street": "a"}, {"town": "Ulm"}]}, ("former", 1, "town")),
    ],
)
def test_a_part_of_a_body_is_as_strict_as_the_body(
    body: type[In], given: dict[str, object], where: tuple[str | int, ...]
) -> None:
    with pytest.raises(ValidationError) as refused:
        body.model_validate(given)
    assert [each["loc"] for each in refused.value.errors()] == [where]


def test_a_part_is_stored_and_shown_as_it_was_sent() -> None:
    place = Place.from_fields(NewPlace.model_validate({"address": {"street": " Weg "}}))
    assert isinstance(place.address, Address)
    assert PlaceOut.from_fields(place).model_dump(include={"address"}) == {"address": {"street": "Weg"}}


def test_a_part_over_its_limits_is_shown_but_not_written() -> None:
    place = Place.model_validate({"id": "a", "address": {"street": "too long"}})
    assert PlaceOut.from_fields(place).model_dump_json(include={"address"}) == '{"address":{"street":"too long"}}'
    with pytest.raises(InvalidValue, match="at most 5"):
        Place.spec.limits.check(place.__dict__)


def test_bodies_and_answers_have_their_own_names_in_the_document() -> None:
    sent, shown = NewPlace.model_json_schema(), PlaceOut.model_json_schema(mode="serialization")
    assert sent["$defs"]["AddressIn"]["additionalProperties"] is False
    assert sent["$defs"]["AddressIn"]["properties"]["street"]["anyOf"][0]["maxLength"] == 5
    assert shown["$defs"]["Address"]["properties"]["street"]["anyOf"][0] == {"type": "string"}
    assert "pattern" in sent["properties"]["website"]["anyOf"][0]
    assert shown["properties"]["website"]["anyOf"][0] == {"type": "string"}


def test_a_body_that_inherits_from_another_has_the_same_parts() -> None:
    class NewHouse(NewPlace):
        floors: int

    assert NewHouse.model_fields["address"].annotation == NewPlace.model_fields["address"].annotation
    assert list(NewHouse.model_json_schema()["$defs"]) == list(NewPlace.model_json_schema()["$defs"])


def test_a_limit_that_the_service_checks_is_checked_on_write() -> None:
    given = {"notes": {"a": 1, "b": 2}}
    place = Place.from_fields(NewPlace.model_validate(given))
    assert PlaceChange.model_validate(given).values == given
    with pytest.raises(InvalidValue, match="too many names"):
        Place.spec.limits.check(place.__dict__)


def test_a_change_reads_json_strictly_and_refuses_null() -> None:
    """JSON text is read as a time if the field is one; nothing else is converted."""
    change = PlaceChange.model_validate_json('{"opened": "2030-01-01T00:00:00Z"}', strict=True)
    assert change.values == {"opened": datetime(2030, 1, 1, tzinfo=UTC)}
    with pytest.raises(ValidationError) as refused:
        PlaceChange.model_validate_json('{"opened": null}', strict=True)
    assert [(each["type"], each["loc"]) for each in refused.value.errors()] == [("required", ("opened",))]
    assert PlaceChange.model_json_schema()["properties"]["opened"]["type"] == "string"
