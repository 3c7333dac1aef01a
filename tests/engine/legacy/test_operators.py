"""The comparison operators: how many arguments each takes, of which types, and what it means."""

from typing import Any

import pytest

from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from tests.engine.item_support import Client, Item, fill, item
from tests.engine.legacy.support import OPERATORS, PARAMETER, VALUES, comparing
from tests.engine.support import make_table, refused

COUNTS = {**dict.fromkeys(OPERATORS, (1,)), "NULL": (0,), "NOT_NULL": (0,), "IN": (1, 2, 3), "BETWEEN": (2,)}
TYPES = {
    **dict.fromkeys(["LE", "LT", "GE", "GT", "IN", "BETWEEN"], ("S", "N", "B")),
    **dict.fromkeys(["CONTAINS", "NOT_CONTAINS"], ("S", "N", "B", "BOOL", "NULL")),
    **dict.fromkeys(["EQ", "NE"], tuple(VALUES)),
    "BEGINS_WITH": ("S", "B"),
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_number_of_arguments(client: Client, operator: str) -> None:
    """CONTAINS: https://github.com/aws/aws-sdk-js/issues/1969,
    IN: https://github.com/DashboardHub/PipelineDashboard/issues/463.
    """
    table = make_table(client)
    for count in range(4):
        request: Any = {"TableName": table, "ScanFilter": {"a": comparing(operator, *"abc"[:count])}}
        if count in COUNTS[operator]:
            assert client.scan(**request)["Count"] == 0
        else:
            with refused(f"{PARAMETER}Invalid number of argument(s) for the {operator} ComparisonOperator"):
                client.scan(**request)


@pytest.mark.parametrize("operator", TYPES)
def test_the_types_of_arguments(client: Client, operator: str) -> None:
    """BETWEEN: https://github.com/robhogan/dynamodb-geo.js/issues/30.

    EQ and NE are for all types, and the argument of CONTAINS "cannot be a set, a map, or a list":
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Condition.html
    """
    table = make_table(client)
    for kind, given in VALUES.items():
        arguments = [given] * min(COUNTS[operator])
        request: Any = {"TableName": table, "ScanFilter": {"a": comparing(operator, *arguments)}}
        if kind in TYPES[operator]:
            assert client.scan(**request)["Count"] == 0
        else:
            with refused(f"{PARAMETER}ComparisonOperator {operator} is not valid for {kind} AttributeValue type"):
                client.scan(**request)


def test_arguments_of_several_types(client: Client) -> None:
    for condition in (comparing("IN", "a", 1), comparing("BETWEEN", 1, b"a"), comparing("IN", VALUES["SS"], "a")):
        with refused(f"{PARAMETER}AttributeValues inside AttributeValueList must be of same type"):
            client.scan(TableName="nowhere", ScanFilter={"a": condition})


def test_bounds_in_the_wrong_order(client: Client) -> None:
    for low, high in (("b", "a"), (10, 9), (b"\xff", b"\x00")):
        with refused(
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        ):
            client.scan(TableName="nowhere", ScanFilter={"a": comparing("BETWEEN", low, high)})
    table = make_table(client)
    assert client.scan(TableName=table, ScanFilter={"a": comparing("BETWEEN", 9, 10)})["Count"] == 0
    assert client.scan(TableName=table, ScanFilter={"a": comparing("BETWEEN", 9, 9)})["Count"] == 0


def test_illegal_values_are_refused_before_everything_else(database: Database) -> None:
    def refusal(*arguments: dict[str, Any]) -> str:
        given = {"ComparisonOperator": "EQ", "AttributeValueList": list(arguments)}
        return _message(database, {"TableName": "nowhere", "ScanFilter": {"a": given}})

    empty = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
    assert refusal({"S": "a"}, {}) == empty
    assert refusal({"N": "x"}) == "The parameter cannot be converted to a numeric value: x"
    assert refusal({"SS": []}) == f"{PARAMETER}An string set  may not be empty"
    assert refusal({"S": "a", "N": "1"}) == (
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
    )


def test_the_first_wrong_condition_is_reported(client: Client) -> None:
    with refused(f"{PARAMETER}ComparisonOperator LT is not valid for SS AttributeValue type"):
        client.scan(
            TableName="nowhere",
            ScanFilter={"b": comparing("LT", VALUES["SS"]), "a": comparing("EQ")},
        )


def test_a_condition_needs_an_operator(database: Database) -> None:
    assert _message(database, {"TableName": "nowhere", "ScanFilter": {"a": {}}}) == (
        "1 validation error detected: Value null at 'scanFilter.a.member.comparisonOperator' "
        "failed to satisfy constraint: Member must not be null"
    )
    assert _message(database, {"TableName": "nowhere", "ScanFilter": {"a": {"ComparisonOperator": "eq"}}}) == (
        "1 validation error detected: Value 'eq' at 'scanFilter.a.member.comparisonOperator' failed to satisfy "
        "constraint: Member must satisfy enum value set: "
        "[IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]"
    )


def _message(database: Database, request: dict[str, Any]) -> str:
    with pytest.raises(DynamoError) as caught:
        database.execute("Scan", request)
    return caught.value.message


# One item for each type, named after it, and one without the attribute.
MATCHES: list[tuple[Any, str]] = [
    (comparing("EQ", "abc"), "S"),
    (comparing("EQ", 5), "N"),
    (comparing("EQ", {"N": "5.0"}), "N"),
    (comparing("EQ", {"SS": ["d", "abc"]}), "SS"),
    (comparing("EQ", {"NS": ["6", "5"]}), "NS"),
    (comparing("EQ", VALUES["L"]), "L"),
    (comparing("EQ", {"L": [{"N": "5"}, {"S": "abc"}]}), ""),
    (comparing("EQ", VALUES["M"]), "M"),
    (comparing("EQ", VALUES["BOOL"]), "BOOL"),
    (comparing("EQ", {"BOOL": False}), ""),
    (comparing("EQ", VALUES["NULL"]), "NULL"),
    (comparing("NE", "abc"), "N B SS NS BS L M BOOL NULL absent"),
    (comparing("NE", VALUES["M"]), "S N B SS NS BS L BOOL NULL absent"),
    (comparing("LT", "abd"), "S"),
    (comparing("LT", "abc"), ""),
    (comparing("LE", "abc"), "S"),
    (comparing("GT", 4), "N"),
    (comparing("GT", 5), ""),
    (comparing("GE", 5), "N"),
    (comparing("GE", b"abc"), "B"),
    (comparing("NOT_NULL"), "S N B SS NS BS L M BOOL NULL"),
    (comparing("NULL"), "absent"),
    (comparing("CONTAINS", "bc"), "S"),
    (comparing("CONTAINS", "abc"), "S SS L"),
    (comparing("CONTAINS", 5), "NS L"),
    (comparing("CONTAINS", b"bc"), "B"),
    (comparing("CONTAINS", b"abc"), "B BS"),
    (comparing("CONTAINS", {"BOOL": True}), ""),
    # An item without the attribute doesn't meet it: AWS's clients for DAX (amazon-dax-client, DynamoDbV1Converter.py)
    # send `attribute_exists(a) AND NOT contains(a, :v)` in its place.
    (comparing("NOT_CONTAINS", "abc"), "N B NS BS M BOOL NULL"),
    (comparing("NOT_CONTAINS", 5), "S N B SS BS M BOOL NULL"),
    (comparing("BEGINS_WITH", "ab"), "S"),
    (comparing("BEGINS_WITH", b"ab"), "B"),
    (comparing("BEGINS_WITH", "bc"), ""),
    (comparing("IN", "x", "abc"), "S"),
    (comparing("IN", 4, 5), "N"),
    (comparing("IN", "x"), ""),
    (comparing("BETWEEN", 5, 6), "N"),
    (comparing("BETWEEN", "a", "b"), "S"),
    (comparing("BETWEEN", 6, 7), ""),
]


def test_what_the_operators_mean(client: Client) -> None:
    """The same for Scan, Query and writes."""
    table = make_table(client, "pk", "sk")
    fill(client, table, [{**item(pk="p", sk=kind), "a": given} for kind, given in VALUES.items()])
    client.put_item(TableName=table, Item=item(pk="p", sk="absent"))
    for condition, expected in MATCHES:
        wanted = sorted(expected.split())
        scanned = client.scan(TableName=table, ScanFilter={"a": condition})
        assert sorted(found["sk"]["S"] for found in scanned["Items"]) == wanted, condition
        assert scanned["ScannedCount"] == len(VALUES) + 1
        queried = client.query(
            TableName=table, KeyConditions={"pk": comparing("EQ", "p")}, QueryFilter={"a": condition}
        )
        assert [found["sk"]["S"] for found in queried["Items"]] == wanted, condition
        assert queried["ScannedCount"] == len(VALUES) + 1
        for kind in [*VALUES, "absent"]:
            assert _writes(client, table, item(pk="p", sk=kind), condition) == (kind in wanted), (condition, kind)


def _writes(client: Client, table: str, key: Item, condition: Any) -> bool:
    """Whether an update with this condition is made."""
    try:
        client.update_item(TableName=table, Key=key, Expected={"a": condition})
    except client.exceptions.ConditionalCheckFailedException:
        return False
    return True
