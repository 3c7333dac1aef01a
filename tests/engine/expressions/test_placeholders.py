"""ExpressionAttributeNames and ExpressionAttributeValues."""

import pytest

from keyplan.engine.expressions import Placeholders, condition, projection, update
from keyplan.engine.values.attribute_values import Item
from tests.engine.expressions.support import n, refused, s


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({}, "ExpressionAttributeNames must not be empty"),
        ({"a": "b"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'),
        ({"#": "b"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#"'),
        ({"#a-": "b"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-"'),
        ({"#a.b": "b"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a.b"'),
        ({"#a\n": "b"}, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a\n"'),
    ],
)
def test_refused_names(names: dict[str, str], message: str) -> None:
    refused(message, lambda: Placeholders(names, None))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "ExpressionAttributeValues must not be empty"),
        ({"v": s("")}, 'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"'),
        (
            {":v": {}},
            (
                "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, "
                "must contain exactly one of the supported datatypes for key :v"
            ),
        ),
        (
            {":v": {"NULL": False}},
            (
                "ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: "
                "Null attribute value types must have the value of true for key :v"
            ),
        ),
        (
            {":v": {"N": "x"}},
            (
                "ExpressionAttributeValues contains invalid value: "
                "The parameter cannot be converted to a numeric value: x for key :v"
            ),
        ),
    ],
)
def test_refused_values(values: Item, message: str) -> None:
    refused(message, lambda: Placeholders(None, values))


def test_values_are_normalized() -> None:
    assert Placeholders(None, {":n": n("1.50e1"), ":s": {"SS": ["b", "a"]}}).values == {
        ":n": n("15"),
        ":s": {"SS": ["a", "b"]},
    }


def test_placeholders_have_up_to_255_characters() -> None:
    longest = "x" * 254
    assert Placeholders({"#" + longest: "x"}, {":" + longest: n(1)}).names == {"#" + longest: "x"}
    names, values = f"#{longest}x", f":{longest}x"
    said = 'contains invalid key: Syntax error; key: "'
    refused(f'ExpressionAttributeNames {said}{names}"', lambda: Placeholders({names: "x"}, None))
    refused(f'ExpressionAttributeValues {said}{values}"', lambda: Placeholders(None, {values: n(1)}))


def test_names_may_begin_with_underscore_or_digit() -> None:
    placeholders = Placeholders({"#_a": "x", "#0": "y"}, {":_v": n(1), ":1": n(2)})
    bound = condition("FilterExpression", "#_a = :_v AND #0 = :1", placeholders)
    placeholders.finish()
    assert bound.matches({"x": n(1), "y": n(2)})


def test_what_is_used_over_several_expressions() -> None:
    placeholders = Placeholders({"#a": "a", "#b": "b"}, {":v": n(1), ":w": n(2)})
    condition("ConditionExpression", "#a = :v", placeholders)
    refused(
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}",
        placeholders.finish,
    )
    projection("#b", placeholders)
    refused(
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}",
        placeholders.finish,
    )
    update("SET c = :w", placeholders)
    placeholders.finish()


def test_unused_ones_are_listed() -> None:
    refused(
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a, :b}",
        Placeholders(None, {":a": n(1), ":b": n(1)}).finish,
    )


def test_one_text_with_other_names_is_another_expression() -> None:
    for name in ("x", "y", "a.b", "#a"):
        bound = condition("ConditionExpression", "#n = :v", Placeholders({"#n": name}, {":v": n(1)}))
        assert bound.attributes == {name}
        assert bound.matches({name: n(1)})


def test_the_kind_of_the_expression_is_in_the_message() -> None:
    refused(
        "Invalid FilterExpression: "
        "An expression attribute value used in expression is not defined; attribute value: :v",
        lambda: condition("FilterExpression", "a = :v", Placeholders(None, None)),
    )
