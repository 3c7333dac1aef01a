"""Checkpoints: how far the handlers came in each shard of a table's stream.

A checkpoint is an item in the design's housekeeping table, with a version. A runner claims a shard by writing itself
into its checkpoint, and that raises the version: from then on, whoever claimed it before can not move it any more,
whatever it believes about its lease.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from keyplan.data.codec.entities import codec_of, stored_item
from keyplan.data.errors import AlreadyExists, NotFound, StaleVersion
from keyplan.data.store import Store
from keyplan.data.streams.leases import LeaseLost
from keyplan.data.writes.operations import Create, create, delete, update
from keyplan.design import HOUSEKEEPING, Entity, Id, Ttl, Updated, Version, key, make_id, query, updated

_KEPT = timedelta(days=2)
"""How long a shard that ended is remembered: longer than DynamoDB shows it (24 hours)."""


class Checkpoint(Entity, table=HOUSEKEEPING):
    """How far the handlers came in a shard, and what they are having trouble with."""

    table: str
    label: Id
    shard: Id
    stream: str
    sequence: str | None = None
    """The last record that was handled; None before the first."""
    closed: bool = False
    """Whether the shard ended and all of it was handled."""
    trying: str | None = None
    """The record that a handler failed on and is to be tried with again."""
    handler: str | None = None
    tries: int = 0
    error: str | None = None
    claim: str
    moved_at: Updated = updated()
    expires_at: Ttl | None = None
    version: Version = 0

    primary = key("STREAM#{table}", "{label}#{shard}")


def checkpoints_of(store: Store[Any], table: str) -> dict[tuple[str, str], Checkpoint]:
    """The checkpoints of a table, by stream and shard."""
    found = store.each(query(Checkpoint.primary, table=table, consistent=True))
    return {(each.stream, each.shard): each for each in found}


def claimed(store: Store[Any], table: str, stream: str, shard: str, known: Checkpoint | None) -> Checkpoint:
    """The shard's checkpoint, which nobody else can move from now on; raises `LeaseLost` if that is not so."""
    try:
        if known is None:
            label = stream.rpartition("/")[2]
            fresh = Checkpoint(table=table, label=label, shard=shard, stream=stream, claim=make_id())
            return store.run(create(fresh))
        known.claim = make_id()
        return store.run(update(known))
    except (AlreadyExists, NotFound, StaleVersion) as error:
        raise _lost(shard) from error


def move(store: Store[Any], checkpoint: Checkpoint, beside: Sequence[Create[Any]] = ()) -> None:
    """Store a checkpoint as it is now, and other items in the same transaction; where that fails, it did not move."""
    before = stored_item(checkpoint)
    if checkpoint.closed:
        checkpoint.expires_at = store.clock() + _KEPT
    try:
        store.transact(update(checkpoint), *beside)
    except (NotFound, StaleVersion) as error:
        raise _lost(checkpoint.shard) from error
    except BaseException:
        # Nobody may believe that a record was set aside, or passed, of which nothing is stored.
        if before is not None:
            checkpoint.__dict__.update(codec_of(Checkpoint).decode(before).__dict__)
        raise


def forget(store: Store[Any], checkpoint: Checkpoint) -> None:
    """Remove the checkpoint of a shard that is no longer there."""
    with suppress(NotFound, StaleVersion):
        store.run(delete(checkpoint))


def _lost(shard: str) -> LeaseLost:
    return LeaseLost(f"somebody else handles the shard {shard}")
