"""Requirements: conditions that a write relies on, with the errors to raise when they don't hold."""

from collections.abc import Callable
from typing import NamedTuple

from keyplan.data.codec.values import Item
from keyplan.data.errors import Refused
from keyplan.data.expressions.evaluation import holds_all
from keyplan.design import InvalidValue
from keyplan.design.operations.conditions import Node


class Requirement(NamedTuple):
    """Conditions that a stored item must meet, and the error for an item that doesn't."""

    conditions: tuple[Node, ...]
    error: Callable[[Item | None], Refused | InvalidValue]

    def is_met_by(self, item: Item | None) -> bool:
        """Whether an item meets all of the conditions; None for an item that doesn't exist."""
        return holds_all(self.conditions, item)
