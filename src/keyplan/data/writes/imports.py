"""Importing many items with their effects, by BatchWriteItem.

A batch has no conditions. Existing items are read first, so that an import never overwrites one, and can be repeated
after a failure. Writes of others to the same keys during the import are not noticed.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.entities import DELETING, codec_of, set_stored_item
from keyplan.data.codec.large import takes_long
from keyplan.data.codec.settled import settled
from keyplan.data.codec.values import Item
from keyplan.data.errors import (
    AlreadyExists,
    DataError,
    InvalidItem,
    ParentMissing,
    Refused,
    StoredDataError,
    TooLarge,
    UniqueViolation,
    described,
)
from keyplan.data.expressions.expiry import is_expired
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.steps import Steps, computed
from keyplan.data.writes.actions import incremented
from keyplan.data.writes.baseline import check_loaded
from keyplan.data.writes.batches import send_batch
from keyplan.data.writes.effects import Effects, effects_of
from keyplan.data.writes.large import plain_values, upload, values_for_objects
from keyplan.data.writes.operations import Context
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.stamps import creation_stamps
from keyplan.design import Entity, InvalidValue

Stored: TypeAlias = Mapping[Address, Item]
RefusedItem: TypeAlias = tuple[Entity, Refused]


@dataclass(frozen=True)
class ImportAll:
    """Items of any entities to import, with their effects."""

    entities: tuple[Entity, ...]


@dataclass(frozen=True)
class Imported:
    """The result of an import."""

    written: tuple[Entity, ...]
    unchanged: tuple[Entity, ...]
    """Entities that existed already with the same values; effects of them that were missing were written."""
    refused: tuple[RefusedItem, ...]
    """Entities that were not written, and why: another item has the key or a unique value, a parent is missing, or
    values are over their limits or can't be stored."""


def import_all(entities: Iterable[Entity]) -> ImportAll:
    """Write many new items with their guards, mirrors, derived items and references, by BatchWriteItem.

    Items that can't be written are in the result, each with its reason; the others are written.
    Use it for keys that nobody else writes at the same time: there are no conditions and no transactions. Counters are
    set on items of the same import only; `verify` and `repair` correct those of other items.
    """
    return ImportAll(tuple(entities))


@dataclass
class _Draft:
    """An item to import, with its effects."""

    entity: Entity
    fresh: Entity
    where: Address
    item: Item
    effects: Effects
    over_limit: tuple[InvalidValue, ...]
    same: bool = False
    """Whether the item exists already."""


class Room(Protocol):
    """Makes room where expired items are."""

    def discard(self, old: Entity, context: Context) -> Steps[bool]:
        """Delete an expired item with all that followed from it."""

    def free(self, refusal: UniqueViolation, context: Context) -> Steps[bool]:
        """Delete the expired item that holds a unique value; returns whether there was one."""


def import_steps(work: ImportAll, context: Context, room: Room) -> Steps[Imported]:
    """The steps of an import."""
    if context.beside(Plan()):
        raise DataError("an import isn't a transaction, so nothing can be written beside it")
    drafts, unstorable = yield from _drafts(work.entities, context)
    stored = yield from _stored([where for each in drafts for where in (each.where, *each.effects.parents)], context)
    for draft in drafts:
        _compare(draft, stored.get(draft.where))
    yield from _discard_expired(drafts, stored, context, room)
    stored |= yield from _stored([where for each in drafts for where in _affected(each)], context)
    yield from _free_values(drafts, stored, context, room)
    lasting = _lasting(drafts, stored, context)
    accepted, refused = _sorted_out(drafts, lasting)
    fresh = {draft.where: draft for draft in accepted if not draft.same}
    _count(accepted, fresh)
    # Effects are written after their item, so that a repeated import can tell which are its own. Only parts of large
    # values are written before it: nobody looks for them until the item is there.
    effects = [effect for draft in accepted for effect in draft.effects.items.items()]
    parts = [each for draft in fresh.values() for each in draft.effects.items.items() if each[1].kind == "part"]
    yield from _put({where: part.item for where, part in parts}, context)
    yield from _put({where: draft.item for where, draft in fresh.items()}, context)
    others = {where: effect.item for where, effect in effects if where not in lasting and effect.kind != "part"}
    yield from _put(others, context)
    for draft in fresh.values():
        values = plain_values(draft.fresh)
        draft.entity.__dict__.update({**values, **settled(codec_of(type(draft.entity)), values, draft.item)})
        set_stored_item(draft.entity, draft.item)
    there = tuple(draft.entity for draft in accepted if draft.same)
    return Imported(tuple(draft.entity for draft in fresh.values()), there, (*unstorable, *refused))


