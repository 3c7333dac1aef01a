"""The result of the parser: expressions, and statements made of them. Every node knows where it is in the text.

Nodes are no named tuples: those would be compared by their members, which takes a type checker minutes for a recursive
union.
"""

from dataclasses import dataclass
from typing import TypeAlias

from keyplan.engine.expressions.paths import Path
from keyplan.engine.partiql.statement_errors import Span
from keyplan.engine.values.attribute_values import AttributeValue


@dataclass(frozen=True, slots=True)
class LiteralNode:
    """A string, number, boolean or NULL, as it is written."""

    value: AttributeValue
    span: Span


@dataclass(frozen=True, slots=True)
class MissingNode:
    """The word MISSING in place of a value."""

    span: Span


@dataclass(frozen=True, slots=True)
class ParameterNode:
    """A question mark; the first one has the position 0."""

    position: int
    span: Span


@dataclass(frozen=True, slots=True)
class ListNode:
    """`[...]`, or several expressions in parentheses."""

    members: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class BagNode:
    """`<<...>>`, DynamoDB's sets."""

    members: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class StructNode:
    """`{...}`, DynamoDB's maps."""

    fields: "tuple[tuple[Node, Node], ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class PathNode:
    """An attribute or a document path."""

    path: Path
    span: Span


@dataclass(frozen=True, slots=True)
class CallNode:
    """A function call; the name is in lower case."""

    function: str
    arguments: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class OperationNode:
    """An operator with its operands: `a = b`, `NOT a`, `a BETWEEN b AND c`."""

    operator: str
    operands: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class TypeNode:
    """`operand IS type`; the type is in lower case."""

    operand: "Node"
    type: str
    span: Span


@dataclass(frozen=True, slots=True)
class Order:
    """One key of ORDER BY."""

    key: "Node"
    descending: bool


@dataclass(frozen=True, slots=True)
class SelectNode:
    """A SELECT; `columns` is None for `*`."""

    columns: "tuple[Node, ...] | None"
    source: Path
    source_span: Span
    where: "Node | None"
    order: tuple[Order, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class InsertNode:
    """An INSERT of one item."""

    source: Path
    source_span: Span
    item: "Node"
    span: Span


@dataclass(frozen=True, slots=True)
class Assignment:
    """`SET path = value`, or `REMOVE path` with None as the value."""

    path: Path
    span: Span
    value: "Node | None"


@dataclass(frozen=True, slots=True)
class UpdateNode:
    """An UPDATE; `returning` is like "all old", or None."""

    source: Path
    source_span: Span
    assignments: tuple[Assignment, ...]
    where: "Node | None"
    returning: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class DeleteNode:
    """A DELETE."""

    source: Path
    source_span: Span
    where: "Node | None"
    returning: str | None
    span: Span


Node: TypeAlias = (
    LiteralNode
    | MissingNode
    | ParameterNode
    | ListNode
    | BagNode
    | StructNode
    | PathNode
    | CallNode
    | OperationNode
    | TypeNode
    | SelectNode
    | InsertNode
    | UpdateNode
    | DeleteNode
)
