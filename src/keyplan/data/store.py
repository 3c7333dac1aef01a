"""The stores: a design on a DynamoDB, for threads and for asyncio.

Both carry out the same steps; they differ in how a call is made and how a pause is slept.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Generic, Protocol, TypeVar, overload

from botocore.exceptions import ClientError

from keyplan.data.jobs import Jobs, children_of
from keyplan.data.patches import patch as patch_steps
from keyplan.data.patches import put as put_steps
from keyplan.data.provision import create_table_requests
from keyplan.data.reads import Reader
from keyplan.data.steps import Call, ClientFailure, Steps, Wait, given_up
from keyplan.data.transactions import carry_out
from keyplan.data.verify import Finding, repair, verify
from keyplan.data.writes import Check, Context, Create, Delete, Move, Part, Patch, Put, Update
from keyplan.design import Design, Entity, Op, Page
from keyplan.design.operations import Query, Rewrite, Scan

T = TypeVar("T")
E = TypeVar("E", bound=Entity)
D = TypeVar("D", bound=Design)


class Client(Protocol):
    """What a store needs of a client: the methods of boto3's DynamoDB client, by name."""

    def get_item(self, **kwargs: Any) -> Any: ...  # noqa: ANN401 - boto3's own shape


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class _Core(Generic[D]):
    """What both stores share: everything but the sending."""

    def __init__(
        self, design: D, client: object, *, clock: Callable[[], datetime] = now, secret: bytes | None = None
    ) -> None:
        self.design = design
        self.client = client
        self.clock = clock
        self._reader = Reader(design, secret)
        self._jobs = Jobs(self._reader)

    def _steps(self, op: object) -> Steps[Any]:
        if isinstance(op, Op):
            return self._reader.run(op)
        if isinstance(op, Create | Update | Delete | Move | Check):
            return self._write(op)
        if isinstance(op, Put | Patch):
            return self._without_reading(op)
        if isinstance(op, Rewrite):
            return self._jobs.rewrite(op, self._context())
        raise TypeError(f"{op!r} is nothing that a store can run")

    def _context(self) -> Context:
        return Context(self.design, self.clock())

    def _write(self, part: Part) -> Steps[Any]:
        if isinstance(part, Delete) and any(children_of(self.design, type(part.entity))):
            return (yield from self._jobs.delete(part, self._context()))
        yield from carry_out([part], self._context())
        return None if isinstance(part, Delete | Check) else part.entity

    def _without_reading(self, work: Put[Any] | Patch[Any]) -> Steps[Any]:
        if isinstance(work, Put):
            yield from put_steps(work, self._reader, self._context())
            return work.entity
        return (yield from patch_steps(work, self._reader, self._context()))

    def _transaction(self, parts: tuple[Part, ...]) -> Steps[None]:
        return carry_out(parts, self._context())

    def requests(self, *ops: object) -> list[tuple[str, dict[str, Any]]]:
        """The first request that each operation would send, or the one of a transaction of them; nothing is sent."""
        steps = self._steps(ops[0]) if len(ops) == 1 else self._transaction(ops)  # type: ignore[arg-type]  # parts, then
        for step in steps:
            if isinstance(step, Call):
                return [(step.operation, step.request)]
        return []


