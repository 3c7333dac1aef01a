"""Rules between the members of a request on items, which the service model can not express."""

from collections.abc import Mapping
from typing import cast

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions import Placeholders
from keyplan.engine.operations.requests import ItemRequest

# The parameters from before expressions, each with the one that replaces it.
LEGACY = {
    "Expected": "ConditionExpression",
    "AttributeUpdates": "UpdateExpression",
    "KeyConditions": "KeyConditionExpression",
    "QueryFilter": "FilterExpression",
    "ScanFilter": "FilterExpression",
    "AttributesToGet": "ProjectionExpression",
    "ConditionalOperator": "an expression with AND and OR",
}
_EXPRESSIONS = (
    "ProjectionExpression",
    "UpdateExpression",
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
)


def refuse_legacy(request: Mapping[str, object]) -> None:
    """The parameters from before expressions are not answered yet."""
    legacy = [name for name in LEGACY if name in request]
    if not legacy:
        return
    modern = [name for name in _EXPRESSIONS if name in request]
    if modern:
        raise validation_error(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(legacy)}}} Expression parameters: {{{', '.join(modern)}}}"
        )
    raise validation_error(f"{legacy[0]} is not supported by this endpoint; use {LEGACY[legacy[0]]}")


def placeholders(request: ItemRequest, *, with_names: tuple[str, ...], with_values: tuple[str, ...]) -> Placeholders:
    """The placeholders of a request, of whose expressions at least one must be there to use them.

    `with_names` are all expressions of the operation, `with_values` those that can hold values.
    """
    names = request.get("ExpressionAttributeNames")
    values = request.get("ExpressionAttributeValues")
    given = cast(Mapping[str, object], request)
    if names is not None and not any(name in given for name in with_names):
        raise validation_error("ExpressionAttributeNames can only be specified when using expressions")
    if values is not None and not any(name in given for name in with_values):
        absent = " and ".join(with_values)
        verb = "is" if len(with_values) == 1 else "are"
        raise validation_error(
            f"ExpressionAttributeValues can only be specified when using expressions: {absent} {verb} null"
        )
    return Placeholders(names, values)
