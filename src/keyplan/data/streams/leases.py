"""Leases: one process among several does a piece of work at a time.

A lease is an item in the design's housekeeping table that says who holds it and until when. Who holds it renews it;
when they are gone, it ends by itself and another takes it. Clocks of different machines need to agree only roughly: a
lease that was taken too early is noticed by its former holder with its next renewal, and what has to be safe until
then is fenced by conditions of its own (see `checkpoints`).
"""

import os
import socket
import threading
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import uuid4

from keyplan.data.errors import AlreadyExists, DataError, NotFound, StaleVersion
from keyplan.data.store import Store
from keyplan.data.writes.operations import create, update
from keyplan.design import HOUSEKEEPING, Entity, Version, get, key


class LeaseLost(DataError):
    """Somebody else does the work now."""

    code: ClassVar[str] = "lease-lost"


class LeaseItem(Entity, table=HOUSEKEEPING):
    """Who does a piece of work, and until when."""

    name: str
    holder: str | None = None
    until: datetime
    version: Version = 0

    primary = key("LEASE", "{name}")


class Lease:
    """A lease as one process sees it. Its methods may be called from several threads."""

    def __init__(self, store: Store[Any], name: str, *, seconds: float) -> None:
        self.name = name
        self.interrupted = False
        """Whether the last holder before us went without a word, perhaps in the middle of something."""
        self._store = store
        self._length = timedelta(seconds=seconds)
        self._holder = f"{socket.gethostname()} {os.getpid()} {uuid4().hex[:12]}"
        self._item: LeaseItem | None = None
        self._lock = threading.Lock()

    @property
    def held(self) -> bool:
        """Whether we hold the lease, as far as we know."""
        item = self._item
        return item is not None and item.until > self._store.clock()

    def take(self) -> bool:
        """Take the lease unless somebody else holds it; whether we hold it now."""
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
            except (NotFound, StaleVersion):
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
        """Renew the lease where a third of it is over; raises `LeaseLost` where somebody else has it."""
        with self._lock:
            item = self._item
            if item is None:
                raise LeaseLost(f"the lease {self.name} is not ours")
            now, before = self._store.clock(), item.until
            if before - now > self._length * 2 / 3:
                return
            item.until = now + self._length
            try:
                self._store.run(update(item))
            except (NotFound, StaleVersion) as error:
                self._item = None
                raise LeaseLost(f"the lease {self.name} was taken by somebody else") from error
            except BaseException:
                item.until = before
                raise

    def release(self) -> None:
        """Let another have it at once."""
        with self._lock:
            item, self._item = self._item, None
            if item is not None:
                item.holder, item.until = None, self._store.clock()
                with suppress(DataError):  # it ends by itself, then
                    self._store.run(update(item))
