"""TransactGetItems."""

from typing import Any

import pytest

from tests.engine.item_support import Client, Item, item
from tests.engine.support import make_table, refused

CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]"
SCHEMA = "The provided key element does not match the schema"


@pytest.fixture
def table(client: Client) -> str:
    name = make_table(client)
    for key in "ab":
        client.put_item(TableName=name, Item=item(pk=key, v=key * 2))
    return name


def get(table: str, key: Item, **more: Any) -> Any:
    return {"Get": {"TableName": table, "Key": key, **more}}


def test_items_in_the_order_of_the_request(client: Client, table: str) -> None:
    other = make_table(client)
    client.put_item(TableName=other, Item=item(pk="a", w=1))
    answer = client.transact_get_items(
        TransactItems=[
            get(table, item(pk="b")),
            get(other, item(pk="a")),
            get(table, item(pk="none")),
            get(table, item(pk="a"), ProjectionExpression="#v", ExpressionAttributeNames={"#v": "v"}),
            get(other, item(pk="b")),
        ]
    )
    assert answer["Responses"] == [
        {"Item": item(pk="b", v="bb")},
        {"Item": item(pk="a", w=1)},
        {},
        {"Item": item(v="aa")},
        {},
    ]
    assert "ConsumedCapacity" not in answer


def test_item_without_any_projected_attribute(client: Client, table: str) -> None:
    """https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html: it is an empty map."""
    answer = client.transact_get_items(TransactItems=[get(table, item(pk="a"), ProjectionExpression="x")])
    assert answer["Responses"] == [{}]


def test_capacity(client: Client, table: str) -> None:
    other = make_table(client)
    client.put_item(TableName=other, Item=item(pk="a", f="x" * 5000))
    answer = client.transact_get_items(
        TransactItems=[get(table, item(pk="a")), get(other, item(pk="a")), get(table, item(pk="none"))],
        ReturnConsumedCapacity="INDEXES",
    )
    units: Any = {"CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}
    assert answer["ConsumedCapacity"] == [
        {"TableName": table, **units, "Table": units},
        {"TableName": other, **units, "Table": units},
    ]
    answer = client.transact_get_items(TransactItems=[get(table, item(pk="a"))], ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}]


def test_wrong_keys_are_reasons(client: Client, table: str) -> None:
    with refused(CANCELLED.format("None, ValidationError, None"), "TransactionCanceledException") as answer:
        client.transact_get_items(
            TransactItems=[get(table, item(pk="a")), get(table, item(v=1)), get(table, item(pk=1))]
        )
    wrong = {"Code": "ValidationError", "Message": SCHEMA}
    assert answer["CancellationReasons"] == [{"Code": "None"}, wrong, {"Code": "None"}]


@pytest.mark.parametrize(
    ("key", "more", "message"),
    [
        (
            "",
            {},
            (
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                "empty string value. Key: pk"
            ),
        ),
        ("a", {}, "Transaction request cannot include multiple operations on one item"),
        (
            "b",
            {"ProjectionExpression": "a.."},
            'Invalid ProjectionExpression: Syntax error; token: ".", near: ".."',
        ),
        (
            "b",
            {"ProjectionExpression": "a", "ExpressionAttributeNames": {"#a": "b"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
        ),
    ],
)
def test_refusals(client: Client, table: str, key: str, more: dict[str, Any], message: str) -> None:
    with refused(message):
        client.transact_get_items(TransactItems=[get(table, item(pk="a")), get(table, item(pk=key), **more)])


def test_placeholders_without_a_projection_mean_nothing(client: Client, table: str) -> None:
    """Unlike GetItem; AWS accepts them: https://github.com/ExtendDB/extenddb/pull/169."""
    unused = get(table, item(pk="a"), ExpressionAttributeNames={"#a": "b"})
    assert client.transact_get_items(TransactItems=[unused])["Responses"] == [{"Item": item(pk="a", v="aa")}]


def test_unknown_table(client: Client, table: str) -> None:
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.transact_get_items(TransactItems=[get(table, item(v=1)), get("nowhere", item(pk="a"))])


def test_a_hundred_items(client: Client, table: str) -> None:
    answer = client.transact_get_items(TransactItems=[get(table, item(pk=str(number))) for number in range(100)])
    assert answer["Responses"] == [{}] * 100


def test_four_megabytes(engine: Client) -> None:
    table = make_table(engine)
    for number in range(11):
        engine.put_item(TableName=table, Item=item(pk=str(number), f="x" * 400_000))
    gets = [get(table, item(pk=str(number)), ProjectionExpression="pk") for number in range(11)]
    assert len(engine.transact_get_items(TransactItems=gets[:10])["Responses"]) == 10
    with refused("Transaction payload size exceeded the maximum allowed size"):
        engine.transact_get_items(TransactItems=gets)
