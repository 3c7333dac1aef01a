"""Decides whether a request is served: who sends it, and which limit it counts against.

A request with a valid token or session counts against the person only, so that people behind one address, such as
those in a club house or a mobile network, don't use up each other's requests. Everything else counts against the
address: a request without a proof (a token or a session's cookie), and every proof that isn't valid.

While an address is over its limit, its proofs aren't even checked, because checking costs a signature or a read. There
are two exceptions, for the people behind such an address:

- A proof that was valid within the last five minutes is checked. It is remembered by its hash.
- Of the other proofs, a twentieth of the address's limit is checked per minute, so that somebody who has just signed
  in is recognized. Whoever sends bad tokens from the same address can use that up, until the next minute.

A route with a limit of its own, such as signing in, counts against that one instead of the address's limit: it is much
lower, and people behind a busy address can still sign in.

A form that is refused by a limit is shown again with its values. That costs as much as the page itself, so it is done
for a twentieth of the limit per minute, too.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

from keyplan.web.models.problems import TooManyRequests, Unauthorized
from keyplan.web.system.access import Caller
from keyplan.web.system.rates import RateLimit, Rates
from keyplan.web.system.running import Running

_REMEMBERED = 4096
_REMEMBERED_SECONDS = 300


class Admission:
    """Admits the requests of one system."""

    def __init__(self, rates: Rates, clock: Callable[[], datetime]) -> None:
        self._rates = rates
        self._known = _KnownProofs(clock)

    @classmethod
    def of(cls, running: Running[Any]) -> "Admission":
        """The admission of a running system."""
        return running.kept(_admission)

    def admit(
        self, address: str, proof: str | None, recognize: Callable[[], Caller | None], own: RateLimit | None = None
    ) -> None:
        """Count a request from an address, whose caller `recognize` finds. Raises a problem if it is refused.

        `own` is the limit of the route, if it has one.
        """
        for limit in self._before(address, proof, own):
            self._rates.take(limit)
        for limit in self._after(address, proof, recognize(), own):
            self._rates.take(limit)

    async def admitted(
        self,
        address: str,
        proof: str | None,
        caller: Callable[[], Awaitable[Caller | None]],
        own: RateLimit | None = None,
    ) -> Caller | None:
        """As `admit`, on the event loop. Returns the caller; a bad token is counted before it is refused."""
        for limit in self._before(address, proof, own):
            await self._count(limit)
        try:
            found = await caller()
        except Unauthorized:
            for limit in self._after(address, proof, None, own):
                await self._count(limit)
            raise
        for limit in self._after(address, proof, found, own):
            await self._count(limit)
        return found

    def shows_again(self, address: str, caller: Caller | None) -> bool:
        """Whether a form that a limit refused may be shown again as a page of its own."""
        limit = self._rates.of_address(address) if caller is None else self._rates.of_identity(caller.sub)
        with suppress(TooManyRequests):
            self._rates.take(limit.part("forms"))
            return True
        return False

    async def _count(self, limit: RateLimit) -> None:
        """Count a request, in another thread only if that needs the table."""
        if not self._rates.at_hand(limit):
            await self._rates.take_async(limit)

    def _before(self, address: str, proof: str | None, own: RateLimit | None) -> tuple[RateLimit, ...]:
        """The limits that count before a proof is checked."""
        if own is not None:
            return (own,)
        if proof is None:
            return ()
        limit = self._rates.of_address(address)
        return (limit.part("proofs"),) if self._rates.is_over(limit) and proof not in self._known else ()

    def _after(
        self, address: str, proof: str | None, caller: Caller | None, own: RateLimit | None
    ) -> tuple[RateLimit, ...]:
        """The limits that count when the caller is known, or nobody was recognized."""
        if caller is not None:
            if proof is not None:
                self._known.add(proof)
            return (self._rates.of_identity(caller.sub),)
        if proof is not None:
            self._known.remove(proof)
        return () if own is not None else (self._rates.of_address(address),)


def _admission(running: Running[Any]) -> Admission:
    return Admission(running.rates, lambda: running.store.clock())


class _KnownProofs:
    """The hashes of proofs that were valid a short time ago. The least recently used are dropped."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until: OrderedDict[bytes, float] = OrderedDict()

    def add(self, proof: str) -> None:
        digest = _digest(proof)
        with self._lock:
            self._until[digest] = self._clock().timestamp() + _REMEMBERED_SECONDS
            self._until.move_to_end(digest)
            if len(self._until) > _REMEMBERED:
                self._until.popitem(last=False)

    def remove(self, proof: str) -> None:
        with self._lock:
            self._until.pop(_digest(proof), None)

    def __contains__(self, proof: str) -> bool:
        with self._lock:
            return self._until.get(_digest(proof), 0) > self._clock().timestamp()


def _digest(proof: str) -> bytes:
    return hashlib.sha256(proof.encode(errors="surrogateescape")).digest()
