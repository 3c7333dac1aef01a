"""The runner of a table's stream, of which only one of several processes runs at a time."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from keyplan.data.errors import DataError
from keyplan.data.store import Store
from keyplan.data.streams.delivery import ShardDelivery, Work
from keyplan.data.streams.handlers import Handler
from keyplan.data.streams.leases import Lease, LeaseLost
from keyplan.data.streams.shard_checkpoints import checkpoints_of, claimed, forget
from keyplan.data.streams.shards import Shard, StreamReader, called
from keyplan.design import DesignError, Table

C = TypeVar("C")

logger = logging.getLogger("keyplan.streams")

TRIES = 8
LEASE_SECONDS = 30.0
_REFRESH = timedelta(seconds=30)
_LONGEST_PAUSE = 60


def longer_each_time(tries: int) -> float:
    """Seconds to wait after this many failed tries."""
    return float(min(_LONGEST_PAUSE, 2 ** (tries - 2)))


class StreamRunner(Generic[C]):
    """Reads the stream of a table and delivers its records to handlers, which are called with `context`.

    `streams` is boto3's client for `dynamodbstreams`, or the embedded engine. Only one runner of a table works at a
    time, in any process; another takes over within `lease_seconds` if it is lost. A record that a handler fails on is
    tried `tries` times, with the pauses of `backoff`, and then set aside. The lease is renewed between records; if
    handlers may take longer, call `lease.keep()` in another thread.
    """

    def __init__(
        self,
        store: Store[Any],
        table: Table,
        handlers: Sequence[Handler[C]],
        context: C,
        streams: object,
        *,
        tries: int = TRIES,
        lease_seconds: float = LEASE_SECONDS,
        backoff: Callable[[int], float] = longer_each_time,
    ) -> None:
        mine = [each for each in handlers if each.entity.spec.table is table]
        _check_names(mine)
        self.lease = Lease(store, f"stream of {store.design.table_name(table)}", seconds=lease_seconds)
        self._work = Work(store, table, mine, context, StreamReader(streams), self.lease, tries, backoff)
        self._session: _Session[C] | None = None

    def run_once(self) -> int:
        """Deliver the available records; returns how many are done, and 0 if another runner is working.

        Errors of reading or of checkpoints are raised; the next call continues where this one stopped.
        """
        try:
            if self._session is None:
                if not self.lease.take():
                    return 0
                self._session = _Session(self._work, careful=self.lease.interrupted)
            self.lease.keep()
            return self._session.advance()
        except LeaseLost as lost:
            logger.info("%s", lost)
            self._session = None
            return 0

    def stop(self) -> None:
        """Make `run_once` return after its current record. Call `close` when it has."""
        self._work.stopping.set()

    def close(self) -> None:
        """Let another process take over at once."""
        self._session = None
        self.lease.release()


def _check_names(handlers: Sequence[Handler[Any]]) -> None:
    for name, times in Counter(each.name for each in handlers).items():
        if times > 1:
            raise DesignError(
                "same-handler",
                name,
                "two handlers have this name, under which failed records are stored",
                "Rename one.",
            )


class _Session(Generic[C]):
    """The state of a runner while it has the lease."""

    def __init__(self, work: Work[C], *, careful: bool) -> None:
        self._work = work
        self._careful = careful
        self._table = work.store.design.table_name(work.table)
        self._checkpoints = checkpoints_of(work.store, self._table)
        self._deliveries: dict[tuple[str, str], ShardDelivery[C]] = {}
        self._stream = ""
        self._shards: list[Shard] = []
        self._refresh_at: datetime | None = None

    def advance(self) -> int:
        """Deliver records of every shard that can be read; returns how many are done."""
        if self._refresh_at is None or self._work.store.clock() >= self._refresh_at:
            self._refresh()
        done = 0
        for shard in list(self._readable()):
            delivery = self._delivery(shard)
            done += delivery.advance()
            if delivery.checkpoint.closed:
                self._refresh_at = None  # it may have child shards by now
        return done

    def _delivery(self, shard: Shard) -> ShardDelivery[C]:
        place = (self._stream, shard.shard_id)
        if place not in self._deliveries:
            known = self._checkpoints.get(place)
            mine = claimed(self._work.store, self._table, *place, known)
            self._checkpoints[place] = mine
            self._deliveries[place] = ShardDelivery(self._work, mine, careful=self._careful and known is not None)
        return self._deliveries[place]

    def _readable(self) -> Iterator[Shard]:
        """The unfinished shards whose parents are finished, so that the changes of an item stay in order."""
        here = {each.shard_id for each in self._shards}
        for shard in self._shards:
            if not self._closed(shard.shard_id) and (shard.parent not in here or self._closed(shard.parent)):
                yield shard

    def _closed(self, shard: str | None) -> bool:
        known = self._checkpoints.get((self._stream, shard or ""))
        return known is not None and known.closed

    def _refresh(self) -> None:
        """Choose the stream to read, and its shards: older streams that are not finished come first."""
        latest = self._latest()
        for stream in sorted({latest} | {stream for stream, _ in self._checkpoints}):
            shards = self._work.reader.shards(stream)
            self._forget_others(stream, shards or [])
            if shards is None:
                continue
            self._stream, self._shards = stream, shards
            if stream == latest or any(self._readable()):
                break
        self._refresh_at = self._work.store.clock() + _REFRESH

    def _latest(self) -> str:
        described = called(self._work.store.client, "describe_table", TableName=self._table)["Table"]
        arn: str | None = described.get("LatestStreamArn")
        if arn is None:
            raise DataError(f"the table {self._table} has no stream, but its design declares {self._work.table.stream}")
        return arn

    def _forget_others(self, stream: str, shards: list[Shard]) -> None:
        """Delete the checkpoints of shards that DynamoDB no longer has."""
        here = {each.shard_id for each in shards}
        for place, checkpoint in list(self._checkpoints.items()):
            if checkpoint.stream == stream and checkpoint.shard not in here:
                if not checkpoint.closed:
                    logger.warning(
                        "The shard %s of %s no longer exists, and not all of its records were handled.",
                        checkpoint.shard,
                        stream,
                    )
                forget(self._work.store, checkpoint)
                del self._checkpoints[place]
                self._deliveries.pop(place, None)
