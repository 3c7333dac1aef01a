"""The parameters from before expressions, translated into what expressions become.

- `expected_condition` and `filter_condition` return a `Condition`, for Expected, QueryFilter and ScanFilter;
- `attribute_updates` returns an `Update`, for AttributeUpdates;
- `key_conditions` returns `KeyParts` and their values, for KeyConditions;
- `attributes_to_get` returns a `Projection`.

`conditions` has the comparison operators with the number and the types of their arguments; `updates`, `keys` and
`attributes` have the rest. Each makes the nodes that the parser would make of an equal expression, with placeholders in
place of names and values. So nodes and plans are cached by the shape of a request, and there is nothing to evaluate.
"""

from keyplan.engine.expressions.legacy.attributes import attributes_to_get
from keyplan.engine.expressions.legacy.conditions import (
    ExpectedValue,
    LegacyCondition,
    check_conditional_operator,
    expected_condition,
    filter_condition,
)
from keyplan.engine.expressions.legacy.keys import key_conditions
from keyplan.engine.expressions.legacy.updates import AttributeUpdate, attribute_updates

__all__ = [
    "AttributeUpdate",
    "ExpectedValue",
    "LegacyCondition",
    "attribute_updates",
    "attributes_to_get",
    "check_conditional_operator",
    "expected_condition",
    "filter_condition",
    "key_conditions",
]
