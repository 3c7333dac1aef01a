"""Limits on how often somebody may ask, shared by all processes of a system.

Requests are counted by the minute in the system's housekeeping table. A process takes a share of what is left at a
time, and gives it out without asking again: a limit of 600 costs one write for 30 requests, and a small one (a login)
is exact.
"""

import hashlib
import threading
from typing import Any, NamedTuple

from keyplan.data import Store
from keyplan.design import HOUSEKEEPING, Design
from keyplan.web.models.problems import TooManyRequests

_WINDOW = 60
_SHARES = 20


class Limit(NamedTuple):
    """How often a subject may do something in a minute; 0: as often as it likes."""

    subject: str
    most: int


class Rates:
    """The limits of one system."""

    def __init__(self, store: Store[Any], *, identity: int, address: int) -> None:
        self._store: Store[Design] = store
        self._identity = identity
        self._address = address
        self._lock = threading.Lock()
        self._minute = 0
        self._left: dict[str, int] = {}
        self._exhausted: set[str] = set()

    def of_address(self, address: str) -> Limit:
        """The limit on requests from an address."""
        return Limit(f"address {address}", self._address)

    def of_identity(self, sub: str) -> Limit:
        """The limit on requests of a caller."""
        return Limit(f"sub {sub}", self._identity)

    def at_hand(self, limit: Limit) -> bool:
        """Count something, where that needs no look at the table; whether it did not."""
        subject, most = limit
        if most <= 0:
            return True
        with self._lock:
            left = self._left.get(subject, 0) if self._minute == int(self._store.clock().timestamp()) // _WINDOW else 0
            if left:
                self._left[subject] = left - 1
        return left > 0

    def take(self, subject: str, limit: int, *, code: str = "too-many-requests", amount: int = 1) -> None:
        """Count something of a subject; a problem where that was more than the limit in this minute. 0: no limit."""
        if limit <= 0:
            return
        now = self._store.clock()
        minute, second = divmod(int(now.timestamp()), _WINDOW)
        with self._lock:
            if minute != self._minute:
                self._minute, self._left, self._exhausted = minute, {}, set()
            left = self._left.get(subject, 0)
            if left >= amount:
                self._left[subject] = left - amount
                return
            exhausted = subject in self._exhausted
        if not exhausted and self._taken(subject, minute, limit, amount):
            return
        raise TooManyRequests(_WINDOW - second, code)

    def _taken(self, subject: str, minute: int, limit: int, amount: int) -> bool:
        """Take another share; whether there was one that is large enough."""
        wanted = max(amount, limit // _SHARES)
        granted = self._granted(subject, minute, limit, wanted)
        with self._lock:
            if granted < wanted:
                self._exhausted.add(subject)
            if minute == self._minute:
                self._left[subject] = self._left.get(subject, 0) + max(0, granted - amount)
        return granted >= amount

    def _granted(self, subject: str, minute: int, limit: int, wanted: int) -> int:
        """How many of a share the limit has room for."""
        # Neither an address nor a subject is stored as it is.
        name = hashlib.blake2b(subject.encode(), digest_size=16).hexdigest()
        client: Any = self._store.client
        answer = client.update_item(
            TableName=self._store.design.table_name(HOUSEKEEPING),
            Key={"pk": {"S": f"RATE#{name}"}, "sk": {"S": f"MINUTE#{minute}"}},
            UpdateExpression="ADD #used :wanted SET #expires = :expires",
            ExpressionAttributeNames={"#used": "used", "#expires": "expiresAt"},
            ExpressionAttributeValues={
                ":wanted": {"N": str(wanted)},
                ":expires": {"N": str((minute + 2) * _WINDOW)},
            },
            ReturnValues="UPDATED_NEW",
        )
        used = int(answer["Attributes"]["used"]["N"])
        return max(0, min(wanted, limit - (used - wanted)))
