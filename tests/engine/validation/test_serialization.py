"""Wrong JSON types: AWS's SerializationException, for the first of them."""

from typing import Any

import pytest

from keyplan.engine.errors import DynamoError
from keyplan.engine.validation import check_request
from tests.engine.validation import support

ATTRIBUTE_VALUE = "com.amazonaws.dynamodb.v20120810.AttributeValue"
NO_STRUCTURE = "Start of structure or map found where not expected"


def refusal(operation: str, request: dict[str, Any]) -> str:
    return support.refusal(operation, request, "SerializationException")


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("TableName", 23, "NUMBER_VALUE cannot be converted to String"),
        ("TableName", 2.5, "NUMBER_VALUE cannot be converted to String"),
        ("TableName", True, "TRUE_VALUE cannot be converted to String"),
        ("TableName", False, "FALSE_VALUE cannot be converted to String"),
        ("TableName", [], "Unrecognized collection type class java.lang.String"),
        ("TableName", {}, NO_STRUCTURE),
        ("Limit", "1", "STRING_VALUE cannot be converted to Integer"),
        ("Limit", True, "TRUE_VALUE cannot be converted to Integer"),
        ("Limit", 2**40, "NUMBER_VALUE cannot be converted to Integer"),
        ("Limit", 1e300, "NUMBER_VALUE cannot be converted to Integer"),
        ("Limit", [], "Unrecognized collection type class java.lang.Integer"),
        ("Limit", {}, NO_STRUCTURE),
        # https://github.com/scylladb/scylladb/issues/9432
        ("ConsistentRead", "dog", "Unexpected token received from parser"),
        ("ConsistentRead", 1, "NUMBER_VALUE cannot be converted to Boolean"),
        ("AttributesToGet", "a", "Unexpected field type"),
        ("AttributesToGet", {}, NO_STRUCTURE),
        ("AttributesToGet", [1], "NUMBER_VALUE cannot be converted to String"),
        ("ExclusiveStartKey", "a", "Unexpected field type"),
        (
            "ExclusiveStartKey",
            [],
            f"Unrecognized collection type java.util.Map<java.lang.String, {ATTRIBUTE_VALUE}>",
        ),
        (
            "ExpressionAttributeNames",
            [],
            "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>",
        ),
        ("ExclusiveStartKey", {"a": "b"}, "Unexpected value type in payload"),
        ("ExclusiveStartKey", {"a": []}, f"Unrecognized collection type class {ATTRIBUTE_VALUE}"),
    ],
)
def test_every_kind_of_member(member: str, value: Any, message: str) -> None:
    assert refusal("Query", {"TableName": "abc", member: value}) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"N": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"S": True}, "TRUE_VALUE cannot be converted to String"),
        ({"S": {}}, NO_STRUCTURE),
        ({"BOOL": "dog"}, "Unexpected token received from parser"),
        ({"NULL": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
        ({"SS": "a"}, "Unexpected field type"),
        ({"NS": [1]}, "NUMBER_VALUE cannot be converted to String"),
        ({"L": {}}, NO_STRUCTURE),
        ({"L": ["a"]}, "Unexpected value type in payload"),
        ({"L": [{"M": {"x": {"N": 1}}}]}, "NUMBER_VALUE cannot be converted to String"),
        ({"M": []}, f"Unrecognized collection type java.util.Map<java.lang.String, {ATTRIBUTE_VALUE}>"),
        ({"B": 1}, "only base-64-encoded strings are convertible to bytes"),
        ({"B": []}, "Unrecognized collection type class java.nio.ByteBuffer"),
        ({"B": "abc"}, "Base64 encoded length is expected a multiple of 4 bytes but found: 3"),
        ({"B": "ab$="}, "Invalid Base64 character: '$'"),
        ({"B": "a=bc"}, "Invalid Base64 character: '='"),
        ({"B": "YR=="}, "Invalid last non-pad Base64 character dectected"),
        ({"BS": ["YQ==", "abé="]}, "Invalid Base64 character: 'é'"),
    ],
)
def test_attribute_values(value: Any, message: str) -> None:
    assert refusal("PutItem", {"TableName": "abc", "Item": {"k": {"S": "a"}, "v": value}}) == message


def test_types_come_before_constraints_and_the_first_one_counts() -> None:
    request = {"TableName": "", "Limit": 0, "Select": 5, "ConsistentRead": "x"}
    assert refusal("Query", request) == "NUMBER_VALUE cannot be converted to String"


def test_what_is_odd_but_allowed_is_set_right() -> None:
    request: dict[str, Any] = {
        "TableName": "abc",
        "IndexName": None,
        "Limit": 7.9,
        "Unknown": {"x": 1},
        "ExclusiveStartKey": {"a": {"S": "x", "N": None, "Type": "S"}},
    }
    check_request("Query", request)
    assert request == {
        "TableName": "abc",
        "Limit": 7,
        "ExclusiveStartKey": {"a": {"S": "x"}},
    }


@pytest.mark.parametrize("operation", ["NoSuchOperation", ""])
def test_an_unknown_operation_is_not_our_business(operation: str) -> None:
    check_request(operation, {"TableName": 5})


@pytest.mark.parametrize("kind", ["M", "L"])
def test_values_nested_hundreds_deep_neither_crash_nor_take_long(kind: str) -> None:
    value: Any = {"N": 5}
    for _ in range(500):
        value = {"M": {"a": value}} if kind == "M" else {"L": [value]}
    check_request("PutItem", {"TableName": "abc", "Item": {"a": value}})
    with pytest.raises(DynamoError, match="Member must not be null"):
        check_request("PutItem", {"Item": {"a": value}})
    with pytest.raises(DynamoError, match="Map value must satisfy"):
        check_request("BatchWriteItem", {"RequestItems": {"abc": [{"PutRequest": {"Item": {"a": value}}}] * 26}})
