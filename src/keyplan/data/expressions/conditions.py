"""Conditions over stored attributes, as trees.

An operand of a tree is a node, the path of an attribute, or a value in DynamoDB's form. A caller's own condition is a
tree over the entity's fields (`keyplan.design.operations.conditions`); `stored_condition` translates it.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from keyplan.data.codec.entities import EntityCodec
from keyplan.data.codec.value_paths import value_path
from keyplan.data.codec.values import AttributeValue, encode_untyped
from keyplan.data.expressions.evaluation import holds
from keyplan.design import InvalidValue
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.conditions import FieldPath, FieldStandIn, Node

MOST_CHOICES = 100
"""The most values that DynamoDB accepts in one IN."""


def stored_condition(node: Node, codec: EntityCodec[Any]) -> Node:
    """A condition over an entity's fields as one over its stored attributes."""
    if node.operator in ("AND", "OR", "NOT"):
        return Node(node.operator, tuple(stored_condition(operand, codec) for operand in node.operands))  # type: ignore[arg-type]  # of nodes
    path, *values = node.operands
    if isinstance(path, Node):  # a size, which is compared with numbers
        (of,) = path.operands
        assert isinstance(of, FieldPath)
        sizes = (_size_operand(codec, of, value) for value in values)
        return Node(node.operator, (Node(path.operator, (_stored(of, codec),)), *sizes))
    assert isinstance(path, FieldPath)
    if node.operator == "attribute_type":
        return Node(node.operator, (_stored(path, codec), {"S": values[0]}))
    if node.operator == "IN" and not 0 < len(values) <= MOST_CHOICES:
        field = str(path.names[0])
        problem = f"one_of takes 1 to {MOST_CHOICES} values, not {len(values)}."
        raise InvalidValue("one-of", f"{codec.spec.name}.{field}", problem, field=field)
    operands = [_operand(codec, path, node.operator, value) for value in values]
    if node.operator == "BETWEEN":
        _check_range(codec, path, *operands)
    return Node(node.operator, (_stored(path, codec), *operands))


def _check_range(codec: EntityCodec[Any], path: FieldPath, low: object, high: object) -> None:
    """Raise `InvalidValue` for a range that ends before it begins, which DynamoDB refuses."""
    if isinstance(low, FieldPath) or isinstance(high, FieldPath) or holds(Node("<=", (low, high)), None):
        return
    field = str(path.names[0])
    problem = "The range of between(...) ends before it begins. Swap the bounds."
    raise InvalidValue("empty-range", f"{codec.spec.name}.{field}", problem, field=field)


def _stored(path: FieldPath, codec: EntityCodec[Any]) -> FieldPath:
    if len(path.names) > 1:
        return FieldPath(value_path(codec.entity, path.names).names)
    return FieldPath((codec.spec.fields[str(path.names[0])].stored,))


def _size_operand(codec: EntityCodec[Any], path: FieldPath, value: object) -> FieldPath | AttributeValue:
    """What a size is compared with: a number, or another field."""
    if isinstance(value, FieldStandIn):
        return _stored(value._path, codec)
    if not isinstance(value, int) or isinstance(value, bool):
        field = str(path.names[0])
        raise InvalidValue("size", f"{codec.spec.name}.{field}", "Compare size(...) with a whole number.", field=field)
    return {"N": str(value)}


def _operand(codec: EntityCodec[Any], path: FieldPath, operator: str, value: object) -> FieldPath | AttributeValue:
    """Another field's path, or a value: encoded as what it is compared with, else by its Python type."""
    if isinstance(value, FieldStandIn):
        return _stored(value._path, codec)
    if len(path.names) > 1 or operator == "contains":
        kind = value_path(codec.entity, path.names).type
        if len(path.names) > 1 or kind.holds:
            return kind.operand(operator, value)
    encoded = codec.encode_operand(str(path.names[0]), operator, value)
    return encode_untyped(value, codec.spec.table.times) if encoded is None else encoded


def all_of(nodes: Sequence[Node]) -> Node | None:
    """All of the conditions as one; None if there are none."""
    if not nodes:
        return None
    return nodes[0] if len(nodes) == 1 else Node("AND", tuple(nodes))


# A design has few attributes, and every write has conditions on some of them, so these are made once.


@cache
def attribute_path(attribute: str) -> FieldPath:
    """The path of a stored attribute."""
    return FieldPath((attribute,))


@cache
def attribute_exists(attribute: str) -> Node:
    return Node("attribute_exists", (attribute_path(attribute),))


@cache
def attribute_not_exists(attribute: str) -> Node:
    return Node("attribute_not_exists", (attribute_path(attribute),))


def item_exists(spec: EntitySpec) -> Node:
    """The item exists; if another entity's item could have its key, it is one of this entity."""
    if spec.identified_by_type:
        return equals(spec.table.type_attribute or "", {"S": spec.type})
    return attribute_exists(spec.table.hash[0].name)


def equals(attribute: str, value: AttributeValue | None) -> Node:
    """The attribute has this value; None for an attribute that doesn't exist."""
    if value is None:
        return attribute_not_exists(attribute)
    return Node("=", (attribute_path(attribute), value))


def at_least(attribute: str, number: int) -> Node:
    """The attribute is this number or a larger one."""
    return Node(">=", (attribute_path(attribute), {"N": str(number)}))
