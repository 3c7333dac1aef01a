"""Bounds on a field of the sort key, for queries that need more than equality."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

BoundKind: TypeAlias = Literal[">=", ">", "<=", "<", "between", "prefix"]
_OPPOSITE: dict[BoundKind, BoundKind] = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}


@dataclass(frozen=True)
class Bound:
    """A bound on a field of the sort key."""

    kind: BoundKind
    low: object = None
    high: object = None

    def opposite(self) -> "Bound":
        """The same bound on a key that sorts in reverse."""
        return Bound(_OPPOSITE.get(self.kind, self.kind), self.high, self.low)


def at_least(value: object) -> Bound:
    """This value or greater."""
    return Bound(">=", low=value)


def more_than(value: object) -> Bound:
    """Greater than this value."""
    return Bound(">", low=value)


def at_most(value: object) -> Bound:
    """This value or less."""
    return Bound("<=", high=value)


def less_than(value: object) -> Bound:
    """Less than this value."""
    return Bound("<", high=value)


def within(low: object, high: object) -> Bound:
    """From `low` to `high`, inclusive."""
    return Bound("between", low, high)


def starting(value: str) -> Bound:
    """Text that starts with this prefix."""
    return Bound("prefix", low=value)
