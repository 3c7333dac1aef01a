"""Vectors in designs: fields, indexes, searches, and what is refused when they are declared."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import pytest

from keyplan.data import create_table_requests
from keyplan.design import (
    KEYS_ONLY,
    Design,
    DesignError,
    Entity,
    Id,
    InvalidValue,
    Nearest,
    Table,
    include,
    key,
    nearest,
    pattern,
    vector,
    vector_index,
)


@contextmanager
def refused(code: str, place: str) -> Iterator[None]:
    """Expect a design error with this code at this place."""
    with pytest.raises(DesignError) as caught:
        yield
    assert (caught.value.code, caught.value.place) == (code, place)


Meaning = Annotated[tuple[float, ...], vector(3)]
TEXT = include("text")
notes = Table(
    "Notes",
    key("PK", "SK"),
    type_attribute="type",
    vectors={
        "ByMeaning": vector_index(
            "meaning", 3, partition="team", filters=["stars:N", "type"], projection=include("text")
        ),
        "BySound": vector_index("sound", 2, distance="dot product", projection=KEYS_ONLY),
    },
)


class Note(Entity, table=notes, type="NOTE"):
    note_id: Id
    team: Id
    stars: int = 0
    text: str = ""
    meaning: Meaning
    sound: Annotated[tuple[float, ...], vector(2)] | None = None

    primary = key("NOTE#{note_id}", "NOTE")
    by_meaning = notes.nearest_by("ByMeaning")
    by_sound = notes.nearest_by("BySound")


def test_tables_are_created_with_their_vector_indexes() -> None:
    class Notes(Design):
        tables = (notes,)
        entities = (Note,)

    request = next(request for request, _ in create_table_requests(Notes()))
    assert request["VectorIndexes"] == [
        {
            "IndexName": "ByMeaning",
            "VectorAttribute": {"AttributeName": "meaning"},
            "Dimensions": 3,
            "DistanceFunction": "COSINE",
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["text"]},
            "SearchSchema": [
                {"AttributeName": "team", "SearchSchemaElementType": "HASH"},
                {"AttributeName": "stars", "SearchSchemaElementType": "INLINE_FILTER"},
                {"AttributeName": "type", "SearchSchemaElementType": "INLINE_FILTER"},
            ],
        },
        {
            "IndexName": "BySound",
            "VectorAttribute": {"AttributeName": "sound"},
            "Dimensions": 2,
            "DistanceFunction": "DOT_PRODUCT",
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        },
    ]
    assert {"AttributeName": "stars", "AttributeType": "N"} in request["AttributeDefinitions"]


def declared(table: Table, name: str = "ByMeaning") -> Callable[[], object]:
    """A function that declares an entity in a vector index of the table."""

    def declare() -> object:
        class Thing(Entity, table=table):
            thing_id: Id
            team: Id
            stars: int = 0
            meaning: Meaning
            plain: tuple[float, ...] = ()

            primary = key("{thing_id}")
            found_by = table.nearest_by(name)

        return Thing

    return declare


def table_with(attribute: str = "meaning", dimensions: int = 3, name: str = "Things", **more: object) -> Table:
    settings = {name: more.pop(name) for name in ("billing", "capacity", "envelope") if name in more}
    made = vector_index(attribute, dimensions, **more)  # type: ignore[arg-type]
    return Table(name, key("id"), vectors={"ByMeaning": made}, **settings)  # type: ignore[arg-type]


def share() -> None:
    """Declare a design with two entities in one index, which has no filter that tells them apart."""
    table = table_with()

    class One(Entity, table=table):
        one_id: Id
        meaning: Meaning

        primary = key("ONE#{one_id}")
        by_meaning = table.nearest_by("ByMeaning")

    class Two(Entity, table=table):
        two_id: Id
        meaning: Meaning

        primary = key("TWO#{two_id}")
        by_meaning = table.nearest_by("ByMeaning")

    class Both(Design):
        tables = (table,)
        entities = (One, Two)


WRONG: list[tuple[str, str, Callable[[], object]]] = [
    ("vector-dimensions", "vector", lambda: vector(0)),
    ("vector-dimensions", "vector", lambda: vector(4097)),
    ("vector-dimensions", "Things.ByMeaning", lambda: table_with(dimensions=4097)),
    ("vector-filters", "Things.ByMeaning", lambda: table_with(filters=[f"f{number}" for number in range(19)])),
    ("same-name-twice", "Things.ByMeaning", lambda: table_with(partition="team", filters=["team"])),
    ("same-name-twice", "Things.ByMeaning", lambda: table_with(filters=["meaning"])),
    ("key-type", "Things.ByMeaning", lambda: table_with(filters=["stars:M"])),
    ("two-types", "Things.id", lambda: table_with(filters=["id:N"])),
    ("vector-billing", "Things", lambda: table_with(billing="PROVISIONED", capacity=(1, 1))),
    (
        "vector-indexes",
        "Things",
        lambda: Table("Things", key("id"), vectors={f"Index{n}": vector_index("v", 3) for n in range(6)}),
    ),
    (
        "vector-dimensions",
        "Things.Two",
        lambda: Table("Things", key("id"), vectors={"One": vector_index("v", 3), "Two": vector_index("v", 4)}),
    ),
    (
        "same-name",
        "Things.Same",
        lambda: Table("Things", key("id"), indexes={"Same": key("a")}, vectors={"Same": vector_index("v", 3)}),
    ),
    ("name", "Things", lambda: Table("Things", key("id"), vectors={"!": vector_index("v", 3)})),
    ("no-such-index", "Things.Other", declared(table_with(), "Other")),
    ("vector-field", "Thing.found_by", declared(table_with("absent"))),
    ("vector-field", "Thing.found_by", declared(table_with("plain"))),
    ("vector-field", "Thing.found_by", declared(table_with(dimensions=4))),
    ("vector-element", "Thing.found_by", declared(table_with(filters=["absent"]))),
    ("key-type", "Thing.found_by", declared(table_with(filters=["stars"]))),
    ("vector-envelope", "Thing.found_by", declared(table_with(envelope="data"))),
    ("vector-fields", "Note.by_meaning", lambda: nearest(Note.by_meaning, (1, 2, 3))),
    ("vector-fields", "Note.by_meaning", lambda: nearest(Note.by_meaning, (1, 2, 3), team="a", text="x")),
    ("not-a-vector-index", "nearest", lambda: nearest(Note.primary, (1, 2, 3))),  # type: ignore[arg-type]
    ("vector-shared", "One.by_meaning and Two.by_meaning", share),
]


@pytest.mark.parametrize(("code", "place", "declare"), WRONG)
def test_refused(code: str, place: str, declare: Callable[[], object]) -> None:
    with refused(code, place):
        declare()


def test_an_index_belongs_to_its_table() -> None:
    other = table_with(name="Others")
    with refused("foreign-index", "Thing.found_by"):

        class Thing(Entity, table=table_with()):
            thing_id: Id
            meaning: Meaning

            primary = key("{thing_id}")
            found_by = other.nearest_by("ByMeaning")


@pytest.mark.parametrize("size", [0, 101, 2.5])
def test_a_search_finds_up_to_100_items(size: int) -> None:
    with pytest.raises(InvalidValue) as caught:
        nearest(Note.by_sound, (1, 2)).limit(size)
    assert caught.value.code == "page-size"


def test_a_vector_has_the_size_of_its_index() -> None:
    with pytest.raises(InvalidValue) as caught:
        nearest(Note.by_sound, (1, 2, 3))
    assert (caught.value.code, caught.value.field) == ("vector-size", "sound")


@pytest.mark.parametrize("wrong", ["ab", ("1", "2"), 5, None, ((1, 2), (3, 4))])
def test_a_vector_has_numbers(wrong: Any) -> None:
    with pytest.raises(InvalidValue) as caught:
        nearest(Note.by_sound, wrong)
    assert (caught.value.code, caught.value.field) == ("wrong-type", "sound")


def test_a_pattern_is_checked_at_import() -> None:
    class Notes(Design):
        tables = (notes,)
        entities = (Note,)

        @pattern("Find notes")
        def found(self, team: str, meaning: tuple[float, ...]) -> Nearest[Note]:
            return nearest(Note.by_meaning, meaning, team=team)

    assert isinstance(Notes.found.symbolic, Nearest)
    with refused("foreign-entity", "Wrong.found"):

        class Wrong(Design):
            tables = (notes,)

            @pattern("Find notes")
            def found(self, team: str, meaning: tuple[float, ...]) -> Nearest[Note]:
                return nearest(Note.by_meaning, meaning, team=team)
