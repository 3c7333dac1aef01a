"""Inside `collecting()`, errors in declarations are recorded, and the rest of the declaration is kept."""

from pathlib import Path
from typing import Annotated, Any

import pytest

from keyplan.design import (
    Count,
    Design,
    DesignError,
    Entity,
    Get,
    Id,
    Lookup,
    Query,
    Ref,
    Table,
    belongs_to,
    collecting,
    counts,
    derived,
    expect,
    get,
    key,
    lookup,
    pattern,
    query,
    ref,
    stored,
    unique,
)
from tests.design import test_errors, test_vectors, test_words

WRONG: list[tuple[Any, ...]] = [*test_errors.WRONG, *test_words.WRONG, *test_vectors.WRONG]

SECOND = {
    "key-type": {"Thing.found_by": [("key-type", "Thing.stars")]},
    "large-parts": {"Beside.primary": [("ambiguous-entities", "Owner and Beside")]},
}
"""Declarations with a second error, by the code and place of the first."""


@pytest.mark.parametrize("wrong", WRONG, ids=[each[-1].__name__ for each in WRONG])
def test_an_error_is_recorded_once_and_nothing_that_follows_from_it(wrong: tuple[Any, ...]) -> None:
    code, place, *_, declaration = wrong
    with collecting() as errors:
        try:
            declaration()
        except DesignError as error:
            errors.append(error)
    assert [(each.code, each.place) for each in errors] == [(code, place), *SECOND.get(code, {}).get(place, [])]
    assert errors[0].file == (declaration.__code__.co_filename if errors[0].line else None)


def place_with_errors() -> type[Design]:
    """A design with one error in each of several parts."""
    table = Table(
        "Places",
        key("PK", "SK"),
        indexes={"GSI1": key("GSI1PK:BOOL", "GSI1SK"), "GSI2": key("GSI2PK", "GSI2SK")},
        recovery=99,
    )

    class Town(Entity, table=table, expected=expect(items=-1, size=200)):
        town_id: Id
        people: int
        houses: Count = 0
        code: Annotated[str, stored("PK")] = ""

        primary = key("TOWN#{town_id}", "TOWN")
        by_people = table.GSI2("TOWNS", "{people}")
        by_county = table.GSI1("COUNTY#{county}", "{town_id}")
        by_river = table.GSI7("RIVER#{river}")
        code_guard = unique("CODE#{postcode}")

    class Street(Entity, table=table):
        town_id: Id
        name: Id

        primary = key("TOWN#{town_id}")

    class House(Entity, table=table):
        town_id: Id
        number: Id

        primary = key("TOWN#{town_id}", "HOUSE#{number}")
        by_number = table.GSI2("HOUSES", "{number}")

        @belongs_to(on_delete="refuse", count="houses")
        def town(self) -> Ref[Town]:
            return ref(Town, town_id=self.town_id)

        @belongs_to(on_delete="cascade")
        def street(self) -> Ref[Street]:
            return ref(Street, town_id=self.town_id, name=self.number)

        @counts("doors")
        def doors(self) -> Ref[Town]:
            return ref(Town, town_id=self.town_id)

        @derived
        def signs(self) -> list[Street]:
            return []

    class Places(Design):
        tables = (table,)
        entities = (Town, Street, House)
        tenant_field = "county"

        @pattern("Get town")
        def town(self, town_id: str) -> Get[Town]:
            return get(Town, town_id=town_id)

        @pattern("Get street")
        def street(self, town_id: str) -> Get[Street]:
            return get(Street, town_id=town_id)

        @pattern("Towns by people")
        def by_people(self) -> Query[Town]:
            return query(Town.by_people, newest_first=True)

        @pattern("Towns of a county")
        def by_county(self, county: str) -> Query[Town]:
            return query(Town.by_county, county=county)

        @pattern("Towns by a river")
        def by_river(self, river: str) -> Query[Town]:
            return query(Town.by_river, river=river)

        @pattern("Town by code")
        def by_code(self, code: str) -> Lookup[Town]:
            return lookup(Town.code_guard, postcode=code)

        @pattern("Houses with a number")
        def by_number(self, number: str) -> Query[House]:
            return query(House.by_number, number=number, consistent=True)

        @pattern("Houses")
        def houses(self) -> Query[House]:
            return query(House.by_number)

    return Places


TOWN = "class Town(Entity, table=table, expected=expect(items=-1, size=200)):"


def test_everything_that_is_wrong_is_listed_once_with_its_line() -> None:
    with collecting() as errors:
        place_with_errors()
    lines = Path(__file__).read_text("utf-8").splitlines()
    assert {each.file for each in errors} == {__file__}
    assert [(each.code, each.place, lines[(each.line or 0) - 1].strip()) for each in errors] == [
        ("key-type", "Places.GSI1", "table = Table("),
        ("recovery", "Places", "table = Table("),
        ("expectation", "expect.items", TOWN),
        ("no-such-index", "Places.GSI7", 'by_river = table.GSI7("RIVER#{river}")'),
        (
            "unpadded-number",
            "Town.by_people.people",
            TOWN,
        ),
        ("no-such-field", "Town.code_guard", TOWN),
        ("lost-value", "Town.code", TOWN),
        ("key-parts", "Street.primary", "class Street(Entity, table=table):"),
        ("counter", "House.doors", "class Places(Design):"),
        ("tenant-field", "Places.tenant_field", "class Places(Design):"),
        ("consistent-index", "House.by_number", "return query(House.by_number, number=number, consistent=True)"),
    ]
    assert [each.pattern for each in errors if each.pattern] == ["by_number"]


def test_what_has_no_errors_is_kept() -> None:
    with collecting():
        places = place_with_errors()
    (table,) = places.tables
    assert list(table.by_name) == ["GSI2"]
    town, house = places.entities
    assert (town.__name__, house.__name__) == ("Town", "House")
    assert town.spec.expected is not None
    assert town.spec.expected.size == 200
    assert list(house.spec.placements) == ["by_number"]
    assert [parent.name for parent in house.spec.parents] == ["town"]
    assert list(places.patterns) == ["town", "houses"]


def test_what_has_errors_can_not_be_used() -> None:
    with collecting():
        table = Table("Things", key("PK"))

        class Thing(Entity, table=table):
            thing_id: Id

    with pytest.raises(DesignError, match=r"^Thing: it is used, and its declaration has errors\. Fix these first\."):
        get(Thing, thing_id="1")


def test_outside_the_first_error_is_raised() -> None:
    with pytest.raises(DesignError) as caught:
        place_with_errors()
    assert (caught.value.code, caught.value.place) == ("key-type", "Places.GSI1")
