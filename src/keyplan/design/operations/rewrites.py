"""Rewrites: changes of many items, as plain data. A job of a design returns one, and a store runs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

from keyplan.design.entities.effects import Ref
from keyplan.design.entities.entity import Entity
from keyplan.design.operations.queries import Query, Scan, scan

E = TypeVar("E", bound=Entity)
P = TypeVar("P", bound=Entity)


@dataclass(frozen=True)
class FinalChange(Generic[P]):
    """The last step of a rewrite: a change of one item."""

    target: Ref[P]
    change: Callable[[P], object]


@dataclass(frozen=True)
class Rewrite(Generic[E]):
    """A change of all items of a query. It can be resumed, because it is journaled with its name and arguments.

    The change must remove an item from the query's results, so that running the query again continues the rewrite.
    Without a change, the source is a scan, and items get the index keys that the design gives them now.
    """

    source: Query[E] | Scan[E]
    change: Callable[[E], object] | None
    name: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    opening: tuple[object, ...] = ()
    """Writes in the same transaction as the journal."""
    final: FinalChange[Any] | None = None

    def first(self, *writes: object) -> Self:
        """Start with these writes (`create(...)`, `update(...)`), in the same transaction as the journal."""
        return replace(self, opening=(*self.opening, *writes))

    def then(self, target: Ref[P], change: Callable[[P], object]) -> Self:
        """End with a change of this item, once the query has no more results. Skipped if the item no longer exists.

        Like `change`, it changes the entity or returns a write, such as its `delete`.
        """
        return replace(self, final=FinalChange(target, change))


def rewrite(source: Query[E], change: Callable[[E], object]) -> Rewrite[E]:
    """Change every item of a query. `change` changes the entity or returns a write, such as its `delete`, or several,
    which are one transaction: `(create(other), delete(entity))`."""
    return Rewrite(source, change)


def rekey(entity: type[E]) -> Rewrite[E]:
    """Give all items of an entity the index keys that the design gives them now, after a change of their templates.

    Items that have them already aren't written. Versions and stamps stay as they are.
    """
    return Rewrite(scan(entity), None)
