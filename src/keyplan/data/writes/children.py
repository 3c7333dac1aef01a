"""What goes with what: the entities whose items a delete takes along, and in which order."""

from collections.abc import Iterator
from typing import Any

from keyplan.design import Design, Entity
from keyplan.design.effects import BelongsTo


def cascading_children(design: Design, entity: type[Entity]) -> Iterator[tuple[type[Entity], BelongsTo[Any]]]:
    """The entities whose items go when an item of this one is deleted, with how they belong to it."""
    for other in design.entities:
        for parent in other.spec.parents:
            if parent.entity is entity and parent.on_delete == "cascade":
                yield other, parent


def deletion_order(design: Design, entity: type[Entity]) -> list[tuple[type[Entity], BelongsTo[Any]]]:
    """The children in an order in which they can go: before another, who would refuse that one's deletion."""
    waiting = list(cascading_children(design, entity))
    ordered = []
    while waiting:
        free = [
            each
            for each in waiting
            if not any(_keeps(design, other, each[0]) for other, _ in waiting if other is not each[0])
        ]
        chosen = (free or waiting)[0]  # where they keep each other, there is no order, and the design's is as good
        waiting.remove(chosen)
        ordered.append(chosen)
    return ordered


def _keeps(design: Design, one: type[Entity], other: type[Entity]) -> bool:
    """Whether an item that goes with the one can refuse the deletion of something that goes with the other."""
    kept = _family(design, other)
    return any(
        parent.on_delete == "refuse" and parent.entity in kept
        for each in _family(design, one)
        for parent in each.spec.parents
    )


def _family(design: Design, entity: type[Entity]) -> set[type[Entity]]:
    """The entity and all whose items go with its items."""
    family: set[type[Entity]] = set()
    waiting = [entity]
    while waiting:
        each = waiting.pop()
        if each not in family:
            family.add(each)
            waiting += (child for child, _ in cascading_children(design, each))
    return family
