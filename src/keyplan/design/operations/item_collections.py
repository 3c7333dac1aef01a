"""Collections: items of several entities in one partition of a table or an index, read with one query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from keyplan.design.entities.entity import Entity
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeyPart, KeySpec
from keyplan.design.errors import DesignError, Unusable
from keyplan.design.keys.templates import Slot
from keyplan.design.operations.key_values import split_key_values
from keyplan.design.operations.queries import Query
from keyplan.design.operations.reading import Op, Unreadable, check_choice
from keyplan.design.tables.tables import Index, KeyAccess, Placer
from keyplan.design.values.annotations import scalar

A = TypeVar("A", bound=Entity)
B = TypeVar("B", bound=Entity)
C = TypeVar("C", bound=Entity)
D = TypeVar("D", bound=Entity)
G = TypeVar("G", bound="Aggregate")


@overload
def collection(
    first: type[A] | KeyAccess[A],
    second: type[B] | KeyAccess[B],
    /,
    *,
    newest_first: bool = False,
    consistent: bool = False,
    expired: bool = False,
    **values: object,
) -> Query[A | B]: ...
@overload
def collection(
    first: type[A] | KeyAccess[A],
    second: type[B] | KeyAccess[B],
    third: type[C] | KeyAccess[C],
    /,
    *,
    newest_first: bool = False,
    consistent: bool = False,
    expired: bool = False,
    **values: object,
) -> Query[A | B | C]: ...
@overload
def collection(
    first: type[A] | KeyAccess[A],
    second: type[B] | KeyAccess[B],
    third: type[C] | KeyAccess[C],
    fourth: type[D] | KeyAccess[D],
    /,
    *,
    newest_first: bool = False,
    consistent: bool = False,
    expired: bool = False,
    **values: object,
) -> Query[A | B | C | D]: ...
def collection(
    *sources: Any,
    newest_first: bool = False,
    consistent: bool = False,
    expired: bool = False,
    **values: object,
) -> Query[Any]:
    """All items of these entities in one partition, with one query; those that have expired only with `expired`.

    An entity stands for its primary key; give its keys in an index (`Order.by_id, Line.by_order`) to query the index.
    The values are those of the first one's hash key. The others' hash keys must have the same text around their fields,
    whose names may differ.
    """
    keys = [_key_of(source) for source in sources]
    return _query(keys, values, newest_first=newest_first, consistent=consistent, expired=expired)


def _key_of(source: type[Entity] | KeyAccess[Entity]) -> tuple[EntitySpec, KeySpec]:
    if isinstance(source, KeyAccess):
        return source.entity.spec, source.entity.spec.access(source.declared)
    return source.spec, source.spec.primary


def _query(
    keys: Sequence[tuple[EntitySpec, KeySpec]],
    values: Mapping[str, object],
    *,
    newest_first: bool = False,
    consistent: bool = False,
    expired: bool = False,
) -> Query[Any]:
    first, key = keys[0]
    for spec, other in keys[1:]:
        if spec.table is not first.table or key.index is not other.index:
            problem = "their keys aren't of the same table or index"
        elif _form(first, key.hash) != _form(spec, other.hash):
            problem = "their items aren't in the same partition"
        else:
            continue
        raise DesignError(
            "not-one-collection",
            f"{key.place} and {other.place}",
            problem,
            "All entities of a collection need hash keys with the same text and fields of the same types.",
        )
    if consistent and key.index is not None and not key.index.local:
        raise DesignError(
            "consistent-index",
            key.place,
            "DynamoDB doesn't support consistent reads on a global index",
            "Remove consistent, or read the table.",
        )
    plain, bound = split_key_values(replace(key, range=()), values)
    entities = tuple(spec.entity for spec, _ in keys)
    return Query(entities, key, plain, bound, newest_first, consistent=consistent, expired=expired)


def _form(spec: EntitySpec, parts: Sequence[KeyPart]) -> object:
    """What hash keys of one partition have in common: all but the names of their fields."""
    numbers: dict[str, str] = {}

    def anonymous(part: str | Slot) -> object:
        if isinstance(part, str):
            return part
        number = numbers.setdefault(part.field, str(len(numbers)))
        return replace(part, field=number), scalar(spec.fields[part.field].annotation)

    return [
        (part.attribute.name, part.template is not None and tuple(map(anonymous, part.template.parts)))
        for part in parts
    ]


@dataclass_transform(kw_only_default=True)
class Aggregate:
    """An item together with others of its partition, which `aggregate` reads with one query.

        class OrderWithLines(Aggregate, index=shop.GSI1):
            order: Order
            lines: list[Line]

    The first field is the root: without its item, there is no aggregate. Another field is the list of an entity's
    items, or, as `Invoice | None`, the only one. Without `index`, they are read from the table.
    """

    _index: Index | None = None
    _unreadable: Sequence[Unreadable] = ()

    @property
    def unreadable(self) -> Sequence[Unreadable]:
        """The items that `on_unreadable("skip")` left out."""
        return self._unreadable

    def __init_subclass__(cls, *, index: Placer | None = None) -> None:
        super().__init_subclass__()
        if index is not None:
            cls._index = index.index
        dataclass(kw_only=True)(cls)


class AggregatePart(NamedTuple):
    """A field of an aggregate, and the items that it has."""

    name: str
    entity: type[Entity]
    holds: Literal["root", "list", "one"]


@dataclass(frozen=True)
class Aggregated(Op[G | None]):
    """An aggregate, from one query."""

    aggregate: type[G]
    source: Query[Any]
    unreadable: Literal["raise", "skip"] = "raise"

    def on_unreadable(self, choice: Literal["raise", "skip"]) -> Self:
        """What happens to items that don't fit their entity: `raise` (the default) ends the read with an error, and
        `skip` leaves them out and reports them in `unreadable` of the aggregate. The root is never left out."""
        check_choice(choice, "raise", "skip")
        return self.changed(unreadable=choice)


def aggregate(kind: type[G], *, consistent: bool = False, expired: bool = False, **values: object) -> Aggregated[G]:
    """An item with the others of its partition, or None if there is no root; all pages are read.

    The values are those of the root's hash key. Items that have expired are left out, except with `expired`.
    """
    keys = [_key_in(kind, part) for part in parts_of(kind)]
    return Aggregated(kind, _query(keys, values, consistent=consistent, expired=expired))


def parts_of(kind: type[Aggregate]) -> tuple[AggregatePart, ...]:
    """The fields of an aggregate, the root first."""
    if kind not in _parts:
        _parts[kind] = _read_parts(kind)
    return _parts[kind]


_parts: dict[type[Aggregate], tuple[AggregatePart, ...]] = {}


def _read_parts(kind: type[Aggregate]) -> tuple[AggregatePart, ...]:
    hints = {name: hint for name, hint in get_type_hints(kind).items() if not name.startswith("_")}
    parts = tuple(_part(kind, name, hint, root=not number) for number, (name, hint) in enumerate(hints.items()))
    entities = [part.entity for part in parts]
    if len(parts) < 2 or len(set(entities)) != len(entities):
        problem = "it has two fields of the same entity" if len(parts) > 1 else "it has only one field"
        raise DesignError("aggregate", kind.__name__, problem, "Declare one field for each entity.")
    return parts


def _part(kind: type[Aggregate], name: str, hint: object, *, root: bool) -> AggregatePart:
    arguments = [each for each in get_args(hint) if each is not type(None)]
    if root and isinstance(hint, type) and issubclass(hint, Entity):
        return AggregatePart(name, hint, "root")
    inside = arguments[0] if len(arguments) == 1 else None
    if not root and isinstance(inside, type) and issubclass(inside, Entity):
        if get_origin(hint) is list:
            return AggregatePart(name, inside, "list")
        if get_origin(hint) in (Union, UnionType):
            return AggregatePart(name, inside, "one")
    wanted = "an entity, the root" if root else "list[...] of an entity, or an entity | None"
    raise DesignError("aggregate", f"{kind.__name__}.{name}", f"it must be {wanted}", f"Declare {name} as {wanted}.")


def _key_in(kind: type[Aggregate], part: AggregatePart) -> tuple[EntitySpec, KeySpec]:
    """The key of an entity in the aggregate's table or index."""
    spec = part.entity.spec
    if kind._index is not None and kind._index.broken:
        raise Unusable(kind.__name__)
    found = [key for key in spec.keys if key.index is kind._index]
    if len(found) != 1:
        name = kind._index.name if kind._index else ""
        problem = f"{spec.name} has {len(found)} keys in the index {name}"
        raise DesignError("aggregate", f"{kind.__name__}.{part.name}", problem, "Give it one, or read a collection.")
    return spec, found[0]
