"""Conditions: operand types are checked before an item is read; then whether the condition is true."""

import pytest

from keyplan.engine.values.attribute_values import Item
from tests.engine.expressions.support import a_condition, lst, mp, n, refused, s

TYPE = "Incorrect operand type for operator or function; operator or function: "
DISTINCT = "The first operand must be distinct from the remaining operands for this operator or function; operator: "

REFUSED = {
    "a < :ss": f"{TYPE}<, operand type: SS",
    ":map >= a": f"{TYPE}>=, operand type: M",
    "a > :t": f"{TYPE}>, operand type: BOOL",
    ":n < :l": f"{TYPE}<, operand type: L",
    "a BETWEEN :l AND :l": f"{TYPE}BETWEEN, operand type: L",
    ":null BETWEEN :n AND :m": f"{TYPE}BETWEEN, operand type: NULL",
    "begins_with(a, :n)": f"{TYPE}begins_with, operand type: N",
    "begins_with(:n, a)": f"{TYPE}begins_with, operand type: N",
    "begins_with(a, size(b))": f"{TYPE}begins_with, operand type: N",
    "contains(:n, a)": f"{TYPE}contains, operand type: N",
    "contains(:map, a)": f"{TYPE}contains, operand type: M",
    "size(:n) = :n": f"{TYPE}size, operand type: N",
    "size(:t) > :n": f"{TYPE}size, operand type: BOOL",
    "attribute_type(a, :n)": f"{TYPE}attribute_type, operand type: N",
    "attribute_type(a, b)": f"{TYPE}attribute_type, operand type: {{NS,SS,L,BS,N,M,B,BOOL,NULL,S}}",
    "attribute_type(a, size(b))": f"{TYPE}attribute_type, operand type: N",
    "attribute_type(a, :s)": (
        "Invalid attribute type name found; type: text, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
    ),
    "a = a": f"{DISTINCT}=, first operand: [a]",
    "a = #a": f"{DISTINCT}=, first operand: [a]",
    "a.b[1] <> a.b[1]": f"{DISTINCT}<>, first operand: [a, b, [1]]",
    "contains(a, a)": f"{DISTINCT}contains, first operand: [a]",
    "a IN (:n, a)": f"{DISTINCT}IN, first operand: [a]",
    "a BETWEEN :n AND a": f"{DISTINCT}BETWEEN, first operand: [a]",
    "a BETWEEN :m AND :n": (
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {N:7}, upper bound operand: AttributeValue: {N:5}"
    ),
    "a BETWEEN :n AND :s": (
        "The BETWEEN operator requires same data type for lower and upper bounds; "
        "lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {S:text}"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_operands(text: str) -> None:
    refused(f"Invalid ConditionExpression: {REFUSED[text]}", lambda: a_condition(text))


ITEM: Item = {
    "a": s("textual"),
    "five": n(5),
    "ten": n(10),
    "bin": {"B": "AQIDBA=="},
    "tags": {"SS": ["a", "b", "text"]},
    "nums": {"NS": ["5", "7"]},
    "bins": {"BS": ["AQID", "Ag=="]},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "list_of": lst(n(5), s("x"), lst(n(1), s("x")), mp(k=n(5))),
    "deep": mp(x=n(1), nest=mp(y=lst(s("text"), n(7)))),
    "blank": s(""),
}

HOLDS = [
    "five = :n",
    "NOT five = :m",
    "five <> :m",
    "five <> :s",
    "absent <> :n",
    "NOT absent = :n",
    "absent <> elsewhere",
    "five < :m",
    "five <= :n",
    "ten > :m",
    ":n < ten",
    ":m >= five",
    "five < ten",
    "ten > five",
    "a > :s",
    "bin > :b",
    ":n < :m",
    ":n = :n",
    "five BETWEEN :n AND :m",
    "five BETWEEN :n AND ten",
    ":m BETWEEN five AND ten",
    "five IN (:s, :m, :n)",
    "five IN (ten, :n)",
    "tags <> :ss",
    "yes = :t",
    "nothing = :null",
    "begins_with(a, :s)",
    "begins_with(bin, :b)",
    "begins_with(a, blank)",
    "contains(a, :s)",
    "contains(bin, :b)",
    "contains(tags, :s)",
    "contains(nums, :n)",
    "contains(bins, :b)",
    "contains(list_of, :n)",
    "contains(list_of, :l)",
    "contains(:ss, deep.nest.y[0]) OR contains(tags, deep.nest.y[0])",
    "size(a) = :m",
    "size(tags) < :n",
    "size(list_of) < :n",
    "size(deep) < :n",
    "size(bin) < :n",
    "size(nums) < size(tags)",
    "(size(a)) = (:m)",
    "size(:s) < :n",
    "attribute_exists(a)",
    "attribute_exists(nothing)",
    "attribute_exists(deep.nest.y[1])",
    "attribute_not_exists(deep.nest.y[2])",
    "attribute_not_exists(deep.x.y)",
    "attribute_not_exists(a[0])",
    "attribute_not_exists(absent)",
    "deep.nest.y[1] = :m",
    "deep.nest.y[1] <> deep.x",
    "five = :n or five = :m and absent = :n",
    "NOT five = :m AND a > :s",
    "NOT (five = :n AND five = :m)",
    "(five = :m OR five = :n) AND (ten > :n)",
]

FAILS = [
    "five = :s",
    "absent = :n",
    "absent = elsewhere",
    "absent < :n",
    "five < :s",
    "five > absent",
    "five < a",
    "tags > five",
    "absent BETWEEN :n AND :m",
    "a BETWEEN :n AND :m",
    "absent IN (:n, :m)",
    "absent IN (elsewhere, :m)",
    "begins_with(five, :s)",
    "begins_with(absent, :s)",
    "begins_with(a, :b)",
    "begins_with(bin, :s)",
    "contains(a, :n)",
    "contains(tags, :n)",
    "contains(five, :n)",
    "contains(deep, :s)",
    "contains(yes, :t)",
    "contains(absent, :n)",
    "contains(bin, :s)",
    "size(five) = :n",
    "size(yes) < :n",
    "size(absent) < :n",
    "attribute_exists(absent)",
    "attribute_exists(deep.nest.y[2])",
    "attribute_not_exists(a)",
    "(five = :n OR five = :m) AND absent = :n",
    "five = :m OR absent = :n",
    "NOT (five = :n OR five = :m)",
]


@pytest.mark.parametrize("text", HOLDS)
def test_holds(text: str) -> None:
    assert a_condition(text).matches(ITEM)


@pytest.mark.parametrize("text", FAILS)
def test_does_not_hold(text: str) -> None:
    assert not a_condition(text).matches(ITEM)


@pytest.mark.parametrize(
    ("attribute", "kind"),
    [
        ("a", "S"),
        ("five", "N"),
        ("bin", "B"),
        ("tags", "SS"),
        ("nums", "NS"),
        ("bins", "BS"),
        ("yes", "BOOL"),
        ("nothing", "NULL"),
        ("list_of", "L"),
        ("deep", "M"),
    ],
)
def test_attribute_type(attribute: str, kind: str) -> None:
    assert a_condition(f"attribute_type({attribute}, :kind)", {":kind": s(kind)}).matches(ITEM)
    other = "S" if kind != "S" else "N"
    assert not a_condition(f"attribute_type({attribute}, :kind)", {":kind": s(other)}).matches(ITEM)


def test_attribute_type_of_what_is_no_attribute() -> None:
    assert a_condition("attribute_type(:v, :kind)", {":v": n("1"), ":kind": s("N")}).matches(ITEM)
    assert not a_condition("attribute_type(:v, :kind)", {":v": n("1"), ":kind": s("S")}).matches(ITEM)
    assert a_condition("attribute_type(size(a), :kind)", {":kind": s("N")}).matches(ITEM)


def test_numbers_compare_by_value() -> None:
    bound = a_condition("a < :big", {":big": n("10")})
    assert bound.matches({"a": n("9.5")})
    assert bound.matches({"a": n("-100")})
    assert not bound.matches({"a": n("10")})


def test_strings_compare_by_their_utf8() -> None:
    # In UTF-16 the second would be the smaller.
    assert a_condition("a < :v", {":v": s("\U0001f600")}).matches({"a": s("\uffff")})


def test_binaries_compare_by_unsigned_bytes() -> None:
    # /w== is FF, AA== is 00; as text "/" stands before "A".
    assert a_condition("a < :v", {":v": {"B": "/w=="}}).matches({"a": {"B": "AA=="}})


def test_no_item() -> None:
    assert a_condition("attribute_not_exists(pk)").matches(None)
    assert not a_condition("attribute_exists(pk)").matches(None)


def test_attributes_are_the_top_level_names() -> None:
    bound = a_condition("#a.b = :n AND size(c[0]) > :n OR NOT begins_with(#dotted, d.e)")
    assert bound.attributes == {"a", "c", "a.b", "d"}


@pytest.mark.parametrize(("text", "units"), [("", 0), ("abc", 3), ("äöü", 3), ("é𝄞", 3), ("😀", 2), ("한\x00", 2)])
def test_the_size_of_a_string_is_counted_in_utf_16(text: str, units: int) -> None:
    bound = a_condition("size(a) = :units AND size(:text) = :units", {":units": n(units), ":text": s(text)})
    assert bound.matches({"a": s(text)})
