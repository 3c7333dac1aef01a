"""The quick reader and the slow walks agree: what is read has nothing wrong with it, and all else is examined."""

import contextlib
import copy
from typing import Any, cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.engine import service_model
from keyplan.engine.errors import DynamoError
from keyplan.engine.validation import check_request, extras
from keyplan.engine.validation.constraints import Violations
from keyplan.engine.validation.readers import ARGUMENTS, JSON, NOT_READ, Form, compile_reader
from keyplan.engine.validation.serialization import convert_request
from keyplan.engine.validation.wording import wording_of
from keyplan.engine.values.attribute_values import SizedItem
from keyplan.engine.values.normal_form import FROM_JSON, normalize, normalize_item, normalize_sized
from tests.engine.random_shapes import requests, spoilt

OPERATIONS = [
    "GetItem",
    "PutItem",
    "UpdateItem",
    "Query",
    "BatchWriteItem",
    "BatchGetItem",
    "TransactWriteItems",
    "CreateTable",
]


def spoilt_requests(operation: str) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(operation), spoilt(requests(operation, binary=False)))


def jsonable(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(jsonable, value.values()))
    if isinstance(value, list):
        return all(map(jsonable, value))
    return value is None or isinstance(value, str | int | float)


def normal(model: service_model.Model, name: str, value: Any) -> Any:
    """A request, whose types are right, with all its attribute values in normal form."""
    shape = model["shapes"][name]
    if name == "AttributeValue":
        return normalize(value)
    match shape["type"]:
        case "structure":
            return {member: normal(model, shape["members"][member]["shape"], value[member]) for member in value}
        case "list":
            return [normal(model, shape["member"]["shape"], content) for content in value]
        case "map":
            return {key: normal(model, shape["value"]["shape"], content) for key, content in value.items()}
    return value


@given(st.sampled_from(OPERATIONS).flatmap(spoilt_requests).filter(lambda case: jsonable(case[1])))
def test_what_is_read_has_nothing_wrong_with_it(case: tuple[str, Any]) -> None:
    operation, request = case
    model = service_model.load("dynamodb")
    shape = model["operations"][operation]["input"]["shape"]
    read = compile_reader(model, shape, JSON)
    before = copy.deepcopy(request)
    try:
        found = read(request)
    except NOT_READ:
        try:
            examined = check_request(operation, request)
        except DynamoError:
            return
        # Nothing odd is left in it. Only a value that the operation refuses can keep it from being read.
        with contextlib.suppress(DynamoError):
            assert read(examined) == normal(model, shape, examined)
        return
    assert request == before, "it was not changed"
    assert found == normal(model, shape, request)
    violations = Violations(model, wording_of(operation))
    violations.structure(shape, convert_request(model, shape, request))
    assert violations.errors == []
    assert request == before, "the walks had nothing to remove"


@pytest.mark.parametrize("form", [JSON, ARGUMENTS], ids=["json", "arguments"])
def test_values_are_walked_once(form: Form) -> None:
    """What was read is taken by the operations as it is."""
    model = service_model.load("dynamodb")

    def read(operation: str, request: dict[str, Any]) -> Any:
        return compile_reader(model, model["operations"][operation]["input"]["shape"], form)(request)

    key = {"pk": {"S": "a"}, "sk": {"N": "1.0"}}
    update = {
        "TableName": "Table",
        "Key": key,
        "UpdateExpression": "SET a = :a, b = :b",
        "ExpressionAttributeValues": {":a": {"SS": ["b", "a"]}, ":b": {"M": {"x": {"L": [{"N": "01"}]}}}},
    }
    found = read("UpdateItem", update)
    for member in ("Key", "ExpressionAttributeValues"):
        assert normalize_item(found[member]) is found[member]
    assert found["Key"] == {"pk": {"S": "a"}, "sk": {"N": "1"}}
    assert found["ExpressionAttributeValues"] == {
        ":a": {"SS": ["a", "b"]},
        ":b": {"M": {"x": {"L": [{"N": "1"}]}}},
    }
    for item in (key, {**key, "sk": {"N": "1"}}, {**key, "ns": {"NS": ["10", "9"]}}):
        put = read("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "Table", "Item": item}}]})
        found_item = put["TransactItems"][0]["Put"]["Item"]
        normal_item, size = FROM_JSON.item(item)
        assert normalize_sized(found_item) == (normal_item, size)
        assert normalize_sized(found_item)[0] is found_item
        assert orjson.loads(cast(SizedItem, found_item).stored) == normal_item
    keys = read("BatchGetItem", {"RequestItems": {"Table": {"Keys": [key, key]}}})["RequestItems"]["Table"]["Keys"]
    assert all(normalize_item(found_key) is found_key for found_key in keys)
    start = read("Query", {"TableName": "Table", "ExclusiveStartKey": key})["ExclusiveStartKey"]
    assert normalize_item(start) is start


@given(
    st.sampled_from(OPERATIONS).flatmap(
        lambda operation: st.tuples(st.just(operation), requests(operation, binary=False))
    )
)
def test_right_requests_pass(case: tuple[str, Any]) -> None:
    check_request(*case)


@pytest.mark.parametrize(("service", "operation"), sorted(service_model.operations()))
def test_every_operation_misses_what_it_requires(service: service_model.Service, operation: str) -> None:
    described = service_model.load(service)
    required = described["shapes"][described["operations"][operation]["input"]["shape"]].get("required", [])
    refused = False
    try:
        check_request(operation, {})
    except DynamoError:
        refused = True
    assert refused == bool(required)


def test_the_table_names_what_the_model_has() -> None:
    shapes = {**service_model.load("dynamodbstreams")["shapes"], **service_model.load("dynamodb")["shapes"]}
    for structure, member in extras.MEMBERS:
        assert member in shapes[structure]["members"]
    for name, values in extras.ENUMERATIONS.items():
        assert sorted(values) == sorted(shapes[name]["enum"])
