"""Constraints: every one that does not hold, in one ValidationException, in AWS's words."""

from typing import Any

import pytest

from keyplan.engine.validation import check_request
from tests.engine.validation.support import refusal


def detected(*errors: tuple[str, str, str]) -> str:
    """The message for these values, places and rules; no value for the operations that AWS moved in 2026."""
    texts = [
        f"Value{value and f' {value}'} at '{path}' failed to satisfy constraint: {sentence}"
        for value, path, sentence in errors
    ]
    return f"{len(texts)} validation error{'s' if len(texts) > 1 else ''} detected: {'; '.join(texts)}"


NOT_NULL = "Member must not be null"
RETURN_VALUES = "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
RETURN_CAPACITY = "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"


def at_least(number: int, what: str = "length") -> str:
    return f"Member must have {what} greater than or equal to {number}"


def at_most(number: int, what: str = "length") -> str:
    return f"Member must have {what} less than or equal to {number}"


@pytest.mark.parametrize(
    ("operation", "request_", "errors"),
    [
        # https://martinhicks.dev/articles/dynamodb-changed-its-validation-errors
        ("PutItem", {"TableName": "", "Item": {}}, [("", "TableName", at_least(1))]),
        # Of several errors, PutItem and UpdateItem report the first: https://github.com/nubo-db/dynoxide/issues/83
        ("PutItem", {}, [("", "TableName", NOT_NULL)]),
        ("PutItem", {"TableName": "abc"}, [("", "Item", NOT_NULL)]),
        ("PutItem", {"TableName": "", "Item": {}, "ReturnValues": "x"}, [("", "TableName", at_least(1))]),
        ("DeleteItem", {}, [("", "TableName", NOT_NULL), ("", "Key", NOT_NULL)]),
        (
            "DeleteItem",
            {"TableName": "abc", "Key": {}, "ReturnValues": "x", "ReturnConsumedCapacity": "y"},
            [("", "ReturnValues", RETURN_VALUES), ("", "ReturnConsumedCapacity", RETURN_CAPACITY)],
        ),
        ("GetItem", {"TableName": "x" * 1025, "Key": {}}, [(f"'{'x' * 1025}'", "tableName", at_most(1024))]),
        (
            "Query",
            {"TableName": "abc", "Limit": 0, "IndexName": "a;"},
            [
                ("", "IndexName", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
                ("", "IndexName", at_least(3)),
                ("", "Limit", at_least(1, "value")),
            ],
        ),
        (
            "UpdateItem",
            {"TableName": "abc", "Key": {}, "ReturnValues": "x", "ReturnConsumedCapacity": "y"},
            [("", "ReturnValues", RETURN_VALUES)],
        ),
        (
            "Scan",
            {"TableName": "abc", "Segment": 1_000_000, "TotalSegments": 0},
            [("'0'", "totalSegments", at_least(1, "value")), ("'1000000'", "segment", at_most(999_999, "value"))],
        ),
        ("ListTables", {"Limit": 101}, [("'101'", "limit", at_most(100, "value"))]),
        ("GetRecords", {"ShardIterator": "x", "Limit": 1001}, [("'1001'", "limit", at_most(1000, "value"))]),
        (
            "CreateTable",
            {
                "TableName": "abc",
                "AttributeDefinitions": [{"AttributeName": "", "AttributeType": "X"}, {}],
                "ProvisionedThroughput": {"ReadCapacityUnits": 0},
            },
            [
                ("''", "attributeDefinitions.1.member.attributeName", at_least(1)),
                ("'X'", "attributeDefinitions.1.member.attributeType", "Member must satisfy enum value set: [B, N, S]"),
                ("null", "attributeDefinitions.2.member.attributeName", NOT_NULL),
                ("null", "attributeDefinitions.2.member.attributeType", NOT_NULL),
                ("'0'", "provisionedThroughput.readCapacityUnits", at_least(1, "value")),
                ("null", "provisionedThroughput.writeCapacityUnits", NOT_NULL),
            ],
        ),
        (
            "CreateTable",
            {"TableName": "abc", "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in "abc"]},
            [
                (
                    f"'[{', '.join(f'KeySchemaElement(attributeName={name}, keyType=HASH)' for name in 'abc')}]'",
                    "keySchema",
                    at_most(2),
                )
            ],
        ),
        ("BatchGetItem", {}, [("", "RequestItems", NOT_NULL)]),
        ("BatchGetItem", {"RequestItems": {"abc": {}}}, [("", "RequestItems.abc.member.Keys", NOT_NULL)]),
        (
            "BatchGetItem",
            {"RequestItems": {"abc": {"Keys": [{"pk": {"S": str(number)}} for number in range(101)]}, "xyz": {}}},
            [("", "RequestItems.abc.member.Keys", at_most(100)), ("", "RequestItems.xyz.member.Keys", NOT_NULL)],
        ),
        ("BatchWriteItem", {}, [("null", "requestItems", NOT_NULL)]),
        (
            "BatchWriteItem",
            {"RequestItems": {"abc": []}},
            [("'{abc=[]}'", "requestItems", f"Map value must satisfy constraint: [{at_most(25)}, {at_least(1)}]")],
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"": [{"DeleteRequest": {}}]}},
            [
                (
                    "'{=[WriteRequest(putRequest=null, deleteRequest=DeleteRequest(key=null))]}'",
                    "requestItems",
                    f"Map keys must satisfy constraint: [{at_most(1024)}, {at_least(1)}]",
                ),
                ("null", "requestItems..member.1.member.deleteRequest.key", NOT_NULL),
            ],
        ),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": "abc"}}, {"Delete": {"Key": {}}}]},
            [
                ("null", "transactItems.1.member.put.item", NOT_NULL),
                ("null", "transactItems.2.member.delete.tableName", NOT_NULL),
            ],
        ),
        (
            "UntagResource",
            {"ResourceArn": "arn:x", "TagKeys": ["a", ""]},
            [("'[a, ]'", "tagKeys", f"Member must satisfy constraint: [{at_most(128)}, {at_least(1)}]")],
        ),
        (
            "Query",
            {"TableName": "abc", "AttributesToGet": ["a", None]},
            [("", "AttributesToGet.2.member", NOT_NULL)],
        ),
        (
            "UpdateTable",
            {"TableName": "abc", "SSESpecification": {"SSEType": "x"}},
            [("'x'", "sSESpecification.sSEType", "Member must satisfy enum value set: [AES256, KMS]")],
        ),
    ],
)
def test_aws_words(operation: str, request_: dict[str, Any], errors: list[tuple[str, str, str]]) -> None:
    assert refusal(operation, request_) == detected(*errors)


