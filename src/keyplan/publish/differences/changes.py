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
    "rekey": "`store.run(rekey({entity}))` gives the items the index keys of the new design",
    "rewrite": "read the items with the old design, and write them with the new one",
    "copy": "create a new table and copy the items: DynamoDB can't change this in a table",
}
"""The effects that are work on items, and what to do; `{entity}` is the entity."""
Phase: TypeAlias = Literal["before", "after"]
"""When a step is taken: before the new code runs, or once the old code no longer does."""


@dataclass(frozen=True)
class Difference:
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
class Migration:
    """Work on items: what it is for, and how to do it."""

    effect: Effect
    places: tuple[str, ...]
    how: str


@dataclass(frozen=True)
class Differences:
    """What differs between two snapshots."""

    before: str
    after: str
    changes: tuple[Difference, ...]
    steps: tuple[Step, ...]

    @property
    def migrations(self) -> tuple[Migration, ...]:
        """The work on items that the changes take; what is done in the same way, together."""
        found: dict[tuple[Effect, str], list[str]] = {}
        for effect, how in MIGRATIONS.items():
            for each in self.changes:
                if each.effect == effect:
                    found.setdefault((effect, how.replace("{entity}", _entity(each))), []).append(each.place)
        return tuple(Migration(effect, tuple(dict.fromkeys(every)), how) for (effect, how), every in found.items())


def _entity(change: Difference) -> str:
    """The entity that a change is about: `Post` for `key Post.by_author`."""
    return change.place.partition(" ")[2].partition(".")[0]
