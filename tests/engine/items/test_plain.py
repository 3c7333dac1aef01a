"""The quick walk over an item agrees with the thorough one, or leaves the item to it."""

from enum import StrEnum
from typing import cast
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as some

from keyplan.engine import Engine
from keyplan.engine.errors import DynamoError
from keyplan.engine.values import numbers
from keyplan.engine.values.attribute_values import AttributeValue, Item
from keyplan.engine.values.normal_form import normalize_sized
from keyplan.engine.values.plain_items import plain_item

TEXTS = some.text(max_size=12) | some.sampled_from(['"', "\\", "\n", "\x00", "\x7f", "Gdańsk", "😀", ""])
NUMBERS = some.sampled_from(
    ["0", "1", "10", "-5", "1.50", "12.5", "-0.001", "0.1", "1e5", "007", "00", "1.", ".5", "1.0", "100.25", "9" * 38]
)
SCALARS = (
    some.builds(lambda text: {"S": text}, TEXTS)
    | some.builds(lambda number: {"N": number}, NUMBERS)
    | some.sampled_from([{"BOOL": True}, {"BOOL": False}, {"NULL": True}, {"B": "YWJj"}, {"NS": ["1", "2"]}])
    | some.builds(lambda texts: {"SS": texts}, some.lists(TEXTS, min_size=1, max_size=4, unique=True))
)
VALUES = some.recursive(
    SCALARS,
    lambda inner: (
        some.builds(lambda members: {"L": members}, some.lists(inner, max_size=4))
        | some.builds(lambda members: {"M": members}, some.dictionaries(TEXTS.filter(bool), inner, max_size=4))
    ),
    max_leaves=12,
)


@given(some.dictionaries(TEXTS.filter(bool), VALUES, max_size=8))
def test_as_the_thorough_walk(item: dict[object, object]) -> None:
    normal, size = normalize_sized(cast(Item, item))
    plain = plain_item(cast(Item, item))
    if plain is not None:
        assert (dict(plain), plain.size, plain.stored) == (normal, size, orjson.dumps(normal))
        assert normal == item
    else:
        left = orjson.dumps(item)
        assert normal != item or b'"NS":[' in left or b'"B":"' in left


@given(some.text("0123456789.-+e²٣", max_size=42) | some.decimals(allow_nan=False, allow_infinity=False).map(str))
def test_size_of_a_number_in_normal_form(text: str) -> None:
    try:
        normal = numbers.normal(text) == text
    except DynamoError:
        normal = False
    assert numbers.normal_size(text) == (numbers.size(text) if normal else 0)


def deep(levels: int) -> AttributeValue:
    value: AttributeValue = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


@pytest.mark.parametrize(
    "item",
    [
        {"a": {"S": 1}},
        {"a": {"S": "x", "N": "1"}},
        {"a": {}},
        {"a": {}, "b": {"S": "x", "N": "1"}},
        {"a": {}, "b": {"N": "1", "NULL": True}},
        {"a": "x"},
        {"a": "S"},
        {"a": ["S"]},
        {"a": ["N"]},
        {"a": None},
        {"a": {"S": UUID(int=1)}},
        {"a": {"N": 1}},
        {"": {"S": "x"}},
        {"a": {"M": {"": {"S": "x"}}}},
        {"a": {"NULL": False}},
        {"a": {"SS": []}},
        {"a": {"SS": ["b", "a"]}},
        {"a": {"SS": ["a", "a"]}},
        {"a": {"L": ["x"]}},
        {"a": {"X": "x"}},
        {"a": {"S": "\ud800"}},
        {"a" * 65_536: {"S": "x"}},
        {1: {"S": "x"}},
        {"a": deep(32)},
    ],
)
def test_left_to_the_thorough_walk(item: dict[object, object]) -> None:
    assert plain_item(cast(Item, item)) is None


def test_nesting_up_to_the_limit() -> None:
    assert plain_item({"a": deep(31)}) is not None


class Name(StrEnum):
    KEY = "pk"


def test_names_that_are_enumerations(dynamodb: Engine) -> None:
    dynamodb.create_table(
        TableName="Things",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    dynamodb.put_item(TableName="Things", Item={Name.KEY: {"S": "a"}})
    assert dynamodb.get_item(TableName="Things", Key={"pk": {"S": "a"}})["Item"] == {"pk": {"S": "a"}}
