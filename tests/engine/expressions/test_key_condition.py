"""Key conditions against key schemas with one or several attributes in each part."""

from collections.abc import Sequence

import pytest

from keyplan.engine.expressions import KeyCondition, Placeholders, key_condition, parse_key_condition
from keyplan.engine.values.attribute_values import Item
from tests.engine.expressions.support import VALUES, n, refused, s

INVALID = "Invalid KeyConditionExpression: "
WRONG = INVALID + "Invalid condition in KeyConditionExpression: "
OPERATOR = INVALID + "Invalid operator used in KeyConditionExpression: "
MISSED = "Query condition missed key schema element: "
UNSUPPORTED = "Query key condition not supported"
# https://github.com/aws-amplify/amplify-category-api/pull/3531 has this one as of September 2026.
ONE_PER_KEY = INVALID + "KeyConditionExpressions must only contain one condition per key"
TYPE = INVALID + "Incorrect operand type for operator or function; operator or function: "


def ask(text: str, hashes: Sequence[str] = ("pk",), ranges: Sequence[str] = ("sk",)) -> KeyCondition:
    names = {"#p": "pk", "#s": "sk"}
    values: Item = {**VALUES, ":p": s("p"), ":from": n(1), ":to": n(2)}
    return key_condition(text, Placeholders(names, values), hashes, ranges)


@pytest.mark.parametrize(
    ("text", "operator", "operands"),
    [
        ("pk = :p AND sk = :n", "=", [n(5)]),
        ("sk < :n AND pk = :p", "<", [n(5)]),
        ("#p = :p AND #s <= :n", "<=", [n(5)]),
        ("pk = :p and sk > :n", ">", [n(5)]),
        ("(pk = :p) AND (sk >= :n)", ">=", [n(5)]),
        ("pk = :p AND :n < sk", ">", [n(5)]),
        (":p = pk AND :n >= sk", "<=", [n(5)]),
        ("pk = :p AND sk BETWEEN :from AND :to", "BETWEEN", [n(1), n(2)]),
        ("pk = :p AND begins_with(sk, :s)", "begins_with", [s("text")]),
        ("begins_with(sk, :b) AND pk = :p", "begins_with", [{"B": "AQID"}]),
    ],
)
def test_partition_and_sort_key(text: str, operator: str, operands: list[object]) -> None:
    found = ask(text)
    assert found.hash == [s("p")]
    assert found.range == [(operator, tuple(operands))]


def test_partition_key_alone() -> None:
    assert ask("pk = :p") == KeyCondition([s("p")], [])
    assert ask("(pk = :p)", ranges=()) == KeyCondition([s("p")], [])


