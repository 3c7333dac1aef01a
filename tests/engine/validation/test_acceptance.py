"""The quick test and the slow walks agree: a yes means that nothing is wrong, and a no is looked into."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.engine import service_model
from keyplan.engine.errors import DynamoError
from keyplan.engine.validation import check_request, extras
from keyplan.engine.validation.acceptance import compile_test
from keyplan.engine.validation.constraints import Violations
from keyplan.engine.validation.serialization import read
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


@given(st.sampled_from(OPERATIONS).flatmap(spoilt_requests).filter(lambda case: jsonable(case[1])))
def test_the_quick_test_says_yes_only_to_what_the_walks_let_pass(case: tuple[str, Any]) -> None:
    operation, request = case
    described = service_model.load("dynamodb")
    shape = described["operations"][operation]["input"]["shape"]
    quick = compile_test(described, shape)
    if quick(request):
        violations = Violations(described)
        violations.structure(shape, read(described, shape, request))
        violations.check()
        return
    try:
        check_request(operation, request)
    except DynamoError:
        return
    assert quick(request), "what passes the walks has been set right"


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
