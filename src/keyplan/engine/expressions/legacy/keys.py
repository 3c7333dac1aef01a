"""KeyConditions: which partition a Query reads, and which range of its sort keys."""

from collections.abc import Mapping

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions.key_condition import WRONG_COUNT, KeyPart, KeyParts
from keyplan.engine.expressions.legacy.conditions import (
    COMPARATORS,
    CheckedCondition,
    LegacyCondition,
    checked_conditions,
)
from keyplan.engine.values.attribute_values import Item

MOST_TABLE_ATTRIBUTES = 2
MOST_INDEX_ATTRIBUTES = 8
_SEARCHABLE = {
    **{operator: COMPARATORS[operator] for operator in ("EQ", "LE", "LT", "GE", "GT", "BETWEEN")},
    "BEGINS_WITH": "begins_with",
}


def key_conditions(conditions: Mapping[str, LegacyCondition], *, of_index: bool) -> tuple[KeyParts, Item]:
    """Return the conditions, not yet matched with a key schema, and their values by placeholder."""
    checked = checked_conditions(conditions)
    if not 1 <= len(checked) <= (MOST_INDEX_ATTRIBUTES if of_index else MOST_TABLE_ATTRIBUTES):
        raise validation_error(WRONG_COUNT)
    values: Item = {}
    return tuple([_part(condition, values) for condition in checked]), values


def _part(condition: CheckedCondition, values: Item) -> KeyPart:
    """The condition with placeholders, which are added to the values."""
    operator = _SEARCHABLE.get(condition.operator)
    if operator is None:  # no key schema fits, whatever the values are
        return KeyPart(condition.attribute, condition.operator, ())
    names = tuple([f":{len(values) + position}" for position in range(len(condition.values))])
    values.update(zip(names, condition.values, strict=True))
    return KeyPart(condition.attribute, operator, names)
