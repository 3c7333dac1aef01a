"""Requests that DynamoDB refuses."""

from collections.abc import Iterator

from keyplan.design import Scan
from keyplan.design.conditions import Node
from keyplan.design.operations import Query
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Problem, rule

MOST_IN_LIST, MOST_OPERATORS = 100, 300
"""AWS, "Constraints in Amazon DynamoDB": the operands of IN, and the operators and functions of an expression."""


@rule(
    "KP212",
    "filter-too-long",
    group="rejected",
    severity="error",
    title="A filter with more parts than DynamoDB accepts",
)
def filter_too_long(reviewed: Reviewed) -> Iterator[Problem]:
    """A filter compares with a list of more than 100 values, or has more than 300 operators and functions. DynamoDB
    refuses the request.

    Such a filter also reads everything that it then throws away. A list of values that is that long is usually a
    property of the items: whether they are public, or in a region.

    Store that property when the item is written, filter by it, or better put it into the key of an index."""
    for pattern, op in reviewed.reads:
        node = op.filter if isinstance(op, Query | Scan) else None
        if node is None:
            continue
        longest, operators = _longest_list(node), _operators(node)
        if longest > MOST_IN_LIST or operators > MOST_OPERATORS:
            yield Problem(
                reviewed.at_pattern(pattern),
                f"its filter compares with {longest} values, and can with {MOST_IN_LIST}"
                if longest > MOST_IN_LIST
                else f"its filter has {operators} operators, and can have {MOST_OPERATORS}",
                "Store what the values have in common, and filter or query by that.",
            )


def _parts(node: Node) -> Iterator[Node]:
    yield node
    for operand in node.operands:
        if isinstance(operand, Node):
            yield from _parts(operand)


def _longest_list(node: Node) -> int:
    return max((len(each.operands) - 1 for each in _parts(node) if each.operator == "IN"), default=0)


def _operators(node: Node) -> int:
    return sum(1 for _ in _parts(node))
