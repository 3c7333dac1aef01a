"""Expressions as texts: placeholders for names and values, and conditions from trees."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from keyplan.data.codec.values import AttributeValue
from keyplan.data.expressions.conditions import Encoded
from keyplan.design.conditions import FieldPath, Node


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
