"""Bodies, partial changes and answers that take their fields from one declaration."""

import copy
from datetime import UTC, date, datetime
from types import new_class
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import Field, JsonValue, StringConstraints, ValidationError

from keyplan.design import (
    CREATE_ONLY,
    HIDDEN,
    READ_ONLY,
    Created,
    DesignError,
    Entity,
    Fields,
    Id,
    Secret,
    Table,
    Version,
    about,
    created,
    key,
    new_id,
    public,
)
from keyplan.web import Change, In, Out

table = Table("Books", key("PK", "SK"))
NOW = datetime(2026, 1, 31, 12, 0, 0, 250_000, tzinfo=UTC)


class BookFields(Fields):
    """Fields that callers set."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=5), about("Title", "As printed.")]
    author_id: Annotated[Id, public("author")]
    blurb: Annotated[str, StringConstraints(max_length=3)] | None = None
    stars: Annotated[int, Field(ge=0)] = 0
    book_id: Annotated[Id, CREATE_ONLY] = new_id()


class BookShown(BookFields):
    """Fields that callers see."""

    created_at: Created = created()
    lent_at: Annotated[datetime | None, READ_ONLY] = None
    version: Version = 0


class Book(BookShown, Entity, table=table):
    """The stored entity."""

    password: Secret[str] = Secret("")
    notes: Annotated[str, HIDDEN] = ""
    primary = key("BOOK#{book_id}", "BOOK")


class NewBook(BookFields, In):
    """The body for creating one."""

    lend: bool = False


class BookChange(Change[BookFields]):
    """A partial change."""


class BookOut(BookShown, Out):
    """An answer."""

    shelf: str


def errors_of(model: type[In], body: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(body)
    return [(".".join(map(str, each["loc"])), each["type"]) for each in refused.value.errors()]


def test_a_body_has_the_declared_fields_with_their_limits_and_public_names() -> None:
    body = NewBook.model_validate({"title": "  Emma ", "author": "jane"})
    assert (body.title, body.author_id, body.stars, body.lend) == ("Emma", "jane", 0, False)
    assert errors_of(NewBook, {"title": "longer", "author": "a#b", "stars": -1}) == [
        ("title", "string_too_long"),
        ("author", "string_pattern_mismatch"),
        ("stars", "greater_than_equal"),
    ]
    assert errors_of(NewBook, {"title": "Emma", "author_id": "jane"}) == [
        ("author", "missing"),
        ("author_id", "extra_forbidden"),
    ]


def test_an_id_made_by_the_server_may_be_left_out() -> None:
    """Reading a body twice gives the same body, so that requests with the same Idempotency-Key don't differ."""
    sent = {"title": "Emma", "author": "jane"}
    assert NewBook.model_validate(sent) == NewBook.model_validate(sent)
    assert Book.from_fields(NewBook.model_validate(sent)).book_id != ""
    assert Book.from_fields(NewBook.model_validate({**sent, "book_id": "mine"})).book_id == "mine"


@pytest.mark.parametrize("field", ["created_at", "lent_at", "version"])
def test_a_body_cannot_have_fields_that_callers_must_not_set(field: str) -> None:
    with pytest.raises(DesignError) as refused:
        type("Wrong", (BookShown, In), {"__annotations__": {}})
    assert refused.value.code == "not-to-be-set"
    assert errors_of(NewBook, {"title": "Emma", "author": "jane", field: None}) == [(field, "extra_forbidden")]


def test_an_answer_cannot_show_hidden_fields() -> None:
    with pytest.raises(DesignError) as refused:

        class Wrong(Book, Out):  # nobody would; it is what the test is about
            """Shows a password."""

    assert (refused.value.code, refused.value.place) == ("not-to-be-seen", "Wrong.password")


def test_an_answer_shows_values_stored_under_looser_limits() -> None:
    book = Book(title="far too long", author_id="jane", blurb="longer", stars=-1, created_at=NOW, lent_at=NOW)
    shown = BookOut.from_fields(book, shelf="A")
    assert shown.model_dump(mode="json") == {
        "title": "far too long",
        "author": "jane",
        "blurb": "longer",
        "stars": -1,
        "book_id": book.book_id,
        "created_at": "2026-01-31T12:00:00.250Z",
        "lent_at": "2026-01-31T12:00:00.250Z",
        "version": 0,
        "shelf": "A",
    }


