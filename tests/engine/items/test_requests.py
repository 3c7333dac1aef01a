"""What is refused in a request on one item, and which of several errors is reported."""

from typing import TYPE_CHECKING, Any

import orjson

from keyplan.engine import Engine
from keyplan.engine.database import Database
from tests.engine.support import DETECTED, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client

KEY: dict[str, Any] = {"pk": {"S": "a"}}
MIXED = "Can not use both expression and non-expression parameters in the same request: "
SET_X: dict[str, Any] = {"ExpressionAttributeValues": {":x": {"S": "x"}}}
NO_NAMES = "ExpressionAttributeNames can only be specified when using expressions"
NO_VALUES = "ExpressionAttributeValues can only be specified when using expressions: "


def test_a_table_that_is_not_there(client: "Client") -> None:
    for call in (
        lambda: client.get_item(TableName="nowhere", Key=KEY),
        lambda: client.put_item(TableName="nowhere", Item=KEY),
        lambda: client.delete_item(TableName="nowhere", Key=KEY),
        lambda: client.update_item(TableName="nowhere", Key=KEY),
    ):
        with refused("Requested resource not found", "ResourceNotFoundException"):
            call()


def test_placeholders_without_an_expression(client: "Client") -> None:
    names: dict[str, Any] = {"ExpressionAttributeNames": {"#a": "a"}}
    values: dict[str, Any] = {"ExpressionAttributeValues": {":v": {"S": "x"}}}
    with refused(NO_NAMES):
        client.get_item(TableName="nowhere", Key=KEY, **names)
    with refused(DETECTED + NO_NAMES):
        client.put_item(TableName="nowhere", Item=KEY, **names)
    with refused(DETECTED + NO_NAMES):
        client.delete_item(TableName="nowhere", Key=KEY, **names, **values)
    with refused(DETECTED + NO_NAMES):
        client.update_item(TableName="nowhere", Key=KEY, **names)
    with refused(DETECTED + NO_VALUES + "ConditionExpression is null"):
        client.put_item(TableName="nowhere", Item=KEY, **values)
    with refused(DETECTED + NO_VALUES + "ConditionExpression is null"):
        client.delete_item(TableName="nowhere", Key=KEY, **values)
    with refused(DETECTED + NO_VALUES + "UpdateExpression and ConditionExpression are null"):
        client.update_item(TableName="nowhere", Key=KEY, **values)


def test_unused_and_undefined_placeholders(client: "Client") -> None:
    with refused("Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"):
        client.get_item(
            TableName="nowhere",
            Key=KEY,
            ProjectionExpression="#a",
            ExpressionAttributeNames={"#a": "a", "#b": "b"},
        )
    with refused(DETECTED + "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"):
        client.update_item(
            TableName="nowhere",
            Key=KEY,
            UpdateExpression="SET a = :v",
            ConditionExpression="a <> :v",
            ExpressionAttributeValues={":v": {"S": "x"}, ":w": {"S": "x"}},
        )
    with refused(
        DETECTED + "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
        "attribute value: :v"
    ):
        client.put_item(TableName="nowhere", Item=KEY, ConditionExpression="a = :v")


def test_both_kinds_of_parameters(client: "Client") -> None:
    with refused(
        f"{MIXED}Non-expression parameters: {{AttributesToGet}} Expression parameters: {{ProjectionExpression}}"
    ):
        client.get_item(TableName="nowhere", Key=KEY, AttributesToGet=["a"], ProjectionExpression="a")
    with refused(
        f"{DETECTED}{MIXED}Non-expression parameters: {{Expected}} Expression parameters: {{ConditionExpression}}"
    ):
        client.put_item(
            TableName="nowhere", Item=KEY, Expected={"a": {"Exists": False}}, ConditionExpression="attribute_exists(a)"
        )
    with refused(
        f"{DETECTED}{MIXED}Non-expression parameters: {{AttributeUpdates, Expected, ConditionalOperator}} "
        "Expression parameters: {UpdateExpression, ConditionExpression}"
    ):
        client.update_item(
            TableName="nowhere",
            Key=KEY,
            ConditionalOperator="AND",
            Expected={"a": {"Exists": False}},
            AttributeUpdates={"a": {"Action": "DELETE"}},
            ConditionExpression="attribute_exists(a)",
            UpdateExpression="REMOVE a",
        )


def test_the_order_of_faults(client: "Client") -> None:
    """A request with every possible error; each is reported once those before it are fixed."""
    table = make_table(client)
    request: dict[str, Any] = {
        "TableName": "nowhere",
        "Item": {"v": {"N": "x"}, "text": {"S": "x" * 409_600}},
        "ReturnValues": "ALL_NEW",
        "Expected": {"a": {"Exists": False}},
        "ConditionExpression": "a = = :v",
        "ExpressionAttributeValues": {":v": {"N": "y"}},
    }
    with refused(
        f"{DETECTED}{MIXED}Non-expression parameters: {{Expected}} Expression parameters: {{ConditionExpression}}"
    ):
        client.put_item(**request)
    del request["Expected"]
    with refused("The parameter cannot be converted to a numeric value: x"):
        client.put_item(**request)
    request["Item"]["v"] = {"N": "1"}
    with refused(DETECTED + "ReturnValues can only be ALL_OLD or NONE"):
        client.put_item(**request)
    request["ReturnValues"] = "ALL_OLD"
    with refused("Item size has exceeded the maximum allowed size"):
        client.put_item(**request)
    del request["Item"]["text"]
    with refused("The parameter cannot be converted to a numeric value: y"):
        client.put_item(**request)
    request["ExpressionAttributeValues"] = {":v": {"N": "1"}}
    with refused(DETECTED + 'Invalid ConditionExpression: Syntax error; token: "=", near: "= = :v"'):
        client.put_item(**request)
    request["ConditionExpression"] = "a = :v"
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.put_item(**request)
    request["TableName"] = table
    with refused("One or more parameter values were invalid: Missing the key pk in the item"):
        client.put_item(**request)
    request["Item"] |= KEY
    with refused("The conditional request failed", "ConditionalCheckFailedException"):
        client.put_item(**request)
    request["ConditionExpression"] = "a <> :v"
    client.put_item(**request)


