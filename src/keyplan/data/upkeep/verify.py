"""Verifying that what is stored agrees with the design.

The effects of an item depend on the item alone. So all items are read once, their effects are collected, and compared
with what is stored.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.entities import DELETING, EntityCodec, recognize
from keyplan.data.codec.envelopes import unpack
from keyplan.data.codec.large import CONTENT, DIGEST, is_intact, is_part, object_name
from keyplan.data.codec.values import Item, integer_of
from keyplan.data.errors import StoredDataError
from keyplan.data.expressions.evaluation import same_value
from keyplan.data.expressions.expiry import is_expired
from keyplan.data.steps import Steps, call
from keyplan.data.upkeep.findings import VerifyFinding, VerifyFindingKind, shown_key
from keyplan.data.upkeep.objects import object_names
from keyplan.data.writes.effects import EffectItem, effects_of
from keyplan.design import HOUSEKEEPING, Design, Entity, InvalidValue, Table
from keyplan.design.entities.effects import Unique


class _Walk:
    """All items, and their expected effects."""

    def __init__(self, design: Design, now: datetime) -> None:
        self.design = design
        self.now = now
        self.names = design.table_names
        self.items: dict[Address, tuple[Table, Item]] = {}
        self.entities: dict[Address, Entity] = {}
        self.unreadable: set[Address] = set()
        self.damaged: set[Address] = set()
        """Parts of large values whose content was changed."""
        self.objects: dict[Table, dict[str, tuple[Address, str]]] = defaultdict(dict)
        """The objects that items name, by table and name, with the item and the field."""
        self.expected: dict[Address, tuple[EffectItem, str]] = {}
        self.owners: dict[Address, Address] = {}
        """The item that each expected effect follows from."""
        self.contested: dict[Address, list[EffectItem]] = {}
        """Effects of several items. Only people can decide whose they are, so nothing about them is repaired."""
        self.allowed: set[Address] = set()
        """Effects of expired items: DynamoDB may delete the items and what expires with them in any order."""
        self.counts: dict[Address, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.parents: list[tuple[Address, Address, str]] = []
        self.findings: list[VerifyFinding] = []

    def add(self, table: Table, item: Item) -> None:
        where = address(table, item)
        self.items[where] = (table, item)
        if is_part(table, item):
            self._add_part(where, table, item)
            return
        candidates = [entity for entity in self.design.entities if entity.spec.table is table]
        codec = recognize(candidates, item)
        if codec is None:
            return
        try:
            entity = codec.decode(item)
            wanted = codec.encode(entity, item)
            self._gather(where, entity)
        except (StoredDataError, InvalidValue) as error:
            self.unreadable.add(where)
            self._find("unreadable", where, str(error))
            return
        self.entities[where] = entity
        if DELETING in item:
            self._find(
                "unfinished", where, f"{entity.spec.name}: its deletion has begun and is not finished; call resume()"
            )
        self._check_primary(where, codec, wanted)
        self._check_keys(where, codec, wanted)
        if table.envelope:
            self._check_envelope(where, table.envelope, wanted)
        for broken in entity.spec.limits.broken(entity.__dict__):
            self._find("over-limit", where, str(broken))

    def _add_part(self, where: Address, table: Table, item: Item) -> None:
        """Check a part of a large value, and keep all of it but its content."""
        if not is_intact(item):
            self.damaged.add(where)
        self.items[where] = (table, {name: value for name, value in item.items() if name != CONTENT})

    def _find(
        self,
        kind: VerifyFindingKind,
        where: Address,
        problem: str,
        sets: Item | None = None,
        removes: Iterable[str] = (),
        *,
        deletes: bool = False,
    ) -> None:
        _, seen = self.items.get(where, (None, None))
        self.findings.append(
            VerifyFinding(
                kind, self.names[where.table], where.item, problem, sets or {}, tuple(sorted(removes)), deletes, seen
            )
        )

    def _gather(self, where: Address, entity: Entity) -> None:
        effects = effects_of(entity)
        expired = self._expired(where)
        for large in entity.spec.large:
            name = object_name(self.items[where][1].get(large.stored))
            if name is not None:
                self.objects[entity.spec.table][name] = (where, f"{entity.spec.name}.{large.name}")
        if expired:
            self.allowed |= effects.items.keys()
        for effect_where, effect in {} if expired else effects.items.items():
            constraint = f"{entity.spec.name}.{effect.constraint}"
            if effect_where in self.expected:
                values = ", ".join(f"{name}={value!r}" for name, value in effect.values.items())
                other = shown_key(self.owners[effect_where].item)
                self._find("duplicate", where, f"{constraint}: another item also has {values}: {other}")
                self.contested.setdefault(effect_where, [self.expected[effect_where][0]]).append(effect)
            else:
                self.expected[effect_where] = (effect, constraint)
                self.owners[effect_where] = where
        if DELETING not in self.items[where][1]:  # an item that is being deleted isn't counted
            for (target, attribute, _), share in effects.shares.items():
                self.counts[target][attribute] += share.amount
        for parent, (relation, _) in effects.parents.items():
            if relation.on_delete != "keep" and not expired:
                self.parents.append((where, parent, f"{entity.spec.name}.{relation.name}"))

    def _expired(self, where: Address) -> bool:
        """Whether the item has expired, so that DynamoDB may delete it at any moment."""
        table, item = self.items[where]
        return is_expired(table.ttl, item, self.now)

    def _check_primary(self, where: Address, codec: EntityCodec[Any], wanted: Item) -> None:
        table, item = self.items[where]
        names = table.key_names
        if not all(same_value(item[name], wanted[name]) for name in names):
            right = shown_key({name: wanted[name] for name in names})
            problem = f"{codec.spec.name}: its fields give the key {right}, so no read by key finds it; delete it and "
            problem += "create a copy in one transaction"
            self._find("wrong-key", where, problem)

    def _check_keys(self, where: Address, codec: EntityCodec[Any], wanted: Item) -> None:
        table, item = self.items[where]
        primary = set(table.key_names)
        counts = codec.spec.count_attributes
        names = {attribute.name for attribute in table.key_attributes} - primary - counts
        stale = {n: wanted[n] for n in names if n in wanted and item.get(n) != wanted[n]}
        extra = [n for n in names if n in item and n not in wanted]
        if stale or extra:
            shown = ", ".join(sorted((*stale, *extra)))
            self._find("stale-index-key", where, f"{shown} doesn't match the item's fields", stale, extra)

    def _check_envelope(self, where: Address, envelope: str, wanted: Item) -> None:
        """The envelope must have the same values as the attributes beside it, which take precedence."""
        _, item = self.items[where]
        if unpack(item[envelope]["S"]) != unpack(wanted[envelope]["S"]):
            problem = f"{envelope} doesn't match the attributes beside it"
            self._find("wrong", where, problem, {envelope: wanted[envelope]})

    def compare(self) -> list[VerifyFinding]:
        self._compare_effects()
        self._compare_counts()
        for where, parent, constraint in self.parents:
            if parent not in self.items:
                self._find("missing-parent", where, f"{constraint}: its parent doesn't exist")
        return self.findings

    def _compare_effects(self) -> None:
        for where, (effect, constraint) in self.expected.items():
            if where in self.contested:
                continue
            present = self.items.get(where)
            if effect.kind == "part" and self._is_lost(where, effect, constraint):
                continue
            if present is None:
                counted = {name: {"N": str(self.counts[where][name])} for name in effect.counts}
                self._find("missing", where, f"the item of {constraint} is missing", {**effect.item, **counted})
                continue
            _, item = present
            wrong = {n: value for n, value in effect.item.items() if n not in effect.counts and item.get(n) != value}
            extra = [n for n in item if n in effect.known and n not in effect.item and n not in effect.counts]
            if wrong or extra:
                names = ", ".join(sorted((*wrong, *extra)))
                self._find("wrong", where, f"{constraint}: wrong values in {names}", wrong, extra)
        derived = {entity for other in self.design.entities for entity in followers(other)}
        for where, (table, item) in self.items.items():
            if where in self.expected or where in self.unreadable or where in self.allowed or self._expired(where):
                continue
            entity = self.entities.get(where)
            if entity is None:
                self._unrecognized(where, table, item)
            elif type(entity) in derived:
                self._orphan(where, f"{entity.spec.name}: no item has this effect")

    def _is_lost(self, where: Address, effect: EffectItem, constraint: str) -> bool:
        """Report a part that is missing or isn't what was written; nothing else has its content to repair it with."""
        _, found = self.items.get(where, (None, None))
        if found is None:
            self._find("missing", where, f"a part of {constraint} is missing: write the value again")
        elif where in self.damaged or found.get(DIGEST) != effect.item[DIGEST]:
            self._find("wrong", where, f"a part of {constraint} has another content: write the value again")
        else:
            return False
        return True

    def check_objects(self, table: Table, existing: Iterable[str]) -> None:
        """Report objects that items name and that don't exist."""
        there = set(existing)
        for name, (where, constraint) in self.objects[table].items():
            if name not in there:
                self._find("missing", where, f"the object {name} of {constraint} is missing: write the value again")

    def _orphan(self, where: Address, problem: str) -> None:
        # It may belong to an item that can't be read, or to one of several that claim the same value: it must stay.
        kept = bool(self.unreadable) or self._is_of_claimant(where)
        self._find("orphan", where, problem, deletes=not kept)

    def _is_of_claimant(self, where: Address) -> bool:
        """Whether an item has the content of a contested one under another key, such as the key of an older design."""
        table, item = self.items[where]
        claims = (effect.item for effects in self.contested.values() for effect in effects)
        return any(_without_key(table, claim) == _without_key(table, item) for claim in claims)

    def _unrecognized(self, where: Address, table: Table, item: Item) -> None:
        guard = _guard_of(self.design, table, item)
        if is_part(table, item):
            self._orphan(where, "a part of a large value: no item has it")
        elif guard is not None:
            self._orphan(where, f"{guard}: no item has this unique value")
        elif table is not HOUSEKEEPING:  # other parts of a system use it too
            self._find("unknown", where, "not an item of any entity")

    def _compare_counts(self) -> None:
        for where, entity in self.entities.items():
            _, item = self.items[where]
            for spec in entity.spec.fields.values():
                if spec.kind != "count":
                    continue
                stored, right = item.get(spec.stored, {}), self.counts[where][spec.stored]
                if integer_of(stored) != right or "NULL" in stored:  # DynamoDB can't add to NULL
                    shown = "NULL" if "NULL" in stored else integer_of(stored)
                    problem = f"{entity.spec.name}.{spec.name} is {shown} and should be {right}"
                    # An item that can't be read may be counted too.
                    sets: Item = {} if self.unreadable else {spec.stored: {"N": str(right)}}
                    self._find("wrong-count", where, problem, sets)