def test_the_schema_of_an_answer_has_types_and_no_limits() -> None:
    properties = BookOut.model_json_schema(mode="serialization")["properties"]
    assert properties["title"] == {"type": "string", "title": "Title", "description": "As printed."}
    assert "default" not in properties["stars"]
    assert set(BookOut.model_json_schema(mode="serialization")["required"]) == set(properties)


def test_an_answer_requires_all_its_fields() -> None:
    class Short(Fields):
        title: str

    with pytest.raises(ValidationError, match="stars"):
        BookOut.from_fields(Short(title="x"), shelf="A")


def test_an_answer_can_have_times_in_whole_seconds() -> None:
    class Seconds(BookShown, Out):
        time_precision: ClassVar = "seconds"

    book = Book(title="Emma", author_id="jane", created_at=NOW.replace(microsecond=0))
    assert '"created_at":"2026-01-31T12:00:00Z"' in Seconds.from_fields(book).model_dump_json()


def test_a_change_has_all_changeable_fields_and_requires_none() -> None:
    assert set(BookChange.model_fields) == {"title", "author_id", "blurb", "stars"}
    book = Book(title="Emma", author_id="jane", stars=4)
    nothing = BookChange.model_validate({})
    nothing.apply_to(book)
    assert (nothing.values, book.title, book.stars) == ({}, "Emma", 4)
    change = BookChange.model_validate({"title": "Emmy", "author": "joan", "blurb": None})
    change.apply_to(book)
    assert (book.title, book.author_id, book.blurb, book.stars) == ("Emmy", "joan", None, 4)
    assert change.gives(lambda given: given.title)
    assert not change.gives(lambda given: given.stars)
    assert change.get(lambda given: given.title, "") == "Emmy"
    assert change.get(lambda given: given.stars, 7) == 7
    assert change.values == {"title": "Emmy", "author_id": "joan", "blurb": None}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"title": None}, ("title", "required")),
        ({"author": None}, ("author", "required")),
        ({"stars": None}, ("stars", "required")),
        ({"title": ""}, ("title", "string_too_short")),
        ({"title": "longer"}, ("title", "string_too_long")),
        ({"stars": -1}, ("stars", "greater_than_equal")),
        ({"blurb": "longer"}, ("blurb", "string_too_long")),
        ({"author_id": "jane"}, ("author_id", "extra_forbidden")),
        ({"book_id": "b"}, ("book_id", "extra_forbidden")),
        ({"version": 3}, ("version", "extra_forbidden")),
        ({"titel": "x"}, ("titel", "extra_forbidden")),
    ],
    ids=str,
)
def test_a_change_refuses_invalid_values_and_unknown_keys(body: dict[str, Any], error: tuple[str, str]) -> None:
    assert errors_of(BookChange, body) == [error]


def test_the_schema_of_a_change_says_which_fields_can_be_null() -> None:
    schema = BookChange.model_json_schema()
    assert "required" not in schema
    assert schema["properties"]["title"]["type"] == "string"
    assert {"type": "null"} in schema["properties"]["blurb"]["anyOf"]
    assert not any("default" in each for each in schema["properties"].values())


def test_a_change_can_be_made_from_a_form() -> None:
    class Form(BookFields, In):
        version: int

    form = Form.model_validate({"title": "Emma", "author": "jane", "blurb": None, "version": 3})
    assert BookChange.from_fields(form).values == {"title": "Emma", "author_id": "jane", "blurb": None, "stars": 0}


def test_a_change_reads_json_as_strictly_as_a_body() -> None:
    class Lending(Fields):
        until: date
        renewed_at: datetime | None = None

    class LendingChange(Change[Lending]):
        """A partial change."""

    change = LendingChange.model_validate_json('{"until": "2026-02-01"}', strict=True)
    assert change.values == {"until": date(2026, 2, 1)}
    assert LendingChange.model_json_schema()["properties"]["until"] == {
        "type": "string",
        "format": "date",
        "title": "Until",
    }
    with pytest.raises(ValidationError) as refused:
        LendingChange.model_validate_json('{"until": null}', strict=True)
    assert [(each["loc"], each["type"]) for each in refused.value.errors()] == [(("until",), "required")]


