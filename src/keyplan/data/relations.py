"""Which entities of a design belong to which. Worked out once per store, and used by every write."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from keyplan.design import Design, Entity
from keyplan.design.entities.effects import BelongsTo


class Child(NamedTuple):
    """An entity whose items belong to items of another, and how."""

    entity: type[Entity]
    relation: BelongsTo[Any]


class Relations:
    """The children of each entity of a design, in the design's order."""

    def __init__(self, design: Design) -> None:
        children: dict[type[Entity], list[Child]] = {}
        for entity in design.entities:
            for relation in entity.spec.parents:
                if relation.entity is not None:
                    children.setdefault(relation.entity, []).append(Child(entity, relation))
        self._children: Mapping[type[Entity], Sequence[Child]] = children
        self._cascading = {
            parent: [c for c in found if c.relation.on_delete == "cascade"] for parent, found in children.items()
        }

    def is_parent(self, entity: type[Entity]) -> bool:
        """Whether items of other entities belong to this one's."""
        return entity in self._children

    def children(self, entity: type[Entity]) -> Sequence[Child]:
        """The entities whose items belong to this one's."""
        return self._children.get(entity, ())

    def cascading(self, entity: type[Entity]) -> Sequence[Child]:
        """The entities whose items are deleted with an item of this one."""
        return self._cascading.get(entity, ())

    def guards_tell(self, entity: type[Entity]) -> bool:
        """Whether the guards of an item that DynamoDB deleted tell a cleanup that more is to be done: counts, children.

        If they were gone, it would take the item for one that a store deleted with all that followed from it.
        """
        counted = entity.spec.counters or any(parent.count for parent in entity.spec.parents)
        return bool(counted or self.cascading(entity))

    def deletion_order(self, entity: type[Entity]) -> list[Child]:
        """The cascading children in the order to delete them: first those that would refuse to let a later one go."""
        waiting = list(self.cascading(entity))
        ordered = []
        while waiting:
            free = [
                each
                for each in waiting
                if not any(
                    self._refuses(other.entity, each.entity) for other in waiting if other.entity is not each.entity
                )
            ]
            chosen = (free or waiting)[0]  # if they refuse each other, any order is as good
            waiting.remove(chosen)
            ordered.append(chosen)
        return ordered

    def _refuses(self, one: type[Entity], other: type[Entity]) -> bool:
        """Whether an item that is deleted with `one` can refuse the deletion of one that is deleted with `other`."""
        deleted = self._deleted_with(other)
        return any(
            relation.on_delete == "refuse" and relation.entity in deleted
            for each in self._deleted_with(one)
            for relation in each.spec.parents
        )

    def _deleted_with(self, entity: type[Entity]) -> set[type[Entity]]:
        """The entity, and all entities whose items are deleted with its items."""
        found: set[type[Entity]] = set()
        waiting = [entity]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += (child.entity for child in self.cascading(each))
        return found
