"""Limits on requests per minute, shared by all processes of a system.

Requests are counted in the system's housekeeping table. A process takes a share of the limit at a time and uses it up
without another write: a limit of 600 costs one write per 30 requests, and a small limit (of logins) is exact.
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
    """How often a subject may do something per minute; 0 for no limit."""

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
        """Count a request without using the table. Returns whether that was possible."""
        subject, most = limit
        if most <= 0:
            return True
        with self._lock:
            left = self._left.get(subject, 0) if self._minute == int(self._store.clock().timestamp()) // _WINDOW else 0
            if left:
                self._left[subject] = left - 1
        return left > 0

    def take(self, subject: str, limit: int, *, code: str = "too-many-requests", amount: int = 1) -> None:
        """Count a request of a subject. Raises a problem if it is over the limit of this minute; 0 for no limit."""
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
        """Take another share. Returns whether it was large enough."""
        wanted = max(amount, limit // _SHARES)
        granted = self._granted(subject, minute, limit, wanted)
        with self._lock:
            if granted < wanted:
                self._exhausted.add(subject)
            if minute == self._minute:
                self._left[subject] = self._left.get(subject, 0) + max(0, granted - amount)
        return granted >= amount

    def _granted(self, subject: str, minute: int, limit: int, wanted: int) -> int:
        """How many requests of a share fit into the limit."""
        # Addresses and subjects are stored as hashes only.
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
