"""Values in statements: literals and parameters as attribute values.

A value without parameters is made once for each statement text; a value with parameters is made for each request.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.partiql.nodes import BagNode, ListNode, LiteralNode, Node, ParameterNode, StructNode
from keyplan.engine.partiql.statement_errors import Span, unsupported
from keyplan.engine.values.attribute_values import AttributeValue, Item, content_of, type_of
from keyplan.engine.values.normal_form import normalize

Parameters: TypeAlias = Sequence[AttributeValue]
"""The parameters of a request, in normal form."""
Source: TypeAlias = Callable[[Parameters], AttributeValue]
"""Makes a value, in normal form, from the parameters of a request."""

_SETS = {"S": "SS", "N": "NS", "B": "BS"}


def is_value(node: Node) -> bool:
    """Return whether a node is a value: a literal, a parameter, or a list, set or map."""
    return isinstance(node, LiteralNode | ParameterNode | ListNode | BagNode | StructNode)


def source(node: Node) -> Source:
    """Return the function that makes the value of a node; raise AWS's error if the value isn't legal."""
    if isinstance(node, ParameterNode):
        position = node.position
        return lambda parameters: parameters[position]
    if _has_parameters(node):
        return lambda parameters: normalize(written(node, parameters))
    constant = normalize(written(node, ()))
    return lambda parameters: constant


def _has_parameters(node: Node) -> bool:
    match node:
        case ParameterNode():
            return True
        case ListNode(members) | BagNode(members):
            return any(map(_has_parameters, members))
        case StructNode(fields):
            return any(_has_parameters(value) for _, value in fields)
    return False


def written(node: Node, parameters: Parameters) -> AttributeValue:
    """Return the value as it is written: not normalized, and not checked but for what only the statement shows."""
    match node:
        case LiteralNode(value):
            return value
        case ParameterNode(position):
            return parameters[position]
        case ListNode(members):
            return {"L": [written(member, parameters) for member in members]}
        case BagNode(members, span):
            return _set([written(member, parameters) for member in members], span)
        case StructNode():
            return {"M": written_fields(node, parameters)}
    raise unsupported("expression", "a value is needed", node.span)


def written_fields(node: StructNode, parameters: Parameters) -> Item:
    """Return the fields of a map or item by name."""
    item: Item = {}
    for name, value in node.fields:
        if not isinstance(name, LiteralNode) or "S" not in name.value:
            raise unsupported("name of an attribute", "only strings in single quotes are names", name.span)
        if name.value["S"] in item:
            raise validation_error(f"Duplicate attribute name in a map: {name.value['S']}")
        item[name.value["S"]] = written(value, parameters)
    return item


def _set(members: list[AttributeValue], span: Span) -> AttributeValue:
    if not members:
        raise invalid_parameter("An string set  may not be empty")
    kinds = {type_of(member) for member in members}
    if len(kinds) > 1 or not kinds <= _SETS.keys():
        found = ", ".join(sorted(kinds))
        raise unsupported("set", f"its members must all be strings, numbers or binary values, not {found},", span)
    return cast(AttributeValue, {_SETS[kinds.pop()]: [content_of(member) for member in members]})
