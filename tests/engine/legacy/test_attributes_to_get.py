"""AttributesToGet: which attributes of items come back."""

from typing import Any

import pytest
from botocore.exceptions import ParamValidationError

from tests.engine.item_support import Client, item
from tests.engine.legacy.support import PARAMETER, comparing
from tests.engine.support import index, make_table, refused

KEY = item(pk="a", sk="b")
WHOLE: dict[str, Any] = {**KEY, **item(g="g", a="x", b=1), "m": {"M": {"a": {"S": "y"}}}, "a.b": {"S": "z"}}
DUPLICATE = f"{PARAMETER}Duplicate value in attribute name: a"


@pytest.fixture
def table(client: Client) -> str:
    name = make_table(
        client,
        "pk",
        "sk",
        gsis=[index("g-all", "g"), index("g-keys", "g", projection="KEYS_ONLY")],
        lsis=[index("l-keys", "pk", "g", projection="KEYS_ONLY")],
    )
    client.put_item(TableName=name, Item=WHOLE)
    return name


def read(client: Client, table: str, operation: str, names: list[str]) -> dict[str, Any]:
    """The one item of the table, or what AttributesToGet leaves of it."""
    if operation == "get_item":
        return client.get_item(TableName=table, Key=KEY, AttributesToGet=names)["Item"]
    if operation == "batch_get_item":
        wanted: dict[str, Any] = {table: {"Keys": [KEY], "AttributesToGet": names}}
        return client.batch_get_item(RequestItems=wanted)["Responses"][table][0]
    if operation == "scan":
        return client.scan(TableName=table, AttributesToGet=names)["Items"][0]
    request: dict[str, Any] = {"TableName": table, "KeyConditions": {"pk": comparing("EQ", "a")}}
    return client.query(**request, AttributesToGet=names)["Items"][0]


@pytest.mark.parametrize("operation", ["get_item", "batch_get_item", "scan", "query"])
def test_attributes(client: Client, table: str, operation: str) -> None:
    """A name is the name of a top-level attribute, not a path."""
    assert read(client, table, operation, ["a", "pk"]) == item(pk="a", a="x")
    assert read(client, table, operation, ["m"]) == {"m": {"M": {"a": {"S": "y"}}}}
    assert read(client, table, operation, ["a.b"]) == {"a.b": {"S": "z"}}
    assert read(client, table, operation, ["a.b", "m.a", "#a", "", "absent"]) == {"a.b": {"S": "z"}}
    assert read(client, table, operation, ["absent"]) == {}
    many = [f"absent{number}" for number in range(500)]
    assert read(client, table, operation, [*many, "b"]) == item(b=1)


@pytest.mark.parametrize("operation", ["get_item", "batch_get_item", "scan", "query"])
def test_a_name_that_is_given_twice(client: Client, operation: str) -> None:
    with refused(DUPLICATE):
        read(client, "nowhere", operation, ["b", "a", "c", "a", "b"])


def test_an_item_that_does_not_exist(client: Client, table: str) -> None:
    assert "Item" not in client.get_item(TableName=table, Key=item(pk="a", sk="c"), AttributesToGet=["a"])


def test_an_empty_list(client: Client) -> None:
    with pytest.raises(ParamValidationError):
        client.scan(TableName="nowhere", AttributesToGet=[])


@pytest.mark.parametrize(
    ("select", "phrase"),
    [
        ("ALL_ATTRIBUTES", "ALL_ATTRIBUTES"),
        ("ALL_PROJECTED_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
        ("COUNT", "only the Count"),
    ],
)
def test_with_select(client: Client, table: str, select: Any, phrase: str) -> None:
    with refused(f"Cannot specify the AttributesToGet when choosing to get {phrase}"):
        client.scan(TableName=table, AttributesToGet=["a"], Select=select)


def test_with_the_select_that_goes_with_it(client: Client, table: str) -> None:
    found = client.scan(TableName=table, AttributesToGet=["a"], Select="SPECIFIC_ATTRIBUTES")
    assert found["Items"] == [item(a="x")]
    assert found["Count"] == 1


def test_indexes(client: Client, table: str) -> None:
    request: dict[str, Any] = {"TableName": table, "KeyConditions": {"g": comparing("EQ", "g")}}
    assert client.query(**request, IndexName="g-all", AttributesToGet=["a"])["Items"] == [item(a="x")]
    assert client.query(**request, IndexName="g-keys", AttributesToGet=["sk", "g"])["Items"] == [item(sk="b", g="g")]
    with refused(f"{PARAMETER}Global secondary index g-keys does not project [a, b]"):
        client.query(**request, IndexName="g-keys", AttributesToGet=["b", "sk", "a"])
    # A local index fetches the rest from the table.
    request["KeyConditions"] = {"pk": comparing("EQ", "a")}
    found = client.query(**request, IndexName="l-keys", AttributesToGet=["a", "sk"], ReturnConsumedCapacity="INDEXES")
    assert found["Items"] == [item(sk="b", a="x")]
    assert found["ConsumedCapacity"]["Table"] == {"CapacityUnits": 0.5}


def test_keys_that_a_batch_did_not_process(client: Client) -> None:
    table = make_table(client)
    keys = [item(pk=str(number)) for number in range(42)]
    for key in keys:
        client.put_item(TableName=table, Item={**key, "t": {"S": "x" * 400_000}})
    wanted: dict[str, Any] = {table: {"Keys": keys, "AttributesToGet": ["pk"], "ConsistentRead": True}}
    answer = client.batch_get_item(RequestItems=wanted)
    left = answer["UnprocessedKeys"][table]
    assert left == {"Keys": keys[len(answer["Responses"][table]) :], "AttributesToGet": ["pk"], "ConsistentRead": True}
    assert left["Keys"]
