"""What differs, as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["added", "removed", "changed"]
Effect: TypeAlias = Literal["code", "in place", "repair", "backfill", "rekey", "rewrite", "copy"]
"""What a change takes: only new code, requests to DynamoDB, or work on the items."""
MIGRATIONS: Mapping[Effect, str] = {
    "repair": "`keyplan verify --repair` writes what is missing, and deletes what is left over",
    "backfill": "give the items that lack it a value, before code that requires it",
    "rekey": "`store.run(rekey(ENTITY))` gives the items the index keys of the new design",
    "rewrite": "read the items with the old design, and write them with the new one",
    "copy": "create a new table and copy the items: DynamoDB can't change this in a table",
}
"""The effects that are work on items, and what to do."""
Phase: TypeAlias = Literal["before", "after"]
"""When a step is taken: before the new code runs, or once the old code no longer does."""


@dataclass(frozen=True)
class Change:
    """Something that differs."""

    kind: Kind
    place: str
    """What it is part of: `table Blog`, `index Blog.GSI1`, `field Post.title`, `pattern posts_by_user`."""
    what: str = ""
    """What of it differs, if it was changed."""
    before: str = ""
    after: str = ""
    effect: Effect = "code"
    note: str = ""


@dataclass(frozen=True)
class Step:
    """A request to DynamoDB, and what to wait for before the next one."""

    phase: Phase
    table: str
    does: str
    operation: str
    request: Mapping[str, Any]
    wait: str = ""


@dataclass(frozen=True)
class Differences:
    """What differs between two snapshots."""

    before: str
    after: str
    changes: tuple[Change, ...]
    steps: tuple[Step, ...]

    @property
    def migrations(self) -> tuple[Change, ...]:
        """The changes that are work on items."""
        return tuple(each for each in self.changes if each.effect in MIGRATIONS)
