"""Leases: only one of several processes does a piece of work at a time.

A lease is an item in the design's housekeeping table with its holder and its end. The holder renews it. If the holder
is lost, the lease ends, and another process takes it. Clocks need to agree only roughly: if a lease is taken too early,
its former holder notices at the next renewal, and until then conditions on checkpoints prevent harm.
"""

import os
import socket
import threading
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import uuid4

from keyplan.data.errors import AlreadyExists, DataError, ItemChanged, NotFound
from keyplan.data.store import Store
from keyplan.data.writes.operations import create, update
from keyplan.design import HOUSEKEEPING, Entity, Version, get, key


class LeaseLost(DataError):
    """Another process has the lease now."""

    code: ClassVar[str] = "lease-lost"


class LeaseItem(Entity, table=HOUSEKEEPING):
    """The stored lease: its holder and its end."""

    name: str
    holder: str | None = None
    until: datetime
    version: Version = 0

    primary = key("LEASE", "{name}")


class Lease:
    """A lease in one process. Its methods can be called from several threads."""

    def __init__(self, store: Store[Any], name: str, *, seconds: float) -> None:
        self.name = name
        self.interrupted = False
        """Whether the previous holder didn't release the lease, perhaps because it ended while working."""
        self._store = store
        self._length = timedelta(seconds=seconds)
        self._holder = f"{socket.gethostname()} {os.getpid()} {uuid4().hex[:12]}"
        self._item: LeaseItem | None = None
        self._lock = threading.Lock()

    @property
    def held(self) -> bool:
        """Whether this process has the lease, as far as it knows."""
        item = self._item
        return item is not None and item.until > self._store.clock()

    def take(self) -> bool:
        """Take the lease unless another process has it; returns whether this process has it now."""
        with self._lock:
            self._item = None
            found = self._store.run(get(LeaseItem, name=self.name, consistent=True))
            now = self._store.clock()
            if found is None:
                return self._create(now)
            if found.holder not in (None, self._holder) and found.until > now:
                return False
            interrupted = found.holder not in (None, self._holder)
            found.holder, found.until = self._holder, now + self._length
            try:
                self._store.run(update(found))
            except (NotFound, ItemChanged):
                return False
            self._item, self.interrupted = found, interrupted
            return True

    def _create(self, now: datetime) -> bool:
        item = LeaseItem(name=self.name, holder=self._holder, until=now + self._length)
        try:
            self._item = self._store.run(create(item))
        except AlreadyExists:
            return False
        self.interrupted = False
        return True

    def keep(self) -> None:
        """Renew the lease if a third of it has passed; raises `LeaseLost` if another process has it."""
        with self._lock:
            item = self._item
            if item is None:
                raise LeaseLost(f"this process doesn't have the lease {self.name}")
            now, before = self._store.clock(), item.until
            if before - now > self._length * 2 / 3:
                return
            item.until = now + self._length
            try:
                self._store.run(update(item))
            except (NotFound, ItemChanged) as error:
                self._item = None
                raise LeaseLost(f"another process took the lease {self.name}") from error
            except BaseException:
                item.until = before
                raise

    def release(self) -> None:
        """Give the lease up, so that another process can take it at once."""
        with self._lock:
            item, self._item = self._item, None
            if item is not None:
                item.holder, item.until = None, self._store.clock()
                with suppress(DataError):  # it ends by itself
                    self._store.run(update(item))
