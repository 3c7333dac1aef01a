"""Which keys the patterns and writes of a design touch, and how many units they consume there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from keyplan.capacity.changes import changeable
from keyplan.capacity.consumed import TableOrIndex, Units, summed
from keyplan.capacity.cost.tables import run_tables
from keyplan.capacity.heat.factors import Factor, Values, factors_in, is_time
from keyplan.capacity.metering import Metered, MeteredDesign
from keyplan.capacity.naming import named_design
from keyplan.capacity.traffic.model import Traffic, WriteKind
from keyplan.design import HOUSEKEEPING, Design, Entity, Guard, Op
from keyplan.design.entities.effects import Copies, Unique
from keyplan.design.entities.specs import KeyPart, KeySpec, StandIn
from keyplan.design.examples import example_of
from keyplan.design.examples.fields import refs_of
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import BatchGet, Exists, Get, GuardTaken, Lookup, Together, TransactGet
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan

Spot: TypeAlias = Literal["item", "end", "spread"]
"""Where in an item collection: a single item, one end of it, or all over it."""
_EVERYWHERE = Factor("", "everywhere", "", 2**40, "even")


@dataclass(frozen=True)
class Touch:
    """Keys of a table or an index that an operation reads or writes, and how much it consumes there."""

    place: TableOrIndex
    shown: str
    """The hash key as it is declared: `POSTS_BY_USER#{author}`."""
    signature: str
    """The same for the same hash keys, whoever touches them."""
    factors: tuple[Factor, ...]
    spot: Spot
    splits: bool = True
    """Whether a partition may be split inside an item collection: not in a table with a local index."""
    reads: float = 0.0
    writes: float = 0.0

    @property
    def identity(self) -> tuple[TableOrIndex, str]:
        """What tells hash keys of this kind from others."""
        return self.place, self.signature


@dataclass(frozen=True)
class Operation:
    """A pattern or a write, with the keys that it touches."""

    name: str
    touches: tuple[Touch, ...]


def operations(design: type[Design], metered: MeteredDesign, traffic: Traffic, values: Values) -> list[Operation]:
    """The patterns and writes that were metered, with what each touches."""
    finder = _Finder(design, values, metered, traffic)
    found = [finder.pattern(name, each) for name, each in metered.patterns.items()]
    for (name, kind), each in metered.writes.items():
        said = traffic.writes.get((name, kind))
        found.append(finder.write(name, kind, each, said.changes if said is not None else ()))
    return found


class _Finder:
    def __init__(self, design: type[Design], values: Values, metered: MeteredDesign, traffic: Traffic) -> None:
        self._kind = design
        self._design = named_design(design)
        self._tables = run_tables(design, traffic)
        self._values = values
        self._metered = metered
        self._entities = {entity.__name__: entity for entity in design.entities}

    # Patterns

    def pattern(self, name: str, metered: Metered) -> Operation:
        """What a pattern touches. Touches of one place share what was consumed there."""
        touches = list(self._read(self._kind.patterns[name].symbolic))
        return Operation(name, tuple(_with_units([(each, 1.0) for each in touches], self._units(metered))))

    def _read(self, op: Op[Any]) -> Iterator[Touch]:
        match op:
            case Get(entity=entity, values=given) | Exists(entity=entity, values=given):
                yield self._item(entity, given)
            case Lookup(way=Guard() as guard):
                yield self._guard(guard.entity, guard.unique)
                yield self._item(guard.entity)
            case Lookup(way=Copies() as way):
                yield from (self._item(entity) for entity in way.derived.entities)
                yield self._item(way.entity)
            case GuardTaken(guard=guard):
                yield self._guard(guard.entity, guard.unique)
            case BatchGet(entity=entity):
                yield self._item(entity)
            case Query(entities=entities, key=key, values=given):
                yield self._key(entities[0], key, given, "end" if key.range_fields else "item")
            case Follow(source=source, target=target):
                yield from self._read(source)
                yield self._item(target)
            case ItemCount(source=source) | Aggregated(source=source):
                yield from self._read(source)
            case Merge(queries=parts) | Together(gets=parts) | TransactGet(gets=parts):
                for part in parts:
                    yield from self._read(part)
            case Scan(entity=entity):
                yield self._everywhere(self._place(entity))

    # Writes

    def write(self, name: str, kind: WriteKind, metered: Metered, changes: Sequence[str]) -> Operation:
        """What a write touches: its item with all index entries, and what changes with it."""
        entity = self._entities[name]
        touches = list(self._written(entity, kind, metered, changes))
        return Operation(f"{name}.{kind}", tuple(_with_units(touches, self._units(metered))))

    def _units(self, metered: Metered) -> Mapping[TableOrIndex, Units]:
        """What was consumed at each place; by local indexes, at their tables."""
        return summed((self._tables[place.table].payer(place), units) for place, units in metered.units.items())

    def _written(
        self, entity: type[Entity], kind: WriteKind, metered: Metered, changes: Sequence[str]
    ) -> Iterator[tuple[Touch, float]]:
        new = kind in ("create", "put", "upsert")
        whole = kind in ("create", "put", "upsert", "delete")
        yield from self._entries(entity, new=new)
        if metered.items <= 1 and "transact_write_items" not in metered.operations:
            return
        changed = {*changes} or {*changeable(entity)[:1]}
        example = example_of(self._kind, entity, 2)
        for unique in entity.spec.uniques:
            if whole or changed & {*unique.hash.fields, *(unique.range.fields if unique.range else ())}:
                yield self._guard(entity, unique, new=new), 1.0
        for derived in entity.spec.derived:
            for other in derived.make(example):
                yield from self._entries(type(other), new=new)
        if whole:
            for counter in entity.spec.counters:
                yield from self._referred(refs_of(counter.target, example))
            for parent in entity.spec.parents:
                if kind == "create" or parent.count is not None:
                    yield from self._referred(refs_of(parent.parent, example))

    def _entries(self, entity: type[Entity], *, new: bool) -> Iterator[tuple[Touch, float]]:
        """An item, and its entries in indexes, each with how much it weighs among those of its place."""
        size = self._metered.sizes.get(entity.__name__, 1)
        yield self._item(entity, new=new), _steps(size)
        for key in entity.spec.placements.values():
            yield self._key(entity, key, {}, _spot(entity, key, new=new), new=new), _steps(size)

    def _referred(self, refs: Iterable[Any]) -> Iterator[tuple[Touch, float]]:
        for each in (each for each in refs if each.amount):
            size = self._metered.sizes.get(each.entity.__name__, 1)
            yield self._item(each.entity, each.values, referred=True), _steps(size)

    # Touches

    def _item(
        self,
        entity: type[Entity],
        given: Mapping[str, object] | None = None,
        *,
        new: bool = False,
        referred: bool = False,
    ) -> Touch:
        key = entity.spec.primary
        constant = {} if referred else given or {}
        touch = self._key(entity, key, constant, _spot(entity, key, new=new), new=new)
        in_collection = touch.spot == "spread" and touch.splits and entity.spec.table is not HOUSEKEEPING
        return touch if new or not in_collection else self._one_of(entity, touch, constant)

    def _one_of(self, entity: type[Entity], touch: Touch, given: Mapping[str, object]) -> Touch:
        """A single item in a collection: no split helps if it is popular, whatever the others in its collection are."""
        key = entity.spec.primary
        open_ = [name for name in key.fields if name not in given or isinstance(given[name], StandIn)]
        constants = {name: value for name, value in given.items() if name not in open_}
        factor = Factor(entity.__name__, f"{entity.__name__} item", entity.__name__, self._values.count(entity))
        return replace(
            touch,
            shown=f"{touch.shown}, {_shown(key.range, constants)}",
            signature=f"{touch.signature} item {_shown(key.range, constants)}",
            factors=(factor,) if open_ else (),
            spot="item",
        )

    def _key(
        self, entity: type[Entity], key: KeySpec, given: Mapping[str, object], spot: Spot, *, new: bool = False
    ) -> Touch:
        place = self._place(entity, key)
        if entity.spec.table is HOUSEKEEPING:
            return self._everywhere(place)
        constants = {name: value for name, value in given.items() if not isinstance(value, StandIn)}
        text, factors = factors_in(self._values, entity, key.hash, constants, new=new)
        names = [part.attribute.name for part in key.hash]
        signature = f"{place.table} {place.index} {names}: {text}"
        local = place.index is None and any(index.local for index in entity.spec.table.by_name.values())
        if spot == "item" and not local:  # two items of a collection are two keys
            signature += f" item {_shown(key.range, constants)}"
        return Touch(place, _shown(key.hash, constants), signature, factors, spot, splits=not local)

    def _guard(self, entity: type[Entity], unique: Unique, *, new: bool = False) -> Touch:
        """The guard of a unique value: one item, as popular as the item that has the value."""
        place = TableOrIndex(self._design.table_name(unique.table))
        primary = self._values.factor(entity, entity.spec.primary.fields[0], new=new)
        factor = replace(primary, root=f"{entity.__name__}.{unique.name} {primary.root}")
        return Touch(place, unique.hash.text, f"{place.table} guard {unique.hash.text}", (factor,), "item")

    def _everywhere(self, place: TableOrIndex) -> Touch:
        return Touch(place, "(all keys)", f"{place.table} everywhere", (_EVERYWHERE,), "spread")

    def _place(self, entity: type[Entity], key: KeySpec | None = None) -> TableOrIndex:
        """Whose partitions have a key: a local index is in those of its table."""
        index = key.index.name if key is not None and key.index is not None else None
        name = self._design.table_name(entity.spec.table)
        return self._tables[name].payer(TableOrIndex(name, index))


def _shown(parts: tuple[KeyPart, ...], constants: Mapping[str, object]) -> str:
    text = " + ".join(part.source for part in parts)
    for name, value in constants.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def _spot(entity: type[Entity], key: KeySpec, *, new: bool) -> Spot:
    """Where an item of an entity is in its item collection."""
    if not key.range_fields:
        return "item"
    first = key.range_fields[0]
    moves = new or entity.spec.fields[first].kind == "updated"  # each change moves the entry to the end
    return "end" if moves and is_time(entity, first) else "spread"


def _steps(size: int) -> float:
    return float(max(1, -(-size // 1024)))


def _with_units(touches: Sequence[tuple[Touch, float]], consumed: Mapping[TableOrIndex, Units]) -> Iterator[Touch]:
    """The touches with their shares of what was consumed at their places. Nothing that was consumed is left out.

    Touches of the same keys are one: they are served or refused together.
    """
    for place, units in consumed.items():
        here: dict[tuple[object, ...], Touch] = {}
        weights: dict[tuple[object, ...], float] = {}
        for each, weight in touches:
            if each.place == place:
                same: tuple[object, ...] = (each.signature, each.factors, each.spot if each.splits else None)
                here.setdefault(same, each)
                weights[same] = weights.get(same, 0.0) + weight
        if not here:
            signature = f"{place.table} {place.index} other"
            here, weights = {(): Touch(place, "(other keys)", signature, (_EVERYWHERE,), "spread")}, {(): 1.0}
        total = sum(weights.values())
        for which, touch in here.items():
            share = weights[which] / total
            yield replace(touch, reads=units.reads * share, writes=units.writes * share)
