"""Rules between the members of a request on items, which the service model can't express.

The service checks a request on items in this order: parameters that can't be combined, the values in the key or item,
ReturnValues, the size of the item, the placeholders and expressions, and only then the table.
"""

from collections.abc import Mapping
from typing import cast

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions import Condition, Placeholders, condition
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.legacy_parameters import legacy_condition

# The legacy parameters and the expressions, each in the order in which the service lists them.
_LEGACY = (
    "AttributesToGet",
    "AttributeUpdates",
    "QueryFilter",
    "ScanFilter",
    "Expected",
    "ConditionalOperator",
    "KeyConditions",
)
_EXPRESSIONS = (
    "ProjectionExpression",
    "FilterExpression",
    "UpdateExpression",
    "ConditionExpression",
    "KeyConditionExpression",
)
_LEGACY_NAMES = frozenset(_LEGACY)
_CONDITION = ("ConditionExpression",)


def check_legacy(request: Mapping[str, object]) -> bool:
    """Return whether a request has legacy parameters; refuse them next to expressions."""
    if _LEGACY_NAMES.isdisjoint(request):
        return False
    legacy = [name for name in _LEGACY if name in request]
    modern = [name for name in _EXPRESSIONS if name in request]
    if "KeyConditionExpression" not in request and "KeyConditions" in legacy:
        # The only one that other expressions may be combined with.
        legacy.remove("KeyConditions")
    if legacy and modern:
        raise validation_error(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(legacy)}}} Expression parameters: {{{', '.join(modern)}}}"
        )
    return True


def check_placeholders(request: ItemRequest, *, with_names: tuple[str, ...], with_values: tuple[str, ...]) -> None:
    """Refuse placeholders in a request without an expression that could use them.

    `with_names` are all expressions of the operation, `with_values` those that can contain values.
    """
    given = cast(Mapping[str, object], request)
    if "ExpressionAttributeNames" in given and given.keys().isdisjoint(with_names):
        raise validation_error("ExpressionAttributeNames can only be specified when using expressions")
    if "ExpressionAttributeValues" in given and with_values and given.keys().isdisjoint(with_values):
        absent = " and ".join(with_values)
        verb = "is" if len(with_values) == 1 else "are"
        raise validation_error(
            f"ExpressionAttributeValues can only be specified when using expressions: {absent} {verb} null"
        )


def check_condition_placeholders(request: ItemRequest) -> None:
    """The same for an operation whose only expression is a condition."""
    if "ConditionExpression" not in request:
        check_placeholders(request, with_names=_CONDITION, with_values=_CONDITION)


def bound_condition(request: ItemRequest) -> Condition | None:
    """Return the condition of a request whose operation has no other expression."""
    text = request.get("ConditionExpression")
    if text is None:
        return legacy_condition(request)
    placeholders = Placeholders(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))
    bound = condition("ConditionExpression", text, placeholders)
    placeholders.finish()
    return bound


def check_return_values(request: ItemRequest) -> None:
    """Refuse ReturnValues that PutItem and DeleteItem don't have: they return the old item or nothing."""
    if request.get("ReturnValues", "NONE") not in ("NONE", "ALL_OLD"):
        raise validation_error("ReturnValues can only be ALL_OLD or NONE")
