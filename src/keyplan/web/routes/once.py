"""`Idempotency-Key`: a request that is sent again takes effect once, and gets the first response.

A record is written before anything else. It has the time and the source of new IDs, so that the same request makes the
same items whenever it runs. Every write of the request adds a step to the record in the same transaction. So an
interrupted request can be finished by the next request with its key: it skips what was written and does the rest. The
response is then stored in the record, and returned from then on.

A refused request has no effect and leaves no record, so its key can be used again.
"""

import hashlib
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic import Field
from pydantic_core import to_json
from starlette.responses import Response

from keyplan.data import (
    AlreadyExists,
    AlreadyWritten,
    DataError,
    Part,
    Plan,
    Refused,
    create,
    delete,
    set_stored_item,
    stored_item,
    update,
)
from keyplan.design import HOUSEKEEPING, Entity, Id, Ttl, get, ids_from, key
from keyplan.web.models.problems import InConflict, Unprocessable
from keyplan.web.system.access import Caller
from keyplan.web.system.running import Running

KEPT = timedelta(hours=24)
_LONGEST_ANSWER = 300_000
_KEPT_HEADERS = ("content-type", "etag", "location", "link")


class Attempt(Entity, table=HOUSEKEEPING):
    """A request with an `Idempotency-Key`."""

    scope: Id
    fingerprint: str
    ids: str
    begun_at: datetime
    mine_until: datetime
    steps: list[str] = Field(default_factory=list)
    status: int | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: bytes | None = None
    expires_at: Ttl

    primary = key("ONCE#{scope}", "ONCE")


@dataclass(frozen=True)
class Keyed:
    """The parts of a request that must be equal for it to be the same request."""

    caller: Caller | None
    address: str
    route: str
    path: str
    key: str
    payload: object

    @property
    def scope(self) -> str:
        who = f"sub {self.caller.sub}" if self.caller else f"address {self.address}"
        return _digest([who, self.route, self.key])

    @property
    def fingerprint(self) -> str:
        # With the key, which only the caller knows: a payload may contain a password that could be guessed from a hash.
        return _digest([self.key, self.path, self.payload])


def _digest(value: object) -> str:
    return hashlib.sha256(to_json(value)).hexdigest()


def carried_out_once(running: Running[Any], request: Keyed, act: Callable[[Any], Response]) -> Response:
    """The response to a request; the first response if it was sent before."""
    attempt = _claimed(running, request)
    if attempt.status is not None:
        return Response(attempt.body, attempt.status, {**attempt.headers, "Idempotent-Replayed": "true"})
    steps = _Steps(attempt)
    service = running.service(request.caller, request.address, beside=steps.beside, now=attempt.begun_at)
    ids = _Ids(attempt)
    service.visit.restart = ids.restart
    try:
        with ids_from(ids):
            answer = act(service)
    except Exception as error:
        if not _released(running, steps.attempt):
            raise _under_way() from error
        raise
    _keep(running, steps.attempt, answer)
    return answer


def _claimed(running: Running[Any], request: Keyed) -> Attempt:
    """The record of the request, claimed by this request unless it already has a response."""
    now = running.store.clock()
    mine_until = now + timedelta(seconds=2 * running.settings.request_seconds)
    fresh = Attempt(
        scope=request.scope,
        fingerprint=request.fingerprint,
        ids=request.scope[:16] + format(random.getrandbits(64), "x"),
        begun_at=now,
        mine_until=mine_until,
        expires_at=now + KEPT,
    )
    try:
        return running.store.run(create(fresh))
    except AlreadyExists:
        attempt = running.store.run(get(Attempt, scope=fresh.scope, consistent=True))
    if attempt is None:
        raise _under_way()
    if attempt.expires_at <= now:
        with suppress(DataError):
            running.store.run(delete(attempt))
        return _claimed(running, request)
    if attempt.fingerprint != fresh.fingerprint:
        raise Unprocessable("idempotency-key-reused", "This Idempotency-Key was already used for a different request.")
    if attempt.status is not None:
        return attempt
    if attempt.mine_until > now:
        raise _under_way()
    seen = attempt.mine_until
    attempt.mine_until = mine_until
    try:
        return running.store.run(update(attempt, where=lambda stored: stored.mine_until == seen))
    except DataError as error:
        raise _under_way() from error


def _under_way() -> InConflict:
    return InConflict("request-under-way", "A request with this Idempotency-Key is still in progress.")


class _Ids:
    """IDs in order of creation, the same ones each time (UUIDs of version 7, by the time of the first request)."""

    def __init__(self, attempt: Attempt) -> None:
        self._seed = attempt.ids
        self._milliseconds = int(attempt.begun_at.timestamp() * 1000)
        self.restart()

    def restart(self) -> None:
        """Start with the first ID again."""
        self._source = random.Random(self._seed)
        self._made = 0

    def __call__(self) -> str:
        self._made += 1
        value = self._milliseconds << 80 | 0x7 << 76 | self._made << 64 | 0b10 << 62 | self._source.getrandbits(62)
        return str(UUID(int=value))


class _Steps:
    """Adds the writes of a request to its record, each in the write's own transaction."""

    def __init__(self, attempt: Attempt) -> None:
        self._before = list(attempt.steps)
        self._passed = 0
        self._attempt = attempt
        self._sent: Attempt | None = None

    @property
    def attempt(self) -> Attempt:
        """The record as it is stored, with the last step if it was written."""
        if self._sent is not None and stored_item(self._sent) is not stored_item(self._attempt):
            self._attempt, self._sent = self._sent, None
        return self._attempt

    def beside(self, plan: Plan) -> Sequence[Part]:
        """The record with one more step. Raises `AlreadyWritten` if an earlier request did this step."""
        step = _digest(sorted(str(address) for address in plan.actions))[:16]
        if self._passed < len(self._before) and self._before[self._passed] == step:
            self._passed += 1
            raise AlreadyWritten
        stored = self.attempt
        self._sent = stored.model_copy(update={"steps": [*stored.steps, step]})
        set_stored_item(self._sent, stored_item(stored))
        return [update(self._sent)]


def _released(running: Running[Any], attempt: Attempt) -> bool:
    """Free the key if nothing was written. Otherwise, let the next request continue where this one stopped.

    Returns False if the next request has already taken over.
    """
    mine = attempt.mine_until
    try:
        if attempt.steps:
            attempt.mine_until = attempt.begun_at
            running.store.run(update(attempt, where=lambda stored: stored.mine_until == mine))
        else:
            running.store.run(delete(attempt, where=lambda stored: stored.mine_until == mine))
    except Refused:
        return False
    return True


def _keep(running: Running[Any], attempt: Attempt, answer: Response) -> None:
    """Store the response. One that is too long is made again when it is needed."""
    if len(answer.body) > _LONGEST_ANSWER:
        _released(running, attempt)
        return
    attempt.status, attempt.body = answer.status_code, bytes(answer.body)
    attempt.headers = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
    running.store.run(update(attempt))
