"""The stores, for threads and for asyncio. Both carry out the same steps; they differ in how they call and wait."""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeVar, overload

from botocore.exceptions import BotoCoreError, ClientError

from keyplan.data.errors import DataError
from keyplan.data.objects import object_method
from keyplan.data.operations import StoreCore
from keyplan.data.reads.cursors import Cursors
from keyplan.data.reads.segments import Report, read_in_tasks, read_in_threads, segments_of
from keyplan.data.steps import Call, ClientFailure, Computation, ObjectCall, Several, Step, Steps, Wait, given_up
from keyplan.data.upkeep.findings import VerifyFinding
from keyplan.data.upkeep.objects import sweep_objects
from keyplan.data.upkeep.provisioning import create_tables, tables_exist
from keyplan.data.upkeep.repair import repair
from keyplan.data.upkeep.verify import verify
from keyplan.data.writes.batches import DeleteAll, PutAll
from keyplan.data.writes.imports import ImportAll, Imported
from keyplan.data.writes.operations import CleanUpExpired, WriteOp
from keyplan.design import Design, Entity, InvalidValue, Op
from keyplan.design.operations.reading import ListOp
from keyplan.design.operations.rewrites import Rewrite

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
T5 = TypeVar("T5")
T6 = TypeVar("T6")
E = TypeVar("E", bound=Entity)
D = TypeVar("D", bound=Design)


class Store(StoreCore[D]):
    """A design on a boto3 client, or on the embedded engine.

    `secret` signs cursors. Without one, a secret is created in the design's housekeeping table, so that all processes
    on the same tables accept each other's cursors. `timeout` is how many seconds a call is repeated for: a transaction
    that others keep cancelling, or a batch that DynamoDB leaves unprocessed. Everything else is repeated by the client,
    by its own settings. `objects` is the object storage for large values.
    """

    @overload
    def run(self, op: Op[T]) -> T: ...
    @overload
    def run(self, op: WriteOp[T]) -> T: ...
    @overload
    def run(self, op: Rewrite[E] | PutAll[E] | DeleteAll[E]) -> int: ...
    @overload
    def run(self, op: CleanUpExpired[E]) -> bool: ...
    @overload
    def run(self, op: ImportAll) -> Imported: ...
    def run(self, op: object) -> object:
        """Carry out an operation and return its result."""
        return self._drive(self._steps(op))

    @overload
    def transact(self, a: WriteOp[T1], /, *, token: str | None = None) -> tuple[T1]: ...
    @overload
    def transact(self, a: WriteOp[T1], b: WriteOp[T2], /, *, token: str | None = None) -> tuple[T1, T2]: ...
    @overload
    def transact(
        self, a: WriteOp[T1], b: WriteOp[T2], c: WriteOp[T3], /, *, token: str | None = None
    ) -> tuple[T1, T2, T3]: ...
    @overload
    def transact(
        self, a: WriteOp[T1], b: WriteOp[T2], c: WriteOp[T3], d: WriteOp[T4], /, *, token: str | None = None
    ) -> tuple[T1, T2, T3, T4]: ...
    @overload
    def transact(
        self,
        a: WriteOp[T1],
        b: WriteOp[T2],
        c: WriteOp[T3],
        d: WriteOp[T4],
        e: WriteOp[T5],
        /,
        *,
        token: str | None = None,
    ) -> tuple[T1, T2, T3, T4, T5]: ...
    @overload
    def transact(
        self,
        a: WriteOp[T1],
        b: WriteOp[T2],
        c: WriteOp[T3],
        d: WriteOp[T4],
        e: WriteOp[T5],
        f: WriteOp[T6],
        /,
        *,
        token: str | None = None,
    ) -> tuple[T1, T2, T3, T4, T5, T6]: ...
    @overload
    def transact(self, *parts: WriteOp[object], token: str | None = None) -> tuple[object, ...]: ...
    def transact(self, *parts: object, token: str | None = None) -> object:
        """Write all parts in one transaction, or nothing. Returns what each part returns: for most, its entity.

        A check, a delete, and a patch or upsert without `returning` return None. One with `returning` reads its item
        before the transaction. With a `token` of up to 36 characters, DynamoDB carries out the same transaction once
        in 10 minutes, and refuses another one with the same token (`TokenReused`).
        """
        return self._drive(self._transaction(parts, token))

    def begin(self, job: Rewrite[E]) -> None:
        """Carry out the first step of a job, and leave the rest to `resume`."""
        self._drive(self._begin(job))

    def resume(self) -> int:
        """Finish all interrupted jobs; returns how many."""
        return self._drive(self._jobs.resume(self._context()))

    def verify(self) -> list[VerifyFinding]:
        """Read all tables; returns what doesn't agree with the design."""
        return self._drive(verify(self.design, self.clock(), objects=self._objects is not None))

    def repair(self, findings: list[VerifyFinding]) -> int:
        """Repair findings of `verify`; returns how many were repaired."""
        return self._drive(repair(self.design, findings))

    def sweep_objects(self, older_than: timedelta = timedelta(days=1)) -> int:
        """Delete the objects of large values that no item names and that are older than this; returns how many."""
        return self._drive(sweep_objects(self._context(), older_than))

    def each(self, op: ListOp[T], *, segments: int = 1, progress: Report | None = None) -> Iterator[T]:
        """All items of a list, page by page; `progress` is called after each page.

        A scan can be read in several segments at the same time, in threads. Its items come in no order then.
        """
        return read_in_threads(self.run, segments_of(op, segments), progress)

    def cursors(self) -> Cursors:
        """Cursors with the store's secret, for a list that was sorted after it was read."""
        return self._drive(self._reader.lists.sealer.cursors())

    def create_tables(self) -> None:
        """Create the tables that don't exist yet."""
        self._drive(create_tables(self.design))

    def tables_exist(self) -> dict[str, bool]:
        """Whether each of the design's tables exists, by name."""
        return self._drive(tables_exist(self.design))

    def _drive(self, steps: Steps[T]) -> T:
        until = 0.0
        try:
            step = next(steps)
            while True:
                try:
                    if type(step) is Wait:
                        until = self._waiting_until(step, until)
                    answer = self._carry(step)
                except (ClientFailure, DataError, InvalidValue) as failure:
                    step = steps.throw(failure)
                else:
                    step = steps.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        except ClientFailure as failure:
            raise given_up(failure) from failure

    def _carry(self, step: Step) -> object:
        if isinstance(step, Call):
            try:
                return getattr(self.client, step.operation)(**step.request)
            except (ClientError, BotoCoreError) as error:
                raise _failure(error) from error
        if isinstance(step, ObjectCall):
            return object_method(self._objects, step.method)(*step.arguments)
        if isinstance(step, Computation):
            return step.compute()
        if isinstance(step, Several):
            return [self._drive(each) for each in step.steps]
        time.sleep(step.seconds)
        return None


