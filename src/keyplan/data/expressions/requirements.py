"""Requirements: conditions that a write relies on, with the errors to raise when they don't hold."""

from collections.abc import Callable
from typing import NamedTuple

from keyplan.data.codec.values import Item
from keyplan.data.errors import Refused
from keyplan.design.conditions import Node


class Requirement(NamedTuple):
    """A condition, whether a stored item violates it, and the error that says so."""

    node: Node
    violated: Callable[[Item | None], bool]
    error: Callable[[Item | None], Refused]
