"""Changes of many items, as plain data: what a job of a design returns and a store carries out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

from keyplan.design.effects import Ref
from keyplan.design.entity import Entity
from keyplan.design.operations import Query

E = TypeVar("E", bound=Entity)
P = TypeVar("P", bound=Entity)


@dataclass(frozen=True)
class Final(Generic[P]):
    """The last step of a rewrite: a change of one item."""

    target: Ref[P]
    change: Callable[[P], object]


@dataclass(frozen=True)
class Rewrite(Generic[E]):
    """A change of all items of a query, however many: resumable, once it is journalled by its name and arguments.

    The change must take an item out of the query, so that going on means asking again.
    """

    source: Query[E]
    change: Callable[[E], object]
    name: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    opening: tuple[object, ...] = ()
    """Writes that go together with the journal."""
    final: Final[Any] | None = None

    def first(self, *writes: object) -> Self:
        """Begin with these writes (`create(...)`, `update(...)`), in one transaction with the journal."""
        return replace(self, opening=(*self.opening, *writes))

    def then(self, target: Ref[P], change: Callable[[P], object]) -> Self:
        """End with a change of this item, made when no item of the query is left; nothing where it is gone by then.

        Like the change of the others, it changes the entity or returns a write of it, such as its `delete`.
        """
        return replace(self, final=Final(target, change))


def rewrite(source: Query[E], change: Callable[[E], object]) -> Rewrite[E]:
    """Change every item of the query: the change is made in the entity, or is a write of it that is returned."""
    return Rewrite(source, change)