def followers(entity: type[Entity]) -> Iterator[type[Entity]]:
    """The entities of this entity's derived items."""
    for derived in entity.spec.derived:
        yield from derived.entities


def _without_key(table: Table, item: Item) -> Item:
    return {name: value for name, value in item.items() if name not in table.key_names}


def _guard_of(design: Design, table: Table, item: Item) -> str | None:
    """The constraint whose guard an item looks like; None if it is no guard."""
    for entity in design.entities:
        for unique in entity.spec.uniques:
            if unique.table is table and _is_guard(unique, item):
                return f"{entity.__name__}.{unique.name}"
    return None


def _is_guard(unique: Unique, item: Item) -> bool:
    if unique.hash.read(item[unique.table.hash[0].name].get("S", "")) is None:
        return False
    return unique.range is None or unique.range.read(item[unique.table.range[0].name].get("S", "")) is not None


def verify(design: Design, now: datetime, *, objects: bool) -> Steps[list[VerifyFinding]]:
    """Read all tables of the design, and with `objects` the names in object storage; returns what doesn't agree."""
    walk = _Walk(design, now)
    for table in design.all_tables:
        request: dict[str, Any] = {"TableName": design.table_name(table), "ConsistentRead": True}
        while True:
            answer = yield from call("scan", dict(request))
            for item in answer["Items"]:
                walk.add(table, item)
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    for table in list(walk.objects) if objects else ():
        walk.check_objects(table, (yield from object_names(design, table)))
    return walk.compare()
