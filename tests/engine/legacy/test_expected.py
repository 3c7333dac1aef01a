"""Expected: conditions of PutItem, UpdateItem and DeleteItem."""

from typing import Any

import pytest

from tests.engine.item_support import Client, item
from tests.engine.legacy.support import PARAMETER, VALUES, comparing
from tests.engine.support import DETECTED, make_table, refused

KEY = item(pk="a")
FAILED = "The conditional request failed"


def write(client: Client, operation: str, table: str, **more: Any) -> dict[str, Any]:
    name = "Item" if operation == "put_item" else "Key"
    answer: dict[str, Any] = getattr(client, operation)(**{"TableName": table, name: KEY, **more})
    return answer


@pytest.fixture(params=["put_item", "update_item", "delete_item"])
def operation(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


# Measured on AWS, in August 2026: https://github.com/floci-io/floci/pull/2125; the longest of them are cut off there.
REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({}, "Value must be provided when Exists is null"),
    ({"Exists": True}, "Value must be provided when Exists is true"),
    ({"Exists": False, "Value": {"S": "x"}}, "Value cannot be used when Exists is false"),
    ({"Exists": False, "Value": {}}, "Value cannot be used when Exists is false"),
    ({"Exists": True, **comparing("EQ", "x")}, "Exists and ComparisonOperator cannot be used together"),
    ({"Exists": False, **comparing("NULL")}, "Exists and ComparisonOperator cannot be used together"),
    (
        {"Exists": True, "AttributeValueList": [{"S": "x"}]},
        "AttributeValueList can only be used with a ComparisonOperator",
    ),
    ({"AttributeValueList": []}, "AttributeValueList can only be used with a ComparisonOperator"),
    ({"Value": {"S": "x"}, "AttributeValueList": []}, "Value and AttributeValueList cannot be used together"),
    ({"Value": {"S": "x"}, **comparing("EQ", "x")}, "Value and AttributeValueList cannot be used together"),
    (comparing("EQ"), "Value or AttributeValueList must be used with ComparisonOperator: EQ"),
    (comparing("BETWEEN"), "Value or AttributeValueList must be used with ComparisonOperator: BETWEEN"),
]


@pytest.mark.parametrize(("given", "rule"), REFUSALS)
def test_members_that_do_not_go_together(client: Client, operation: str, given: dict[str, Any], rule: str) -> None:
    with refused(f"{DETECTED}{PARAMETER}{rule} for Attribute: attr"):
        write(client, operation, "nowhere", Expected={"attr": given})


def test_the_rules_of_operators(client: Client, operation: str) -> None:
    with refused(f"{DETECTED}{PARAMETER}Invalid number of argument(s) for the EQ ComparisonOperator"):
        write(client, operation, "nowhere", Expected={"a": {"ComparisonOperator": "EQ", "AttributeValueList": []}})
    with refused(f"{DETECTED}{PARAMETER}Invalid number of argument(s) for the NULL ComparisonOperator"):
        write(client, operation, "nowhere", Expected={"a": {"ComparisonOperator": "NULL", "Value": {"S": "x"}}})
    with refused(f"{DETECTED}{PARAMETER}ComparisonOperator LT is not valid for BOOL AttributeValue type"):
        write(client, operation, "nowhere", Expected={"a": comparing("LT", VALUES["BOOL"])})
    with refused(
        f"{DETECTED}The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
    ):
        write(client, operation, "nowhere", Expected={"a": comparing("BETWEEN", 2, 1)})


def test_value_and_exists(client: Client, operation: str) -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item={**KEY, "n": {"N": "5"}})
    for wrong in (
        {"Value": {"N": "6"}},
        {"Value": {"S": "5"}},
        {"Exists": True, "Value": {"N": "6"}},
        {"Exists": False},
    ):
        with refused(FAILED, "ConditionalCheckFailedException"):
            write(client, operation, table, Expected={"n": wrong})
    assert client.get_item(TableName=table, Key=KEY)["Item"] == {**KEY, "n": {"N": "5"}}
    write(client, operation, table, Expected={"n": {"Exists": True, "Value": {"N": "5.0"}}})


