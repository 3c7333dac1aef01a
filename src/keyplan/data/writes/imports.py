"""Bringing in many items at once, with all that follows from them: by BatchWriteItem, 25 items in a request.

A batch has no conditions. What is there is looked at before, so that an import never overwrites and can be repeated,
however far it came; but somebody who writes the same keys meanwhile is not noticed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.entities import DELETING, codec_of, set_stored_item
from keyplan.data.codec.values import Item
from keyplan.data.errors import AlreadyExists, DataError, ParentMissing, Refused, StoredDataError, UniqueViolation
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.steps import Steps
from keyplan.data.writes.actions import incremented
from keyplan.data.writes.batches import send_batch
from keyplan.data.writes.effects import Effects, effects_of
from keyplan.data.writes.operations import Context
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.stamps import creation_stamps
from keyplan.design import Entity

Stored: TypeAlias = Mapping[Address, Item]


@dataclass(frozen=True)
class ImportAll:
    """Items of any entities, to be written with all that follows from them."""

    entities: tuple[Entity, ...]


@dataclass(frozen=True)
class Imported:
    """What became of the entities that were to be imported."""

    written: tuple[Entity, ...]
    there: tuple[Entity, ...]
    """Those that were there already, just so; what was missing of what follows from them is there now."""
    refused: tuple[tuple[Entity, Refused], ...]
    """Those that were not written, and why: another item has the key or a unique value, or a parent is missing."""


def import_all(entities: Iterable[Entity]) -> ImportAll:
    """Write many new items with their guards, mirrors, derived items and references, by BatchWriteItem.

    For imports only, into keys that nobody else writes meanwhile: there are no conditions and no transactions. Numbers
    are counted for the items of the same import; those of others are put right by `verify` and `repair`.
    """
    return ImportAll(tuple(entities))


@dataclass
class _Draft:
    """An item to be written, and what follows from it."""

    entity: Entity
    fresh: Entity
    where: Address
    item: Item
    follows: Effects
    same: bool = False
    """Whether it is there already."""


def import_steps(work: ImportAll, context: Context) -> Steps[Imported]:
    """Carry out an import."""
    if context.beside(Plan()):
        raise DataError("an import is no transaction, so nothing can be written beside it")
    drafts = [_draft(entity, context) for entity in work.entities]
    stored = yield from _stored([where for each in drafts for where in (each.where, *each.follows.parents)], context)
    for draft in drafts:
        _compare(draft, stored.get(draft.where))
    stored |= yield from _stored([where for each in drafts for where in each.follows.items], context)
    accepted, refused = _sorted_out(drafts, stored)
    fresh = {draft.where: draft for draft in accepted if not draft.same}
    _count(accepted, fresh)
    # What follows from an item comes behind it, so that an import that is repeated knows what is its own.
    yield from _put({where: draft.item for where, draft in fresh.items()}, context)
    sides = [side for draft in accepted for side in draft.follows.items.items()]
    yield from _put({where: side.item for where, side in sides if where not in stored}, context)
    for draft in fresh.values():
        draft.entity.__dict__.update(draft.fresh.__dict__)
        set_stored_item(draft.entity, draft.item)
    there = tuple(draft.entity for draft in accepted if draft.same)
    return Imported(tuple(draft.entity for draft in fresh.values()), there, tuple(refused))


def _draft(entity: Entity, context: Context) -> _Draft:
    codec = codec_of(type(entity))
    fresh = entity.model_copy(update=creation_stamps(entity, context.now))
    entity.spec.limits.check(fresh.__dict__)
    where = address(entity.spec.table, codec.key(fresh.__dict__))
    return _Draft(entity, fresh, where, codec.encode(fresh), effects_of(fresh))


def _stored(asked: Iterable[Address], context: Context) -> Steps[dict[Address, Item]]:
    """Those of the items that are there."""
    names = context.design.table_names
    each_once = list(dict.fromkeys(asked))
    items = yield from batch_get([(names[where.table], where.item) for where in each_once], consistent=names.values())
    return {where: item for where, item in zip(each_once, items, strict=True) if item is not None}


def _put(items: Mapping[Address, Item], context: Context) -> Steps[None]:
    yield from send_batch({where: {"PutRequest": {"Item": item}} for where, item in items.items()}, context)


def _compare(draft: _Draft, found: Item | None) -> None:
    """Whether the item is there, as it is to be; what the store looks after is its own, and what follows, too."""
    codec = codec_of(type(draft.entity))
    if found is None or DELETING in found or not codec.recognizes(found):
        return
    try:
        before = codec.decode(found)
    except StoredDataError:
        return
    given, wanted = draft.entity.model_fields_set, codec.decode(draft.item)
    draft.same = all(
        getattr(before, field.name) == getattr(wanted, field.name)
        for field in codec.spec.fields.values()
        if field.kind in ("plain", "ttl") or (field.kind in ("created", "updated") and field.name in given)
    )
    if draft.same:
        draft.follows = effects_of(before)


def _sorted_out(drafts: list[_Draft], stored: Stored) -> tuple[list[_Draft], list[tuple[Entity, Refused]]]:
    refused: list[tuple[Entity, Refused]] = []
    taken: set[Address] = set()
    accepted: list[_Draft] = []
    for draft in drafts:
        refusal = _own_refusal(draft, stored, taken) or _side_refusal(draft, stored, taken)
        if refusal is None:
            taken |= {draft.where, *draft.follows.items}
            accepted.append(draft)
        else:
            refused.append((draft.entity, refusal))
    while True:  # what belongs to something that is refused is refused in turn
        there = {draft.where for draft in accepted}
        lost = [(draft, refusal) for draft in accepted if (refusal := _parent_refusal(draft, stored, there))]
        if not lost:
            return accepted, refused
        refused += [(draft.entity, refusal) for draft, refusal in lost]
        accepted = [draft for draft in accepted if all(draft is not each for each, _ in lost)]


def _own_refusal(draft: _Draft, stored: Stored, taken: set[Address]) -> Refused | None:
    if draft.where not in taken and (draft.same or draft.where not in stored):
        return None
    problem = "twice in the import" if draft.where in taken else "there is another item"
    return AlreadyExists(draft.entity.spec.name, "primary", draft.entity.key_values, None, problem)


def _side_refusal(draft: _Draft, stored: Stored, taken: set[Address]) -> Refused | None:
    for where, side in draft.follows.items.items():
        found = stored.get(where)
        ours = draft.same and side.is_stored_as(found)
        if where in taken or (found is not None and not ours):
            kind = UniqueViolation if side.kind == "unique" else AlreadyExists
            problem = "twice in the import" if where in taken else "another item has it"
            return kind(draft.entity.spec.name, side.constraint, side.values, None, problem)
    return None


def _parent_refusal(draft: _Draft, stored: Stored, there: set[Address]) -> Refused | None:
    for where, (parent, named) in draft.follows.parents.items():
        if where not in there and (where not in stored or DELETING in stored[where]):
            problem = f"there is no such {named.entity.__name__}"
            return ParentMissing(draft.entity.spec.name, parent.name, named.values, None, problem)
    return None


def _count(accepted: list[_Draft], fresh: Mapping[Address, _Draft]) -> None:
    """The numbers of new items, as far as this import adds to them."""
    for draft in accepted:
        for (where, attribute, _), share in draft.follows.shares.items():
            target = fresh.get(where)
            if target is not None:
                target.item = {**target.item, attribute: incremented(target.item.get(attribute), share.amount)}
    for draft in fresh.values():
        for field in draft.fresh.spec.fields.values():
            if field.kind == "count":
                draft.fresh.__dict__[field.name] = int(draft.item[field.stored]["N"])
