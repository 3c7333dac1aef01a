"""What the values in a hash key depend on, and how many different ones there are."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any, Literal, TypeAlias, get_args, get_origin

from keyplan.capacity.traffic.model import Traffic
from keyplan.design import Design, Entity
from keyplan.design.entities.specs import KeyPart
from keyplan.design.examples.fields import links_of
from keyplan.design.keys.templates import Slot
from keyplan.design.values import ids as ids_module

Draw: TypeAlias = Literal["popular", "even", "copies"]
"""By popularity; all alike; or one of the copies that a remedy makes, also of a single item."""
SHARD = "shard of "
"""What the root of a factor begins with that is a shard."""
_FRESH = 2**40
"""So many that no two draws meet: new IDs."""


@dataclass(frozen=True)
class Factor:
    """Something that tells hash keys apart: the values of a field, or shards."""

    name: str
    """How people call it: `author`."""
    root: str
    """Whose values they are: `User.username`. Fields that refer to the same one have the same values."""
    entity: str
    """The entity whose popularity counts, or nothing."""
    values: int
    draw: Draw = "popular"


class Values:
    """How many different values the fields of a design have, with so many users."""

    def __init__(self, design: type[Design], traffic: Traffic, users: int) -> None:
        self._traffic = traffic
        self._entities = {entity.__name__: entity for entity in design.entities}
        self._more = users / traffic.users if traffic.users else 1.0
        self._users = users

    def count(self, entity: type[Entity]) -> int:
        """How many items an entity has."""
        said = self._traffic.items.get(entity.__name__)
        if said is not None and said.count:
            return said.count if said.fixed else max(1, round(said.count * self._more))
        expected = entity.spec.expected
        if expected is not None and expected.items is not None:
            return max(1, round(expected.items * self._more))
        return max(1, self._users) if entity.spec.primary.fields else 1

    def factor(self, entity: type[Entity], field: str, *, new: bool = False) -> Factor:
        """The values of an entity's field. `new`: those of items that are being created."""
        owner, name = root_of(entity, field)
        root = f"{owner.__name__}.{name}"
        choices = choices_of(owner, name)
        if choices:
            return Factor(field, root, "", choices)
        if name in owner.spec.primary.fields:
            if new and owner is entity and not self._has_several(owner, name):
                return Factor(field, f"new {root}", "", _FRESH, "even")
            return Factor(field, root, owner.__name__, self._different(owner, name))
        several = entity.spec.expected.partition if entity.spec.expected is not None else None
        return Factor(field, root, owner.__name__, max(1, self.count(entity) // (several or 1)))

    def _different(self, owner: type[Entity], name: str) -> int:
        """How many values a field of a primary key has: one for each item, or for each item collection."""
        total = self.count(owner)
        if not self._has_several(owner, name):
            return total
        expected = owner.spec.expected
        several = expected.partition if expected is not None else None
        return max(1, total // (several or 1))

    def _has_several(self, owner: type[Entity], name: str) -> bool:
        """Whether several items can have the same value of a field of the primary key: they differ in another one."""
        primary = owner.spec.primary
        hash_fields = {each for part in primary.hash for each in part.fields}
        return name in hash_fields and bool({*primary.fields} - hash_fields)


def root_of(entity: type[Entity], field: str) -> tuple[type[Entity], str]:
    """The entity and the field that a field's values come from, by parents and counters."""
    seen = {(entity, field)}
    while (link := links_of(entity).get(field)) is not None and (link.entity, link.field) not in seen:
        entity, field = link.entity, link.field
        seen.add((entity, field))
    return entity, field


def choices_of(entity: type[Entity], field: str) -> int:
    """The number of values that a field's type lists; 0 if it doesn't."""
    annotation = entity.spec.fields[field].annotation
    if annotation is bool:
        return 2
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return len(annotation)
    return len(get_args(annotation)) if get_origin(annotation) is Literal else 0


def is_time(entity: type[Entity], field: str) -> bool:
    """Whether new items have larger values of a field than all others: times, and IDs that sort by time."""
    info = entity.declared_fields.get(field)
    spec = entity.spec.fields[field]
    if spec.kind in ("created", "updated"):
        return True
    if isinstance(spec.annotation, type) and issubclass(spec.annotation, date):
        return True
    factory: Any = getattr(info, "default_factory", None)
    return factory is not None and ids_module.__name__ in (
        getattr(factory, "__module__", None),
        type(factory).__module__,
    )


def factors_in(
    values: Values, entity: type[Entity], parts: tuple[KeyPart, ...], given: Mapping[str, object], *, new: bool = False
) -> tuple[str, tuple[Factor, ...]]:
    """What the hash key of an entity depends on, and a text that is the same for the same keys.

    `given` has the constants that a pattern asks for.
    """
    text, factors = "", dict[str, Factor]()
    for part in parts:
        for piece in part.template.parts if part.template is not None else (Slot(part.field or ""),):
            if isinstance(piece, str):
                text += piece
            elif piece.field in given:
                text += str(given[piece.field])
            else:
                found = _of_slot(values, entity, part, piece, new=new)
                text += f"{{{found.root if found is not None else 'now'}}}"
                if found is not None:
                    factors[found.root] = found
        text += "\n"
    return text, tuple(factors.values())


def _of_slot(values: Values, entity: type[Entity], part: KeyPart, slot: Slot, *, new: bool) -> Factor | None:
    """What a slot of a template depends on. None: on the time, so that all requests of a moment have the same."""
    if slot.shards is not None:
        root = f"{SHARD}{entity.__name__}.{slot.field}"
        return Factor(f"shard of {slot.field}", root, "", slot.shards.count, "even")
    chosen = part.template.formats[slot] if part.template is not None else None
    if chosen is not None and chosen.bucket is not None:
        return None
    annotation = entity.spec.fields[slot.field].annotation
    if new and isinstance(annotation, type) and issubclass(annotation, date) and annotation is date:
        return None
    return values.factor(entity, slot.field, new=new)