def test_a_list_that_is_too_long_is_printed() -> None:
    writes = [{"PutRequest": {"Item": {"a": {"S": str(number)}}}} for number in range(26)]
    message = refusal("BatchWriteItem", {"RequestItems": {"abc": writes}})
    assert message.startswith(
        "1 validation error detected: Value '{abc=[WriteRequest(putRequest=PutRequest(item={"
        "a=com.amazonaws.dynamodb.v20120810.AttributeValue@"
    )
    assert message.endswith(
        ", deleteRequest=null)]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
        "[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]"
    )


def test_no_more_than_ten_errors_are_named() -> None:
    message = refusal("CreateTable", {"TableName": "abc", "AttributeDefinitions": [{}] * 7})
    assert message.startswith("10 validation errors detected: ")
    assert message.count("Member must not be null") == 10


@pytest.mark.parametrize("operation", ["CreateTable", "DescribeTable", "UpdateTable", "DeleteTable"])
def test_operations_on_tables_miss_the_name_in_a_sentence_of_their_own(operation: str) -> None:
    sentence = "The parameter 'TableName' is required but was not present in the request"
    assert refusal(operation, {}) == sentence
    assert refusal(operation, {"TableName": None}) == sentence


def test_batches_of_nothing() -> None:
    """https://github.com/nubo-db/dynoxide/pull/198 has both, as of September 2026."""
    assert refusal("BatchGetItem", {"RequestItems": {}}) == detected(("", "RequestItems", at_least(1)))
    assert refusal("BatchWriteItem", {"RequestItems": {}}) == (
        "The requestItems parameter is required for BatchWriteItem"
    )


PATTERN = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        ("ab", [at_least(3)]),
        ("x" * 256, [at_most(255)]),
        ("a!b", [PATTERN]),
        ("abc\n", [PATTERN]),
        ("a!", [PATTERN, at_least(3)]),
    ],
)
def test_the_name_of_a_table(name: str, sentences: list[str]) -> None:
    errors = [(f"'{name}'", "tableName", sentence) for sentence in sentences]
    assert refusal("GetItem", {"TableName": name, "Key": {}}) == detected(*errors)
    assert refusal("DeleteTable", {"TableName": name}) == detected(*errors)
    errors = [(value, f"transactItems.1.member.get.{path}", sentence) for value, path, sentence in errors]
    get = {"TransactItems": [{"Get": {"TableName": name, "Key": {}}}]}
    assert refusal("TransactGetItems", get) == detected(*errors)
    message = refusal("BatchGetItem", {"RequestItems": {"good-name": {"Keys": [{}]}, name: {"Keys": [{}]}}})
    assert message.endswith(
        f"failed to satisfy constraint: Map keys must satisfy constraint: [{at_most(255)}, {at_least(3)}, {PATTERN}]"
    )


def test_the_name_of_a_table_among_other_faults() -> None:
    assert refusal("GetItem", {"TableName": "ab"}) == detected(
        ("'ab'", "tableName", at_least(3)), ("null", "key", NOT_NULL)
    )
    assert refusal("PutItem", {"TableName": "a!"}) == detected(("", "TableName", PATTERN))


def test_an_arn_stands_where_the_model_has_room_for_it() -> None:
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/Things"
    request: dict[str, Any] = {"TableName": arn, "Key": {"a": {"S": "b"}}}
    check_request("GetItem", request)
    assert request["TableName"] == arn
    check_request("BatchGetItem", {"RequestItems": {arn: {"Keys": [{"a": {"S": "b"}}]}}})
    assert "regular expression" in refusal("ListTables", {"ExclusiveStartTableName": arn})


def test_no_more_than_ten_errors_are_looked_for() -> None:
    """A map that is too long is one error; of its members, only as many are looked at as may be there."""
    tables: dict[str, Any] = {f"t{number:04d}": {"Keys": []} for number in range(200)}
    message = refusal("BatchGetItem", {"RequestItems": tables})
    assert message.startswith("10 validation errors detected: ")
    assert message.count("failed to satisfy constraint") == 10
    assert (
        "at 'RequestItems' failed to satisfy constraint: Member must have length less than or equal to 100" in message
    )
