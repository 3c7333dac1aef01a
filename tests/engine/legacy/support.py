"""Short ways to write the legacy parameters.

AWS describes them in https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.html,
and in its API reference, without the messages. Where someone measured one, the test cites it.
"""

from typing import Any

from tests.engine.item_support import Scalar, value

OPERATORS = "EQ NE LE LT GE GT NOT_NULL NULL CONTAINS NOT_CONTAINS BEGINS_WITH IN BETWEEN".split()
VALUES: dict[str, Any] = {
    "S": {"S": "abc"},
    "N": {"N": "5"},
    "B": {"B": b"abc"},
    "SS": {"SS": ["abc", "d"]},
    "NS": {"NS": ["5", "6"]},
    "BS": {"BS": [b"abc"]},
    "L": {"L": [{"S": "abc"}, {"N": "5"}]},
    "M": {"M": {"x": {"S": "abc"}}},
    "BOOL": {"BOOL": True},
    "NULL": {"NULL": True},
}
PARAMETER = "One or more parameter values were invalid: "


def comparing(operator: str, *arguments: Scalar | dict[str, Any]) -> Any:
    """A condition on one attribute: `comparing("BETWEEN", 1, 2)`."""
    found = [given if isinstance(given, dict) else value(given) for given in arguments]
    return {"ComparisonOperator": operator, **({"AttributeValueList": found} if found else {})}
