"""What both stores share: the steps of every operation. They differ only in how they call and wait."""

import time
from collections.abc import Callable
from copy import copy
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Generic, NamedTuple, Self, TypeVar

from keyplan.data.errors import DataError, InvalidOperation
from keyplan.data.jobs.resuming import Jobs
from keyplan.data.objects import ObjectStorage
from keyplan.data.reads.recording import reader_of
from keyplan.data.relations import Relations
from keyplan.data.steps import Call, Computation, Several, Steps, Wait
from keyplan.data.subjects import entities_of
from keyplan.data.writes.batches import DeleteAll, PutAll, write_all
from keyplan.data.writes.imports import ImportAll, import_steps
from keyplan.data.writes.key_operations import DeleteByKey, KeyWrite, Patch, Upsert
from keyplan.data.writes.operations import (
    Beside,
    Check,
    CleanUpExpired,
    Context,
    Delete,
    Part,
    Put,
    Write,
    nothing_beside,
)
from keyplan.data.writes.preparing import WriteParts, key_write_steps, transaction_steps
from keyplan.data.writes.transactions import write_parts
from keyplan.design import HOUSEKEEPING, Design, Entity, Op
from keyplan.design.operations.item_reads import Get
from keyplan.design.operations.queries import Query
from keyplan.design.operations.rewrites import Rewrite

D = TypeVar("D", bound=Design)

LONGEST_TOKEN = 36
"""How many characters DynamoDB accepts in the token of a transaction."""


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


class StoreCore(Generic[D]):
    """What both stores share: everything but calling and waiting."""

    def __init__(
        self,
        design: D,
        client: object,
        *,
        clock: Callable[[], datetime] = utc_now,
        secret: bytes | None = None,
        timeout: float = 10.0,
        objects: ObjectStorage | None = None,
    ) -> None:
        if isinstance(design, type):
            raise InvalidOperation(f"a store takes a design, not its class: {design.__name__}()")
        self.design: D = design
        self.client = client
        self.clock = clock
        self._timeout = timeout
        self._objects = objects
        self._beside: Beside = nothing_beside
        self._known: set[object] = set()
        """Entities that were found to be in the design."""
        self._relations = Relations(design)
        self._reader = reader_of(design, self._relations, secret)
        self._jobs = Jobs(self._reader)

    def _steps(self, op: object) -> Steps[Any]:
        route = _routes.get(type(op)) or _route(type(op))
        if route.entity(op) not in self._known:
            self._check_design(op)
        return route.steps(self, op)

    def _check_design(self, op: object) -> None:
        """Raise `InvalidOperation` if an operation is on an entity that the design doesn't have.

        Entities in the housekeeping table can be used with any design.
        """
        design = type(self.design).__name__
        for entity in entities_of(op):
            if not issubclass(entity, Entity):
                raise _no_entity(op, entity)
            spec = entity.spec
            if spec.table not in self.design.all_tables:
                raise InvalidOperation(
                    f"{spec.name} isn't an entity of {design}: its table {spec.table.name} is none of "
                    f"{', '.join(table.name for table in self.design.tables)}. Use the store of its own design."
                )
            if spec.table is not HOUSEKEEPING and spec.entity not in self.design.entities:
                raise InvalidOperation(f"{spec.name} isn't an entity of {design}. Add it to {design}.entities.")
            self._known.add(entity)

    def _context(self) -> Context:
        return Context(self.design, self._relations, self.clock(), self._beside)

    def with_(self, *, clock: Callable[[], datetime], beside: Beside | None = None) -> Self:
        """A copy of the store with another clock, and with parts that join every write in its transaction.

        `beside` is called before each write and returns the parts. An error that it raises refuses the write;
        `AlreadyWritten` skips it. They join the first transaction of a cascading delete or a rewrite.
        """
        other = copy(self)
        other.clock = clock
        if beside is not None:
            other._beside = beside
        return other

    def _write(self, part: Part, entity: type[Entity]) -> Steps[Any]:
        (result,) = yield from self._writing(entity)([part], self._context())
        return result

    def _writing(self, entity: type[Entity]) -> WriteParts:
        """How to write parts: where an expired item may be in the way, of this entity or beside it, it is replaced."""
        plain = self._beside is nothing_beside and "ttl" not in entity.spec.by_kind
        return write_parts if plain else self._jobs.replacements.write

    def _delete(self, part: Delete[Any]) -> Steps[Any]:
        if self._relations.cascading(type(part.entity)):
            return self._jobs.cascades.delete(part, self._context())
        return self._write(part, type(part.entity))

    def _write_by_key(self, work: KeyWrite) -> Steps[Any]:
        if isinstance(work, DeleteByKey) and self._relations.cascading(work.target.entity):
            return self._jobs.cascades.delete_by_key(work, self._context())
        return key_write_steps(work, self._reader, self._context(), self._writing(work.target.entity))

    def _put(self, work: Put[Any]) -> Steps[Any]:
        (result,) = yield from transaction_steps((work,), self._reader, self._context(), self._jobs.replacements.write)
        return result

    def _transaction(self, parts: tuple[object, ...], token: str | None = None) -> Steps[tuple[Any, ...]]:
        if token is not None and not 1 <= len(token) <= LONGEST_TOKEN:
            raise InvalidOperation(f"a token has 1 to {LONGEST_TOKEN} characters, and this one has {len(token)}")
        for part in parts:
            self._check_design(part)
        context = self._context()._replace(token=token)
        return transaction_steps(parts, self._reader, context, self._jobs.replacements.write)

    def _begin(self, work: Rewrite[Any]) -> Steps[None]:
        if not work.name:
            raise DataError("only a job that the design declares can be begun and finished later")
        yield from self._jobs.rewrites.begin(work, self._context())

    def _waiting_until(self, wait: Wait, until: float) -> float:
        """The time at which the store stops repeating a call; raises the error of the wait if that is too soon."""
        now = time.monotonic()
        if wait.first:
            until = now + self._timeout
        if wait.error is not None and now + wait.seconds > until:
            raise wait.error
        return until

    def requests(self, *ops: object) -> list[tuple[str, dict[str, Any]]]:
        """The first request of an operation, or the request of a transaction of several; nothing is sent.

        A query that is spread over shards begins with one request for each shard, and a merge with one for each query.
        """
        return _first_requests(self._steps(ops[0]) if len(ops) == 1 else self._transaction(ops))


