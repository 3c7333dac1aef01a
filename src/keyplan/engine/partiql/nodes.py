"""The result of the parser: expressions, and statements made of them. Every node knows where it is in the text."""

from typing import NamedTuple, TypeAlias

from keyplan.engine.expressions.paths import Path
from keyplan.engine.partiql.statement_errors import Span
from keyplan.engine.values.attribute_values import AttributeValue


class LiteralNode(NamedTuple):
    """A string, number, boolean or NULL, as it is written."""

    value: AttributeValue
    span: Span


class MissingNode(NamedTuple):
    """The word MISSING in place of a value."""

    span: Span


class ParameterNode(NamedTuple):
    """A question mark; the first one has the position 0."""

    position: int
    span: Span


class ListNode(NamedTuple):
    """`[...]`, or several expressions in parentheses."""

    members: "tuple[Node, ...]"
    span: Span


class BagNode(NamedTuple):
    """`<<...>>`, DynamoDB's sets."""

    members: "tuple[Node, ...]"
    span: Span


class StructNode(NamedTuple):
    """`{...}`, DynamoDB's maps."""

    fields: "tuple[tuple[Node, Node], ...]"
    span: Span


class PathNode(NamedTuple):
    """An attribute or a document path."""

    path: Path
    span: Span


class CallNode(NamedTuple):
    """A function call; the name is in lower case."""

    function: str
    arguments: "tuple[Node, ...]"
    span: Span


class OperationNode(NamedTuple):
    """An operator with its operands: `a = b`, `NOT a`, `a BETWEEN b AND c`."""

    operator: str
    operands: "tuple[Node, ...]"
    span: Span


class TypeNode(NamedTuple):
    """`operand IS type`; the type is in lower case."""

    operand: "Node"
    type: str
    span: Span


class Order(NamedTuple):
    """One key of ORDER BY."""

    key: "Node"
    descending: bool


class SelectNode(NamedTuple):
    """A SELECT; `columns` is None for `*`."""

    columns: "tuple[Node, ...] | None"
    source: Path
    source_span: Span
    where: "Node | None"
    order: tuple[Order, ...]
    span: Span


class InsertNode(NamedTuple):
    """An INSERT of one item."""

    source: Path
    source_span: Span
    item: "Node"
    span: Span


class Assignment(NamedTuple):
    """`SET path = value`, or `REMOVE path` with None as the value."""

    path: Path
    span: Span
    value: "Node | None"


class UpdateNode(NamedTuple):
    """An UPDATE; `returning` is like "all old", or None."""

    source: Path
    source_span: Span
    assignments: tuple[Assignment, ...]
    where: "Node | None"
    returning: str | None
    span: Span


class DeleteNode(NamedTuple):
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
