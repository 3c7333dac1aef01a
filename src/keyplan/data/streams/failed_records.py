"""Records that were set aside, because a handler failed on them too often.

Each is stored in the design's housekeeping table with the whole record. An operator removes it with `retry`, once the
handler takes the record, or with `discard`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar, TypeVar

from keyplan.data.errors import DataError, NotFound
from keyplan.data.store import Store
from keyplan.data.streams.handlers import ChangeKind, Handler
from keyplan.data.streams.records import Record, packed, sequence_of, unpacked
from keyplan.data.writes.key_operations import delete
from keyplan.data.writes.operations import Create, create, update
from keyplan.design import HOUSEKEEPING, Entity, Id, Version, get, key, make_id, query

C = TypeVar("C")

_PIECE = 300_000
"""Bytes of a record per item. An item can have 400 KB, and a record can contain two such items."""
_LONGEST_ERROR = 2_000


class HandlerFailed(DataError):
    """A handler failed again on a record that was set aside; the cause is the handler's error."""

    code: ClassVar[str] = "handler-failed"


class SetAside(Entity, table=HOUSEKEEPING):
    """A record that was set aside."""

    aside_id: Id
    table: str
    stream: str
    shard: str
    sequence: str
    kind: ChangeKind
    entity: str
    handler: str
    error: str
    tries: int
    set_aside_at: datetime
    tried_at: datetime
    content: bytes
    pieces: int = 0
    """The number of further items with the rest of the record."""
    version: Version = 0

    primary = key("SETASIDE", "{aside_id}")


class Piece(Entity, table=HOUSEKEEPING):
    """A further part of a record that is too large for one item."""

    aside_id: Id
    number: int
    content: bytes

    primary = key("SETASIDE#{aside_id}", "PIECE#{number:03}")


def error_text(error: BaseException) -> str:
    """An error as text for operators."""
    return f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]


def setting_aside(
    handler: Handler[Any], record: Record, error: str, tries: int, place: tuple[str, str, str], now: datetime
) -> list[Create[Any]]:
    """The writes that set a record aside; `place` is its table, stream and shard."""
    content = packed(record)
    first, *rest = (content[start : start + _PIECE] for start in range(0, len(content), _PIECE))
    table, stream, shard = place
    head = SetAside(
        aside_id=make_id(),
        table=table,
        stream=stream,
        shard=shard,
        sequence=sequence_of(record),
        kind=record["eventName"],
        entity=handler.entity.spec.name,
        handler=handler.name,
        error=error,
        tries=tries,
        set_aside_at=now,
        tried_at=now,
        content=first,
        pieces=len(rest),
    )
    pieces = [Piece(aside_id=head.aside_id, number=number, content=each) for number, each in enumerate(rest)]
    return [create(head), *(create(each) for each in pieces)]


def set_aside(store: Store[Any]) -> Iterator[SetAside]:
    """The records that were set aside, oldest first."""
    return store.each(query(SetAside.primary))


def record_of(store: Store[Any], aside: SetAside) -> Record:
    """The record that was set aside, as the stream had it."""
    return unpacked(aside.content + b"".join(each.content for each in _pieces(store, aside)))


def retry(store: Store[Any], aside_id: str, handlers: Sequence[Handler[C]], context: C) -> None:
    """Call the handler of a record that was set aside again; if it succeeds, the record is removed.

    If it fails, `HandlerFailed` is raised, and the item keeps the new error.
    """
    aside = _found(store, aside_id)
    handler = next((each for each in handlers if each.name == aside.handler), None)
    if handler is None:
        raise HandlerFailed(f"there is no handler {aside.handler}; restore it, or discard the record")
    try:
        handler.deliver(record_of(store, aside), context)
    except Exception as error:
        aside.tries += 1
        aside.error, aside.tried_at = error_text(error), store.clock()
        store.run(update(aside))
        raise HandlerFailed(f"{aside.handler} failed again: {aside.error}") from error
    _remove(store, aside)


def discard(store: Store[Any], aside_id: str) -> None:
    """Delete a record that was set aside."""
    _remove(store, _found(store, aside_id))


def _found(store: Store[Any], aside_id: str) -> SetAside:
    aside = store.run(get(SetAside, aside_id=aside_id, consistent=True))
    if aside is None:
        raise NotFound(SetAside.__name__, "primary", {"aside_id": aside_id})
    return aside


def _pieces(store: Store[Any], aside: SetAside) -> Iterator[Piece]:
    if not aside.pieces:
        return iter(())
    return store.each(query(Piece.primary, aside_id=aside.aside_id, consistent=True))


def _remove(store: Store[Any], aside: SetAside) -> None:
    store.transact(delete(aside), *(delete(piece) for piece in _pieces(store, aside)))