REFUSED = {
    "sk = :n": MISSED + "pk",
    "other1 = :n": MISSED + "pk",
    "pk = :p AND other1 = :n": MISSED + "sk",
    "pk > :p": UNSUPPORTED,
    "begins_with(pk, :s) AND sk = :n": UNSUPPORTED,
    "pk = :p AND pk = :s": ONE_PER_KEY,
    "pk = :p AND sk > :n AND sk < :m": ONE_PER_KEY,
    "pk = :p AND sk > :n AND other1 < :m": "Conditions can be of length 1 or 2 only",
    "pk = :p OR sk = :n": OPERATOR + "OR",
    "NOT pk = :p": OPERATOR + "NOT",
    "pk = :p AND NOT sk = :n": OPERATOR + "NOT",
    "pk <> :p": OPERATOR + "<>",
    "pk IN (:p, :s)": OPERATOR + "IN",
    "pk = :p AND contains(sk, :s)": OPERATOR + "contains",
    "pk = :p AND attribute_exists(sk)": OPERATOR + "attribute_exists",
    "pk = :p AND attribute_not_exists(sk)": OPERATOR + "attribute_not_exists",
    "pk = :p AND size(sk) > :n": INVALID + "KeyConditionExpressions cannot contain nested operations",
    "pk.x = :p": INVALID + "KeyConditionExpressions cannot have conditions on nested attributes",
    "pk[0] = :p": INVALID + "KeyConditionExpressions cannot have conditions on nested attributes",
    "pk = sk": WRONG + "Multiple attribute names used in one condition",
    "pk = :p AND begins_with(sk, pk)": WRONG + "Multiple attribute names used in one condition",
    "pk = :p AND :n = :m": WRONG + "No key attribute specified",
    "pk = :p AND begins_with(:s, sk)": WRONG + "begins_with operator must have the key attribute as its first operand",
    "pk = :p AND :n BETWEEN sk AND :m": WRONG + "BETWEEN operator must have the key attribute as its first operand",
    "pk = :p AND begins_with(sk, :n)": TYPE + "begins_with, operand type: N",
    "pk = :p AND sk > :ss": TYPE + ">, operand type: SS",
    "pk = :p AND sk BETWEEN :l AND :l": TYPE + "BETWEEN, operand type: L",
    "pk = :p AND sk BETWEEN :m AND :n": (
        "Invalid KeyConditionExpression: "
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {N:7}, upper bound operand: AttributeValue: {N:5}"
    ),
    # The first clause that makes no sense is reported, whatever is wrong with it.
    "pk <> :p AND sk.x = :n": OPERATOR + "<>",
    "sk.x = :n AND pk <> :p": INVALID + "KeyConditionExpressions cannot have conditions on nested attributes",
    "pk = :p AND pk = :s AND (sk = :n OR sk = :m)": ONE_PER_KEY,
    "(sk = :n OR sk = :m) AND pk = :p AND pk = :s": OPERATOR + "OR",
    "pk = :p AND size(sk) = :n OR NOT sk = :n": OPERATOR + "OR",
    "NOT (pk <> :p AND sk = pk)": OPERATOR + "NOT",
    # A wrong operand is reported before that, and both before a wrong key.
    "pk <> :p AND begins_with(sk, :n)": TYPE + "begins_with, operand type: N",
    "pk = pk": (
        INVALID + "The first operand must be distinct from the remaining operands for this operator or function; "
        "operator: =, first operand: [pk]"
    ),
    "other1 = :p AND sk > :ss": TYPE + ">, operand type: SS",
    "pk = :zz": (
        "Invalid KeyConditionExpression: "
        "An expression attribute value used in expression is not defined; attribute value: :zz"
    ),
    "pk": 'Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "pk"',
    "pk = :p AND begins_with(sk, G_M#)": 'Invalid KeyConditionExpression: Syntax error; token: "#", near: "G_M#)"',
    "pk = :p AND beginsWith(sk, :s)": "Invalid KeyConditionExpression: Invalid function name; function: beginsWith",
    "": "Invalid KeyConditionExpression: The expression can not be empty;",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    refused(REFUSED[text], lambda: ask(text))


def test_a_table_without_sort_key() -> None:
    refused(UNSUPPORTED, lambda: ask("pk = :p AND sk = :n", ranges=()))


GAP = (
    "RANGE key attributes {} must have equality conditions specified in the query "
    "because a condition is present on key attribute {}"
)
HASHES = ("h1", "h2")
RANGES = ("r1", "r2", "r3")


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("h2 = :n AND h1 = :p", []),
        ("h1 = :p AND h2 = :n AND r1 = :s", [("=", (s("text"),))]),
        ("h1 = :p AND r1 > :s AND h2 = :n", [(">", (s("text"),))]),
        ("r2 BETWEEN :n AND :m AND h1 = :p AND h2 = :n AND r1 = :s", [("=", (s("text"),)), ("BETWEEN", (n(5), n(7)))]),
        (
            "h1 = :p AND h2 = :n AND r1 = :s AND r2 = :m AND begins_with(r3, :s)",
            [("=", (s("text"),)), ("=", (n(7),)), ("begins_with", (s("text"),))],
        ),
    ],
)
def test_several_attributes_in_a_key(text: str, ranges: list[object]) -> None:
    assert ask(text, HASHES, RANGES) == ([s("p"), n(5)], ranges)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h1 = :p", MISSED + "h2"),
        ("h2 = :p AND r1 = :n", MISSED + "h1"),
        ("h1 = :p AND h2 > :n", UNSUPPORTED),
        ("h1 = :p AND h2 = :n AND r2 = :m", GAP.format("r1", "r2")),
        ("h1 = :p AND h2 = :n AND r3 > :m", GAP.format("r1, r2", "r3")),
        ("h1 = :p AND h2 = :n AND r1 = :n AND r3 = :m", GAP.format("r2", "r3")),
        ("h1 = :p AND h2 = :n AND r1 > :n AND r2 = :m", GAP.format("r1", "r2")),
        ("h1 = :p AND h2 = :n AND r4 = :m", MISSED + "r1"),
        ("h1 = :p AND h2 = :n AND r1 = :n AND r2 = :m AND r3 = :n AND r4 = :m", UNSUPPORTED),
        (
            "h1 = :p AND h2 = :n AND r1 = :n AND r1 = :m",
            ONE_PER_KEY,
        ),
    ],
)
def test_several_attributes_refused(text: str, message: str) -> None:
    refused(message, lambda: ask(text, HASHES, RANGES))


def test_the_text_alone_can_be_checked_before_the_table_is_known() -> None:
    assert parse_key_condition("pk = :p") is parse_key_condition("pk = :p")
    refused(
        'Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "="', lambda: parse_key_condition("pk =")
    )