class AsyncStore(StoreCore[D]):
    """A design on an asyncio client such as aiobotocore's, or on the embedded engine in threads."""

    _awaits = False

    @overload
    async def run(self, op: Op[T]) -> T: ...
    @overload
    async def run(self, op: WriteOp[T]) -> T: ...
    @overload
    async def run(self, op: Rewrite[E] | PutAll[E] | DeleteAll[E]) -> int: ...
    @overload
    async def run(self, op: CleanUpExpired[E]) -> bool: ...
    @overload
    async def run(self, op: ImportAll) -> Imported: ...
    async def run(self, op: object) -> object:
        """Carry out an operation and return its result."""
        return await self._drive(self._steps(op))

    @overload
    async def transact(self, a: WriteOp[T1], /, *, token: str | None = None) -> tuple[T1]: ...
    @overload
    async def transact(self, a: WriteOp[T1], b: WriteOp[T2], /, *, token: str | None = None) -> tuple[T1, T2]: ...
    @overload
    async def transact(
        self, a: WriteOp[T1], b: WriteOp[T2], c: WriteOp[T3], /, *, token: str | None = None
    ) -> tuple[T1, T2, T3]: ...
    @overload
    async def transact(
        self, a: WriteOp[T1], b: WriteOp[T2], c: WriteOp[T3], d: WriteOp[T4], /, *, token: str | None = None
    ) -> tuple[T1, T2, T3, T4]: ...
    @overload
    async def transact(
        self,
        a: WriteOp[T1],
        b: WriteOp[T2],
        c: WriteOp[T3],
        d: WriteOp[T4],
        e: WriteOp[T5],
        /,
        *,
        token: str | None = None,
    ) -> tuple[T1, T2, T3, T4, T5]: ...
    @overload
    async def transact(
        self,
        a: WriteOp[T1],
        b: WriteOp[T2],
        c: WriteOp[T3],
        d: WriteOp[T4],
        e: WriteOp[T5],
        f: WriteOp[T6],
        /,
        *,
        token: str | None = None,
    ) -> tuple[T1, T2, T3, T4, T5, T6]: ...
    @overload
    async def transact(self, *parts: WriteOp[object], token: str | None = None) -> tuple[object, ...]: ...
    async def transact(self, *parts: object, token: str | None = None) -> object:
        """Write all parts in one transaction, or nothing. Returns what each part returns: for most, its entity.

        A check, a delete, and a patch or upsert without `returning` return None. One with `returning` reads its item
        before the transaction. With a `token` of up to 36 characters, DynamoDB carries out the same transaction once
        in 10 minutes, and refuses another one with the same token (`TokenReused`).
        """
        return await self._drive(self._transaction(parts, token))

    async def begin(self, job: Rewrite[E]) -> None:
        """Carry out the first step of a job, and leave the rest to `resume`."""
        await self._drive(self._begin(job))

    async def resume(self) -> int:
        """Finish all interrupted jobs; returns how many."""
        return await self._drive(self._jobs.resume(self._context()))

    async def verify(self) -> list[VerifyFinding]:
        """Read all tables; returns what doesn't agree with the design."""
        return await self._drive(verify(self.design, self.clock(), objects=self._objects is not None))

    async def repair(self, findings: list[VerifyFinding]) -> int:
        """Repair findings of `verify`; returns how many were repaired."""
        return await self._drive(repair(self.design, findings))

    async def sweep_objects(self, older_than: timedelta = timedelta(days=1)) -> int:
        """Delete the objects of large values that no item names and that are older than this; returns how many."""
        return await self._drive(sweep_objects(self._context(), older_than))

    async def each(self, op: ListOp[T], *, segments: int = 1, progress: Report | None = None) -> AsyncIterator[T]:
        """All items of a list, page by page; `progress` is called after each page.

        A scan can be read in several segments at the same time. Its items come in no order then.
        """
        async for item in read_in_tasks(self.run, segments_of(op, segments), progress):
            yield item

    async def cursors(self) -> Cursors:
        """Cursors with the store's secret, for a list that was sorted after it was read."""
        return await self._drive(self._reader.lists.sealer.cursors())

    async def create_tables(self) -> None:
        """Create the tables that don't exist yet."""
        await self._drive(create_tables(self.design))

    async def tables_exist(self) -> dict[str, bool]:
        """Whether each of the design's tables exists, by name."""
        return await self._drive(tables_exist(self.design))

    async def _drive(self, steps: Steps[T]) -> T:
        until = 0.0
        try:
            step = next(steps)
            while True:
                try:
                    if type(step) is Wait:
                        until = self._waiting_until(step, until)
                    answer = await self._carry(step)
                except (ClientFailure, DataError, InvalidValue) as failure:
                    step = steps.throw(failure)
                else:
                    step = steps.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        except ClientFailure as failure:
            raise given_up(failure) from failure

    async def _carry(self, step: Step) -> object:
        if isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, Computation):
            return await asyncio.to_thread(step.compute)
        if isinstance(step, Several):
            return await self._drive_all(step.steps)
        if isinstance(step, ObjectCall):
            found = await asyncio.to_thread(object_method(self._objects, step.method), *step.arguments)
            return await found if inspect.isawaitable(found) else found
        method = getattr(self.client, step.operation)
        try:
            # Only the answer tells whether a client is for asyncio: aiobotocore's methods are plain functions that
            # return an awaitable. Until one has, a call might block, so it is made in a thread.
            answer = method(**step.request) if self._awaits else await asyncio.to_thread(method, **step.request)
            if inspect.isawaitable(answer):
                self._awaits = True
                answer = await answer
            return answer
        except (ClientError, BotoCoreError) as error:
            raise _failure(error) from error

    async def _drive_all(self, steps: Sequence[Steps[T]]) -> list[T]:
        """Carry out steps at the same time. If one fails, the others are ended."""
        tasks = [asyncio.ensure_future(self._drive(each)) for each in steps]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise


def _failure(error: ClientError | BotoCoreError) -> ClientFailure:
    if isinstance(error, BotoCoreError):
        return ClientFailure(type(error).__name__, str(error), {})
    response: Any = error.response
    return ClientFailure(response["Error"]["Code"], response["Error"].get("Message", ""), response)
