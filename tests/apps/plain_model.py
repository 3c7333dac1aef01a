"""A design without DynamoDB: entities in a dict, with the rules and reads computed over all of them.

Slow and simple on purpose: nothing here knows of items, indexes or conditions. `Plain.refusals` says why a change is
not allowed, `answer` what an operation gives.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from keyplan.design import BatchGet, Entity, Follow, Get, Lookup, Merge, Op, Query, Ref, Scan, Together
from keyplan.design.entities.effects import Guard, Unique, named_by
from keyplan.design.entities.specs import KeySpec
from keyplan.design.operations.bounds import Bound
from keyplan.design.operations.conditions import FieldPath, FieldStandIn, Node
from keyplan.design.operations.item_reads import Exists, GuardTaken
from keyplan.design.operations.queries import ItemCount as CountOf

Key: TypeAlias = tuple[type[Entity], tuple[object, ...]]
State: TypeAlias = dict[Key, Entity]
Change: TypeAlias = tuple[Entity | None, Entity | None]
"""An entity before and after; None before it is there and after it is gone."""


def key_of(entity: Entity) -> Key:
    return type(entity), tuple(entity.key_values.values())


def named_key(named: Ref[Any]) -> Key:
    return named.entity, tuple(named.values[name] for name in named.entity.spec.primary.fields)


def guard_text(unique: Unique, values: Mapping[str, object]) -> tuple[object, ...] | None:
    """The unique value; None if the entity doesn't hold the guard."""
    texts = [unique.hash.write(values), unique.range.write(values) if unique.range else ""]
    held = (unique.when is None or values.get(unique.when)) and None not in texts
    return (unique.table.name, *texts) if held else None


def shares(entity: Entity) -> Counter[tuple[Key, str]]:
    """What an entity adds to counters of other items."""
    found: Counter[tuple[Key, str]] = Counter()
    for counter in entity.spec.counters:
        for named in named_by(counter.target(entity)):
            found[named_key(named), counter.field] += named.amount
    for parent in entity.spec.parents:
        for named in named_by(parent.parent(entity)) if parent.count else ():
            found[named_key(named), parent.count or ""] += 1
    return found


def parents(entity: Entity, *on_delete: str) -> set[Key]:
    return {
        named_key(named)
        for parent in entity.spec.parents
        if not on_delete or parent.on_delete in on_delete
        for named in named_by(parent.parent(entity))
    }


@dataclass
class Plain:
    """The live entities; derived ones are computed."""

    live: State = field(default_factory=dict)

    # Changes

    def after(self, changes: Iterable[Change]) -> State:
        """The live entities after some changes and their cascades."""
        changes = list(changes)
        gone = {key_of(old) for old, new in changes if old is not None}
        state = {key: entity for key, entity in self.live.items() if key not in gone}
        state |= {key_of(new): new for _, new in changes if new is not None}
        lost = gone - state.keys()
        deleted = {key_of(old) for old, new in changes if old is not None and new is None}
        while deleted:
            along = {key for key, entity in state.items() if parents(entity, "cascade") & deleted}
            state = {key: entity for key, entity in state.items() if key not in along}
            deleted = along - lost
            lost |= along
        return state

    def refusals(self, changes: list[Change]) -> set[str]:
        """The error codes of which one must be raised; empty if the changes are allowed."""
        after = self.after(changes)
        codes: set[str] = set()
        for old, new in changes:
            if new is None and old is not None and self._used(key_of(old)):
                codes.add("in-use")
            if new is not None:
                codes |= self._missing(old, new, after)
                if (old is None or key_of(old) != key_of(new)) and key_of(new) in self.live:
                    codes.add("already-exists")
                if old is not None and key_of(old) != key_of(new):
                    codes |= self._left_behind(old, new)
        # A new entity may collide with the one that it can't replace anyway.
        met = [self.live[key_of(new)] for old, new in changes if old is None and new and key_of(new) in self.live]
        codes |= collisions([*after.values(), *met]) | self._floors(after)
        return codes

    def _used(self, key: Key) -> bool:
        return any(key in parents(entity, "refuse") for entity in self.live.values())

    def _missing(self, old: Entity | None, new: Entity, after: State) -> set[str]:
        before = parents(old) if old else set()
        added = shares(new)
        if old:
            added.subtract(shares(old))
        wanted = (parents(new) - before) | {key for (key, _), amount in added.items() if amount > 0}
        return {"parent-missing"} if wanted - after.keys() else set()

    def _left_behind(self, old: Entity, new: Entity) -> set[str]:
        """The children that a move would leave without their parent."""
        for entity in {type(each) for each in self.live.values()}:
            for parent in entity.spec.parents:
                if parent.entity is not type(old) or parent.on_delete != "refuse" or not self._used(key_of(old)):
                    continue
                if any(getattr(old, name) != getattr(new, name) for name in parent.fields):
                    return {"in-use"}
        return set()

    def _floors(self, after: State) -> set[str]:
        before, now = totals(self.live), totals(after)
        for entity in self.live.values():
            for counter in entity.spec.counters:
                for named in named_by(counter.target(entity)) if counter.floor is not None else ():
                    place = (named_key(named), counter.field)
                    floor = counter.floor or 0
                    if place[0] in after and now[place] < min(floor, before[place]):
                        return {"floor-reached"}
        return set()

    # Reads

    def entities(self) -> State:
        """All entities as a read returns them, with derived entities and counters."""
        numbers = totals(self.live)
        everything = {**self.live, **{key_of(each): each for entity in self.live.values() for each in follow(entity)}}
        return {key: _counted(key, entity, numbers) for key, entity in everything.items()}


