"""Writes by key and the parts of transactions, made ready to plan: their items are read where that is needed, and they
are tried again if somebody else changes the item in between."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from keyplan.data.errors import AlreadyExists, DataError, InvalidOperation, ItemChanged, NotFound, Refused
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.key_deletes import prepare_delete
from keyplan.data.writes.key_operations import DeleteByKey, KeyWrite, Patch, Upsert
from keyplan.data.writes.operations import (
    Check,
    Context,
    Create,
    Delete,
    Move,
    Planned,
    Put,
    Update,
    nothing_beside,
)
from keyplan.data.writes.patches import OTHER_TYPE, prepare_patch
from keyplan.data.writes.puts import lost_race, prepare_put
from keyplan.data.writes.upserts import EXPIRED, prepare_upsert
from keyplan.design import Entity, Op

WriteParts: TypeAlias = Callable[[Sequence[Planned], Context], Steps[tuple[Any, ...]]]
"""Writes parts in one request, or nothing; returns what each part returns."""


def key_write_steps(work: KeyWrite, reader: Reader, context: Context, write: WriteParts) -> Steps[Any]:
    """The steps of a write by key; returns what it returns."""
    alone = context.beside is nothing_beside
    for attempt in range(ATTEMPTS):
        part = yield from _prepare(work, reader, context, alone=alone, again=attempt > 0)
        try:
            (result,) = yield from write([part], context)
            return result
        except (ItemChanged, AlreadyExists, NotFound) as refusal:
            if attempt == ATTEMPTS - 1 or not _is_race(work, part, refusal):
                raise
        yield Wait(pause(attempt))
    raise AssertionError


def _is_race(work: KeyWrite, part: Planned, refusal: Refused) -> bool:
    """Whether the item that was read has changed since, or has to be read after all."""
    if refusal.constraint in (EXPIRED, OTHER_TYPE):
        return True
    if not getattr(part, "was_read", False):
        return False
    if isinstance(work, Upsert):
        return refusal.constraint == "primary" or isinstance(refusal, ItemChanged)
    return isinstance(refusal, ItemChanged)


def transaction_steps(
    parts: Sequence[object], reader: Reader, context: Context, write: WriteParts
) -> Steps[tuple[Any, ...]]:
    """The steps of a transaction; returns what each part returns. It is tried again if a part lost a race."""
    again = False
    for attempt in range(ATTEMPTS):
        prepared = yield from prepare_parts(parts, reader, context, again=again)
        try:
            return (yield from write(prepared, context))
        except Refused as refusal:
            pairs = zip(parts, prepared, strict=True)
            if attempt == ATTEMPTS - 1 or not any(_lost_race(work, part, refusal) for work, part in pairs):
                raise
            again = again or refusal.constraint == OTHER_TYPE
        yield Wait(pause(attempt))
    raise AssertionError


def _lost_race(work: object, part: Planned, refusal: Refused) -> bool:
    """Whether a put or an upsert was refused because others changed the item that was read for it.

    A patch that reads its item is conditional on it in a transaction, and a caller is told that it changed.
    """
    if isinstance(work, Put):
        return lost_race(work, refusal)
    if refusal.constraint == OTHER_TYPE:
        return True
    if not isinstance(work, Upsert):
        return False
    mine = refusal.entity == work.target.entity.spec.name and refusal.values == work.target.values
    return mine and _is_race(work, part, refusal)


def prepare_parts(
    parts: Sequence[object], reader: Reader, context: Context, *, again: bool = False
) -> Steps[list[Planned]]:
    """The parts of a transaction, ready to plan; items that they need are read, with `again` those of all patches."""
    found: list[Planned] = []
    for part in parts:
        if isinstance(part, Delete | DeleteByKey):
            kind = type(part.entity) if isinstance(part, Delete) else part.target.entity
            if context.relations.cascading(kind):
                raise DataError(f"deleting {kind.spec.name} cascades, so it can't be part of a transaction")
        if isinstance(part, Patch | Upsert | DeleteByKey):
            first_read = again or (isinstance(part, Upsert) and _may_expire(part))
            found.append((yield from _prepare(part, reader, context, alone=False, again=first_read)))
        elif isinstance(part, Put):
            found.append((yield from prepare_put(part, reader, context)))
        elif isinstance(part, Create | Update | Delete | Move | Check):
            found.append(part)
        else:
            raise not_a_part(part)
    return found


def not_a_part(part: object) -> InvalidOperation:
    """The error for something that can't be part of a transaction."""
    name = type(part).__name__
    if isinstance(part, Op):
        return InvalidOperation(
            f"{name} is a read, and transact() only writes. Run it before the transaction, and require what it found "
            "with check(ref(...), lambda item: ...) or where=."
        )
    if isinstance(part, Entity):
        return InvalidOperation(f"{name} is an entity. Say what to do with it: create({name.lower()}), update or put.")
    return InvalidOperation(
        f"{name} can't be part of a transaction. Its parts are create, put, update, patch, touch, upsert, move, delete "
        "and check."
    )


def _may_expire(work: KeyWrite) -> bool:
    """Whether an expired item may be in the way, which one request can't replace."""
    return "ttl" in work.target.entity.spec.by_kind


def _prepare(work: KeyWrite, reader: Reader, context: Context, *, alone: bool, again: bool) -> Steps[Planned]:
    if isinstance(work, Patch):
        return (yield from prepare_patch(work, reader, context, alone=alone, again=again))
    if isinstance(work, Upsert):
        return (yield from prepare_upsert(work, reader, context, alone=alone, again=again))
    return (yield from prepare_delete(work, reader, context))
