"""The functions of the expression language: where each is allowed and how many operands it takes."""

from typing import NamedTuple

CONDITION = "condition"
OPERAND = "operand"
UPDATE = "update"


class Function(NamedTuple):
    """`role`: a condition by itself, an operand of a condition, or an operand in a SET."""

    role: str
    operands: int


FUNCTIONS = {
    "attribute_exists": Function(CONDITION, 1),
    "attribute_not_exists": Function(CONDITION, 1),
    "attribute_type": Function(CONDITION, 2),
    "begins_with": Function(CONDITION, 2),
    "contains": Function(CONDITION, 2),
    "size": Function(OPERAND, 1),
    "if_not_exists": Function(UPDATE, 2),
    "list_append": Function(UPDATE, 2),
}

NEEDS_PATH = frozenset({"attribute_exists", "attribute_not_exists", "if_not_exists"})
"""Functions whose first operand must be a document path."""

NOT_NESTED = frozenset({"list_append"})
"""Functions that can't be used inside themselves, not even with another function between them."""

TYPE_NAMES = ("B", "NULL", "SS", "BOOL", "L", "BS", "N", "NS", "S", "M")
"""In the order of AWS's message."""
