"""Requests are never changed, and responses share no objects with stored items."""

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from keyplan.engine import Engine
from tests.engine.support import index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client

KEY: dict[str, Any] = {"pk": {"S": "a"}}
ITEM: dict[str, Any] = {
    **KEY,
    "n": {"N": "1.50"},
    "s": {"SS": ["b", "a"]},
    "ns": {"NS": ["10", "9.0"]},
    "b": {"B": b"x"},
    "m": {"M": {"l": {"L": [{"N": "007"}, {"M": {}}]}}},
}


def test_requests_stay_as_they_are(client: "Client") -> None:
    table = make_table(client, gsis=[index("gsi", "g")])
    values: dict[str, Any] = {":n": {"N": "1.0"}, ":l": {"L": [{"N": "01"}]}, ":o": {"N": "+1.5"}}
    requests: list[tuple[Any, dict[str, Any]]] = [
        (client.put_item, {"Item": ITEM, "ReturnValues": "ALL_OLD"}),
        (client.get_item, {"Key": KEY, "ProjectionExpression": "#m", "ExpressionAttributeNames": {"#m": "m"}}),
        (
            client.update_item,
            {
                "Key": KEY,
                "UpdateExpression": "SET #m.l[1].x = :l ADD n :n",
                "ConditionExpression": "n = :o",
                "ExpressionAttributeNames": {"#m": "m"},
                "ExpressionAttributeValues": values,
                "ReturnValues": "ALL_NEW",
            },
        ),
        (client.delete_item, {"Key": KEY, "ReturnValues": "ALL_OLD"}),
    ]
    for call, request in requests:
        before = deepcopy(request)
        call(TableName=table, **request)
        assert request == before


def test_answers_share_nothing(engine: Engine) -> None:
    """In the same process, too: what a caller does to an answer or a request later changes no item."""
    table = make_table(engine)
    item = deepcopy(ITEM)
    engine.put_item(TableName=table, Item=item)
    item["m"]["M"]["l"]["L"].append({"S": "later"})

    def read() -> Any:
        return engine.get_item(TableName=table, Key=KEY)["Item"]

    stored = read()
    assert stored["m"] == {"M": {"l": {"L": [{"N": "7"}, {"M": {}}]}}}
    values: dict[str, Any] = {":v": {"L": [{"M": {"x": {"S": "1"}}}]}}
    answers: list[Any] = [
        engine.update_item(
            TableName=table,
            Key=KEY,
            UpdateExpression="SET v = :v, w = :v",
            ExpressionAttributeValues=values,
            ReturnValues=wanted,
        )["Attributes"]
        for wanted in ("ALL_NEW", "UPDATED_NEW", "UPDATED_OLD", "ALL_OLD")
    ]
    values[":v"]["L"].clear()
    expected = read()
    for answer in answers:
        answer["v"]["L"][0]["M"]["x"]["S"] = "changed"
        assert answer["w"]["L"][0]["M"]["x"]["S"] == "1"
    assert read() == expected
    with refused("The conditional request failed", "ConditionalCheckFailedException") as failure:
        engine.put_item(
            TableName=table,
            Item=KEY,
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    failure["Item"].clear()
    assert read() == expected


def test_two_attributes_from_one_value_are_two(client: "Client") -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item={**KEY, "a": {"L": [{"S": "x"}]}})
    client.update_item(TableName=table, Key=KEY, UpdateExpression="SET b = a, c = a")
    client.update_item(
        TableName=table, Key=KEY, UpdateExpression="SET b[0] = :v", ExpressionAttributeValues={":v": {"S": "y"}}
    )
    item = client.get_item(TableName=table, Key=KEY)["Item"]
    assert [item[name]["L"][0]["S"] for name in "abc"] == ["x", "y", "x"]
