"""The size of an item by AWS's rule, and its limit of 400 KB."""

from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.engine.errors import DynamoError
from keyplan.engine.values.attribute_values import AttributeValue, item_size
from keyplan.engine.values.normal_form import normalize_sized
from tests.engine.items.support import item_of
from tests.engine.support import DETECTED, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client

LIMIT = 409_600
TOO_LARGE = "Item size has exceeded the maximum allowed size"
TOO_LARGE_TO_UPDATE = "Item size to update has exceeded the maximum allowed size"
NAME_TOO_LARGE = DETECTED + "Attribute name is too large, must be less than 65536 bytes"


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "abc"}, 3),
        ({"S": "é€😀"}, 9),
        ({"N": "0"}, 1),
        ({"N": "-12.5"}, 4),
        ({"B": ""}, 0),
        ({"B": "YQ=="}, 1),
        ({"B": "YWI="}, 2),
        ({"B": "YWJj"}, 3),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["a", "bc"]}, 3),
        ({"NS": ["1", "123"]}, 5),
        ({"BS": ["YQ==", "YWJj"]}, 4),
        ({"L": []}, 3),
        ({"M": {}}, 3),
        ({"L": [{"S": "ab"}, {"BOOL": False}]}, 3 + (1 + 2) + (1 + 1)),
        ({"M": {"key": {"S": "ab"}}}, 3 + (1 + 3 + 2)),
        ({"M": {"é": {"L": [{"N": "1"}]}}}, 3 + (1 + 2 + 3 + (1 + 2))),
    ],
)
def test_the_rule(value: dict[str, Any], size: int) -> None:
    item = {"name": cast(AttributeValue, value)}
    assert normalize_sized(item) == (item, 4 + size)
    assert item_size(item) == 4 + size


scalars = (
    st.text(max_size=5).map(lambda text: {"S": text})
    | st.integers(-(10**20), 10**20).map(lambda number: {"N": str(number)})
    | st.decimals(-1000, 1000, places=3).map(lambda number: {"N": str(number)})
    | st.sampled_from(
        [{"B": "YQ=="}, {"B": ""}, {"BOOL": True}, {"NULL": True}, {"NS": ["3", "1e2"]}, {"SS": ["b", "é"]}]
    )
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda members: {"L": members})
        | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3).map(lambda members: {"M": members})
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1, max_size=5), values, max_size=4))
def test_an_item_has_one_size_however_it_is_measured(item: Any) -> None:
    normal, size = normalize_sized(item)
    assert item_size(normal) == size
    assert normalize_sized(normal) == (normal, size)


def test_409600_bytes_and_no_more(client: "Client") -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item=item_of(LIMIT))
    with refused(TOO_LARGE):
        client.put_item(TableName=table, Item=item_of(LIMIT + 1))
    with refused(TOO_LARGE):  # before the table is looked for
        client.put_item(TableName="nowhere", Item=item_of(LIMIT + 1))
    assert len(client.get_item(TableName=table, Key={"pk": {"S": "a"}})["Item"]["t"]["S"]) == LIMIT - 4


# What an update writes counts, with 3 bytes for the update and 19 for each SET or ADD, 2 for each REMOVE or DELETE, and
# one more to set an element of a list. That attributes it doesn't name don't count, and the element of a list:
# https://github.com/nubo-db/dynoxide/issues/210.
@pytest.mark.parametrize(
    ("stored", "expression", "most"),
    [
        ({}, "SET t = :t", LIMIT - 22 - 1),
        ({}, "SET four = :t", LIMIT - 22 - 4),
        ({}, "SET t = :t, u = :u", LIMIT - 22 - 1 - 19 - 2),
        ({}, "SET t = :t ADD n :n", LIMIT - 22 - 1 - 19 - 3),
        ({}, "SET t = :t REMOVE absent", LIMIT - 22 - 1 - 2),
        ({"n": {"N": "1"}}, "SET t = :t", LIMIT - 22 - 1),
        ({"other": {"S": "x" * 1000}}, "SET t = :t", LIMIT - 22 - 1),
        ({"u": {"S": "x" * 1000}}, "SET t = :t REMOVE u", LIMIT - 22 - 1 - 2),
        ({"m": {"M": {"a": {"S": "x"}}}}, "SET m.t = :t", LIMIT - 22 - 1 - 3 - 3 - 2),
        ({"l": {"L": [{"S": ""}]}}, "SET l[0] = :t", LIMIT - 23 - 1 - 3 - 1),
        ({"t": {"S": ""}}, "SET t = if_not_exists(v, :t)", LIMIT - 22 - 1),
    ],
)
def test_an_update_writes_up_to_the_limit(client: "Client", stored: dict[str, Any], expression: str, most: int) -> None:
    table = make_table(client)
    key = {"pk": {"S": "a" * 100}}

    def update(length: int) -> None:
        client.put_item(TableName=table, Item={**key, **stored})
        others = {":u": {"S": "x"}, ":n": {"N": "1"}}
        client.update_item(
            TableName=table,
            Key=key,
            UpdateExpression=expression,
            ExpressionAttributeValues={
                ":t": {"S": "x" * length},
                **{name: value for name, value in others.items() if name in expression},
            },
        )

    update(most)
    with refused(TOO_LARGE_TO_UPDATE):
        update(most + 1)
    assert client.get_item(TableName=table, Key=key)["Item"] == {**key, **stored}


