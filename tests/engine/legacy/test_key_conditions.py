"""KeyConditions: the key of a Query."""

from typing import Any

import pytest

from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from tests.engine.item_support import Client, contents, everything, fill, item
from tests.engine.legacy.support import PARAMETER, VALUES, comparing
from tests.engine.support import DETECTED, index, make_table, refused

INDEX = "by-group"
NOT_INDEXABLE = "Attempted conditional constraint is not an indexable operation"
UNSUPPORTED = "Query key condition not supported"
LENGTH = "Conditions can be of length 1 or 2 only"


@pytest.fixture
def table(client: Client) -> str:
    name = make_table(client, "pk", "sk:N", gsis=[index(INDEX, "g", "sk:N")], lsis=[index("by-text", "pk", "text")])
    fill(
        client,
        name,
        [item(pk=pk, sk=sk, g=f"g{sk % 2}", text=f"t{9 - sk}") for pk in ("a", "b") for sk in range(1, 7)],
    )
    return name


def keys(client: Client, table: str, **request: Any) -> list[Any]:
    return contents(everything(client, "query", TableName=table, **request), "sk")


def conditions(**given: dict[str, Any]) -> dict[str, Any]:
    return {"pk": comparing("EQ", "a"), **given}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (comparing("EQ", 3), "3"),
        (comparing("LT", 3), "1 2"),
        (comparing("LE", 3), "1 2 3"),
        (comparing("GT", 4), "5 6"),
        (comparing("GE", 4), "4 5 6"),
        (comparing("BETWEEN", 2, 4), "2 3 4"),
        (comparing("BETWEEN", 2, 2), "2"),
    ],
)
def test_the_sort_key(client: Client, table: str, condition: dict[str, Any], expected: str) -> None:
    found = keys(client, table, KeyConditions=conditions(sk=condition))
    assert found == expected.split()
    backward = keys(client, table, KeyConditions=conditions(sk=condition), ScanIndexForward=False)
    assert backward == expected.split()[::-1]
    assert keys(client, table, KeyConditions=conditions(sk=condition), Limit=1) == expected.split()


def test_the_partition_key_alone(client: Client, table: str) -> None:
    assert keys(client, table, KeyConditions=conditions()) == list("123456")
    assert keys(client, table, KeyConditions={"pk": comparing("EQ", "nobody")}) == []


def test_indexes(client: Client, table: str) -> None:
    begins = {"text": comparing("BEGINS_WITH", "t"), **conditions()}
    assert keys(client, table, IndexName="by-text", KeyConditions=begins) == list("654321")
    between = conditions(text=comparing("BETWEEN", "t4", "t6"))
    assert keys(client, table, IndexName="by-text", KeyConditions=between) == list("543")
    group = {"g": comparing("EQ", "g1"), "sk": comparing("GT", 1)}
    assert keys(client, table, IndexName=INDEX, KeyConditions=group) == list("3355")


def test_keys_with_several_attributes(client: Client) -> None:
    """https://github.com/scylladb/scylladb/issues/31393."""
    table = make_table(client, gsis=[index("many", ["h1", "h2:N"], ["r1", "r2:N"])])
    fill(client, table, [item(pk=f"{r1}{r2}", h1="h", h2=1, r1=r1, r2=r2) for r1 in ("x", "y") for r2 in range(4)])
    hashes = {"h2": comparing("EQ", 1), "h1": comparing("EQ", "h")}

    def found(**more: dict[str, Any]) -> list[Any]:
        given = {**more, **hashes}
        return contents(everything(client, "query", TableName=table, IndexName="many", KeyConditions=given), "pk")

    assert len(found()) == 8
    assert found(r1=comparing("BEGINS_WITH", "y")) == ["y0", "y1", "y2", "y3"]
    assert found(r2=comparing("GE", 2), r1=comparing("EQ", "x")) == ["x2", "x3"]
    with refused("Query condition missed key schema element: h2"):
        client.query(TableName=table, IndexName="many", KeyConditions={"h1": comparing("EQ", "h")})
    with refused(NOT_INDEXABLE):
        found(r1=comparing("EQ", "x"), r2=comparing("NE", 1))


def test_conditions_that_do_not_fit_the_key(client: Client, table: str) -> None:
    for given, message in [
        ({"sk": comparing("EQ", 1)}, "Query condition missed key schema element: pk"),
        ({"x": comparing("NULL")}, "Query condition missed key schema element: pk"),
        (conditions(x=comparing("EQ", 1)), "Query condition missed key schema element: sk"),
        (conditions(x=comparing("NULL")), "Query condition missed key schema element: sk"),
        ({"pk": comparing("LT", "a")}, UNSUPPORTED),
        ({"pk": comparing("BETWEEN", "a", "b"), "sk": comparing("EQ", 1)}, UNSUPPORTED),
        ({"pk": comparing("LT", "a"), "sk": comparing("NE", 1)}, UNSUPPORTED),
        ({"pk": comparing("EQ", 1)}, f"{PARAMETER}Condition parameter type does not match schema type"),
        ({"pk": comparing("EQ", VALUES["SS"])}, f"{PARAMETER}Condition parameter type does not match schema type"),
        (conditions(sk=comparing("LT", "x")), f"{PARAMETER}Condition parameter type does not match schema type"),
    ]:
        with refused(message):
            client.query(TableName=table, KeyConditions=given)
    with refused("Query condition missed key schema element: text"):
        client.query(TableName=table, IndexName="by-text", KeyConditions=conditions(sk=comparing("EQ", 1)))


