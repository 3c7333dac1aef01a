"""SET and REMOVE of an UPDATE, as the same actions that update expressions become."""

from collections.abc import Sequence

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions.nodes import Action, Arithmetic, CallNode, Operand, ParsedUpdate, PathNode
from keyplan.engine.expressions.update import Update, bind_update
from keyplan.engine.partiql import nodes
from keyplan.engine.partiql.literals import Parameters, is_value
from keyplan.engine.partiql.nodes import Assignment, Node
from keyplan.engine.partiql.statement_errors import unsupported
from keyplan.engine.partiql.where import Placed

_SET_FUNCTIONS = {"set_add": "ADD", "set_delete": "DELETE"}


class Assignments:
    """What an UPDATE changes, shared by all requests with the statement."""

    __slots__ = ("_parsed", "_placeholders")

    def __init__(self, assignments: Sequence[Assignment]) -> None:
        placed = Placed()
        actions = tuple([_action(assignment, placed) for assignment in assignments])
        self._placeholders = placed.placeholders()
        marks = self._placeholders
        self._parsed = ParsedUpdate("UpdateExpression", marks.name_marks, marks.value_marks, actions)

    def bound(self, parameters: Parameters) -> Update:
        """Return the update with the values of one request."""
        return bind_update(self._parsed, self._placeholders.names, self._placeholders.values(parameters))


def _action(assignment: Assignment, placed: Placed) -> Action:
    path, value = placed.path(assignment.path), assignment.value
    if value is None:
        return Action("REMOVE", path, None)
    if isinstance(value, nodes.CallNode) and value.function in _SET_FUNCTIONS:
        attribute, members = _two_arguments(value)
        if not isinstance(attribute, nodes.PathNode) or attribute.path != assignment.path:
            raise unsupported(
                "operand", f"the first operand of {value.function} must be the attribute that is set", attribute.span
            )
        if not is_value(members):
            raise unsupported("operand", f"the second operand of {value.function} must be a set", members.span)
        return Action(_SET_FUNCTIONS[value.function], path, placed.value(members))
    return Action("SET", path, _right_side(value, placed))


def _right_side(node: Node, placed: Placed) -> Operand | Arithmetic:
    if isinstance(node, nodes.OperationNode) and node.operator in ("+", "-") and len(node.operands) == 2:
        left, right = node.operands
        return Arithmetic(node.operator, _operand(left, placed), _operand(right, placed))
    if isinstance(node, nodes.CallNode) and node.function == "list_append":
        front, back = _two_arguments(node)
        return CallNode("list_append", (_operand(front, placed), _operand(back, placed)))
    return _operand(node, placed)


def _two_arguments(node: nodes.CallNode) -> tuple[Node, Node]:
    if len(node.arguments) != 2:
        raise validation_error(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {node.function}, number of operands: {len(node.arguments)}"
        )
    return node.arguments[0], node.arguments[1]


def _operand(node: Node, placed: Placed) -> Operand:
    if isinstance(node, nodes.PathNode):
        return PathNode(placed.path(node.path))
    if is_value(node):
        return placed.value(node)
    if isinstance(node, nodes.CallNode):
        raise unsupported("function", node.function, node.span)
    if isinstance(node, nodes.OperationNode):
        raise unsupported("operator", node.operator.upper(), node.span)
    raise unsupported("operand", "an attribute or a value is needed", node.span)
