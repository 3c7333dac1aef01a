"""Checkpoints: how far each shard of a table's stream has been handled.

A checkpoint is an item in the design's housekeeping table, with a version. A runner claims a shard by writing a new
claim to its checkpoint, which raises the version: from then on, no earlier runner can move it, even if it believes that
it still has the lease.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from keyplan.data.codec.entities import codec_of, stored_item
from keyplan.data.errors import AlreadyExists, ItemChanged, NotFound
from keyplan.data.store import Store
from keyplan.data.streams.leases import LeaseLost
from keyplan.data.writes.key_operations import delete
from keyplan.data.writes.operations import Create, create, update
from keyplan.design import HOUSEKEEPING, Entity, Id, Ttl, Updated, Version, key, make_id, query, updated

_KEPT = timedelta(days=2)
"""How long a finished shard's checkpoint is kept: longer than DynamoDB lists the shard (24 hours)."""


class Checkpoint(Entity, table=HOUSEKEEPING):
    """How far a shard has been handled, and the record that a handler is failing on."""

    table: str
    label: Id
    shard: Id
    stream: str
    sequence: str | None = None
    """The sequence number of the last handled record; None before the first."""
    closed: bool = False
    """Whether the shard has ended and all of it was handled."""
    trying: str | None = None
    """The sequence number of the record that a handler failed on, to be tried again."""
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
    """Claim a shard; returns its checkpoint, which only we can move now. Raises `LeaseLost` if another was faster."""
    try:
        if known is None:
            label = stream.rpartition("/")[2]
            fresh = Checkpoint(table=table, label=label, shard=shard, stream=stream, claim=make_id())
            return store.run(create(fresh))
        known.claim = make_id()
        return store.run(update(known))
    except (AlreadyExists, NotFound, ItemChanged) as error:
        raise _lost(shard) from error


def move(store: Store[Any], checkpoint: Checkpoint, beside: Sequence[Create[Any]] = ()) -> None:
    """Store a checkpoint with other items in one transaction; if that fails, the checkpoint is restored."""
    before = stored_item(checkpoint)
    if checkpoint.closed:
        checkpoint.expires_at = store.clock() + _KEPT
    try:
        store.transact(update(checkpoint), *beside)
    except (NotFound, ItemChanged) as error:
        raise _lost(checkpoint.shard) from error
    except BaseException:
        # The checkpoint must not show a position that was not stored.
        if before is not None:
            checkpoint.__dict__.update(codec_of(Checkpoint).decode(before).__dict__)
        raise


def forget(store: Store[Any], checkpoint: Checkpoint) -> None:
    """Delete the checkpoint of a shard that no longer exists."""
    with suppress(NotFound, ItemChanged):
        store.run(delete(checkpoint))


def _lost(shard: str) -> LeaseLost:
    return LeaseLost(f"another runner handles the shard {shard}")
