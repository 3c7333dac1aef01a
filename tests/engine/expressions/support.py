"""Short ways to write values and to ask for the message of a refusal."""

import re
from collections.abc import Callable

import pytest

from keyplan.engine.errors import DynamoError
from keyplan.engine.expressions import Condition, Placeholders, Projection, Update, condition, projection, update
from keyplan.engine.values.attribute_values import AttributeValue, Item


def s(text: str) -> AttributeValue:
    return {"S": text}


def n(number: float | str) -> AttributeValue:
    return {"N": str(number)}


def lst(*values: AttributeValue) -> AttributeValue:
    return {"L": list(values)}


def mp(**members: AttributeValue) -> AttributeValue:
    return {"M": members}


VALUES: Item = {
    ":s": s("text"),
    ":n": n(5),
    ":m": n(7),
    ":b": {"B": "AQID"},
    ":ss": {"SS": ["a", "b"]},
    ":ns": {"NS": ["1", "2"]},
    ":bs": {"BS": ["AQ==", "Ag=="]},
    ":l": lst(n(1), s("x")),
    ":map": mp(x=n(1)),
    ":t": {"BOOL": True},
    ":null": {"NULL": True},
}
NAMES = {"#a": "a", "#status": "status", "#dotted": "a.b"}


def placeholders(values: Item | None = None) -> Placeholders:
    return Placeholders(NAMES, {**VALUES, **(values or {})})


def a_condition(text: str, values: Item | None = None) -> Condition:
    return condition("ConditionExpression", text, placeholders(values))


def a_projection(text: str) -> Projection:
    return projection(text, placeholders())


def an_update(text: str, values: Item | None = None) -> Update:
    return update(text, placeholders(values))


def refused(message: str, call: Callable[[], object]) -> None:
    """The call is refused with exactly this message."""
    with pytest.raises(DynamoError, match=f"^ValidationException: {re.escape(message)}$"):
        call()
