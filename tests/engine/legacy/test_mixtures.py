"""Legacy parameters next to expressions: AWS refuses a request that has both, but for KeyConditions."""

from typing import Any

import pytest

from tests.engine.item_support import Client, item
from tests.engine.legacy.support import comparing
from tests.engine.support import DETECTED, refused

KEY = item(pk="a")
MIXED = "Can not use both expression and non-expression parameters in the same request: "
CONDITION = {"pk": comparing("EQ", "a")}
QUERY = {
    "AttributesToGet": ["a"],
    "QueryFilter": CONDITION,
    "ConditionalOperator": "OR",
    "KeyConditions": CONDITION,
    "ProjectionExpression": "a",
    "FilterExpression": "a = :a",
    "KeyConditionExpression": "a = :a",
}


def mixture(legacy: str, expressions: str) -> str:
    return f"{MIXED}Non-expression parameters: {{{legacy}}} Expression parameters: {{{expressions}}}"


@pytest.mark.parametrize(
    ("given", "legacy", "expressions"),
    [
        ("KeyConditions KeyConditionExpression", "KeyConditions", "KeyConditionExpression"),
        # Measured on AWS: https://github.com/floci-io/floci/issues/2894.
        ("QueryFilter KeyConditionExpression", "QueryFilter", "KeyConditionExpression"),
        ("AttributesToGet KeyConditionExpression", "AttributesToGet", "KeyConditionExpression"),
        ("KeyConditions QueryFilter FilterExpression", "QueryFilter", "FilterExpression"),
        ("KeyConditions QueryFilter ProjectionExpression", "QueryFilter", "ProjectionExpression"),
        ("KeyConditions AttributesToGet ProjectionExpression", "AttributesToGet", "ProjectionExpression"),
        ("KeyConditions ConditionalOperator FilterExpression", "ConditionalOperator", "FilterExpression"),
        (
            "KeyConditions QueryFilter FilterExpression KeyConditionExpression",
            "QueryFilter, KeyConditions",
            "FilterExpression, KeyConditionExpression",
        ),
        (
            "KeyConditions AttributesToGet ProjectionExpression KeyConditionExpression",
            "AttributesToGet, KeyConditions",
            "ProjectionExpression, KeyConditionExpression",
        ),
    ],
)
def test_query(client: Client, given: str, legacy: str, expressions: str) -> None:
    request: dict[str, Any] = {name: QUERY[name] for name in given.split()}
    with refused(mixture(legacy, expressions)):
        client.query(TableName="nowhere", **request)


def test_scan(client: Client) -> None:
    """https://github.com/aws/aws-sdk-java/issues/2460."""
    with refused(mixture("ScanFilter", "FilterExpression")):
        client.scan(TableName="nowhere", ScanFilter=CONDITION, FilterExpression="a = :a")
    with refused(mixture("AttributesToGet, ScanFilter", "ProjectionExpression, FilterExpression")):
        client.scan(
            TableName="nowhere",
            ScanFilter=CONDITION,
            AttributesToGet=["a"],
            FilterExpression="a = :a",
            ProjectionExpression="a",
        )
    with refused(mixture("ConditionalOperator", "FilterExpression")):
        client.scan(TableName="nowhere", ConditionalOperator="OR", FilterExpression="a = :a")


def test_reading_items(client: Client) -> None:
    """https://github.com/getmoto/moto/issues/5354."""
    with refused(mixture("AttributesToGet", "ProjectionExpression")):
        client.get_item(TableName="nowhere", Key=KEY, AttributesToGet=["foo"], ProjectionExpression="foo")
    with refused(mixture("AttributesToGet", "ProjectionExpression")):
        client.batch_get_item(
            RequestItems={"nowhere": {"Keys": [KEY], "AttributesToGet": ["foo"], "ProjectionExpression": "foo"}}
        )


def test_writes(client: Client) -> None:
    """https://github.com/getmoto/moto/issues/2731."""
    with refused(DETECTED + mixture("AttributeUpdates", "ConditionExpression")):
        client.update_item(TableName="nowhere", Key=KEY, AttributeUpdates={}, ConditionExpression="a = :a")
    with refused(DETECTED + mixture("Expected, ConditionalOperator", "UpdateExpression")):
        client.update_item(
            TableName="nowhere",
            Key=KEY,
            Expected={"a": {}},
            ConditionalOperator="OR",
            UpdateExpression="REMOVE a",
        )
    with refused(DETECTED + mixture("Expected", "ConditionExpression")):
        client.delete_item(TableName="nowhere", Key=KEY, Expected={}, ConditionExpression="a = :a")
    with refused(DETECTED + mixture("ConditionalOperator", "ConditionExpression")):
        client.put_item(TableName="nowhere", Item=KEY, ConditionalOperator="OR", ConditionExpression="a = :a")


def test_placeholders_need_expressions(client: Client) -> None:
    with refused(f"{DETECTED}ExpressionAttributeNames can only be specified when using expressions"):
        client.put_item(
            TableName="nowhere", Item=KEY, Expected={"a": {"Exists": False}}, ExpressionAttributeNames={"#a": "a"}
        )
    with refused(
        f"{DETECTED}ExpressionAttributeValues can only be specified when using expressions: "
        "UpdateExpression and ConditionExpression are null"
    ):
        client.update_item(
            TableName="nowhere", Key=KEY, AttributeUpdates={}, ExpressionAttributeValues={":a": {"S": "a"}}
        )
    with refused(
        "ExpressionAttributeValues can only be specified when using expressions: "
        "FilterExpression and KeyConditionExpression are null"
    ):
        client.query(
            TableName="nowhere",
            KeyConditions=CONDITION,
            ProjectionExpression="a",
            ExpressionAttributeValues={":a": {"S": "a"}},
        )
