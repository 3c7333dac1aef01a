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


def legacy_query(request: ItemRequest) -> LegacyRead:
    """Return what QueryFilter and AttributesToGet select; a query's filter is checked first."""
    found = _filter("QueryFilter", request)
    return LegacyRead(found, legacy_projection(request))


def legacy_scan(request: ItemRequest) -> LegacyRead:
    """Return what ScanFilter and AttributesToGet select; a scan's filter is checked last."""
    projection = legacy_projection(request)
    return LegacyRead(_filter("ScanFilter", request), projection)


def _filter(member: Literal["QueryFilter", "ScanFilter"], request: ItemRequest) -> Condition | None:
    conditions = request.get(member, {})
    operator = request.get("ConditionalOperator")
    if operator is not None:
        check_conditional_operator(conditions)
    return filter_condition(member, conditions, operator or "AND")


def legacy_key_parts(request: ItemRequest) -> tuple[KeyParts, Item]:
    """Return the parts of KeyConditions, and their values by placeholder."""
    return key_conditions(request["KeyConditions"], of_index="IndexName" in request)
