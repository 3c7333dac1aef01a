"""Expressions as texts: placeholders for names and values, and conditions from trees."""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from keyplan.data.codec.values import AttributeValue
from keyplan.design.operations.conditions import FieldPath, Node


class Expression:
    """Collects the placeholders for the expressions of one request."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}

    def name(self, attribute: str) -> str:
        """The placeholder of an attribute's name. Every name gets one, since any may be a reserved word."""
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
        """A condition over stored attributes as text."""
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
        if isinstance(operand, Node):
            return f"{operand.operator}({self._operand(operand.operands[0])})"
        return self.path(operand.names) if isinstance(operand, FieldPath) else self.value(cast(AttributeValue, operand))

    def parameters(self) -> dict[str, Any]:
        """The placeholders as members of a request."""
        members: dict[str, Any] = {}
        names = {placeholder: attribute for attribute, placeholder in self.names.items()}
        if names:
            members["ExpressionAttributeNames"] = names
        if self.values:
            members["ExpressionAttributeValues"] = self.values
        return members


Shape: TypeAlias = tuple[object, ...]
"""A condition without its values: an operator with paths, other shapes, and None for a value."""


def shapes_of(nodes: Sequence[Node], values: list[AttributeValue]) -> tuple[Shape, ...]:
    """The shapes of conditions; their values are appended to the list, in order."""
    shapes: list[Shape] = []
    for node in nodes:
        shape: list[object] = [node.operator]
        for operand in node.operands:
            if type(operand) is FieldPath:
                shape.append(operand)
            elif type(operand) is Node:
                shape += shapes_of((operand,), values)
            else:
                values.append(cast(AttributeValue, operand))
                shape.append(None)
        shapes.append(tuple(shape))
    return tuple(shapes)


def node_of(shape: Shape) -> Node:
    """A condition of this shape, with empty values."""
    operator, *operands = shape
    return Node(
        str(operator),
        tuple(
            {} if each is None else each if isinstance(each, FieldPath) else node_of(cast(Shape, each))
            for each in operands
        ),
    )
