"""Writes by key alone, made ready to plan: their items are read where that is needed, and they are tried again if
somebody else changes the item in between."""

from collections.abc import Sequence
from typing import Any

from keyplan.data.errors import AlreadyExists, DataError, ItemChanged, NotFound, Refused
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.key_deletes import prepare_delete
from keyplan.data.writes.key_operations import DeleteByKey, KeyWrite, Patch, Upsert
from keyplan.data.writes.operations import Context, Delete, Part, Planned, nothing_beside
from keyplan.data.writes.patches import prepare_patch
from keyplan.data.writes.transactions import write_parts
from keyplan.data.writes.upserts import prepare_upsert


def key_write_steps(work: KeyWrite, reader: Reader, context: Context) -> Steps[Any]:
    """The steps of a write by key; returns what it returns."""
    alone = context.beside is nothing_beside
    for attempt in range(ATTEMPTS):
        part = yield from _prepare(work, reader, context, alone=alone)
        try:
            (result,) = yield from write_parts([part], context)
            return result
        except (ItemChanged, AlreadyExists, NotFound) as refusal:
            if attempt == ATTEMPTS - 1 or not _is_race(work, part, refusal):
                raise
        yield Wait(pause(attempt))
    raise AssertionError


def _is_race(work: KeyWrite, part: Planned, refusal: Refused) -> bool:
    """Whether the item that was read has changed since."""
    if not getattr(part, "was_read", False):
        return False
    if isinstance(work, Upsert):
        return refusal.constraint == "primary" or isinstance(refusal, ItemChanged)
    return isinstance(refusal, ItemChanged)


def prepare_parts(parts: Sequence[Part | KeyWrite], reader: Reader, context: Context) -> Steps[list[Planned]]:
    """The parts of a transaction, ready to plan; items that they need are read."""
    found: list[Planned] = []
    for part in parts:
        kind = type(part.entity) if isinstance(part, Delete) else None
        if isinstance(part, DeleteByKey):
            kind = part.target.entity
        if kind is not None and context.relations.cascading(kind):
            raise DataError(f"deleting {kind.spec.name} cascades, so it can't be part of a transaction")
        if isinstance(part, Patch | Upsert | DeleteByKey):
            found.append((yield from _prepare(part, reader, context, alone=False)))
        else:
            found.append(part)
    return found


def _prepare(work: KeyWrite, reader: Reader, context: Context, *, alone: bool) -> Steps[Planned]:
    if isinstance(work, Patch):
        return (yield from prepare_patch(work, reader, alone=alone))
    if isinstance(work, Upsert):
        return (yield from prepare_upsert(work, reader, context, alone=alone))
    return (yield from prepare_delete(work, reader, context))