def follow(entity: Entity) -> Iterator[Entity]:
    """The entities that are derived from one."""
    for derived in entity.spec.derived:
        yield from derived.make(entity)


def totals(state: State) -> Counter[tuple[Key, str]]:
    found: Counter[tuple[Key, str]] = Counter()
    for entity in state.values():
        found.update(shares(entity))
    return found


def _counted(key: Key, entity: Entity, numbers: Counter[tuple[Key, str]]) -> Entity:
    counts = [each.name for each in entity.spec.fields.values() if each.kind == "count"]
    return entity.model_copy(update={name: numbers[key, name] for name in counts}) if counts else entity


def collisions(entities: Iterable[Entity]) -> set[str]:
    """The error codes for values and keys that two entities share."""
    codes = set()
    guards: dict[object, int] = defaultdict(int)
    made: dict[Key, int] = defaultdict(int)
    for entity in entities:
        for unique in entity.spec.uniques:
            text = guard_text(unique, entity.__dict__)
            if text is not None:
                guards[text] += 1
        for key in {key_of(each) for each in follow(entity)}:
            made[key] += 1
    if any(number > 1 for number in guards.values()):
        codes.add("unique-violation")
    if any(number > 1 for number in made.values()):
        codes.add("already-exists")
    return codes


# Operations over all entities


def answer(op: Op[Any], entities: State) -> Any:
    """The result of an operation; a list for one with pages."""
    match op:
        case Get() | Exists():
            found = entities.get(named_key(Ref(op.entity, op.values)))
            return found if isinstance(op, Get) else found is not None
        case Lookup(way=Guard() as guard):
            return _holder(guard, op.values, entities)
        case GuardTaken():
            return _holder(op.guard, op.values, entities) is not None
        case BatchGet(keys=list() as keys):
            name = op.entity.spec.primary.fields[0]
            values = [each if isinstance(each, Mapping) else {name: each} for each in keys]
            return [entities.get(named_key(Ref(op.entity, each))) for each in values]
        case Together():
            return tuple(answer(each, entities) for each in op.gets)
        case Scan():
            return [each for each in entities.values() if type(each) is op.entity and holds(op.filter, each)]
        case Query():
            asked = [each for each in entities.values() if type(each) in op.entities and _is_in(op, each)]
            return sorted(asked, key=lambda each: order_of(op, each), reverse=op.newest_first)
        case Follow():
            links = [op.link(each) for each in answer(op.source, entities)]
            targets = [entities.get(named_key(link)) for link in links if link is not None]
            return [each for each in targets if each is not None]
        case Merge():
            several = [each for query in op.queries for each in answer(query, entities)]
            return sorted(several, key=op.order, reverse=op.newest_first)  # type: ignore[arg-type]  # they compare
        case CountOf():
            return len(answer(op.source, entities))
    raise TypeError(f"{op!r} is not known here")


