"""Idempotency keys: a request or a form that is sent again takes effect once, and gets the first result.

The key is a header of an API request, or a hidden field of a form. A record is written before anything else. It has the
time and the source of new IDs, so that the same request makes the same items whenever it runs. Every write of the
request adds a step to the record in the same transaction. So an interrupted request can be finished by the next request
with its key: it skips what was written and does the rest. The result is then stored in the record, and returned from
then on.

What is guaranteed, for a day and for the latest 500 keys of a person:

- Each transaction of a request is written once, whenever the process stops: its step is in the same transaction.
- A request that comes while the first one is running gets its result, or after `patience` a 409 `request-under-way`.
  After a crash, the first one counts as running for twice the time limit of a request.
- A result that is not kept (a page; an answer of more than 300,000 bytes) is made again. If that would write anything
  else than the first time, it is refused with 409 `already-done`.
- A refused request has no effect and leaves no record, so its key can be used again.
- Not covered: what is written outside of the service's store, which is files, sessions and rate limits.
"""

import hashlib
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import Field
from pydantic_core import to_json
from starlette.responses import Response

from keyplan.data import (
    AlreadyExists,
    AlreadyWritten,
    DataError,
    NotFound,
    Part,
    Plan,
    Refused,
    create,
    delete,
    set_stored_item,
    stored_item,
    update,
)
from keyplan.design import HOUSEKEEPING, Entity, Id, Ttl, exists, get, ids_from, key, query, ref
from keyplan.web.models.problems import InConflict, Unprocessable
from keyplan.web.system.access import Caller
from keyplan.web.system.running import Running

KEPT = timedelta(hours=24)
ALREADY_DONE = "already-done"
"""The code of the problem with a request whose result can't be shown again."""
_LONGEST_ANSWER = 300_000
_POLL = 0.05
"""Seconds between two looks at a request that is still running."""
REPLAYED = "Idempotent-Replayed"
_KEPT_HEADERS = ("content-type", "etag", "location", "link")


_MOST = 500
"""How many records of a person are kept; they are counted with every 32nd."""
_COUNTED = 32


class Attempt(Entity, table=HOUSEKEEPING):
    """A request with an idempotency key."""

    owner: Id
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

    primary = key("ONCE#{owner}", "ONCE#{scope}")


@dataclass(frozen=True)
class Keyed:
    """The parts of a request that must be equal for it to be the same request."""

    caller: Caller | None
    address: str
    route: str
    path: str
    key: str
    payload: object
    visitor: str = ""
    """What tells visitors without a session apart, who may share an address."""
    by_values: bool = False
    """Whether the same key with another payload is another request, which may have an effect too."""

    @property
    def owner(self) -> str:
        who = f"sub {self.caller.sub}" if self.caller else f"address {self.address}"
        return _digest([who])

    @property
    def scope(self) -> str:
        return _digest([self.owner, self.visitor, self.route, self.key, self.fingerprint if self.by_values else ""])

    @property
    def fingerprint(self) -> str:
        # With the key, which only the caller knows: a payload may contain a password that could be guessed from a hash.
        return _digest([self.key, self.path, self.payload])


class Result(NamedTuple):
    """What is kept of a response. Without a body and headers, the response is made again when it is needed."""

    status: int
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes | None = None

    @property
    def complete(self) -> bool:
        """Whether the response can be made of it."""
        return self.body is not None or bool(self.headers)


def of_api(answer: Response) -> Result:
    """What is kept of a response of the API."""
    if len(answer.body) > _LONGEST_ANSWER:
        return Result(answer.status_code)
    headers = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
    return Result(answer.status_code, headers, bytes(answer.body))


def _digest(value: object) -> str:
    return hashlib.sha256(to_json(value)).hexdigest()


def carried_out_once(
    running: Running[Any],
    request: Keyed,
    act: Callable[[Any], Response],
    *,
    kept: Callable[[Response], Result] = of_api,
    patience: float = 0,
) -> Response:
    """The response to a request; if it was sent before, the first one, or what `kept` kept of it.

    `patience` is how many seconds it waits for an earlier one that is still running.
    """
    attempt = _claimed(running, request, time.monotonic() + patience)
    if attempt.status is not None:
        result = Result(attempt.status, attempt.headers, attempt.body)
        if result.complete:
            return Response(attempt.body, attempt.status, {**attempt.headers, REPLAYED: "true"})
    steps = _Steps(attempt)
    service = running.service(request.caller, request.address, beside=steps.beside, now=attempt.begun_at)
    ids = _Ids(attempt)
    service.visit.restart = ids.restart
    try:
        with ids_from(ids):
            answer = act(service)
    except Exception as error:
        if attempt.status is None and not _released(running, steps.attempt):
            raise _under_way() from error
        raise
    if attempt.status is None:
        _keep(running, steps.attempt, kept(answer))
    return answer


def _claimed(running: Running[Any], request: Keyed, until: float) -> Attempt:
    """The record of the request, claimed by this one unless it already has a result. Waits for that until a time."""
    while True:
        try:
            return _claimed_now(running, request)
        except InConflict:
            if time.monotonic() >= until:
                raise
        time.sleep(_POLL)


def _claimed_now(running: Running[Any], request: Keyed) -> Attempt:
    now = running.store.clock()
    mine_until = now + timedelta(seconds=2 * running.settings.request_seconds)
    fresh = Attempt(
        owner=request.owner,
        scope=request.scope,
        fingerprint=request.fingerprint,
        ids=request.scope[:16] + format(random.getrandbits(64), "x"),
        begun_at=now,
        mine_until=mine_until,
        expires_at=now + KEPT,
    )
    try:
        made = running.store.run(create(fresh))
    except AlreadyExists:
        attempt = running.store.run(get(Attempt, owner=fresh.owner, scope=fresh.scope, consistent=True))
    else:
        if random.randrange(_COUNTED) == 0:
            _drop_oldest(running, fresh.owner)
        return made
    if attempt is None:
        raise _under_way()
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
    return InConflict("request-under-way", "The same request is still in progress. Try again in a moment.")


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
        self._done = attempt.status is not None
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
        if self._done:
            detail = "This was done already. Its result is shown only once: do it again if you missed it."
            raise InConflict(ALREADY_DONE, detail)
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


def _keep(running: Running[Any], attempt: Attempt, result: Result) -> None:
    """Store the result. If there is none and nothing was written, nothing has to be remembered."""
    if not result.complete and not attempt.steps:
        _released(running, attempt)
        return
    attempt.status, attempt.headers, attempt.body = result.status, dict(result.headers), result.body
    running.store.run(update(attempt))


def _drop_oldest(running: Running[Any], owner: str) -> None:
    """Delete the oldest finished records of a person who has too many."""
    finished = query(Attempt.primary, owner=owner, filter=lambda attempt: exists(attempt.status))
    some = finished.only(lambda attempt: (attempt.begun_at, attempt.scope))
    found = sorted(running.store.each(some))
    for _, scope in found[: max(0, len(found) - _MOST)]:
        with suppress(NotFound):  # another request deleted it
            running.store.run(delete(ref(Attempt, owner=owner, scope=scope)))