def test_a_value_with_an_operator(client: Client, operation: str) -> None:
    """AWS's pages say that they can't be combined; AWS accepts it: https://github.com/floci-io/floci/issues/2126."""
    table = make_table(client)
    client.put_item(TableName=table, Item={**KEY, "n": {"N": "5"}})
    with refused(FAILED, "ConditionalCheckFailedException"):
        write(client, operation, table, Expected={"n": {"Value": {"N": "5"}, "ComparisonOperator": "GT"}})
    write(client, operation, table, Expected={"n": {"Value": {"N": "4"}, "ComparisonOperator": "GT"}})


def test_an_item_that_does_not_exist(client: Client, operation: str) -> None:
    table = make_table(client)
    with refused(FAILED, "ConditionalCheckFailedException"):
        write(client, operation, table, Expected={"n": {"Value": {"N": "5"}}})
    assert client.scan(TableName=table)["Count"] == 0
    write(client, operation, table, Expected={"pk": {"Exists": False}, "n": comparing("NE", 5)})


def test_all_or_any(client: Client, operation: str) -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item={**KEY, "n": {"N": "5"}})
    expected = {"n": comparing("EQ", 6), "pk": comparing("BEGINS_WITH", "a"), "x": comparing("NULL")}
    for more in ({}, {"ConditionalOperator": "AND"}):
        with refused(FAILED, "ConditionalCheckFailedException"):
            write(client, operation, table, Expected=expected, **more)
    write(client, operation, table, Expected=expected, ConditionalOperator="OR")


def test_no_conditions(client: Client, operation: str) -> None:
    table = make_table(client)
    write(client, operation, table, Expected={})
    assert client.scan(TableName=table)["Count"] == (operation != "delete_item")


def test_a_conditional_operator_with_nothing_to_join(client: Client, operation: str) -> None:
    """Measured on AWS: https://github.com/ExtendDB/extenddb/pull/213. AWS's SDK for .NET sends ConditionalOperator only
    with two conditions or more (DocumentModel/Search.cs)."""
    nothing: list[dict[str, Any]] = [{}, {"Expected": {}}]
    for more in nothing:
        with refused(f"{DETECTED}ConditionalOperator cannot be used without Filter or Expected"):
            write(client, operation, "nowhere", ConditionalOperator="AND", **more)
    with refused(f"{DETECTED}ConditionalOperator can only be used when Filter or Expected has two or more elements"):
        write(client, operation, "nowhere", ConditionalOperator="OR", Expected={"a": {"Exists": False}})


def test_the_item_that_failed(client: Client, operation: str) -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item={**KEY, "n": {"N": "5"}})
    with refused(FAILED, "ConditionalCheckFailedException") as answer:
        write(
            client,
            operation,
            table,
            Expected={"n": {"Exists": False}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert answer["Item"] == {**KEY, "n": {"N": "5"}}


def test_names_that_no_expression_could_have(client: Client, operation: str) -> None:
    """A name is the name of a top-level attribute, whatever is in it."""
    table = make_table(client)
    names = ["#a", ":a", "a.b", "a[0]", "size", "with space", "ü"]
    client.put_item(TableName=table, Item={**KEY, **{name: {"S": name} for name in names}})
    write(client, operation, table, Expected={name: {"Value": {"S": name}} for name in names})


def test_the_order_of_faults(client: Client) -> None:
    request: dict[str, Any] = {
        "TableName": "nowhere",
        "Item": {**KEY, "n": {"N": "x"}},
        "ReturnValues": "ALL_NEW",
        "Expected": {"a": {}},
        "ExpressionAttributeNames": {"#a": "a"},
    }
    with refused(f"{DETECTED}ExpressionAttributeNames can only be specified when using expressions"):
        client.put_item(**request)
    del request["ExpressionAttributeNames"]
    with refused("The parameter cannot be converted to a numeric value: x"):
        client.put_item(**request)
    request["Item"] = {**KEY, "t": {"S": "x" * 409_600}}
    with refused(f"{DETECTED}ReturnValues can only be ALL_OLD or NONE"):
        client.put_item(**request)
    del request["ReturnValues"]
    with refused("Item size has exceeded the maximum allowed size"):
        client.put_item(**request)
    request["Item"] = KEY
    with refused(f"{DETECTED}{PARAMETER}Value must be provided when Exists is null for Attribute: a"):
        client.put_item(**request)
    request["Expected"] = {"a": {"Exists": False}}
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.put_item(**request)