def _holder(guard: Guard[Any], values: Mapping[str, object], entities: State) -> Entity | None:
    text = guard_text(guard.unique, values)
    of_kind = (each for each in entities.values() if type(each) is guard.entity)
    return next((each for each in of_kind if guard_text(guard.unique, each.__dict__) == text), None)


def _key(op: Query[Any], entity: Entity) -> KeySpec:
    return entity.spec.primary if op.key.name == "primary" else entity.spec.placements[op.key.name]


def order_of(op: Query[Any], entity: Entity) -> list[Any]:
    """The sort key."""
    values = entity.__dict__
    parts = _key(op, entity).range
    return [part.template.write(values) if part.template else values[part.field or ""] for part in parts]


def _is_in(op: Query[Any], entity: Entity) -> bool:
    """Whether the entity is in the index or table, in the partition, and among what is asked for."""
    key, values = _key(op, entity), entity.__dict__
    if key.when is not None and not values[key.when]:
        return False
    for part in key.parts:
        if part.template.write(values) is None if part.template else values[part.field or ""] is None:
            return False
    for part in key.hash:
        if part.template and part.template.write(values) != part.template.write(op.values):
            return False
    if any(values[name] != wanted for name, wanted in op.values.items() if not _folded(key, name)):
        return False
    return holds(op.filter, entity) and (op.bound is None or _in_bound(key, op.bound[0], values, op.bound[1]))


def _folded(key: KeySpec, name: str) -> bool:
    slots = [each for part in key.hash if part.template for each in part.template.parts if not isinstance(each, str)]
    return any(slot.fold is not None for slot in slots if slot.field == name)


def _in_bound(key: KeySpec, name: str, values: Mapping[str, Any], bound: Bound) -> bool:
    """Whether a value is within a bound. An absent value is compared by the text that stands for it in the key."""
    if values[name] is not None:
        return _bounded(values[name], bound)
    template = next(part.template for part in key.range if part.template and name in part.fields)
    slots = (each for each in template.parts if not isinstance(each, str))
    absent = next(slot.absent for slot in slots if slot.field == name)
    low, high = (None if each is None else template.piece(name, each) for each in (bound.low, bound.high))
    return _bounded(absent, Bound(bound.kind, low, high))


def _bounded(value: Any, bound: Bound) -> bool:
    low: Any = bound.low
    high: Any = bound.high
    match bound.kind:
        case "prefix":
            return str(value).startswith(str(low))
        case "between":
            return bool(low <= value <= high)
        case ">=" | ">":
            return bool(value > low or (bound.kind == ">=" and value == low))
        case "<=" | "<":
            return bool(value < high or (bound.kind == "<=" and value == high))


def holds(node: Node | None, entity: Entity) -> bool:
    """Whether a filter holds, by DynamoDB's rule that nothing compares with what is absent."""
    if node is None:
        return True
    if node.operator in ("AND", "OR", "NOT"):
        inner = [holds(each, entity) for each in node.operands if isinstance(each, Node)]
        return {"AND": all(inner), "OR": any(inner), "NOT": not inner[0]}[node.operator]
    value, *others = [_operand(each, entity) for each in node.operands]
    if node.operator in ("attribute_exists", "attribute_not_exists"):
        return (value is None) == (node.operator == "attribute_not_exists")
    if value is None:
        return node.operator == "<>"
    first: Any = others[0]
    match node.operator:
        case "=":
            return bool(value == first)
        case "<>":
            return bool(value != first)
        case "<":
            return bool(value < first)
        case "<=":
            return bool(value <= first)
        case ">":
            return bool(value > first)
        case ">=":
            return bool(value >= first)
        case "contains":
            return first in value
        case "begins_with":
            return bool(value.startswith(first))
        case "IN":
            return value in others
        case "BETWEEN":
            return bool(first <= value <= others[1])
    raise TypeError(f"{node.operator} is not known here")


def _operand(operand: object, entity: Entity) -> Any:
    if isinstance(operand, FieldStandIn):
        operand = operand._path
    if not isinstance(operand, FieldPath):
        return operand
    (name,) = operand.names
    return getattr(entity, str(name))
