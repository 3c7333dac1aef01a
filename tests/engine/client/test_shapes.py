"""Answers: what botocore's parser makes of the wire's JSON, for every operation's output shape."""

import json
from typing import Any

import orjson
import pytest
from botocore.parsers import JSONParser
from hypothesis import given
from hypothesis import strategies as st

from keyplan.engine.client.params import botocore_model
from keyplan.engine.client.shapes import conversion
from keyplan.engine.service_model import Service, load, operations
from tests.engine.random_shapes import values_of


def botocore_parses(service: Service, operation: str, answer: Any) -> Any:
    shape = botocore_model(service).operation_model(operation).output_shape
    response = {"status_code": 200, "headers": {}, "body": json.dumps(answer).encode()}
    parsed = JSONParser().parse(response, shape)  # type: ignore[arg-type]
    del parsed["ResponseMetadata"]
    return parsed


def answers(service: Service, operation: str) -> st.SearchStrategy[tuple[Service, str, Any]]:
    model = load(service)
    values = values_of(model, model["operations"][operation]["output"]["shape"], binary=False)
    return st.tuples(st.just(service), st.just(operation), values)


WITH_OUTPUT = sorted(pair for pair in operations() if "output" in load(pair[0])["operations"][pair[1]])


@given(st.sampled_from(WITH_OUTPUT).flatmap(lambda pair: answers(*pair)))
def test_every_answer_is_what_botocore_makes_of_it(case: tuple[Service, str, Any]) -> None:
    service, operation, answer = case
    convert = conversion(service, load(service)["operations"][operation]["output"]["shape"])
    assert convert(answer) == botocore_parses(service, operation, answer)


STORED = {
    "pk": {"S": 'says "B":"no"'},
    "B": {"S": "an attribute named B"},
    "BS": {"L": [{"B": "YQ=="}]},
    "m": {"M": {"B": {"B": "Yg=="}, "BS": {"BS": ["Yw==", "ZA=="]}}},
    "n": {"N": "1"},
}
GIVEN = {
    "pk": {"S": 'says "B":"no"'},
    "B": {"S": "an attribute named B"},
    "BS": {"L": [{"B": b"a"}]},
    "m": {"M": {"B": {"B": b"b"}, "BS": {"BS": [b"c", b"d"]}}},
    "n": {"N": "1"},
}


@pytest.mark.parametrize("item", [STORED, orjson.Fragment(orjson.dumps(STORED))], ids=["decoded", "stored"])
def test_stored_items_are_decoded_with_their_binaries(item: Any) -> None:
    assert conversion("dynamodb", "GetItemOutput")({"Item": item}) == {"Item": GIVEN}
    assert conversion("dynamodb", "QueryOutput")({"Items": [item, item], "Count": 2}) == {
        "Items": [GIVEN, GIVEN],
        "Count": 2,
    }
    assert conversion("dynamodb", "BatchGetItemOutput")({"Responses": {"tab": [item]}, "UnprocessedKeys": {}}) == {
        "Responses": {"tab": [GIVEN]},
        "UnprocessedKeys": {},
    }


def test_an_answer_shares_nothing_with_the_engine() -> None:
    item = {"a": {"L": [{"S": "x"}]}}
    result = conversion("dynamodb", "UpdateItemOutput")({"Attributes": item})
    assert result == {"Attributes": item}
    result["Attributes"]["a"]["L"].clear()  # type: ignore[index]
    assert item == {"a": {"L": [{"S": "x"}]}}


def test_timestamps_are_aware_datetimes_in_local_time() -> None:
    answer: dict[str, object] = {
        "Table": {"CreationDateTime": 1767323045.25, "TableName": "tab", "Unknown": 1, "TableArn": None}
    }
    table: Any = conversion("dynamodb", "DescribeTableOutput")(answer)["Table"]
    assert set(table) == {"CreationDateTime", "TableName"}
    assert table["CreationDateTime"].timestamp() == 1767323045.25
    assert table["CreationDateTime"].tzinfo is not None


def test_an_operation_without_an_output_gives_nothing() -> None:
    assert conversion("dynamodb", None)({"x": 1}) == {}