def _drafts(entities: Iterable[Entity], context: Context) -> Steps[tuple[list[_Draft], list[RefusedItem]]]:
    """A draft of each item, and the items that can't be stored at all."""
    drafts: list[_Draft] = []
    unstorable: list[RefusedItem] = []
    for entity in entities:
        try:
            fresh = entity.model_copy(update=creation_stamps(entity, context.now))
        except InvalidValue as error:
            unstorable.append((entity, _invalid(entity, (error,))))
            continue
        over_limit = tuple(entity.spec.limits.broken(fresh.__dict__))
        try:
            if entity.spec.large:
                check_loaded(fresh)
                yield from upload(fresh, () if over_limit else (yield from values_for_objects(fresh)), context)
            long = takes_long(entity.spec, fresh.__dict__)
            drafts.append((yield from computed(partial(_draft, entity, fresh, over_limit), long=long)))
        except TooLarge as error:
            unstorable.append((entity, _invalid(entity, (InvalidValue(error.code, entity.spec.name, str(error)),))))
        except InvalidValue as error:
            also = () if error.field in {each.field for each in over_limit} else (error,)
            unstorable.append((entity, _invalid(entity, (*over_limit, *also))))
    return drafts, unstorable


def _draft(entity: Entity, fresh: Entity, over_limit: tuple[InvalidValue, ...]) -> _Draft:
    codec = codec_of(type(entity))
    where = address(entity.spec.table, codec.key(fresh.__dict__))
    # The design's functions for effects may rely on the limits.
    item = codec.encode(fresh)
    effects = Effects() if over_limit else effects_of(fresh, item=item)
    return _Draft(entity, fresh, where, item, effects, over_limit)


def _affected(draft: _Draft) -> Iterable[Address]:
    """The items that a draft's effects are on and that weren't read with it."""
    made = [where for where, effect in draft.effects.items.items() if effect.kind != "part"]
    return (*made, *draft.effects.parents) if draft.over_limit else made


def _invalid(entity: Entity, problems: Sequence[InvalidValue]) -> InvalidItem:
    return InvalidItem(entity.spec.name, entity.key_values, problems)


def _stored(asked: Iterable[Address], context: Context) -> Steps[dict[Address, Item]]:
    """The items that exist, by address."""
    names = context.design.table_names
    each_once = list(dict.fromkeys(asked))
    items = yield from batch_get([(names[where.table], where.item) for where in each_once], consistent=names.values())
    return {where: item for where, item in zip(each_once, items, strict=True) if item is not None}


def _put(items: Mapping[Address, Item], context: Context) -> Steps[None]:
    yield from send_batch({where: {"PutRequest": {"Item": item}} for where, item in items.items()}, context)


def _compare(draft: _Draft, found: Item | None) -> None:
    """Find out whether the item exists with the same values; fields that the store maintains aren't compared."""
    codec = codec_of(type(draft.entity))
    if found is None or DELETING in found or not codec.recognizes(found):
        return
    try:
        before = codec.decode(found)
    except StoredDataError:
        return
    given, wanted = draft.entity.model_fields_set, codec.decode(draft.item)
    draft.same = all(
        before.__dict__[field.name] == wanted.__dict__[field.name]
        for field in codec.spec.fields.values()
        if field.kind in ("plain", "ttl") or (field.kind in ("created", "updated") and field.name in given)
    )
    if draft.same:
        draft.effects = effects_of(before)


def _discard_expired(drafts: list[_Draft], stored: dict[Address, Item], context: Context, room: Room) -> Steps[None]:
    """Delete expired items whose keys are imported, with all that followed from them."""
    gone: list[Address] = []
    for draft in drafts:
        codec, found = codec_of(type(draft.entity)), stored.get(draft.where)
        if found is None or draft.same or draft.over_limit or DELETING in found or not codec.recognizes(found):
            continue
        if is_expired(codec.ttl, found, context.now):
            with suppress(StoredDataError):
                yield from room.discard(codec.decode(found), context)
                gone.append(draft.where)
    yield from _read_again(gone, stored, context)