class Store(_Core[D]):
    """A design at work on a boto3 client, or on the embedded engine.

    `secret` signs cursors. Where none is given, one is made and kept in the design's housekeeping table, so that every
    process on the same tables understands the others' cursors.
    """

    @overload
    def run(self, op: Op[T]) -> T: ...
    @overload
    def run(self, op: Create[E] | Update[E] | Move[E] | Put[E]) -> E: ...
    @overload
    def run(self, op: Delete[E] | Check[E] | Patch[E]) -> None: ...
    @overload
    def run(self, op: Rewrite[E]) -> int: ...
    def run(self, op: object) -> object:
        """Carry out an operation and give its result."""
        return self._drive(self._steps(op))

    def transact(self, *parts: Part) -> None:
        """Write all of these together, or nothing."""
        self._drive(self._transaction(parts))

    def resume(self) -> int:
        """Finish the cascades and rewrites that were begun and not finished; how many it were."""
        return self._drive(self._jobs.resume(self._context()))

    def verify(self) -> list[Finding]:
        """Walk all tables and list what does not agree with the design."""
        return self._drive(verify(self.design))

    def repair(self, findings: list[Finding]) -> int:
        """Put right what `verify` found, where it can be; how many findings it were."""
        return self._drive(repair(self.design, findings))

    def each(self, op: Query[E] | Scan[E]) -> Iterator[E]:
        """All items of a list, page by page."""
        while True:
            page: Page[E] = self.run(op)
            yield from page.items
            if page.next is None:
                return
            op = op.after(page.next)

    def create_tables(self) -> None:
        """Make the tables that are not there yet."""
        for request, ttl in create_table_requests(self.design):
            try:
                self._call(Call("create_table", request))
            except ClientFailure as failure:
                if failure.code != "ResourceInUseException":
                    raise given_up("create_table", failure) from failure
                continue
            self.client.get_waiter("table_exists").wait(TableName=request["TableName"])  # type: ignore[attr-defined]
            if ttl is not None:
                self._call(Call("update_time_to_live", ttl))

    def _drive(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    answer = self._carry(step)
                except ClientFailure as failure:
                    step = steps.throw(failure)
                else:
                    step = steps.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        except ClientFailure as failure:
            raise given_up("request", failure) from failure

    def _carry(self, step: Call | Wait) -> object:
        if isinstance(step, Wait):
            time.sleep(step.seconds)
            return None
        return self._call(step)

    def _call(self, step: Call) -> object:
        try:
            return getattr(self.client, step.operation)(**step.request)
        except ClientError as error:
            raise _failure(error) from error


class AsyncStore(_Core[D]):
    """A design at work on an asyncio client (aiobotocore's shape), or on the embedded engine in a thread."""

    @overload
    async def run(self, op: Op[T]) -> T: ...
    @overload
    async def run(self, op: Create[E] | Update[E] | Move[E] | Put[E]) -> E: ...
    @overload
    async def run(self, op: Delete[E] | Check[E] | Patch[E]) -> None: ...
    @overload
    async def run(self, op: Rewrite[E]) -> int: ...
    async def run(self, op: object) -> object:
        """Carry out an operation and give its result."""
        return await self._drive(self._steps(op))

    async def transact(self, *parts: Part) -> None:
        """Write all of these together, or nothing."""
        await self._drive(self._transaction(parts))

    async def resume(self) -> int:
        """Finish the cascades and rewrites that were begun and not finished; how many it were."""
        return await self._drive(self._jobs.resume(self._context()))

    async def verify(self) -> list[Finding]:
        """Walk all tables and list what does not agree with the design."""
        return await self._drive(verify(self.design))

    async def repair(self, findings: list[Finding]) -> int:
        """Put right what `verify` found, where it can be; how many findings it were."""
        return await self._drive(repair(self.design, findings))

    async def _drive(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    answer = await self._carry(step)
                except ClientFailure as failure:
                    step = steps.throw(failure)
                else:
                    step = steps.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        except ClientFailure as failure:
            raise given_up("request", failure) from failure

    async def _carry(self, step: Call | Wait) -> object:
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
            return None
        method = getattr(self.client, step.operation)
        try:
            if asyncio.iscoroutinefunction(method):
                return await method(**step.request)
            return await asyncio.to_thread(method, **step.request)
        except ClientError as error:
            raise _failure(error) from error


def _failure(error: ClientError) -> ClientFailure:
    response: Any = error.response
    return ClientFailure(response["Error"]["Code"], response["Error"].get("Message", ""), response)
