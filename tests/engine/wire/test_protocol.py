"""DynamoDB's JSON protocol, without a socket."""

import logging
import tracemalloc

import orjson
import pytest
from botocore.loaders import Loader

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import NOTHING
from keyplan.engine.protocol import (
    MAX_MEMBERS,
    _has_too_many_members,
    decode,
    encode,
    encode_error,
    operation_of,
    respond,
)
from keyplan.engine.service_model import load
from tests.engine.wire.fake import FakeDatabase


def test_a_target_names_an_operation() -> None:
    assert operation_of("DynamoDB_20120810.GetItem") == "GetItem"
    assert operation_of(b"DynamoDB_20120810.GetItem") == "GetItem"
    assert operation_of("DynamoDBStreams_20120810.GetRecords") == "GetRecords"


@pytest.mark.parametrize(
    "target",
    [
        None,
        "",
        ".",
        "GetItem",
        "DynamoDB_20120810",
        "DynamoDB_20120810.",
        "dynamodb_20120810.GetItem",
        "DynamoDB_20111205.GetItem",
        "DynamoDB_20120810.Get.Item",
        "DynamoDB_20120810.GetRecords",
        "DynamoDBStreams_20120810.GetItem",
        b"DynamoDB_20120810.\xff\xfe",
        b"DynamoDB_20120810." + b"x" * 10_000,
    ],
)
def test_an_unknown_target_is_an_unknown_operation(target: str | bytes | None) -> None:
    with pytest.raises(DynamoError) as caught:
        operation_of(target)
    # As AWS answers for operations that a region doesn't have: https://github.com/boto/boto3/issues/1542
    assert encode(caught.value) == (
        400,
        b'{"__type":"com.amazon.coral.service#UnknownOperationException","message":"Unknown operation exception"}',
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"1",
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": 1} x',
        b"\xef\xbb\xbf{}",
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b"[" * 200_000,
    ],
)
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    answer = (400, b'{"__type":"com.amazon.coral.service#SerializationException"}')
    assert respond(FakeDatabase(), "Echo", body) == answer


def test_a_body_over_16_mb_is_refused() -> None:
    assert respond(FakeDatabase(), "Echo", b"{}" + b" " * 16 * 1024 * 1024)[0] == 413


def test_operations_without_output_have_no_body() -> None:
    assert encode(NOTHING) == (200, b"")
    assert encode({}) == (200, b"{}")
    without = [name for name, operation in load("dynamodb")["operations"].items() if "output" not in operation]
    assert sorted(without) == ["TagResource", "UntagResource"]


def test_an_answer_is_sent_as_it_is_stored() -> None:
    assert encode({"Item": orjson.Fragment(b'{"a":{"N":"1"}}')}) == (200, b'{"Item":{"a":{"N":"1"}}}')
    assert respond(FakeDatabase(), "Echo", b'{"a":1}') == (200, b'{"Operation":"Echo","Request":{"a":1}}')


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ValidationException", "com.amazon.coral.validate#ValidationException"),
        ("SerializationException", "com.amazon.coral.service#SerializationException"),
        ("UnrecognizedClientException", "com.amazon.coral.service#UnrecognizedClientException"),
        ("ResourceNotFoundException", "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"),
        ("TrimmedDataAccessException", "com.amazonaws.dynamodb.v20120810#TrimmedDataAccessException"),
    ],
)
def test_an_error_has_its_namespace(code: str, kind: str) -> None:
    assert orjson.loads(encode_error(DynamoError(code, "text")))["__type"] == kind


@pytest.mark.parametrize("service", ["dynamodb", "dynamodbstreams"])
def test_the_message_is_spelled_as_in_the_service_model(service: str) -> None:
    shapes = Loader().load_service_model(service, "service-2")["shapes"]
    exceptions = {name: shape for name, shape in shapes.items() if shape.get("exception")}
    assert exceptions
    for code, shape in exceptions.items():
        members = orjson.loads(encode_error(DynamoError(code, "text")))
        assert {name for name, value in members.items() if value == "text"} <= shape["members"].keys(), code


def test_an_error_has_its_other_members() -> None:
    reasons = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Item": orjson.Fragment(b'{"a":{"S":"x"}}')}]
    error = DynamoError("TransactionCanceledException", "Transaction cancelled", extra={"CancellationReasons": reasons})
    assert orjson.loads(encode_error(error)) == {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "Transaction cancelled",
        "CancellationReasons": [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Item": {"a": {"S": "x"}}}],
    }


@pytest.mark.parametrize("operation", ["Break", "Unencodable"])
def test_a_fault_is_logged_and_not_told(operation: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        status, body = respond(FakeDatabase(), operation, b"{}")
    assert status == 500
    assert orjson.loads(body) == {
        "__type": "com.amazonaws.dynamodb.v20120810#InternalServerError",
        "message": "Internal server error",
    }
    assert "Traceback" in caplog.text


def test_decode_gives_the_request() -> None:
    assert decode('{"TableName":"ä"}'.encode()) == {"TableName": "ä"}


def test_more_members_than_can_be_read_quickly() -> None:
    """The limit is for what lists and maps have, not for what is in texts."""
    for body in (
        b'{"a":[' + b",".join([b"{}"] * MAX_MEMBERS) + b"]}",
        b"[" * (MAX_MEMBERS + 1),
        b'{"a":[' + b",".join([b'"x"'] * 2 * MAX_MEMBERS) + b"]}",
        b"{" + b",".join(b'"%d":1' % number for number in range(MAX_MEMBERS + 1)) + b"}",
    ):
        with pytest.raises(DynamoError) as caught:
            decode(body)
        status, answer = encode(caught.value)
        assert status == 413
        assert orjson.loads(answer) == {
            "__type": "com.amazon.coral.service#RequestEntityTooLargeException",
            "message": "The lists and maps of the request have more than 420,000 members. "
            "Send fewer items in a request.",
        }
    text = r"{[,\"[,{" * MAX_MEMBERS
    assert decode(orjson.dumps({"a": [text, text]})) == {"a": [text, text]}
    assert len(decode(b'{"a":[' + b",".join([b"1"] * (MAX_MEMBERS - 2)) + b"]}")["a"]) == MAX_MEMBERS - 2  # type: ignore[arg-type]


def test_marks_in_texts_are_counted_without_much_memory() -> None:
    body = orjson.dumps({"a": '"[{,' * 500_000})
    tracemalloc.start()
    try:
        assert not _has_too_many_members(body)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(body)
    finally:
        tracemalloc.stop()
