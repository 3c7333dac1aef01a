"""Expressions for requests: names and values as placeholders, conditions from trees.

A `Requirement` is a condition on a stored item that the data layer itself needs, together with how to tell from the
stored item that it was the one that failed, and the error to raise then. A caller's own condition is a tree over the
entity's fields (`keyplan.design.conditions`), which `stored_condition` turns into one over stored attributes.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from keyplan.data.codec.entities import EntityCodec
from keyplan.data.codec.values import AttributeValue, Item, encode_untyped
from keyplan.design import Entity, InvalidValue
from keyplan.design.conditions import FieldPath, FieldStandIn, Node
from keyplan.design.entity import EntitySpec

MOST_CHOICES = 100
"""Values that DynamoDB takes in one IN."""


class Encoded(NamedTuple):
    """A value in DynamoDB's form, as an operand."""

    value: AttributeValue


def stored_condition(node: Node, codec: EntityCodec[Any]) -> Node:
    """A condition over an entity's fields as one over its stored attributes."""
    if node.operator in ("AND", "OR", "NOT"):
        return Node(node.operator, tuple(stored_condition(operand, codec) for operand in node.operands))  # type: ignore[arg-type]  # of nodes
    path, *values = node.operands
    assert isinstance(path, FieldPath)
    if node.operator == "IN" and not 0 < len(values) <= MOST_CHOICES:
        field = str(path.names[0])
        problem = f"one_of takes 1 to {MOST_CHOICES} values, not {len(values)}"
        raise InvalidValue("one-of", f"{codec.spec.name}.{field}", problem, field=field)
    return Node(node.operator, (_stored(path, codec), *(_operand(codec, path, node.operator, v) for v in values)))


def _stored(path: FieldPath, codec: EntityCodec[Any]) -> FieldPath:
    return FieldPath((codec.spec.fields[str(path.names[0])].stored, *path.names[1:]))


def _operand(codec: EntityCodec[Any], path: FieldPath, operator: str, value: object) -> FieldPath | Encoded:
    if isinstance(value, FieldStandIn):
        return _stored(value._path, codec)
    return Encoded(_encoded(codec, path, operator, value))


def _encoded(codec: EntityCodec[Any], path: FieldPath, operator: str, value: object) -> AttributeValue:
    """A value by the field's own codec where it is compared with the whole field, else by what it is."""
    if len(path.names) == 1:
        encoded = codec.encode_operand(str(path.names[0]), operator, value)
        if encoded is not None:
            return encoded
    return encode_untyped(value, codec.spec.table.times)


def all_of(nodes: Sequence[Node]) -> Node | None:
    """All of the conditions."""
    if not nodes:
        return None
    return nodes[0] if len(nodes) == 1 else Node("AND", tuple(nodes))


# The attributes of a design are few and asked for in every write: what names one is made once.


@cache
def _whole(attribute: str) -> FieldPath:
    return FieldPath((attribute,))


@cache
def exists(attribute: str) -> Node:
    return Node("attribute_exists", (_whole(attribute),))


def there(spec: EntitySpec) -> Node:
    """An item is there; where its key could be another entity's, one of this entity."""
    if spec.told_by_type:
        return equals(spec.table.type_attribute or "", {"S": spec.type})
    return exists(spec.table.hash[0].name)


def is_stored(spec: EntitySpec, stored: Item | None) -> bool:
    """The same, of an item as it is stored."""
    return stored is not None and (
        not spec.told_by_type or stored.get(spec.table.type_attribute or "") == {"S": spec.type}
    )


@cache
def not_exists(attribute: str) -> Node:
    return Node("attribute_not_exists", (_whole(attribute),))


def equals(attribute: str, value: AttributeValue | None) -> Node:
    """The attribute has this value; None for absent."""
    if value is None:
        return not_exists(attribute)
    return Node("=", (_whole(attribute), Encoded(value)))


def at_least_number(attribute: str, number: int) -> Node:
    return Node(">=", (_whole(attribute), Encoded({"N": str(number)})))


def fields_of(entity: Entity) -> Mapping[str, object]:
    """The values of an entity's fields."""
    return entity.__dict__
