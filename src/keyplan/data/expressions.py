"""Expressions for requests: names and values as placeholders, conditions from trees.

A `Requirement` is a condition on a stored item that the data layer itself needs, together with how to tell from the
stored item that it was the one that failed, and the error to raise then. A caller's own condition is a tree over the
entity's fields (`keyplan.design.conditions`), which `for_fields` turns into one over stored attributes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from keyplan.data.codec import AttributeValue, Item, dynamic
from keyplan.data.errors import Refused
from keyplan.data.items import EntityCodec
from keyplan.design import Entity, InvalidValue
from keyplan.design.conditions import FieldPath, FieldStandIn, Node
from keyplan.design.entity import EntitySpec

MOST_CHOICES = 100
"""Values that DynamoDB takes in one IN."""


class Encoded(NamedTuple):
    """A value in DynamoDB's form, as an operand."""

    value: AttributeValue


class Requirement(NamedTuple):
    """A condition, whether a stored item violates it, and the error that says so."""

    node: Node
    violated: Callable[[Item | None], bool]
    error: Callable[[Item | None], Refused]


class Expression:
    """Gathers placeholders for the expressions of one request."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}

    def name(self, attribute: str) -> str:
        """The placeholder of an attribute's name; every name gets one, so that no reserved word ever matters."""
        placeholder = f"#{len(self.names)}"
        return self.names.setdefault(attribute, placeholder)

    def path(self, names: Sequence[str | int]) -> str:
        text = ""
        for name in names:
            text += f"[{name}]" if isinstance(name, int) else f".{self.name(name)}" if text else self.name(name)
        return text

    def value(self, value: AttributeValue) -> str:
        placeholder = f":{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def condition(self, node: Node) -> str:
        """A tree over stored attributes as text."""
        operator, operands = node.operator, node.operands
        match operator:
            case "AND" | "OR":
                return f" {operator} ".join(self._grouped(operand) for operand in operands)
            case "NOT":
                return f"NOT {self._grouped(operands[0])}"
            case "BETWEEN":
                field, low, high = map(self._operand, operands)
                return f"{field} BETWEEN {low} AND {high}"
            case "IN":
                field, *values = map(self._operand, operands)
                return f"{field} IN ({', '.join(values)})"
            case "=" | "<>" | "<" | "<=" | ">" | ">=":
                left, right = map(self._operand, operands)
                return f"{left} {operator} {right}"
        return f"{operator}({', '.join(map(self._operand, operands))})"

    def _grouped(self, operand: object) -> str:
        assert isinstance(operand, Node)
        text = self.condition(operand)
        return f"({text})" if operand.operator in ("AND", "OR", "NOT") else text

    def _operand(self, operand: object) -> str:
        if isinstance(operand, FieldPath):
            return self.path(operand.names)
        assert isinstance(operand, Encoded)
        return self.value(operand.value)

    def parameters(self) -> dict[str, Any]:
        """The placeholders as members of a request."""
        members: dict[str, Any] = {}
        names = {placeholder: attribute for attribute, placeholder in self.names.items()}
        if names:
            members["ExpressionAttributeNames"] = names
        if self.values:
            members["ExpressionAttributeValues"] = self.values
        return members


def for_fields(node: Node, codec: EntityCodec[Any]) -> Node:
    """A condition over an entity's fields as one over its stored attributes."""
    if node.operator in ("AND", "OR", "NOT"):
        return Node(node.operator, tuple(for_fields(operand, codec) for operand in node.operands))  # type: ignore[arg-type]  # of nodes
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
        encoded = codec.compared(str(path.names[0]), operator, value)
        if encoded is not None:
            return encoded
    return dynamic(value, codec.spec.table.times)


def all_of(nodes: Sequence[Node]) -> Node | None:
    """All of the conditions."""
    if not nodes:
        return None
    return nodes[0] if len(nodes) == 1 else Node("AND", tuple(nodes))


Shape: TypeAlias = tuple[object, ...]
"""A condition without its values: an operator with paths, other shapes, and None for a value."""


def shape_of(node: Node, values: list[AttributeValue]) -> Shape:
    """The shape of a condition over stored attributes; its values are added to the list, in their order."""
    shape: list[object] = [node.operator]
    for operand in node.operands:
        if type(operand) is Encoded:
            values.append(operand.value)
            shape.append(None)
        else:
            shape.append(shape_of(operand, values) if isinstance(operand, Node) else operand)
    return tuple(shape)


def of_shape(shape: Shape) -> Node:
    """A condition of this shape, with no matter which values."""
    operator, *operands = shape
    return Node(
        str(operator),
        tuple(
            Encoded({}) if each is None else each if isinstance(each, FieldPath) else of_shape(each)  # type: ignore[arg-type]  # a shape
            for each in operands
        ),
    )


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


def is_there(spec: EntitySpec, stored: Item | None) -> bool:
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
