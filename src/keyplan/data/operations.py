"""What both stores share: the steps of every operation. They differ only in how they call and wait."""

import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Generic, Self, TypeVar

from keyplan.data.errors import DataError, InvalidOperation
from keyplan.data.jobs.resuming import Jobs
from keyplan.data.objects import ObjectStorage
from keyplan.data.reads.reader import Reader
from keyplan.data.relations import Relations
from keyplan.data.steps import Call, Steps, Wait
from keyplan.data.writes.batches import DeleteAll, PutAll, write_all
from keyplan.data.writes.imports import ImportAll, import_steps
from keyplan.data.writes.key_operations import DeleteByKey, KeyWrite, Patch, Upsert
from keyplan.data.writes.operations import (
    Beside,
    Check,
    CleanUpExpired,
    Context,
    Create,
    Delete,
    Move,
    Part,
    Put,
    Update,
    nothing_beside,
)
from keyplan.data.writes.preparing import key_write_steps, transaction_steps
from keyplan.design import Design, Op
from keyplan.design.entity import EntitySpec
from keyplan.design.operations import Follow
from keyplan.design.rewrites import Rewrite

D = TypeVar("D", bound=Design)


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
        self._known: set[type] = set()
        """Entities that are known to be in the design's tables."""
        self._relations = Relations(design)
        self._reader = Reader(design, self._relations, secret)
        self._jobs = Jobs(self._reader)

    def _steps(self, op: object) -> Steps[Any]:
        self._check_design(op)
        if isinstance(op, Op):
            return self._reader.run(op, self.clock)
        if isinstance(op, Create | Update | Delete | Move | Check):
            return self._write(op)
        if isinstance(op, Put):
            return self._put(op)
        if isinstance(op, Patch | Upsert | DeleteByKey):
            return self._write_by_key(op)
        if isinstance(op, Rewrite):
            return self._jobs.rewrites.run(op, self._context())
        if isinstance(op, CleanUpExpired):
            return self._jobs.expirations.settle(op, self._context())
        if isinstance(op, PutAll | DeleteAll):
            return write_all(op, self._context())
        if isinstance(op, ImportAll):
            return import_steps(op, self._context())
        raise InvalidOperation(
            f"{op!r} isn't an operation that a store can run. Those are reads such as get(...), and writes such as "
            "create(...)"
        )

    def _check_design(self, op: object) -> None:
        """Raise `InvalidOperation` for an operation on an entity whose table isn't one of the design's."""
        several = getattr(op, "entities", None)  # of a list
        found = several[0] if several else getattr(getattr(op, "target", op), "entity", None)
        self._check_entity(op, found if isinstance(found, type) else type(found))

    def _check_entity(self, op: object, kind: type) -> None:
        if kind in self._known:
            return
        spec = getattr(kind, "spec", None)
        if not isinstance(spec, EntitySpec):
            # It has no entity of its own: it is made of other operations, or reads by way of a guard or a mirror.
            for name in ("source", "queries", "gets", "way", "guard"):
                inner = getattr(op, name, ())
                for each in inner if isinstance(inner, tuple) else (inner,):
                    self._check_design(each)
            if isinstance(op, Follow):
                self._check_entity(op.target, op.target)
            return
        if spec.table not in self.design.all_tables:
            raise InvalidOperation(
                f"{spec.name} isn't an entity of {type(self.design).__name__}: its table {spec.table.name} is none of "
                f"{', '.join(table.name for table in self.design.tables)}. Use the store of its own design."
            )
        self._known.add(spec.entity)

    def _context(self) -> Context:
        return Context(self.design, self._relations, self.clock(), self._beside)

    def with_(self, *, clock: Callable[[], datetime], beside: Beside) -> Self:
        """A copy of the store with another clock, and with parts that join every write in its transaction.

        `beside` is called before each write and returns the parts. An error that it raises refuses the write;
        `AlreadyWritten` skips it. They join the first transaction of a cascading delete or a rewrite.
        """
        other = copy(self)
        other.clock = clock
        other._beside = beside
        return other

    def _write(self, part: Part) -> Steps[Any]:
        if isinstance(part, Delete) and self._relations.cascading(type(part.entity)):
            return (yield from self._jobs.cascades.delete(part, self._context()))
        (result,) = yield from self._jobs.expirations.write([part], self._context())
        return result

    def _write_by_key(self, work: KeyWrite) -> Steps[Any]:
        if isinstance(work, DeleteByKey) and self._relations.cascading(work.target.entity):
            return (yield from self._jobs.cascades.delete_by_key(work, self._context()))
        return (yield from key_write_steps(work, self._reader, self._context()))

    def _put(self, work: Put[Any]) -> Steps[Any]:
        (result,) = yield from transaction_steps((work,), self._reader, self._context(), self._jobs.expirations.write)
        return result

    def _transaction(self, parts: tuple[object, ...], token: str | None = None) -> Steps[tuple[Any, ...]]:
        for part in parts:
            self._check_design(part)
        context = replace(self._context(), token=token)
        return transaction_steps(parts, self._reader, context, self._jobs.expirations.write)

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
        """The first request of an operation, or the request of a transaction of several; nothing is sent."""
        steps = self._steps(ops[0]) if len(ops) == 1 else self._transaction(ops)
        for step in steps:
            if isinstance(step, Call):
                return [(step.operation, step.request)]
        return []