def test_many_updates_make_no_larger_item(client: "Client") -> None:
    table = make_table(client)
    key = {"pk": {"S": "a"}}
    client.put_item(TableName=table, Item=item_of(LIMIT))
    with refused(TOO_LARGE_TO_UPDATE):
        client.update_item(
            TableName=table,
            Key=key,
            UpdateExpression="SET more = :m",
            ExpressionAttributeValues={":m": {"S": "x" * 5000}},
        )
    assert client.get_item(TableName=table, Key=key)["Item"] == item_of(LIMIT)


def test_local_indexes_share_the_limit(client: "Client") -> None:
    """An item and its entries in local indexes are kept together, so that the limit holds for their sum."""
    table = make_table(client, "pk", "sk", lsis=[index("all", "pk", "s", projection="ALL")])
    half = {"pk": {"S": "a"}, "sk": {"S": "b"}, "s": {"S": "c"}, "text": {"S": "x" * (LIMIT // 2 - 12)}}
    client.put_item(TableName=table, Item=half)
    with refused(TOO_LARGE):
        client.put_item(TableName=table, Item={**half, "text": {"S": "x" * (LIMIT // 2 - 11)}})
    with refused(TOO_LARGE_TO_UPDATE):
        client.update_item(
            TableName=table,
            Key={"pk": {"S": "a"}, "sk": {"S": "b"}},
            UpdateExpression="SET m = :m",
            ExpressionAttributeValues={":m": {"S": ""}},
        )
    del half["s"]  # without its key there is no entry
    client.put_item(TableName=table, Item={**half, "text": {"S": "x" * (LIMIT - 20)}})


def test_every_local_index_counts(client: "Client") -> None:
    names = ["a", "b", "c", "d", "e"]
    table = make_table(client, "pk", "sk", lsis=[index(f"by-{name}", "pk", name) for name in names])
    item = {name: {"S": "x"} for name in ("pk", "sk", *names)}  # 2 + 1, 2 + 1 and five times 1 + 1
    sixth = LIMIT // 6
    client.put_item(TableName=table, Item={**item, "t": {"S": "x" * (sixth - 17)}})
    with refused(TOO_LARGE):
        client.put_item(TableName=table, Item={**item, "t": {"S": "x" * (sixth - 16)}})


def test_local_indexes_that_hold_little_take_little(client: "Client") -> None:
    keys_only = make_table(client, "pk", "sk", lsis=[index("keys", "pk", "s", projection="KEYS_ONLY")])
    item = {"pk": {"S": "a"}, "sk": {"S": "b"}, "s": {"S": "c"}, "t": {"S": "x" * (LIMIT - 8 - 1 - 8)}}
    client.put_item(TableName=keys_only, Item=item)
    with refused(TOO_LARGE):
        client.put_item(TableName=keys_only, Item={**item, "t": {"S": item["t"]["S"] + "x"}})


@pytest.mark.parametrize("nested", [False, True])
def test_attribute_names_have_up_to_65535_bytes(client: "Client", nested: bool) -> None:
    table = make_table(client)

    def put(name: str) -> None:
        attribute: dict[str, Any] = {name: {"S": "x"}}
        client.put_item(TableName=table, Item={"pk": {"S": "a"}, **({"m": {"M": attribute}} if nested else attribute)})

    put("n" * 65_535)
    put("é" * 32_767)
    for too_large in ("n" * 65_536, "é" * 32_768, "é" * 70_000):
        with refused(NAME_TOO_LARGE):
            put(too_large)
    with refused(DETECTED + "One or more parameter values were invalid: Empty attribute name"):
        put("")


@pytest.mark.parametrize("name", ["n" * 65_536, "é" * 32_768])
def test_no_update_makes_a_larger_name(client: "Client", name: str) -> None:
    table = make_table(client)
    with refused(NAME_TOO_LARGE):
        client.update_item(
            TableName=table,
            Key={"pk": {"S": "a"}},
            UpdateExpression="SET #n = :v",
            ExpressionAttributeNames={"#n": name},
            ExpressionAttributeValues={":v": {"S": "x"}},
        )
    with refused(NAME_TOO_LARGE):
        client.update_item(
            TableName=table,
            Key={"pk": {"S": "a"}},
            UpdateExpression="SET m = :v",
            ExpressionAttributeValues={":v": {"M": {name: {"S": "x"}}}},
        )
    assert client.scan(TableName=table)["Count"] == 0


def test_names_count_in_bytes() -> None:
    item: Any = {"é" * 100: {"S": "x" * (LIMIT - 200)}}
    assert normalize_sized(item)[1] == LIMIT
    with pytest.raises(DynamoError):
        normalize_sized({"é" * 40_000: {"S": ""}})
