"""Delivering the records of one shard in order: each until its handlers have taken it, or it is set aside."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from keyplan.data.store import Store
from keyplan.data.streams.failed_records import error_text, setting_aside
from keyplan.data.streams.handlers import Handler
from keyplan.data.streams.leases import Lease
from keyplan.data.streams.records import Record, sequence_of
from keyplan.data.streams.shard_checkpoints import Checkpoint, move
from keyplan.data.streams.shards import Cursor, StreamReader
from keyplan.data.writes.operations import Create
from keyplan.design import Table

C = TypeVar("C")

logger = logging.getLogger("keyplan.streams")

_ENDED = "the process ended while the handler was running"


@dataclass(frozen=True)
class Work(Generic[C]):
    """What a runner works with."""

    store: Store[Any]
    table: Table
    handlers: Sequence[Handler[C]]
    context: C
    reader: StreamReader
    lease: Lease
    tries: int
    backoff: Callable[[int], float]
    stopping: threading.Event = field(default_factory=threading.Event)


class ShardDelivery(Generic[C]):
    """The delivery of one shard, starting at its checkpoint.

    `careful` says that the last process may have ended while it handled the first record. Its tries are counted before
    they are made, so that a record that ends the process is not tried forever.
    """

    def __init__(self, work: Work[C], checkpoint: Checkpoint, *, careful: bool) -> None:
        self.checkpoint = checkpoint
        self._work = work
        self._careful = careful
        self._cursor = Cursor(checkpoint.stream, checkpoint.shard, checkpoint.sequence)
        self._pending: deque[Record] = deque()
        self._passed = checkpoint.sequence
        self._resting_until: datetime | None = None

    def advance(self) -> int:
        """Deliver the available records, up to one that has to wait; returns how many are done."""
        work = self._work
        if self._resting_until is not None and work.store.clock() < self._resting_until:
            return 0
        self._resting_until = None
        if not self._pending:
            self._pending.extend(work.reader.read(self._cursor))
        done = 0
        while self._pending and not work.stopping.is_set():
            work.lease.keep()
            if not self._delivered(self._pending[0]):
                return done
            self._pending.popleft()
            done += 1
        self._settle()
        return done

    def _settle(self) -> None:
        """Save the position after records without a handler, and that the shard is done."""
        closed = self._cursor.ended and not self._pending
        if self._passed != self.checkpoint.sequence or closed:
            self.checkpoint.sequence = self._passed
            self.checkpoint.closed = closed
            move(self._work.store, self.checkpoint)

    def _delivered(self, record: Record) -> bool:
        """Deliver a record to its handlers; returns whether all are done with it."""
        wanted = [each for each in self._work.handlers if each.wants(self._work.table, record)]
        left = self._left(wanted, record)
        for number, handler in enumerate(left):
            following = left[number + 1] if number + 1 < len(left) else None
            if not self._tried(handler, following, record):
                return False
        self._passed = sequence_of(record)
        if wanted:
            self._careful = False
            if self.checkpoint.sequence != self._passed:
                self._note(self._passed)
        return True

    def _left(self, wanted: list[Handler[C]], record: Record) -> list[Handler[C]]:
        """The handlers that have not taken the record yet."""
        if self.checkpoint.trying == sequence_of(record):
            names = [each.name for each in wanted]
            if self.checkpoint.handler in names:
                return wanted[names.index(self.checkpoint.handler) :]
        return wanted

    def _tried(self, handler: Handler[C], following: Handler[C] | None, record: Record) -> bool:
        """Call a handler; returns whether it is done: it took the record, or the record was set aside."""
        checkpoint, sequence = self.checkpoint, sequence_of(record)
        again = checkpoint.trying == sequence and checkpoint.handler == handler.name
        tries = checkpoint.tries if again else 0
        if self._careful:
            if tries >= self._work.tries:
                self._set_aside(handler, following, record, checkpoint.error or _ENDED, tries)
                return True
            self._note(self._passed, trying=sequence, handler=handler.name, tries=tries + 1, error=_ENDED)
        try:
            handler.deliver(record, self._work.context)
            return True
        except Exception as error:
            tries += 1
            shown = (handler.name, sequence, checkpoint.shard, tries, self._work.tries)
            logger.warning("Handler %s failed on record %s of shard %s (try %d of %d)", *shown, exc_info=True)
            if tries >= self._work.tries:
                self._set_aside(handler, following, record, error_text(error), tries)
                return True
            self._note(self._passed, trying=sequence, handler=handler.name, tries=tries, error=error_text(error))
            pause = timedelta(seconds=self._work.backoff(tries))
            self._resting_until = self._work.store.clock() + pause
            return False

    def _set_aside(
        self, handler: Handler[C], following: Handler[C] | None, record: Record, error: str, tries: int
    ) -> None:
        """Set the record aside for a handler, and move the checkpoint past it in the same transaction."""
        checkpoint, sequence = self.checkpoint, sequence_of(record)
        place = (checkpoint.table, checkpoint.stream, checkpoint.shard)
        writes = setting_aside(handler, record, error, tries, place, self._work.store.clock())
        if following is None:
            self._note(sequence, beside=writes)
        else:
            self._note(self._passed, trying=sequence, handler=following.name, beside=writes)
        logger.error("Record %s of shard %s was set aside for handler %s", sequence, checkpoint.shard, handler.name)

    def _note(
        self,
        sequence: str | None,
        *,
        trying: str | None = None,
        handler: str | None = None,
        tries: int = 0,
        error: str | None = None,
        beside: Sequence[Create[Any]] = (),
    ) -> None:
        checkpoint = self.checkpoint
        checkpoint.sequence = sequence
        checkpoint.trying, checkpoint.handler = trying, handler
        checkpoint.tries, checkpoint.error = tries, error
        move(self._work.store, checkpoint, beside)