def _first_requests(steps: Steps[Any]) -> list[tuple[str, dict[str, Any]]]:
    answer: object = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration:
            return []
        if isinstance(step, Call):
            return [(step.operation, step.request)]
        if isinstance(step, Several):
            return [request for each in step.steps for request in _first_requests(each)]
        answer = step.compute() if isinstance(step, Computation) else None


def _no_entity(op: object, given: type) -> InvalidOperation:
    name = "".join(f"_{each.lower()}" if each.isupper() else each for each in type(op).__name__).removeprefix("_")
    if given is type(None):
        return InvalidOperation(f"{name}() takes an entity, not None, which is what a read of a missing item returns")
    what = "a class" if issubclass(given, type) else given.__name__
    return InvalidOperation(f"{name}() takes an entity, not {what}")


class _Route(NamedTuple):
    """How operations of one class are run."""

    steps: Callable[[StoreCore[Any], Any], Steps[Any]]
    entity: Callable[[Any], object] = lambda op: None
    """The entity that such an operation is on; None if there may be several."""


def _entity(op: Any) -> object:  # noqa: ANN401 - a write of any entity
    return type(op.entity)


def _only_entity(op: Query[Any]) -> object:
    return op.entities[0] if len(op.entities) == 1 else None


_ROUTES: tuple[tuple[type, _Route], ...] = (
    (Get, _Route(lambda store, op: store._reader.get(op, store.clock), attrgetter("entity"))),
    (Query, _Route(lambda store, op: store._reader.run(op, store.clock), _only_entity)),
    (Op, _Route(lambda store, op: store._reader.run(op, store.clock))),
    (Delete, _Route(StoreCore._delete, _entity)),
    (Write, _Route(lambda store, op: store._write(op, type(op.entity)), _entity)),
    (Check, _Route(lambda store, op: store._write(op, op.target.entity), attrgetter("target.entity"))),
    (Put, _Route(StoreCore._put, _entity)),
    (Patch, _Route(StoreCore._write_by_key, attrgetter("target.entity"))),
    (Upsert, _Route(StoreCore._write_by_key, attrgetter("target.entity"))),
    (DeleteByKey, _Route(StoreCore._write_by_key, attrgetter("target.entity"))),
    (Rewrite, _Route(lambda store, op: store._jobs.rewrites.run(op, store._context()))),
    (CleanUpExpired, _Route(lambda store, op: store._jobs.expirations.settle(op, store._context()))),
    (PutAll, _Route(lambda store, op: write_all(op, store._context()))),
    (DeleteAll, _Route(lambda store, op: write_all(op, store._context()))),
    (ImportAll, _Route(lambda store, op: import_steps(op, store._context(), store._jobs.replacements))),
)


_routes: dict[type, _Route] = {}


def _route(kind: type) -> _Route:
    """How operations of a class are run. Found once, since every operation passes here."""
    found = (route for base, route in _ROUTES if issubclass(kind, base))
    return _routes.setdefault(kind, next(found, _Route(_refuse)))


def _refuse(store: StoreCore[Any], op: object) -> Steps[Any]:
    raise InvalidOperation(
        f"{op!r} isn't an operation that a store can run. Those are reads such as get(...), and writes such as "
        "create(...)"
    )
