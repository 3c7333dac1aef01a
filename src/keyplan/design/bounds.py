"""Conditions on a field of the sort key: what a query may ask of it beside equality."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

BoundKind: TypeAlias = Literal[">=", ">", "<=", "<", "between", "prefix"]


@dataclass(frozen=True)
class Bound:
    """A condition on a field of the sort key."""

    kind: BoundKind
    low: object = None
    high: object = None


def at_least(value: object) -> Bound:
    return Bound(">=", low=value)


def more_than(value: object) -> Bound:
    return Bound(">", low=value)


def at_most(value: object) -> Bound:
    return Bound("<=", high=value)


def less_than(value: object) -> Bound:
    return Bound("<", high=value)


def within(low: object, high: object) -> Bound:
    """From low to high, both included."""
    return Bound("between", low, high)


def starting(value: str) -> Bound:
    """Texts that begin with this."""
    return Bound("prefix", low=value)
