"""The legacy parameters of requests on items, as the conditions, filters and projections of `expressions`."""

from typing import Literal, NamedTuple

from keyplan.engine.expressions import Condition, KeyParts, Projection
from keyplan.engine.expressions.legacy import (
    attributes_to_get,
    check_conditional_operator,
    expected_condition,
    filter_condition,
    key_conditions,
)
from keyplan.engine.operations.items.item_requests import ItemRequest, KeysRequest
from keyplan.engine.values.attribute_values import Item


def legacy_condition(request: ItemRequest) -> Condition | None:
    """Return the condition in Expected."""
    expected = request.get("Expected", {})
    operator = request.get("ConditionalOperator")
    if operator is not None:
        check_conditional_operator(expected)
    return expected_condition(expected, operator or "AND") if expected else None


def legacy_projection(request: ItemRequest | KeysRequest) -> Projection | None:
    """Return the projection in AttributesToGet."""
    names = request.get("AttributesToGet")
    return None if names is None else attributes_to_get(names)


class LegacyRead(NamedTuple):
    """What a Query or Scan without expressions selects."""

    filter: Condition | None
    projection: Projection | None


NO_LEGACY = LegacyRead(None, None)


def legacy_read(request: ItemRequest, member: Literal["QueryFilter", "ScanFilter"]) -> LegacyRead:
    """Return the filter in this member, and the projection in AttributesToGet."""
    projection = legacy_projection(request)
    conditions = request.get(member, {})
    operator = request.get("ConditionalOperator")
    if operator is not None:
        check_conditional_operator(conditions)
    return LegacyRead(filter_condition(member, conditions, operator or "AND"), projection)


def legacy_key_parts(request: ItemRequest) -> tuple[KeyParts, Item]:
    """Return the parts of KeyConditions, and their values by placeholder."""
    return key_conditions(request["KeyConditions"], of_index="IndexName" in request)
