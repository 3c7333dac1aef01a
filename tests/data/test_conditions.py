"""Conditions and filters are written with fields, and sent with stored attributes."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from keyplan.data import ConditionFailed, Store, create, patch
from keyplan.data.codec.entities import codec_of
from keyplan.data.expressions.conditions import stored_condition
from keyplan.data.expressions.texts import Expression
from keyplan.design import (
    Design,
    DesignError,
    Entity,
    Id,
    InvalidValue,
    Table,
    Ttl,
    absent,
    attribute_type,
    between,
    contains,
    exists,
    key,
    not_,
    one_of,
    ref,
    scan,
    size,
    stored,
)
from keyplan.design.operations.conditions import recorded
from keyplan.engine import Engine

things = Table("Things", key("id"), case="camel", ttl="expires")


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Size(BaseModel):
    width: int
    unit: str = "cm"


class Thing(Entity, table=things):
    id: Id
    name: str = ""
    status: str = "draft"
    due_at: datetime | None = None
    owner: Annotated[str | None, stored("UserID")] = None
    size: Size = Size(width=1)
    tags: set[str] = Field(default_factory=set)
    parts: list[int] = Field(default_factory=list)
    days: frozenset[date] = frozenset()
    price: Decimal = Decimal(0)
    colour: Color = Color.RED
    open: bool = False
    expires: Ttl | None = None

    primary = key("{id}")


pages = Table("Pages", key("pk"), indexes={"bySite": key("siteKey"), "byKind": key("kind")})


class Leaf(Entity, table=pages):
    """Fields that are stored as keys, which contain more than the value."""

    leaf: Annotated[Id, stored("pk")]
    site: Annotated[Id | None, stored("siteKey")] = None
    kind: str = "plain"

    primary = key("LEAF#{leaf}")
    by_site = pages.bySite("SITE#{site}")
    by_kind = pages.byKind("{kind}")


class Shop(Design):
    tables = (things, pages)
    entities = (Thing, Leaf)


JUNE = datetime(2026, 6, 1, tzinfo=UTC)

CASES: list[tuple[Any, str, dict[str, Any]]] = [
    (lambda t: t.name == "x", "#0 = :0", {":0": {"S": "x"}}),
    (lambda t: t.status != "draft", "#0 <> :0", {":0": {"S": "draft"}}),
    (lambda t: t.price >= 2, "#0 >= :0", {":0": {"N": "2"}}),
    (lambda t: t.due_at < JUNE, "#0 < :0", {":0": {"S": "2026-06-01T00:00:00.000Z"}}),
    (lambda t: t.expires < JUNE, "#0 < :0", {":0": {"N": "1780272000"}}),
    (lambda t: t.colour == Color.BLUE, "#0 = :0", {":0": {"S": "blue"}}),
    (lambda t: t.colour == "blue", "#0 = :0", {":0": {"S": "blue"}}),
    (lambda t: t.owner == None, "attribute_not_exists(#0)", {}),  # noqa: E711 - recorded
    (lambda t: t.owner != None, "attribute_exists(#0)", {}),  # noqa: E711
    (lambda t: exists(t.owner), "attribute_exists(#0)", {}),
    (lambda t: absent(t.owner), "attribute_not_exists(#0)", {}),
    (lambda t: t.open, "#0 = :0", {":0": {"BOOL": True}}),
    (lambda t: ~t.open, "NOT #0 = :0", {":0": {"BOOL": True}}),
    (lambda t: t.size.width > 3, "#0.#1 > :0", {":0": {"N": "3"}}),
    (lambda t: t.parts[0] == 3, "#0[0] = :0", {":0": {"N": "3"}}),
    (lambda t: t.name.startswith("a"), "begins_with(#0, :0)", {":0": {"S": "a"}}),
    (lambda t: contains(t.tags, "a"), "contains(#0, :0)", {":0": {"S": "a"}}),
    (lambda t: contains(t.parts, 3), "contains(#0, :0)", {":0": {"N": "3"}}),
    (lambda t: contains(t.days, JUNE.date()), "contains(#0, :0)", {":0": {"S": "2026-06-01"}}),
    (lambda t: t.tags == set(), "attribute_not_exists(#0)", {}),
    (lambda t: t.tags != set(), "attribute_exists(#0)", {}),
    (lambda t: one_of(t.status, ["a", "b"]), "#0 IN (:0, :1)", {":0": {"S": "a"}, ":1": {"S": "b"}}),
    (lambda t: between(t.price, 1, 2), "#0 BETWEEN :0 AND :1", {":0": {"N": "1"}, ":1": {"N": "2"}}),
    (lambda t: t.name == t.status, "#0 = #1", {}),
    (lambda t: size(t.tags) > 0, "size(#0) > :0", {":0": {"N": "0"}}),
    (lambda t: size(t.name) == 3, "size(#0) = :0", {":0": {"N": "3"}}),
    (lambda t: size(t.parts) < t.price, "size(#0) < #1", {}),
    (lambda t: attribute_type(t.tags, "SS"), "attribute_type(#0, :0)", {":0": {"S": "SS"}}),
    (lambda t: attribute_type(t.size.width, "S"), "attribute_type(#0.#1, :0)", {":0": {"S": "S"}}),
    (lambda t: not_(t.name == "abc"), "NOT #0 = :0", {":0": {"S": "abc"}}),
    (
        lambda t: not_(t.open) & not_(exists(t.owner)),
        "(NOT #0 = :0) AND (NOT attribute_exists(#1))",
        {":0": {"BOOL": True}},
    ),
    (
        lambda t: (t.name == "a") & ((t.status == "b") | ~(t.price < 1)),
        "#0 = :0 AND (#1 = :1 OR (NOT #2 < :2))",
        {":0": {"S": "a"}, ":1": {"S": "b"}, ":2": {"N": "1"}},
    ),
]


@pytest.mark.parametrize(("condition", "text", "values"), CASES, ids=[case[1] + str(n) for n, case in enumerate(CASES)])
def test_a_condition_becomes_an_expression(condition: Any, text: str, values: dict[str, Any]) -> None:
    expression = Expression()
    assert expression.condition(stored_condition(recorded(Thing, condition), codec_of(Thing))) == text
    assert expression.values == values


def test_fields_have_their_stored_names() -> None:
    expression = Expression()
    expression.condition(
        stored_condition(recorded(Thing, lambda t: (t.owner == "x") & (t.due_at == JUNE)), codec_of(Thing))
    )
    assert list(expression.names) == ["UserID", "dueAt"]


@pytest.mark.parametrize(("condition", "text", "values"), CASES, ids=[case[1] + str(n) for n, case in enumerate(CASES)])
def test_dynamodb_accepts_the_expression(condition: Any, text: str, values: dict[str, Any]) -> None:
    with Engine() as engine:
        store = Store(Shop(), engine, clock=lambda: JUNE - timedelta(days=1))
        store.create_tables()
        store.run(create(Thing(id="a", name="abc", parts=[3], tags={"a"}, price=Decimal(2), due_at=JUNE, expires=JUNE)))
        found = store.run(scan(Thing, filter=condition)).items
        patched = True
        try:
            store.run(patch(ref(Thing, id="a"), where=condition, name="abc"))
        except ConditionFailed as failed:
            patched = not isinstance(failed.stored, Thing)
        assert patched == bool(found)


def test_invalid_conditions_are_refused() -> None:
    codec = codec_of(Thing)
    with pytest.raises(InvalidValue, match="whole number"):
        stored_condition(recorded(Thing, lambda t: size(t.tags) > "3"), codec)  # type: ignore[operator]
    with pytest.raises(TypeError, match="compare size"):
        recorded(Thing, lambda t: not size(t.tags))
    with pytest.raises(DesignError, match="nme"):
        recorded(Thing, lambda t: t.nme == 1)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="&"):
        recorded(Thing, lambda t: t.name == "a" and t.status == "b")
    with pytest.raises(InvalidValue, match="due_at"):
        stored_condition(recorded(Thing, lambda t: t.due_at == "soon"), codec)
    with pytest.raises(InvalidValue, match="one_of"):
        stored_condition(recorded(Thing, lambda t: one_of(t.name, [])), codec)
    with pytest.raises(InvalidValue, match="one_of"):
        stored_condition(recorded(Thing, lambda t: one_of(t.name, map(str, range(101)))), codec)
    with pytest.raises(InvalidValue, match=r"^Thing.price: The range of between\(\.\.\.\) ends before it begins"):
        stored_condition(recorded(Thing, lambda t: between(t.price, 3, 2)), codec)
    stored_condition(recorded(Thing, lambda t: between(t.price, 2, Decimal("2.0"))), codec)
    for wrong in (3, frozenset({"a"})):  # it would be found nowhere
        with pytest.raises(InvalidValue, match=r"^Thing.tags: Input should be a valid string"):
            stored_condition(recorded(Thing, lambda t, wrong=wrong: contains(t.tags, wrong)), codec)  # type: ignore[misc]
    with pytest.raises(ValueError, match=r"'text' isn't one of DynamoDB's types\. They are S, N, B, BOOL"):
        recorded(Thing, lambda t: attribute_type(t.name, "text"))  # type: ignore[arg-type]


LEAVES: list[tuple[Any, set[str]]] = [
    (lambda p: p.site == "b", {"2"}),
    (lambda p: p.site != "b", {"1", "3", "4"}),
    (lambda p: p.site > "a", {"2", "3"}),
    (lambda p: between(p.site, "a", "b"), {"1", "2"}),
    (lambda p: one_of(p.site, ["a", "c"]), {"1"}),
    (lambda p: p.site.startswith("b"), {"2", "3"}),
    (lambda p: absent(p.site), {"4"}),
    (lambda p: contains(p.kind, "lai"), {"1", "2", "3", "4"}),
    (lambda p: p.leaf >= "3", {"3", "4"}),
    (lambda p: (p.leaf == "1") | (p.kind == "other"), {"1"}),
]


@pytest.mark.parametrize(("condition", "expected"), LEAVES, ids=map(str, range(len(LEAVES))))
def test_a_field_that_is_stored_as_a_key_is_compared_as_a_key(condition: Any, expected: set[str]) -> None:
    with Engine() as engine:
        store = Store(Shop(), engine)
        store.create_tables()
        for leaf, site in (("1", "a"), ("2", "b"), ("3", "bc"), ("4", None)):
            store.run(create(Leaf(leaf=leaf, site=site)))
        assert {each.leaf for each in store.each(scan(Leaf, filter=condition))} == expected


def test_a_condition_cannot_match_the_literal_part_of_a_key() -> None:
    with pytest.raises(InvalidValue, match="SITE#") as caught:
        stored_condition(recorded(Leaf, lambda p: contains(p.site, "SITE")), codec_of(Leaf))
    assert caught.value.field == "site"
