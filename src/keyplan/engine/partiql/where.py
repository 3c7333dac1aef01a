"""WHERE clauses, as the same trees that condition expressions become.

A `Tree` is AND, OR and NOT over the leaves of `expressions.nodes`; its values are placeholders, which get their values
from the statement's literals and the request's parameters.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions.grammar import COMPARATORS, MAXIMUM_CHOICES
from keyplan.engine.expressions.nodes import CallNode, Comparison, Leaf, Operand, PathNode, Step, ValueNode
from keyplan.engine.expressions.paths import Path
from keyplan.engine.partiql import nodes
from keyplan.engine.partiql.keywords import TYPES
from keyplan.engine.partiql.literals import Parameters, Source, is_value, source
from keyplan.engine.partiql.nodes import Node
from keyplan.engine.partiql.statement_errors import unsupported
from keyplan.engine.values.attribute_values import Item

_FUNCTIONS = {"attribute_type": 2, "begins_with": 2, "contains": 2}
"""The functions that are conditions, with their number of operands."""


class Junction(NamedTuple):
    """AND, OR or NOT of conditions; NOT has one."""

    operator: str
    members: "tuple[Tree, ...]"


Tree: TypeAlias = Junction | Leaf


class Placed:
    """The names and values of a statement, as placeholders in its trees."""

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._names: dict[str, str] = {}

    def path(self, path: Path) -> Path:
        """Return a path for a tree. There, a name that begins with # is a placeholder, even if it is a real name."""
        return tuple([self._name(part) if isinstance(part, str) and part[0] == "#" else part for part in path])

    def _name(self, name: str) -> str:
        return self._names.setdefault(name, f"#{len(self._names)}")

    def value(self, node: Node) -> ValueNode:
        """Return the placeholder for a value."""
        self._sources.append(source(node))
        return ValueNode(f":{len(self._sources) - 1}")

    def placeholders(self) -> "Placeholders":
        """Return what was collected."""
        names = {placeholder: name for name, placeholder in self._names.items()}
        return Placeholders(tuple(names), tuple(names.values()), tuple(self._sources))


class Placeholders(NamedTuple):
    """The placeholders of a statement: for names with their names, for values with where they come from."""

    name_marks: tuple[str, ...]
    names: tuple[str, ...]
    sources: tuple[Source, ...]

    @property
    def value_marks(self) -> tuple[str, ...]:
        return tuple([f":{position}" for position in range(len(self.sources))])

    def values(self, parameters: Parameters) -> Item:
        """Return the values of one request by placeholder."""
        return {f":{position}": made(parameters) for position, made in enumerate(self.sources)}


def condition_tree(node: Node, placed: Placed) -> Tree:
    """Return the tree of a condition; raise AWS's error for what DynamoDB doesn't support."""
    match node:
        case nodes.OperationNode("and" | "or" | "not" as operator, operands):
            return _joined(operator.upper(), [condition_tree(operand, placed) for operand in operands])
        case nodes.OperationNode():
            return _comparison(node, placed)
        case nodes.TypeNode():
            return _type_test(node, placed)
        case nodes.CallNode(function) if function in _FUNCTIONS:
            return CallNode(function, _operands(node, _FUNCTIONS[function], placed))
        case nodes.CallNode(function, _, span):
            raise unsupported("function", function, span)
    raise unsupported("condition", "a comparison or function is needed", node.span)


def _joined(operator: str, members: Sequence[Tree]) -> Junction:
    """A junction in which chains of AND or OR are flat."""
    if operator == "NOT":
        return Junction(operator, tuple(members))
    flat: list[Tree] = []
    for member in members:
        flat += member.members if isinstance(member, Junction) and member.operator == operator else [member]
    return Junction(operator, tuple(flat))


def _comparison(node: nodes.OperationNode, placed: Placed) -> Tree:
    operator, (left, *right) = node.operator, node.operands
    if operator in COMPARATORS:
        if isinstance(right[0], nodes.MissingNode) and operator in ("=", "<>"):
            return _presence(left, placed, exists=operator == "<>")
        return Comparison(operator, (_operand(left, placed), _operand(right[0], placed)))
    if operator == "between":
        return Comparison("BETWEEN", (_operand(left, placed), *[_operand(bound, placed) for bound in right]))
    if operator == "in":
        choices = right[0]
        if not isinstance(choices, nodes.ListNode | nodes.BagNode):
            raise unsupported("operand of IN", "a list is needed", choices.span)
        return _one_of(left, choices.members, placed)
    raise unsupported("operator", operator.upper(), node.span)


def _one_of(operand: Node, choices: Sequence[Node], placed: Placed) -> Tree:
    if len(choices) > MAXIMUM_CHOICES:
        raise validation_error(
            f"The IN operator is provided with too many operands; number of operands: {len(choices)}"
        )
    return Comparison("IN", (_operand(operand, placed), *[_operand(choice, placed) for choice in choices]))


def _type_test(node: nodes.TypeNode, placed: Placed) -> Tree:
    if node.type == "missing":
        return _presence(node.operand, placed, exists=False)
    path = _path(node.operand, placed)
    tests: list[Tree] = [
        CallNode("attribute_type", (path, placed.value(nodes.LiteralNode({"S": name}, node.span))))
        for name in TYPES[node.type]
    ]
    return tests[0] if len(tests) == 1 else Junction("OR", tuple(tests))


def _presence(operand: Node, placed: Placed, *, exists: bool) -> Tree:
    return CallNode("attribute_exists" if exists else "attribute_not_exists", (_path(operand, placed),))


def _path(node: Node, placed: Placed) -> PathNode:
    if not isinstance(node, nodes.PathNode):
        raise unsupported("operand of IS", "an attribute is needed", node.span)
    return PathNode(placed.path(node.path))


def _operands(node: nodes.CallNode, count: int, placed: Placed) -> tuple[Operand, ...]:
    if len(node.arguments) != count:
        raise validation_error(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {node.function}, number of operands: {len(node.arguments)}"
        )
    return tuple([_operand(argument, placed) for argument in node.arguments])


def _operand(node: Node, placed: Placed) -> Operand:
    if isinstance(node, nodes.PathNode):
        return PathNode(placed.path(node.path))
    if is_value(node):
        return placed.value(node)
    if isinstance(node, nodes.CallNode) and node.function == "size":
        return CallNode("size", _operands(node, 1, placed))
    if isinstance(node, nodes.CallNode):
        raise unsupported("function", node.function, node.span)
    if isinstance(node, nodes.OperationNode):
        raise unsupported("operator", node.operator.upper(), node.span)
    raise unsupported("operand", "an attribute or a value is needed", node.span)


def steps(tree: Tree) -> tuple[Step, ...]:
    """Return the tree in postfix order, as the evaluation of conditions takes it."""
    if not isinstance(tree, Junction):
        return (tree,)
    result: list[Step] = []
    for position, member in enumerate(tree.members):
        result += steps(member)
        if position or tree.operator == "NOT":
            result.append(tree.operator)
    return tuple(result)
