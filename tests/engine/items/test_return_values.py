"""What writes return: ReturnValues, the item of a failed condition, item collections."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.support import DETECTED, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client

KEY: dict[str, Any] = {"pk": {"S": "a"}}
OLD: dict[str, Any] = {**KEY, "v": {"N": "1"}, "b": {"B": b"\x00"}}
FAILED = "The conditional request failed"


def members(answer: Any) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "ResponseMetadata"}


def test_put(client: "Client") -> None:
    table = make_table(client)
    assert members(client.put_item(TableName=table, Item=OLD, ReturnValues="ALL_OLD")) == {}
    assert members(client.put_item(TableName=table, Item=OLD, ReturnValues="NONE")) == {}
    assert members(client.put_item(TableName=table, Item=OLD)) == {}
    assert members(client.put_item(TableName=table, Item=KEY, ReturnValues="ALL_OLD")) == {"Attributes": OLD}


def test_delete(client: "Client") -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item=OLD)
    assert members(client.delete_item(TableName=table, Key=KEY, ReturnValues="ALL_OLD")) == {"Attributes": OLD}
    assert members(client.delete_item(TableName=table, Key=KEY, ReturnValues="ALL_OLD")) == {}
    assert members(client.delete_item(TableName=table, Key=KEY)) == {}


@pytest.mark.parametrize("wanted", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_put_and_delete_know_only_the_old_item(client: "Client", wanted: Any) -> None:
    with refused(DETECTED + "ReturnValues can only be ALL_OLD or NONE"):  # the table does not matter
        client.put_item(TableName="nowhere", Item=OLD, ReturnValues=wanted)
    with refused(DETECTED + "ReturnValues can only be ALL_OLD or NONE"):
        client.delete_item(TableName="nowhere", Key=KEY, ReturnValues=wanted)


def updated(client: "Client", expression: str | None, wanted: Any, item: dict[str, Any] | None = None) -> Any:
    """The Attributes that an update of the item returns."""
    table = make_table(client)
    if item is not None:
        client.put_item(TableName=table, Item=item)
    request: dict[str, Any] = {} if expression is None else {"UpdateExpression": expression}
    values: dict[str, Any] = {":n": {"N": "5"}, ":s": {"SS": ["x"]}, ":l": {"L": [{"S": "new"}]}}
    used = {name: value for name, value in values.items() if name in (expression or "")}
    if used:
        request["ExpressionAttributeValues"] = used
    return client.update_item(TableName=table, Key=KEY, ReturnValues=wanted, **request).get("Attributes")


@pytest.mark.parametrize(
    ("wanted", "attributes"),
    [
        ("NONE", None),
        ("ALL_OLD", OLD),
        ("ALL_NEW", {**KEY, "v": {"N": "5"}, "w": {"N": "5"}}),
        ("UPDATED_OLD", {"v": {"N": "1"}, "b": {"B": b"\x00"}}),
        ("UPDATED_NEW", {"v": {"N": "5"}, "w": {"N": "5"}}),
    ],
)
def test_update(client: "Client", wanted: str, attributes: Any) -> None:
    assert updated(client, "SET v = :n, w = :n REMOVE b", wanted, OLD) == attributes


@pytest.mark.parametrize(
    ("wanted", "attributes"),
    [
        ("ALL_OLD", None),
        ("UPDATED_OLD", None),
        ("ALL_NEW", {**KEY, "v": {"N": "5"}}),
        ("UPDATED_NEW", {"v": {"N": "5"}}),
    ],
)
def test_update_that_makes_an_item(client: "Client", wanted: str, attributes: Any) -> None:
    assert updated(client, "SET v = :n", wanted) == attributes


@pytest.mark.parametrize(
    ("wanted", "attributes"),
    [("ALL_OLD", OLD), ("ALL_NEW", OLD), ("UPDATED_OLD", None), ("UPDATED_NEW", None), ("NONE", None)],
)
def test_update_of_nothing(client: "Client", wanted: str, attributes: Any) -> None:
    assert updated(client, None, wanted, OLD) == attributes


def test_update_without_an_expression_makes_the_item(client: "Client") -> None:
    assert updated(client, None, "ALL_NEW") == KEY


@pytest.mark.parametrize("expression", ["REMOVE v", "REMOVE v, w", "DELETE v :s", "REMOVE v DELETE w :s"])
@pytest.mark.parametrize("wanted", ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_update_that_only_takes_away_makes_no_item(client: "Client", expression: str, wanted: str) -> None:
    assert updated(client, expression, wanted) is None
    (table,) = client.list_tables()["TableNames"]
    assert client.scan(TableName=table)["Count"] == 0


def test_update_that_takes_away_and_sets_makes_an_item(client: "Client") -> None:
    assert updated(client, "REMOVE v SET w = :n", "ALL_NEW") == {**KEY, "w": {"N": "5"}}


DOCUMENT: dict[str, Any] = {
    **KEY,
    "m": {"M": {"a": {"M": {"b": {"S": "old"}, "c": {"N": "1"}}}, "keep": {"S": "k"}}},
    "l": {"L": [{"M": {"a": {"S": "0"}, "b": {"S": "b"}}}, {"M": {"a": {"S": "1"}}}]},
    "r": {"L": [{"S": "x"}, {"S": "y"}, {"S": "z"}]},
    "s": {"SS": ["x", "y"]},
}


@pytest.mark.parametrize(
    ("expression", "old", "new"),
    [
        (
            "SET m.a.b = :n",
            {"m": {"M": {"a": {"M": {"b": {"S": "old"}}}}}},
            {"m": {"M": {"a": {"M": {"b": {"N": "5"}}}}}},
        ),
        ("SET m.fresh = :n", None, {"m": {"M": {"fresh": {"N": "5"}}}}),
        (
            "SET m.a.b = :n, m.keep = :n",
            {"m": {"M": {"a": {"M": {"b": {"S": "old"}}}, "keep": {"S": "k"}}}},
            {"m": {"M": {"a": {"M": {"b": {"N": "5"}}}, "keep": {"N": "5"}}}},
        ),
        ("SET l[1].a = :n", {"l": {"L": [{"M": {"a": {"S": "1"}}}]}}, {"l": {"L": [{"M": {"a": {"N": "5"}}}]}}),
        ("SET r[1] = :n", {"r": {"L": [{"S": "y"}]}}, {"r": {"L": [{"N": "5"}]}}),
        ("SET r[2] = :n, r[0] = :n", {"r": {"L": [{"S": "x"}, {"S": "z"}]}}, {"r": {"L": [{"N": "5"}, {"N": "5"}]}}),
        ("SET r[9] = :n", None, None),
        ("REMOVE m.keep", {"m": {"M": {"keep": {"S": "k"}}}}, None),
        ("REMOVE absent", None, None),
        ("DELETE s :s", {"s": {"SS": ["x", "y"]}}, {"s": {"SS": ["y"]}}),
        (
            "SET r = list_append(r, :l)",
            {"r": DOCUMENT["r"]},
            {"r": {"L": [*DOCUMENT["r"]["L"], {"S": "new"}]}},
        ),
    ],
)
def test_update_of_parts(client: "Client", expression: str, old: Any, new: Any) -> None:
    assert updated(client, expression, "UPDATED_OLD", DOCUMENT) == old
    assert updated(client, expression, "UPDATED_NEW", DOCUMENT) == new


def conditional_writes(client: "Client", table: str, **more: Any) -> list[Any]:
    request: dict[str, Any] = {"TableName": table, "ConditionExpression": "v = :v"}
    request |= {"ExpressionAttributeValues": {":v": {"S": "other"}}, **more}
    return [
        lambda: client.put_item(Item=KEY, **request),
        lambda: client.delete_item(Key=KEY, **request),
        lambda: client.update_item(Key=KEY, UpdateExpression="REMOVE v", **request),
    ]


def test_a_failed_condition(client: "Client") -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item=OLD)
    for call in conditional_writes(client, table):
        with refused(FAILED, "ConditionalCheckFailedException") as answer:
            call()
        assert "Item" not in answer
    for call in conditional_writes(client, table, ReturnValuesOnConditionCheckFailure="NONE"):
        with refused(FAILED, "ConditionalCheckFailedException") as answer:
            call()
        assert "Item" not in answer
    for call in conditional_writes(client, table, ReturnValuesOnConditionCheckFailure="ALL_OLD"):
        with refused(FAILED, "ConditionalCheckFailedException") as answer:
            call()
        assert answer["Item"] == OLD
        assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert client.get_item(TableName=table, Key=KEY)["Item"] == OLD


def test_a_failed_condition_without_an_item(client: "Client") -> None:
    table = make_table(client)
    for call in conditional_writes(client, table, ReturnValuesOnConditionCheckFailure="ALL_OLD"):
        with refused(FAILED, "ConditionalCheckFailedException") as answer:
            call()
        assert "Item" not in answer
    assert client.scan(TableName=table)["Count"] == 0


def test_the_exception_has_a_class_of_its_own(client: "Client") -> None:
    table = make_table(client)
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        client.put_item(TableName=table, Item=KEY, ConditionExpression="attribute_exists(pk)")


def test_item_collections(client: "Client") -> None:
    """Only a table with a local index has item collections to speak of."""
    with_local = make_table(client, "pk", "sk", lsis=[index("lsi", "pk", "s")])
    with_global = make_table(client, "pk", "sk", gsis=[index("gsi", "s")])
    key: dict[str, Any] = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    metrics = {"ItemCollectionKey": {"pk": {"S": "a"}}, "SizeEstimateRangeGB": [0.0, 1.0]}
    for wanted in ("SIZE", "NONE"):
        for table in (with_local, with_global):
            request: dict[str, Any] = {"TableName": table, "ReturnItemCollectionMetrics": wanted}
            answers: list[Any] = [
                client.put_item(Item=key, **request),
                client.update_item(Key=key, UpdateExpression="REMOVE v", **request),
                client.delete_item(Key=key, **request),
            ]
            expected = {"ItemCollectionMetrics": metrics} if wanted == "SIZE" and table == with_local else {}
            assert [members(answer) for answer in answers] == [expected] * 3