def test_a_change_cannot_change_an_id_made_by_the_server() -> None:
    class NoteFields(Fields):
        note_id: Id = new_id()
        text: str = ""

    class NoteChange(Change[NoteFields]): ...

    assert set(NoteChange.model_fields) == {"text"}
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        NoteChange.model_validate({"note_id": "another"})


def test_a_change_cannot_have_a_field_named_like_a_method() -> None:
    class PollFields(Fields):
        values: list[str] = Field(default_factory=list)

    with pytest.raises(DesignError) as caught:

        class PollChange(Change[PollFields]): ...

    assert caught.value.code == "taken-name"


class Geo(Fields):
    """A part of another part."""

    lat: Annotated[float, Field(ge=0)]
    seen_at: datetime | None = None


class Address(Fields):
    """A part with a limit."""

    street: Annotated[str, StringConstraints(max_length=5)]
    geo: Geo | None = None
    near: "list[Address]" = Field(default_factory=list)


PARTS: dict[str, tuple[Any, Any]] = {
    "part": (Address, {"street": "x"}),
    "part of a part": (Address, {"street": "x", "geo": {"lat": 1}}),
    "part of its own kind": (Address, {"street": "x", "near": [{"street": "y"}]}),
    "optional": (Address | None, {"street": "x"}),
    "list": (list[Address], [{"street": "x"}]),
    "map": (dict[str, Address], {"a": {"street": "x"}}),
    "tuple": (tuple[Address, ...], [{"street": "x"}]),
}


def innermost(value: Any) -> dict[str, Any]:
    """The innermost part of a body."""
    if isinstance(value, list):
        return innermost(value[-1])
    inner = [each for each in value.values() if isinstance(each, dict | list)]
    return innermost(inner[-1]) if inner else value


def fields_of(kind: Any) -> Any:
    return new_class("EventFields", (Fields,), {}, lambda space: space.update({"__annotations__": {"where": kind}}))


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_a_body_refuse_unknown_fields_at_every_depth(name: str) -> None:
    kind, sent = PARTS[name]
    declared = fields_of(kind)
    change: Any = Change.__class_getitem__(declared)
    models: list[Any] = [type("NewEvent", (declared, In), {}), type("EventChange", (change,), {})]
    for model in models:
        body = copy.deepcopy({"where": sent})
        model.model_validate(body)
        innermost(body)["unknown"] = 1
        with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
            model.model_validate(body)


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_an_answer_have_a_schema_without_limits(name: str) -> None:
    kind, sent = PARTS[name]
    shown: Any = type("EventOut", (fields_of(kind), Out), {})
    over = copy.deepcopy({"where": sent})
    part = innermost(over)
    part["lat" if "lat" in part else "street"] = -17 if "lat" in part else "a street of -17 letters"
    assert "-17" in shown.model_validate(over).model_dump_json()
    schema = shown.model_json_schema(mode="serialization")
    assert set(schema["$defs"]) == {"Address", "Geo"}
    assert "maxLength" not in str(schema)


def test_times_in_collections_have_the_precision_of_the_answer() -> None:
    shown: Any = type("EventOut", (fields_of(dict[str, tuple[datetime, ...]]), Out), {})
    assert shown(where={"a": (NOW,)}).model_dump(mode="json") == {"where": {"a": ["2026-01-31T12:00:00.250Z"]}}


class Note(Fields):
    """A part with fields that callers must not set or see."""

    by: Annotated[str, READ_ONLY] = ""
    inside: Annotated[str, HIDDEN] = ""


def test_parts_cannot_have_fields_that_callers_must_not_set_or_see() -> None:
    for _ in range(2):
        with pytest.raises(DesignError, match=r"Note\.by: the field is read-only"):
            type("NewEvent", (fields_of(list[Note]), In), {})
        with pytest.raises(DesignError, match=r"EventOut\.where\.inside: the field is hidden"):
            type("EventOut", (fields_of(Note | None), Out), {})


def test_null_is_a_valid_value_of_a_json_field() -> None:
    class SettingFields(Fields):
        value: JsonValue

    class Setting(SettingFields, Entity, table=Table("Settings", key("PK"))):
        name: Id
        primary = key("{name}")

    class SettingChange(Change[SettingFields]): ...

    class NewSetting(SettingFields, In): ...

    assert SettingChange.model_validate({"value": None}).values == {"value": None}
    assert Setting.from_fields(NewSetting(value=None), name="a").value is None
