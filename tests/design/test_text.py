"""Texts of one line: what they may contain, in bodies, in forms and in what is written."""

import unicodedata
from collections.abc import Iterator
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from keyplan.data import Store, create, update
from keyplan.design import CHECKED_ON_WRITE, Design, Entity, Id, InvalidValue, OneLine, Table, get, key
from keyplan.engine import Engine

NAME = TypeAdapter(Annotated[str, OneLine(max_length=20)])
people = Table("People", key("PK"))


class Person(Entity, table=people):
    person_id: Id
    name: Annotated[str, OneLine(max_length=20)]
    town: str = ""
    primary = key("{person_id}")


class People(Design):
    tables, entities = [people], [Person]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as made:
        yield made


@pytest.fixture
def store(engine: Engine) -> Store[People]:
    made = Store(People(), engine)
    made.create_tables()
    return made


def _put(engine: Engine, store: Store[People], name: str) -> Person:
    """A person who was stored before there was a limit."""
    engine.put_item(TableName="People", Item={"PK": {"S": "1"}, "person_id": {"S": "1"}, "name": {"S": name}})
    found = store.run(get(Person, person_id="1"))
    assert found is not None
    return found


def _refused(name: str) -> str:
    with pytest.raises(ValidationError) as refusal:
        NAME.validate_python(name)
    return str(refusal.value.errors()[0]["type"])


@pytest.mark.parametrize(
    "name",
    [
        "Ada",
        "Zoë",
        "山田太郎",
        "שלום",
        "می\u200cخواهم",  # Persian, with a joiner that separates
        "क्\u200dष",
        "👨\u200d👩\u200d👧",
        "I ❤\ufe0f",  # a variation selector at the end belongs to the heart
        "❤\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        "C\u200e+",  # a mark of direction between two characters
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "c#",
    ],
)
def test_visible_text_is_taken_as_it_is(name: str) -> None:
    assert NAME.validate_python(name) == unicodedata.normalize("NFC", name) == name


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029])
def test_controls_and_line_breaks_are_refused(code: int) -> None:
    assert _refused(f"a{chr(code)}b") == "control_character"


@pytest.mark.parametrize("code", [0x200B, 0x2060, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
@pytest.mark.parametrize("place", ["{}ab", "a{}b", "ab{}"])
def test_hidden_characters_and_overrides_of_direction_are_refused(code: int, place: str) -> None:
    assert _refused(place.format(chr(code))) == "hidden_character"


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d", "\u200e", "\u200f", "\u061c"])
@pytest.mark.parametrize("place", ["{}", "{}ab", "ab{}", "a {} b", "a {}b", "a{} b", "a{}{}b"])
def test_a_joiner_needs_a_visible_character_on_both_sides(joiner: str, place: str) -> None:
    assert _refused(place.replace("{}", joiner)) == "hidden_character"


@pytest.mark.parametrize("name", ["\ufe0f", "\ufe0fab", "a \ufe0fb", "\U000e0100"])
def test_a_variation_selector_needs_a_visible_character_before_it(name: str) -> None:
    assert _refused(name) == "hidden_character"


@pytest.mark.parametrize("name", ["\u3164", "\u2800 \u2800", "\u00ad", "\u00a0"])
def test_a_text_that_shows_nothing_is_refused(name: str) -> None:
    assert _refused(name) == "nothing_visible"


@pytest.mark.parametrize("name", ["\U0001fadb", "\u0378", "\ue000"])
def test_what_this_python_does_not_know_may_be_visible(name: str) -> None:
    """An emoji of a later version of Unicode than Python's."""
    assert NAME.validate_python(name) == name


def test_a_body_brings_text_into_the_composed_form_before_it_counts_its_length() -> None:
    assert NAME.validate_python("Zoe\u0308") == "Zoë"
    assert NAME.validate_python("e\u0301" * 20) == "é" * 20
    with pytest.raises(ValidationError, match="at most 20"):
        NAME.validate_python("\u0958" * 11)  # each becomes two characters


def test_a_refusal_names_the_character() -> None:
    with pytest.raises(ValidationError, match=r"This contains invisible characters \(U\+202E\)\."):
        NAME.validate_python("\u202eadA")


# What is written and read


@pytest.mark.parametrize(("name", "code"), [("Zoe\u0308", "not-composed"), ("a\u202eb", "hidden-character")])
def test_a_write_refuses_what_no_body_would_give(store: Store[People], name: str, code: str) -> None:
    with pytest.raises(InvalidValue) as refusal:
        store.run(create(Person(person_id="1", name=name)))
    assert (refusal.value.code, refusal.value.field) == (code, "name")


@pytest.mark.parametrize("name", ["Zoe\u0308", "a\u202eb", "two\nlines"])
def test_what_is_stored_already_is_read_as_it_is_and_corrected_when_it_is_changed(
    engine: Engine, store: Store[People], name: str
) -> None:
    person = _put(engine, store, name)
    assert person.name == name
    person.town = "London"
    store.run(update(person))
    person.name = f"{name}\u200b"
    with pytest.raises(InvalidValue):
        store.run(update(person))
    person.name = "Zoë"
    store.run(update(person))


def test_a_form_may_send_what_is_stored_already() -> None:
    for name in ("a\u202eb", "Zoe\u0308\u202e"):
        assert NAME.validate_python(name, context=CHECKED_ON_WRITE) == name
    assert NAME.validate_python("Zoe\u0308", context=CHECKED_ON_WRITE) == "Zoë"
