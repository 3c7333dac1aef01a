"""Limits on requests per minute, shared by all processes of a system.

Requests are counted in the system's housekeeping table. A process takes a share of the limit at a time and uses it up
without another write: a limit of 600 costs one write per 30 requests, and a small limit (of logins) is exact.

Nobody waits for long because a table can't be written, such as behind a lock that another process holds: then requests
are let through up to the size of a share, which is taken off the share when it is there.
"""

import asyncio
import hashlib
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from datetime import UTC, datetime
from typing import Any, NamedTuple

from keyplan.data import Store, at, upsert
from keyplan.design import HOUSEKEEPING, Design, Entity, Id, Ttl, key, ref
from keyplan.web.models.problems import TooManyRequests

_WINDOW = 60
_SHARES = 20
_PATIENCE = 0.25
"""Seconds that a request waits for a share."""
_TAKING = 16
"""Shares that are taken at the same time."""


class RateLimit(NamedTuple):
    """How often a subject may do something per minute, and what it is told if it does it more often."""

    subject: str
    most: int
    """0 for no limit."""
    detail: str = "Too many requests."
    code: str = "too-many-requests"

    def part(self, purpose: str) -> "RateLimit":
        """A limit of its own, a twentieth of this one, for what the subject may do while it is over this one."""
        return self._replace(subject=f"{self.subject} {purpose}", most=-(-self.most // _SHARES))


class RateWindow(Entity, table=HOUSEKEEPING):
    """The requests of a subject in one minute."""

    subject: Id
    minute: int
    used: int = 0
    expires_at: Ttl

    primary = key("RATE#{subject}", "MINUTE#{minute:08}")


class Rates:
    """The limits of one system."""

    def __init__(self, store: Store[Any], *, identity: int, address: int) -> None:
        self._store: Store[Design] = store
        self._identity = identity, f"Too many requests: you may send {identity} a minute."
        self._address = address, f"Too many requests from your network address: it may send {address} a minute."
        self._lock = threading.Lock()
        self._minute = 0
        self._left: dict[str, int] = {}
        self._exhausted: set[str] = set()
        self._taking: dict[str, Future[None]] = {}
        self._ahead: dict[str, int] = {}
        """Requests that were let through before their share was there."""
        self._threads = ThreadPoolExecutor(_TAKING, "keyplan counting")

    def of_address(self, address: str) -> RateLimit:
        """The limit on requests from an address."""
        return RateLimit(f"address {address}", *self._address)

    def of_route(self, route: str, address: str, most: int) -> RateLimit:
        """The limit on requests for a route from an address."""
        detail = f"Too many of these requests from your network address: it may send {most} a minute."
        return RateLimit(f"{route} address {address}", most, detail)

    def of_identity(self, sub: str) -> RateLimit:
        """The limit on requests of a caller."""
        return RateLimit(f"sub {sub}", *self._identity)

    def at_hand(self, limit: RateLimit) -> bool:
        """Count a request without using the table. Returns whether that was possible."""
        if limit.most <= 0:
            return True
        with self._lock:
            left = self._left.get(limit.subject, 0) if self._is_this_minute() else 0
            if left > 0:
                self._left[limit.subject] = left - 1
        return left > 0

    def is_over(self, limit: RateLimit) -> bool:
        """Whether this process knows, without using the table, that a request would be refused now."""
        with self._lock:
            return limit.subject in self._exhausted and self._is_this_minute() and self._left.get(limit.subject, 0) <= 0

    def _is_this_minute(self) -> bool:
        return self._minute == int(self._store.clock().timestamp()) // _WINDOW

    def take(self, limit: RateLimit) -> None:
        """Count a request of a subject. Raises a problem if it is over the limit of this minute."""
        while (taking := self._counted(limit)) is not None:
            wait([taking], _PATIENCE)
            if not taking.done() and self._may_go_ahead(limit):
                return
            taking.result()

    async def take_async(self, limit: RateLimit) -> None:
        """As `take`, on the event loop, without a thread of the pool: all of them may be waiting for the table."""
        while (taking := self._counted(limit)) is not None:
            waiting = asyncio.wrap_future(taking)
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.wait([waiting], timeout=_PATIENCE)
            if not taking.done() and self._may_go_ahead(limit):
                return
            await waiting

    def _counted(self, limit: RateLimit) -> Future[None] | None:
        """Count a request; else the share that has to be there first."""
        if limit.most <= 0:
            return None
        minute, second = divmod(int(self._store.clock().timestamp()), _WINDOW)
        with self._lock:
            if minute != self._minute:
                self._minute, self._left, self._exhausted, self._ahead, self._taking = minute, {}, set(), {}, {}
            if (left := self._left.get(limit.subject, 0)) > 0:
                self._left[limit.subject] = left - 1
                return None
            if limit.subject in self._exhausted:
                raise TooManyRequests(_WINDOW - second, limit.code, limit.detail)
            if limit.subject not in self._taking:
                self._taking[limit.subject] = self._threads.submit(copy_context().run, self._take_share, limit, minute)
            return self._taking[limit.subject]

    def _may_go_ahead(self, limit: RateLimit) -> bool:
        """Whether a request may go on before its share is there. A small limit is exact."""
        with self._lock:
            ahead = self._ahead.get(limit.subject, 0)
            if ahead >= _share(limit) - 1:
                return False
            self._ahead[limit.subject] = ahead + 1
            return True

    def _take_share(self, limit: RateLimit, minute: int) -> None:
        """Take another share, if there is anything left."""
        share, granted = _share(limit), 0
        try:
            granted = self._granted(limit.subject, minute, limit.most, share)
        finally:
            with self._lock:
                if minute == self._minute:  # else others have begun the next one meanwhile
                    self._taking.pop(limit.subject, None)
                    if granted:
                        ahead = self._ahead.pop(limit.subject, 0)
                        self._left[limit.subject] = self._left.get(limit.subject, 0) + granted - ahead
        if granted < share:
            with self._lock:
                if minute == self._minute:
                    self._exhausted.add(limit.subject)

    def _granted(self, subject: str, minute: int, limit: int, wanted: int) -> int:
        """How many requests of a share fit into the limit."""
        # Addresses and subjects are stored as hashes only.
        name = hashlib.blake2b(subject.encode(), digest_size=16).hexdigest()
        window = ref(RateWindow, subject=name, minute=minute)
        expires_at = datetime.fromtimestamp((minute + 2) * _WINDOW, UTC)
        counted = self._store.run(
            upsert(window, lambda each: at(each.used).add(wanted), expires_at=expires_at, returning="updated")
        )
        used = counted.get(lambda each: each.used)
        return max(0, min(wanted, limit - (used - wanted)))


def _share(limit: RateLimit) -> int:
    """How many requests are counted with one write."""
    return max(1, limit.most // _SHARES)
