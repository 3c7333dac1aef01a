"""Arguments of a call: refused in botocore's words, and turned into the JSON that botocore would send."""

import base64
import json
import re
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ParamValidationError
from botocore.serialize import JSONSerializer
from botocore.validate import ParamValidator
from hypothesis import given
from hypothesis import strategies as st

from keyplan.engine.client.params import botocore_model, preparation
from keyplan.engine.service_model import service_of
from keyplan.engine.validation import check_request
from tests.engine.random_shapes import requests, spoilt

OPERATIONS = [
    "GetItem",
    "PutItem",
    "UpdateItem",
    "Query",
    "Scan",
    "BatchGetItem",
    "BatchWriteItem",
    "TransactWriteItems",
    "CreateTable",
    "UpdateTable",
    "TagResource",
    "GetShardIterator",
]


def botocore_says(operation: str, arguments: dict[str, Any]) -> tuple[str, Any]:
    service = service_of(operation)
    assert service is not None
    described = botocore_model(service).operation_model(operation)
    report = ParamValidator().validate(arguments, described.input_shape)  # type: ignore[arg-type]
    if report.has_errors():
        return "refused", str(ParamValidationError(report=report.generate_report()))
    return "sent", json.loads(JSONSerializer().serialize_to_request(arguments, described)["body"])


def keyplan_says(operation: str, arguments: dict[str, Any]) -> tuple[str, Any]:
    service = service_of(operation)
    assert service is not None
    before = deepcopy(arguments)
    try:
        request, checked = preparation(service, operation)(arguments)
    except ParamValidationError as error:
        return "refused", str(error)
    assert arguments == before
    return "checked" if checked else "sent", request


def check(operation: str, arguments: dict[str, Any]) -> None:
    """Arguments are refused, or converted to a request, exactly as by botocore over HTTP."""
    try:
        outcome, expected = botocore_says(operation, arguments)
    except RuntimeError as error:  # a timestamp too large for it
        with pytest.raises(RuntimeError, match=re.escape(str(error))):
            keyplan_says(operation, arguments)
        return
    if outcome == "sent" and "118059162071741" in json.dumps(expected):  # integers over 64 bits are floats to orjson
        return
    said, request = keyplan_says(operation, arguments)
    if said == "checked":
        assert outcome == "sent"
        assert request == check_request(operation, expected)
    else:
        assert (said, request) == (outcome, expected)


def arguments_at_random(wrap: bool) -> st.SearchStrategy[tuple[str, Any]]:
    def pair(operation: str) -> st.SearchStrategy[tuple[str, Any]]:
        right = requests(operation, binary=True)
        return st.tuples(st.just(operation), spoilt(right) if wrap else right)

    return st.sampled_from(OPERATIONS).flatmap(pair)


@given(arguments_at_random(wrap=False))
def test_right_arguments_are_sent_as_botocore_sends_them(call: tuple[str, Any]) -> None:
    check(*call)


@given(arguments_at_random(wrap=True))
def test_wrong_arguments_are_refused_as_botocore_refuses_them(call: tuple[str, Any]) -> None:
    check(*call)


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ({"B": b"\x00\xff"}, {"B": "AP8="}),
        ({"B": bytearray(b"ab")}, {"B": "YWI="}),
        ({"B": "text"}, {"B": base64.b64encode(b"text").decode()}),
        ({"BS": [b"a", b"b"]}, {"BS": ["YQ==", "Yg=="]}),
        ({"SS": ("a", "b")}, {"SS": ["a", "b"]}),
        ({"M": {"B": {"L": [{"B": b"a"}, {"S": "x"}]}}}, {"M": {"B": {"L": [{"B": "YQ=="}, {"S": "x"}]}}}),
    ],
)
def test_binaries_and_sequences(value: Any, sent: Any) -> None:
    request, _ = preparation("dynamodb", "PutItem")({"TableName": "tab", "Item": {"a": value}})
    assert request == {"TableName": "tab", "Item": {"a": sent}}


def test_the_callers_values_are_not_changed() -> None:
    item = {"a": {"B": b"x"}, "b": {"M": {"c": {"BS": [b"y"]}}}}
    preparation("dynamodb", "PutItem")({"TableName": "tab", "Item": item})
    assert item == {"a": {"B": b"x"}, "b": {"M": {"c": {"BS": [b"y"]}}}}


def test_a_datetime_becomes_seconds() -> None:
    prepare = preparation("dynamodb", "ExportTableToPointInTime")
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    request, _ = prepare({"TableArn": "arn:aws:dynamodb", "S3Bucket": "bucket", "ExportTime": moment})
    assert request["ExportTime"] == 1767323045