def _free_values(drafts: list[_Draft], stored: dict[Address, Item], context: Context, room: Room) -> Steps[None]:
    """Delete expired items that hold imported unique values."""
    freed: list[Address] = []
    for draft in drafts:
        for where, effect in draft.effects.items.items():
            found = stored.get(where)
            if effect.kind == "unique" and found is not None and not (draft.same and effect.is_stored_as(found)):
                refusal = UniqueViolation(draft.entity.spec.name, effect.constraint, effect.values, found)
                if (yield from room.free(refusal, context)):
                    freed.append(where)
    yield from _read_again(freed, stored, context)


def _read_again(changed: list[Address], stored: dict[Address, Item], context: Context) -> Steps[None]:
    found = yield from _stored(changed, context)
    for where in changed:
        stored.pop(where, None)
    stored |= found


def _lasting(drafts: list[_Draft], stored: Stored, context: Context) -> Stored:
    """What is stored, without expired parents, and without guards and derived items that expired by themselves."""
    expired = {
        where
        for draft in drafts
        for where, (_, named) in draft.effects.parents.items()
        if where in stored and is_expired(codec_of(named.entity).ttl, stored[where], context.now)
    }
    expired |= {
        where
        for draft in drafts
        if not draft.same
        for where, effect in draft.effects.items.items()
        if where in stored and effect.expires and is_expired(effect.table.ttl, stored[where], context.now)
    }
    return {where: item for where, item in stored.items() if where not in expired}


def _sorted_out(drafts: list[_Draft], stored: Stored) -> tuple[list[_Draft], list[RefusedItem]]:
    refused: list[RefusedItem] = []
    taken: set[Address] = set()
    accepted: list[_Draft] = []
    for draft in drafts:
        refusal = _limit_refusal(draft) or _own_refusal(draft, stored, taken) or _effect_refusal(draft, stored, taken)
        if refusal is None:
            taken |= {draft.where, *draft.effects.items}
            accepted.append(draft)
        else:
            refused.append((draft.entity, refusal))
    while True:  # children of refused items are refused too
        there = {draft.where for draft in accepted}
        lost = [(draft, refusal) for draft in accepted if (refusal := _parent_refusal(draft, stored, there))]
        if not lost:
            return accepted, refused
        refused += [(draft.entity, refusal) for draft, refusal in lost]
        accepted = [draft for draft in accepted if all(draft is not each for each, _ in lost)]


def _limit_refusal(draft: _Draft) -> Refused | None:
    """The refusal of an item over its limits. One that was stored under looser limits is unchanged, not refused."""
    return _invalid(draft.entity, draft.over_limit) if draft.over_limit and not draft.same else None


def _own_refusal(draft: _Draft, stored: Stored, taken: set[Address]) -> Refused | None:
    if draft.where not in taken and (draft.same or draft.where not in stored):
        return None
    item = described(draft.entity.spec.name, draft.entity.key_values)
    sentence = f"{item} is in the import twice" if draft.where in taken else f"{item} exists with other values"
    return AlreadyExists(draft.entity.spec.name, "primary", draft.entity.key_values, None, sentence)


def _effect_refusal(draft: _Draft, stored: Stored, taken: set[Address]) -> Refused | None:
    for where, effect in draft.effects.items.items():
        found = stored.get(where)
        ours = draft.same and effect.is_stored_as(found)
        if where in taken or (found is not None and not ours):
            kind = UniqueViolation if effect.kind == "unique" else AlreadyExists
            value = described(draft.entity.spec.name, effect.values)
            sentence = f"Another item {'in the import ' if where in taken else ''}has the same value: {value}"
            return kind(draft.entity.spec.name, effect.constraint, effect.values, None, sentence)
    return None


def _parent_refusal(draft: _Draft, stored: Stored, there: set[Address]) -> Refused | None:
    for where, (parent, named) in draft.effects.parents.items():
        if where not in there and (where not in stored or DELETING in stored[where]):
            missing = described(named.entity.__name__, named.values)
            sentence = f"Can't import {draft.entity.spec.name}: {missing} doesn't exist"
            return ParentMissing(draft.entity.spec.name, parent.name, named.values, None, sentence)
    return None


def _count(accepted: list[_Draft], fresh: Mapping[Address, _Draft]) -> None:
    """Set the counters of new items, as far as items of this import count."""
    for draft in accepted:
        for (where, attribute, _), share in draft.effects.shares.items():
            target = fresh.get(where)
            if target is not None:
                target.item = {**target.item, attribute: incremented(target.item.get(attribute), share.amount)}
    for draft in fresh.values():
        for field in draft.fresh.spec.fields.values():
            if field.kind == "count":
                draft.fresh.__dict__[field.name] = int(draft.item[field.stored]["N"])
