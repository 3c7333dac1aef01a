"""A condition has the same result in Python as in the engine, for any condition and any item."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from keyplan.data import AttributeValue, Item
from keyplan.data.expressions.evaluation import holds, same_value
from keyplan.data.expressions.texts import Expression
from keyplan.design.operations.conditions import FieldPath, Node
from keyplan.engine import Engine

TABLE, KEY = "Things", {"pk": {"S": "thing"}}

# Few different values, so that many of them are equal or nearly equal. Some numbers aren't in normal form.
texts = st.sampled_from(["", "a", "ab", "b", "é", "\U0001f600"])
numbers = st.sampled_from(["0", "-0.0", "1", "1.0", "1.5", "10", "1E1", "-1", "9" * 38])
binaries = st.sampled_from([b"", b"a", b"ab", b"\xff"])
scalars: st.SearchStrategy[AttributeValue] = st.one_of(
    st.fixed_dictionaries({"S": texts}),
    st.fixed_dictionaries({"N": numbers}),
    st.fixed_dictionaries({"B": binaries}),
    st.fixed_dictionaries({"BOOL": st.booleans()}),
    st.just({"NULL": True}),
    st.fixed_dictionaries({"SS": st.permutations(["a", "ab", "b"]).map(lambda each: each[:2])}),
    st.fixed_dictionaries({"NS": st.permutations(["1.0", "1.5", "10"]).map(lambda each: each[:2])}),
    st.fixed_dictionaries({"BS": st.permutations([b"a", b"ab", b"b"]).map(lambda each: each[:2])}),
)
names = st.sampled_from(["a", "b", "c"])
values: st.SearchStrategy[AttributeValue] = st.recursive(
    scalars,
    lambda inside: st.one_of(
        st.fixed_dictionaries({"L": st.lists(inside, max_size=2)}),
        st.fixed_dictionaries({"M": st.dictionaries(names, inside, max_size=2)}),
    ),
    max_leaves=4,
)
items: st.SearchStrategy[Item | None] = st.none() | st.dictionaries(names, values).map(lambda item: {**KEY, **item})
paths = st.tuples(names) | st.tuples(names, names | st.integers(0, 2))
operands = paths.map(FieldPath) | values
scalar_operands = paths.map(FieldPath) | scalars


def node(operator: str, *inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Node]:
    return st.tuples(*inside).map(lambda each: Node(operator, each))


path = paths.map(FieldPath)
leaves = st.one_of(
    node("attribute_exists", path),
    node("attribute_not_exists", path),
    *(node(operator, path, operands) for operator in ("=", "<>", "contains")),
    *(node(operator, path, scalar_operands) for operator in ("<", "<=", ">", ">=", "begins_with")),
    *(node(operator, node("size", path), scalar_operands) for operator in ("=", "<>", "<", ">=")),
    node("attribute_type", path, st.sampled_from(["S", "N", "SS", "M", "NULL"]).map(lambda name: {"S": name})),
    node("BETWEEN", path, scalar_operands, scalar_operands),
    st.tuples(path, st.lists(operands, min_size=1, max_size=3)).map(lambda each: Node("IN", (each[0], *each[1]))),
)
conditions = st.recursive(
    leaves,
    lambda inside: st.one_of(node("AND", inside, inside), node("OR", inside, inside, inside), node("NOT", inside)),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as made:
        made.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        yield made


def engine_says(engine: Engine, condition: Node, item: Item | None) -> bool | None:
    """The engine's result of a condition on an item, or None if it refuses the condition."""
    if item is None:
        engine.delete_item(TableName=TABLE, Key=KEY)
    else:
        engine.put_item(TableName=TABLE, Item=item)
    expression = Expression()
    check: Any = {"TableName": TABLE, "Key": KEY, "ConditionExpression": expression.condition(condition)}
    try:
        engine.transact_write_items(TransactItems=[{"ConditionCheck": check | expression.parameters()}])
        return True
    except ClientError as error:
        if error.response["Error"]["Code"] == "TransactionCanceledException":
            return False
        if error.response["Error"]["Code"] == "ValidationException":
            return None
        raise


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(condition=conditions, item=items)
def test_python_and_the_engine_agree(engine: Engine, condition: Node, item: Item | None) -> None:
    expected = engine_says(engine, condition, item)
    assume(expected is not None)
    assert holds(condition, item) is expected


def test_random_conditions_are_both_true_and_false(engine: Engine) -> None:
    """Many of the random conditions hold, many don't, and most are valid."""
    counted: dict[bool | None, int] = {True: 0, False: 0, None: 0}

    @settings(max_examples=300, deadline=None, derandomize=True, database=None)
    @given(condition=conditions, item=items)
    def count(condition: Node, item: Item | None) -> None:
        counted[engine_says(engine, condition, item)] += 1

    count()
    assert min(counted[True], counted[False]) >= 50, counted
    assert counted[None] <= 150, counted


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"N": "1"}, {"N": "1.0"}, True),
        ({"N": "1"}, {"S": "1"}, False),
        ({"NS": ["1", "2"]}, {"NS": ["2.0", "1"]}, True),
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}, True),
        ({"BS": [b"a"]}, {"BS": [b"b"]}, False),
        ({"L": [{"N": "1"}]}, {"L": [{"N": "1.0"}]}, True),
        ({"L": [{"N": "1"}]}, {"L": []}, False),
        ({"M": {"a": {"N": "1"}}}, {"M": {"a": {"N": "1.0"}}}, True),
        ({"M": {"a": {"N": "1"}}}, {"M": {"b": {"N": "1"}}}, False),
        ({"BOOL": True}, {"BOOL": False}, False),
        (None, None, False),
    ],
)
def test_values_are_compared_as_in_dynamodb(
    one: AttributeValue | None, other: AttributeValue | None, same: bool
) -> None:
    assert same_value(one, other) is same
