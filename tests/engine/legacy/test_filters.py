"""QueryFilter and ScanFilter: which of the items that were read come back."""

from typing import Any

import pytest

from keyplan.engine import Engine
from tests.engine.item_support import Client, contents, fill, item
from tests.engine.legacy.support import PARAMETER, comparing
from tests.engine.support import index, make_table, refused

# Measured on AWS in July 2026: https://github.com/ExtendDB/extenddb/pull/213. Both, and those about BETWEEN and
# AttributeValueList, are also in AWS's clients for DAX: RequestValidator.js and DynamoDBV1Converter.js of the npm
# package amazon-dax-client.
WITHOUT = "ConditionalOperator cannot be used without Filter or Expected"
TOO_FEW = "ConditionalOperator can only be used when Filter or Expected has two or more elements"
OF_A = {"pk": comparing("EQ", "a")}


@pytest.fixture
def table(client: Client) -> str:
    name = make_table(
        client,
        "pk",
        "sk:N",
        gsis=[index("by-g", "g", "n:N", projection="KEYS_ONLY")],
        lsis=[index("by-n", "pk", "n:N", projection=["text"])],
    )
    fill(client, name, [item(pk="a", sk=sk, n=sk % 3, g="g", text="x" * sk) for sk in range(6)])
    return name


def test_all_or_any(client: Client, table: str) -> None:
    conditions: dict[str, Any] = {"n": comparing("EQ", 1), "text": comparing("BEGINS_WITH", "xx")}
    choices: list[tuple[Any, str]] = [
        ({}, "4"),
        ({"ConditionalOperator": "AND"}, "4"),
        ({"ConditionalOperator": "OR"}, "12345"),
    ]
    for more, expected in choices:
        scanned = client.scan(TableName=table, ScanFilter=conditions, **more)
        queried = client.query(TableName=table, KeyConditions=OF_A, QueryFilter=conditions, **more)
        for found in (scanned, queried):
            assert contents(found["Items"], "sk") == list(expected)
            assert (found["Count"], found["ScannedCount"]) == (len(expected), 6)


def test_three_conditions(client: Client, table: str) -> None:
    conditions: dict[str, Any] = {
        "n": comparing("NE", 1),
        "text": comparing("NOT_CONTAINS", "xxxx"),
        "g": comparing("IN", "f", "g"),
    }
    found = client.scan(TableName=table, ScanFilter=conditions)
    assert contents(found["Items"], "sk") == ["0", "2", "3"]
    found = client.scan(TableName=table, ScanFilter=conditions, ConditionalOperator="OR")
    assert found["Count"] == 6


def test_no_conditions(client: Client, table: str) -> None:
    assert client.scan(TableName=table, ScanFilter={})["Count"] == 6
    assert client.query(TableName=table, KeyConditions=OF_A, QueryFilter={})["Count"] == 6


def test_paging_and_counting(client: Client, table: str) -> None:
    even: dict[str, Any] = {"n": comparing("EQ", 0)}
    page = client.query(TableName=table, KeyConditions=OF_A, QueryFilter=even, Limit=4, Select="COUNT")
    assert (page["Count"], page["ScannedCount"], "Items" in page) == (2, 4, False)
    assert page["LastEvaluatedKey"] == item(pk="a", sk=3)


def test_key_attributes(client: Client, table: str) -> None:
    """A scan can filter by them, a query can't."""
    found = client.scan(TableName=table, ScanFilter={"sk": comparing("LT", 2), "pk": comparing("EQ", "a")})
    assert contents(found["Items"], "sk") == ["0", "1"]
    for name, given in (("pk", {"pk": comparing("NULL"), "sk": comparing("NULL")}), ("sk", {"sk": comparing("NULL")})):
        with refused(f"QueryFilter can only contain non-primary key attributes: Primary key attribute: {name}"):
            client.query(TableName=table, KeyConditions=OF_A, QueryFilter=given)
    request: dict[str, Any] = {"TableName": table, "IndexName": "by-g", "KeyConditions": {"g": comparing("EQ", "g")}}
    with refused("QueryFilter can only contain non-primary key attributes: Primary key attribute: n"):
        client.query(**request, QueryFilter={"n": comparing("EQ", 1)})
    assert client.query(**request, QueryFilter={"sk": comparing("EQ", 1)})["Count"] == 1


def test_attributes_that_an_index_does_not_hold(client: Client, table: str) -> None:
    problem = "does not project one or more filter attributes: [x]"
    given: dict[str, Any] = {"QueryFilter": {"x": comparing("NULL")}, "KeyConditions": OF_A}
    with refused(f"{PARAMETER}Secondary index by-n {problem}"):
        client.query(TableName=table, IndexName="by-n", **given)
    given["KeyConditions"] = {"g": comparing("EQ", "g")}
    with refused(f"{PARAMETER}Secondary index by-g {problem}"):
        client.query(TableName=table, IndexName="by-g", **given)


def test_a_conditional_operator_with_nothing_to_join(client: Client) -> None:
    one: dict[str, Any] = {"a": comparing("NULL")}
    with refused(WITHOUT):
        client.scan(TableName="nowhere", ConditionalOperator="OR")
    with refused(WITHOUT):
        client.scan(TableName="nowhere", ConditionalOperator="OR", ScanFilter={})
    with refused(TOO_FEW):
        client.scan(TableName="nowhere", ConditionalOperator="AND", ScanFilter=one)
    with refused(WITHOUT):
        client.query(TableName="nowhere", ConditionalOperator="OR", KeyConditions={**OF_A, "sk": comparing("EQ", 1)})
    with refused(TOO_FEW):
        client.query(TableName="nowhere", ConditionalOperator="OR", KeyConditions=OF_A, QueryFilter=one)


def test_the_order_of_faults(client: Client) -> None:
    request: dict[str, Any] = {
        "TableName": "nowhere",
        "ScanFilter": {"a": comparing("EQ")},
        "AttributesToGet": ["a", "a"],
        "Segment": 1,
        "ExpressionAttributeValues": {":a": {"S": "a"}},
    }
    with refused("ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null"):
        client.scan(**request)
    del request["ExpressionAttributeValues"]
    with refused(f"{PARAMETER}Duplicate value in attribute name: a"):
        client.scan(**request)
    request["AttributesToGet"] = ["a"]
    with refused(f"{PARAMETER}Invalid number of argument(s) for the EQ ComparisonOperator"):
        client.scan(**request)
    request["ScanFilter"] = {"a": comparing("EQ", 1)}
    with refused(
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"
    ):
        client.scan(**request)


@pytest.mark.parametrize("operator", ["AND", "OR"])
def test_very_many_conditions(engine: Engine, operator: Any) -> None:
    """Their number is limited only by the size of the request."""
    table = make_table(engine)
    engine.put_item(TableName=table, Item=item(pk="a", n=7))
    conditions: dict[str, Any] = {f"a{number}": comparing("NULL") for number in range(20_000)}
    found = engine.scan(TableName=table, ScanFilter=conditions, ConditionalOperator=operator)
    assert found["Count"] == 1
    among: dict[str, Any] = {"n": comparing("IN", *range(20_000))}
    assert engine.scan(TableName=table, ScanFilter=among)["Count"] == 1
