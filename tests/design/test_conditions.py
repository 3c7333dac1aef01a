"""Conditions: the comparisons in a lambda are recorded, and what can't be recorded is refused."""

from datetime import datetime

import pytest
from pydantic import BaseModel

from keyplan.design import Entity, Id, Table, absent, between, contains, exists, key, one_of
from keyplan.design.operations.conditions import FieldPath, Node, recorded


class Address(BaseModel):
    city: str


class Post(Entity, table=Table("Blog", key("PK"))):
    slug: Id
    status: str = "draft"
    likes: int = 0
    public: bool = False
    tags: list[str] = []  # noqa: RUF012 - pydantic copies it
    note: str | None = None
    at: datetime | None = None
    address: Address = Address(city="")

    primary = key("{slug}")


STATUS, LIKES, NOTE = FieldPath(("status",)), FieldPath(("likes",)), FieldPath(("note",))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (recorded(Post, lambda p: p.status == "draft"), Node("=", (STATUS, "draft"))),
        (recorded(Post, lambda p: p.status != "draft"), Node("<>", (STATUS, "draft"))),
        (recorded(Post, lambda p: p.likes < 1), Node("<", (LIKES, 1))),
        (recorded(Post, lambda p: p.likes <= 1), Node("<=", (LIKES, 1))),
        (recorded(Post, lambda p: p.likes > 1), Node(">", (LIKES, 1))),
        (recorded(Post, lambda p: p.likes >= 1), Node(">=", (LIKES, 1))),
        (recorded(Post, lambda p: p.status.startswith("d")), Node("begins_with", (STATUS, "d"))),
        (recorded(Post, lambda p: contains(p.tags, "c#")), Node("contains", (FieldPath(("tags",)), "c#"))),
        (recorded(Post, lambda p: one_of(p.likes, (1, 2))), Node("IN", (LIKES, 1, 2))),
        (recorded(Post, lambda p: between(p.likes, 1, 2)), Node("BETWEEN", (LIKES, 1, 2))),
        (recorded(Post, lambda p: exists(p.note)), Node("attribute_exists", (NOTE,))),
        (recorded(Post, lambda p: absent(p.note)), Node("attribute_not_exists", (NOTE,))),
        (recorded(Post, lambda p: p.note == None), Node("attribute_not_exists", (NOTE,))),  # noqa: E711 - recorded
        (recorded(Post, lambda p: p.note != None), Node("attribute_exists", (NOTE,))),  # noqa: E711 - recorded
        (recorded(Post, lambda p: p.public), Node("=", (FieldPath(("public",)), True))),
        (recorded(Post, lambda p: ~p.public), Node("NOT", (Node("=", (FieldPath(("public",)), True)),))),
        (recorded(Post, lambda p: p.tags[0] == "x"), Node("=", (FieldPath(("tags", 0)), "x"))),
        (recorded(Post, lambda p: p.address.city == "x"), Node("=", (FieldPath(("address", "city")), "x"))),
    ],
    ids=lambda value: value.operator if isinstance(value, Node) else "",
)
def test_a_comparison_is_recorded(node: Node, expected: Node) -> None:
    assert node == expected


def test_conditions_combine_as_they_are_parenthesized() -> None:
    first, second, third = Node("=", (STATUS, "a")), Node("<", (LIKES, 1)), Node("attribute_exists", (NOTE,))
    combined = recorded(Post, lambda p: ((p.status == "a") | (p.likes < 1)) & exists(p.note))
    assert combined == Node("AND", (Node("OR", (first, second)), third))
    negated = recorded(Post, lambda p: (p.status == "a") | ((p.likes < 1) & exists(p.note)))
    assert negated == Node("OR", (first, Node("AND", (second, third))))


def test_a_flag_combines_with_others() -> None:
    node = recorded(Post, lambda p: p.public & (p.likes > 1))
    assert node == Node("AND", (Node("=", (FieldPath(("public",)), True)), Node(">", (LIKES, 1))))


@pytest.mark.parametrize(
    "condition",
    [
        lambda p: p.likes > 1 and p.likes < 3,
        lambda p: p.likes > 1 or p.public,
        lambda p: not p.public,
        lambda p: 1 < p.likes < 3,
        lambda p: p.public and p.likes > 1,
    ],
)
def test_pythons_own_and_or_and_not_are_refused(condition: object) -> None:
    with pytest.raises(TypeError, match="use &, \\| and not_"):
        recorded(Post, condition)  # type: ignore[arg-type]  # lambdas without types


def test_in_is_refused() -> None:
    with pytest.raises(TypeError, match="use contains"):
        recorded(Post, lambda p: "x" in p.tags)


@pytest.mark.parametrize("value", [True, None, "status", 1])
def test_other_values_are_not_conditions(value: object) -> None:
    with pytest.raises(TypeError, match="isn't a condition"):
        recorded(Post, lambda p: value)


@pytest.mark.parametrize("condition", [contains, exists, absent])
def test_only_a_field_can_be_tested(condition: object) -> None:
    arguments = ("x", "y") if condition is contains else ("x",)
    with pytest.raises(TypeError, match="isn't a field of the entity"):
        condition(*arguments)  # type: ignore[operator]  # one of three functions


def test_a_condition_between_two_fields_is_recorded() -> None:
    node = recorded(Post, lambda p: p.note == p.status)
    assert node.operator == "="
    assert node.operands[0] == NOTE