@pytest.mark.parametrize(
    "condition",
    [
        comparing("NE", 1),
        comparing("IN", 1),
        comparing("CONTAINS", 1),
        comparing("NOT_CONTAINS", 1),
        comparing("NULL"),
        comparing("NOT_NULL"),
    ],
)
def test_operators_that_no_key_can_be_searched_by(client: Client, table: str, condition: Any) -> None:
    with refused(NOT_INDEXABLE):
        client.query(TableName=table, KeyConditions=conditions(sk=condition))
    with refused(NOT_INDEXABLE):
        client.query(TableName=table, KeyConditions={"pk": condition})
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.query(TableName="nowhere", KeyConditions=conditions(sk=condition))


def test_the_number_of_conditions(client: Client, table: str) -> None:
    with refused(LENGTH):
        client.query(TableName="nowhere", KeyConditions={})
    three: dict[str, Any] = conditions(sk=comparing("EQ", 1), x=comparing("EQ", 1))
    with refused(LENGTH):
        client.query(TableName="nowhere", KeyConditions=three)
    with refused(LENGTH):
        client.query(TableName=table, IndexName=INDEX, KeyConditions=three)
    nine: dict[str, Any] = {f"k{number}": comparing("EQ", 1) for number in range(9)}
    with refused(LENGTH):
        client.query(TableName="nowhere", IndexName="any", KeyConditions=nine)


def test_the_rules_of_operators(client: Client) -> None:
    with refused(f"{PARAMETER}ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"):
        client.query(TableName="nowhere", KeyConditions=conditions(sk=comparing("BEGINS_WITH", 1)))
    with refused(f"{PARAMETER}Invalid number of argument(s) for the EQ ComparisonOperator"):
        client.query(TableName="nowhere", KeyConditions=conditions(sk=comparing("EQ", 1, 2)))
    with refused("The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"):
        client.query(TableName="nowhere", KeyConditions=conditions(sk=comparing("BETWEEN", 2, 1)))


def test_start_keys(client: Client, table: str) -> None:
    above: dict[str, Any] = conditions(sk=comparing("GT", 3))
    found = client.query(TableName=table, KeyConditions=above, ExclusiveStartKey=item(pk="a", sk=5))
    assert contents(found["Items"], "sk") == ["6"]
    with refused("The provided starting key does not match the range key predicate"):
        client.query(TableName=table, KeyConditions=above, ExclusiveStartKey=item(pk="a", sk=1))
    with refused("The provided starting key is outside query boundaries based on provided conditions"):
        client.query(TableName=table, KeyConditions=above, ExclusiveStartKey=item(pk="b", sk=5))


def test_with_expressions(client: Client, table: str) -> None:
    """KeyConditions is the one legacy parameter that goes together with expressions."""
    found = client.query(
        TableName=table,
        KeyConditions=conditions(sk=comparing("LE", 4)),
        FilterExpression="#t <> :t",
        ProjectionExpression="sk, g",
        ExpressionAttributeNames={"#t": "text"},
        ExpressionAttributeValues={":t": {"S": "t7"}},
    )
    assert found["Items"] == [item(sk=1, g="g1"), item(sk=3, g="g1"), item(sk=4, g="g0")]
    assert (found["Count"], found["ScannedCount"]) == (3, 4)
    with refused("Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}"):
        client.query(
            TableName=table,
            KeyConditions=conditions(),
            FilterExpression="g = :t",
            ExpressionAttributeValues={":t": {"S": "t7"}, ":u": {"S": "t7"}},
        )
    with refused("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"):
        client.query(TableName=table, KeyConditions=conditions(), FilterExpression="attribute_exists(sk)")


def test_the_order_of_faults(database: Database, client: Client) -> None:
    request: dict[str, Any] = {
        "TableName": "nowhere",
        "KeyConditions": {"pk": comparing("EQ")},
        "QueryFilter": {"x": comparing("LT")},
        "AttributesToGet": ["a", "a"],
        "Select": "COUNT",
        "ExclusiveStartKey": {"pk": {}},
    }

    def message() -> str:
        with pytest.raises(DynamoError) as caught:
            database.execute("Query", dict(request))
        return caught.value.message

    assert message() == f"{PARAMETER}Invalid number of argument(s) for the LT ComparisonOperator"
    request["QueryFilter"] = {"x": comparing("NULL")}
    assert message() == f"{PARAMETER}Duplicate value in attribute name: a"
    request["AttributesToGet"] = ["a"]
    assert message() == (
        "The provided starting key is invalid: "
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
    )
    del request["ExclusiveStartKey"]
    assert message() == f"{DETECTED}Cannot specify the AttributesToGet when choosing to get only the Count"
    del request["Select"]
    assert message() == f"{PARAMETER}Invalid number of argument(s) for the EQ ComparisonOperator"
    request["KeyConditions"] = conditions()
    assert message() == "Requested resource not found"
    del request["KeyConditions"]
    assert message() == (
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
    )
