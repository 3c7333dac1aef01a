"""Limits: kept with the declaration, removed from the entity, and checked on write."""

from decimal import Decimal
from types import GenericAlias
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints, TypeAdapter, ValidationError

from keyplan.design import Entity, Fields, Id, InvalidValue, Table, key, limit
from keyplan.design.values.relaxed import relaxed, relaxed_field

table = Table("Limits", key("PK", "SK"))


def _no_shouting(text: str) -> None:
    if text.isupper():
        raise ValueError("Don't shout.")


class Spot(BaseModel):
    """Part of an entity."""

    x: Annotated[float, Field(ge=0, le=1)]
    label: str = ""


class PlayFields(Fields):
    """Fields with limits of every kind."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=5, strip_whitespace=True)]
    inning: Annotated[int, Field(ge=1, le=99)] = 1
    score: int = Field(default=0, multiple_of=2, lt=100)
    code: str = Field(default="a1", pattern="^[a-z][0-9]$")
    price: Decimal = Field(default=Decimal(1), max_digits=3, decimal_places=1)
    nick: Annotated[str, StringConstraints(max_length=3)] | None = None
    tags: Annotated[list[Annotated[str, StringConstraints(max_length=4)]], Field(max_length=2)] = Field(
        default_factory=list
    )
    spot: Spot | None = None
    said: Annotated[str, limit(_no_shouting)] = ""
    lower: Annotated[str, BeforeValidator(str.lower), AfterValidator(str.strip)] = ""
    kind: Literal["a", "b"] = "a"


class Play(PlayFields, Entity, table=table):
    """An entity with limits."""

    id: Id
    primary = key("PLAY#{id}", "PLAY")


OVER: list[tuple[str, Any, str]] = [
    ("title", "", "string-too-short"),
    ("title", "longer", "string-too-long"),
    ("inning", 0, "greater-than-equal"),
    ("inning", 100, "less-than-equal"),
    ("score", 3, "multiple-of"),
    ("score", 100, "less-than"),
    ("code", "1a", "string-pattern-mismatch"),
    ("price", Decimal("1.25"), "decimal-max-places"),
    ("nick", "longer", "string-too-long"),
    ("tags", ["a", "b", "c"], "too-long"),
    ("tags", ["longer"], "string-too-long"),
    ("spot", {"x": 2.0}, "less-than-equal"),
    ("said", "HEY", "value-error"),
    ("id", "a#b", "string-pattern-mismatch"),
]


@pytest.mark.parametrize(("field", "value", "code"), OVER, ids=str)
def test_an_entity_accepts_a_value_over_its_limit_and_a_write_does_not(field: str, value: Any, code: str) -> None:
    play = Play.model_validate({"id": "p", "title": "ok", field: value})
    with pytest.raises(InvalidValue) as refused:
        play.spec.limits.check(vars(play))
    assert (refused.value.field, refused.value.code) == (field, code)
    assert refused.value.place.startswith(f"Play.{field}")
    fine = Play(id="p", title="ok")
    fine.spec.limits.check(vars(fine))
    setattr(fine, field, getattr(play, field))
    with pytest.raises(InvalidValue):
        fine.spec.limits.check_changed(vars(fine), {field})
    fine.spec.limits.check_changed(vars(fine), {"kind"})


@pytest.mark.parametrize(("field", "value"), [("inning", "two"), ("kind", "c"), ("tags", "x"), ("spot", {"x": "far"})])
def test_a_value_of_the_wrong_type_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        Play.model_validate({"id": "p", "title": "ok", field: value})
    with pytest.raises(ValidationError):
        setattr(Play(id="p", title="ok"), field, value)


def test_values_are_still_converted() -> None:
    assert Play(id="p", title="  longer  ", lower=" ABC ").model_dump(include={"title", "lower"}) == {
        "title": "longer",
        "lower": "abc",
    }


def test_a_part_that_is_read_is_of_its_own_class() -> None:
    play = Play.model_validate({"id": "p", "title": "t", "spot": {"x": 7}})
    assert type(play.spot) is Spot
    assert play.spot == Spot.model_construct(x=7.0)
    assert play.spot.model_fields_set == {"x"}


def test_the_declaration_keeps_its_limits() -> None:
    with pytest.raises(ValidationError):
        PlayFields(title="longer")
    assert set(Play.spec.limits.fields) == {field for field, _, _ in OVER}


def test_limits_are_inherited() -> None:
    class Base(Entity, abstract=True):
        name: Annotated[str, StringConstraints(max_length=3)]

    class Child(Base, table=table):
        primary = key("CHILD#{name}", "CHILD")

    with pytest.raises(InvalidValue, match="name"):
        Child.spec.limits.check(vars(Child(name="longer")))


def test_all_values_over_their_limits_are_reported() -> None:
    play = Play(id="p", title="longer", inning=100, tags=["longer", "longest"])
    assert [each.place for each in play.spec.limits.broken(vars(play))] == [
        "Play.title",
        "Play.inning",
        "Play.tags.0",
        "Play.tags.1",
    ]


def test_types_without_limits_stay_unchanged() -> None:
    kinds: list[Any] = [str, int | None, list[str], dict[str, int], Literal["a"], tuple[int, ...], Annotated[str, "x"]]
    for kind in kinds:
        assert relaxed(kind) is kind
    info = PlayFields.model_fields["kind"]
    assert relaxed_field(info) is info


LIMITS = st.sampled_from(
    [Field(max_length=2), Field(min_length=3), limit(_no_shouting), StringConstraints(pattern="^a")]
)
TEXTS: st.SearchStrategy[Any] = st.lists(LIMITS, max_size=3).map(lambda marks: Annotated[(str, *marks, "mark")])
TYPES = st.recursive(
    TEXTS,
    lambda inner: st.one_of(
        inner.map(lambda kind: GenericAlias(list, (kind,))),
        inner.map(lambda kind: GenericAlias(dict, (str, kind))),
        inner.map(lambda kind: kind | None),
        inner.map(lambda kind: GenericAlias(tuple, (kind, ...))),
        inner.map(lambda kind: Annotated[(kind, Field(title="T"))]),
    ),
    max_leaves=4,
)


def value_of(kind: Any, text: str) -> Any:
    """A value of a type, with this text wherever it contains text."""
    if hasattr(kind, "__metadata__"):
        return value_of(kind.__origin__, text)
    if kind is str:
        return text
    arguments = kind.__args__
    inner = value_of(arguments[-1] if getattr(kind, "__origin__", None) is dict else arguments[0], text)
    if getattr(kind, "__origin__", None) is dict:
        return {"key": inner}
    return [inner, inner] if getattr(kind, "__origin__", None) is list else (inner,) if arguments[-1] is ... else inner


@given(TYPES, st.text())
def test_without_limits_any_value_of_the_type_is_valid(kind: Any, text: str) -> None:
    once = relaxed(kind)
    loose: TypeAdapter[Any] = TypeAdapter(once)
    value = value_of(kind, text)
    assert loose.validate_python(value) == value
    assert relaxed(once) is once