def test_the_order_of_faults_in_an_update(client: "Client") -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item=KEY)
    request: dict[str, Any] = {
        "TableName": "nowhere",
        "Key": {"pk": {"N": "x"}},
        "UpdateExpression": "SET pk = :v, a.b = lost",
        "ConditionExpression": "pk = ",
        "ExpressionAttributeValues": {":v": {"S": "x"}},
    }
    with refused("The parameter cannot be converted to a numeric value: x"):
        client.update_item(**request)
    request["Key"] = {"pk": {"N": "1"}}
    with refused(DETECTED + 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="'):
        client.update_item(**request)
    request["ConditionExpression"] = "pk = :v"
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.update_item(**request)
    request["TableName"] = table
    with refused("The provided key element does not match the schema"):
        client.update_item(**request)
    request["Key"] = KEY
    with refused(
        "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key"
    ):
        client.update_item(**request)
    request["UpdateExpression"] = "SET a.b = lost"
    with refused("The conditional request failed", "ConditionalCheckFailedException"):
        client.update_item(**request)
    request["ConditionExpression"] = "pk <> :v"
    with refused("The provided expression refers to an attribute that does not exist in the item"):
        client.update_item(**request)
    request["UpdateExpression"] = "SET a.b = pk"
    with refused("The document path provided in the update expression is invalid for update"):
        client.update_item(**request)
    assert client.get_item(TableName=table, Key=KEY)["Item"] == KEY


def test_removing_inside_of_an_item_that_is_not_there(client: "Client") -> None:
    table = make_table(client)
    for expression in ("REMOVE a.b", "REMOVE a[0], c.d"):
        answer: Any = client.update_item(
            TableName=table,
            Key=KEY,
            UpdateExpression=expression,
            ReturnValues="ALL_NEW",
            ReturnConsumedCapacity="TOTAL",
        )
        assert "Attributes" not in answer
        assert answer["ConsumedCapacity"]["CapacityUnits"] == 1.0
        client.transact_write_items(
            TransactItems=[{"Update": {"TableName": table, "Key": KEY, "UpdateExpression": expression}}]
        )
    assert client.scan(TableName=table)["Count"] == 0
    client.update_item(TableName=table, Key=KEY, UpdateExpression="SET x = :x REMOVE a.b", **SET_X)
    assert client.get_item(TableName=table, Key=KEY)["Item"] == {**KEY, "x": {"S": "x"}}
    with refused("The document path provided in the update expression is invalid for update"):
        client.update_item(TableName=table, Key=KEY, UpdateExpression="REMOVE a.b")


def test_get_with_a_projection(client: "Client") -> None:
    table = make_table(client)
    item: dict[str, Any] = {**KEY, "m": {"M": {"a": {"S": "x"}, "b": {"L": [{"N": "1"}, {"N": "2"}]}}}}
    client.put_item(TableName=table, Item=item)

    def read(expression: str, **more: Any) -> Any:
        answer = client.get_item(TableName=table, Key=KEY, ProjectionExpression=expression, **more)
        return answer.get("Item")

    assert read("pk") == KEY
    assert read("m.a, m.b[1]") == {"m": {"M": {"a": {"S": "x"}, "b": {"L": [{"N": "2"}]}}}}
    assert read("#m.a", ExpressionAttributeNames={"#m": "m"}) == {"m": {"M": {"a": {"S": "x"}}}}
    assert read("absent") == {}
    assert "Item" not in client.get_item(TableName=table, Key={"pk": {"S": "b"}}, ProjectionExpression="pk")


def test_a_put_replaces_the_whole_item(client: "Client") -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item={**KEY, "a": {"S": "x"}})
    client.put_item(TableName=table, Item={**KEY, "b": {"S": "y"}})
    assert client.get_item(TableName=table, Key=KEY)["Item"] == {**KEY, "b": {"S": "y"}}


def test_unknown_members_are_ignored(database: Database, engine: Engine) -> None:
    table = make_table(engine)
    database.execute("PutItem", {"TableName": table, "Item": KEY, "Unheard": {"of": 1}})
    assert engine.scan(TableName=table)["Count"] == 1


def test_members_of_other_operations_mean_nothing(database: Database, engine: Engine) -> None:
    """The service ignores what it does not know; boto3 would not send it."""
    table = make_table(engine)
    item = {"pk": {"S": "a"}}
    put = {"TableName": table, "Item": item, "ReturnValues": "ALL_NEW", "AttributesToGet": ["pk"]}
    database.execute("TransactWriteItems", {"TransactItems": [{"Put": put, "Get": {}}]})
    found = database.execute("GetItem", {"TableName": table, "Key": item, "QueryFilter": {}, "ReturnValues": "NEVER"})
    assert orjson.loads(orjson.dumps(found)) == {"Item": item}
