"""Findings of `verify`: what is wrong with a stored item, and how to repair it."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from keyplan.data.codec.values import Item

VerifyFindingKind: TypeAlias = Literal[
    "missing",
    "wrong",
    "orphan",
    "duplicate",
    "stale-index-key",
    "wrong-key",
    "wrong-count",
    "missing-parent",
    "unreadable",
    "unfinished",
    "over-limit",
    "unknown",
]


@dataclass(frozen=True)
class VerifyFinding:
    """Something stored that doesn't agree with the design, and how to repair it if that is known."""

    kind: VerifyFindingKind
    table: str
    """The table's name in DynamoDB."""
    key: Item
    problem: str
    sets: Item = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    deletes: bool = False
    seen: Item | None = None
    """The item as it was read; a repair does nothing if it has changed since."""

    @property
    def repairable(self) -> bool:
        return bool(self.sets or self.removes or self.deletes)

    def __str__(self) -> str:
        return f"{self.kind}: {self.table} {shown_key(self.key)}: {self.problem}"


def shown_key(key: Item) -> str:
    """A key as people read it."""
    return ", ".join(f"{name}={next(iter(value.values()))!r}" for name, value in key.items())
