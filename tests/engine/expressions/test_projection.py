"""Projections."""

import pytest

from keyplan.engine.values.attribute_values import Item
from tests.engine.expressions.support import a_projection, lst, mp, n, refused, s

CLASH = "Two document paths {} with each other; must remove or rewrite one of these paths; path one: {}, path two: {}"

ITEM: Item = {
    "a": mp(b=mp(c=n(1), d=n(2)), e=lst(s("zero"), mp(x=n(1), y=n(2)), s("two"))),
    "f": s("six"),
    "a.b": s("dotted"),
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("f", {"f": s("six")}),
        ("f, absent", {"f": s("six")}),
        ("a.b.c", {"a": mp(b=mp(c=n(1)))}),
        ("a.b.c, f, a.b.d", {"a": mp(b=mp(c=n(1), d=n(2))), "f": s("six")}),
        ("#dotted", {"a.b": s("dotted")}),
        ("a.e[2], a.e[0]", {"a": mp(e=lst(s("zero"), s("two")))}),
        ("a.e[1].y, a.e[0]", {"a": mp(e=lst(s("zero"), mp(y=n(2))))}),
        ("a.e[1].nope, a.e[2]", {"a": mp(e=lst(s("two")))}),
        ("a.e[7]", {}),
        ("a.e[7], a.b.c", {"a": mp(b=mp(c=n(1)))}),
        ("a.nope.c", {}),
        ("f.g", {}),
        ("f[0]", {}),
        ("a[0]", {}),
        ("a.e.x", {}),
        ("absent", {}),
    ],
)
def test_what_is_wanted(text: str, wanted: Item) -> None:
    assert a_projection(text).apply(ITEM) == wanted


@pytest.mark.parametrize(
    ("text", "verb", "one", "two"),
    [
        ("a, a", "overlap", "[a]", "[a]"),
        ("a, #a", "overlap", "[a]", "[a]"),
        ("a, a.b", "overlap", "[a]", "[a, b]"),
        ("a.b, a", "overlap", "[a, b]", "[a]"),
        ("x, a[0], a[1].c, a[1]", "overlap", "[a, [1], c]", "[a, [1]]"),
        ("a.b, a[0]", "conflict", "[a, b]", "[a, [0]]"),
        ("a[0].x, a[0][1]", "conflict", "[a, [0], x]", "[a, [0], [1]]"),
    ],
)
def test_clashing_paths(text: str, verb: str, one: str, two: str) -> None:
    refused("Invalid ProjectionExpression: " + CLASH.format(verb, one, two), lambda: a_projection(text))


def test_a_name_with_a_dot_is_one_part() -> None:
    wanted = a_projection("#dotted, a.b.c")
    assert wanted.attributes == {"a", "a.b"}
    assert wanted.paths == (("a.b",), ("a", "b", "c"))


def test_the_item_is_not_touched() -> None:
    before = repr(ITEM)
    a_projection("a.e[1].y, a.b.c").apply(ITEM)
    assert repr(ITEM) == before
