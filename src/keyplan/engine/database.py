"""`Database`: requests in, answers out, in the wire's JSON form.

`Engine` and the HTTP endpoint are both built on it. It checks a request against the service model, runs its operation
in a storage transaction, and runs the maintenance between requests.

A thread that may wait calls `execute`. The endpoint's event loop calls `execute_now`, which does what can be done in
some milliseconds without waiting. A write that finds the write lock taken, an operation that takes long, and every
write whose commit waits for the disk are for later, in a thread. A page of a Query or Scan is read in slices, with the
requests of others between them: a thread would compete for Python's lock, which a GetItem needs five times.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from keyplan.engine.background.maintenance import Maintenance
from keyplan.engine.errors import DamagedFile, DynamoError, unknown_operation, validation_error
from keyplan.engine.executor import ASKS_FOR_ADDRESS, NOBODY, Answer, CalledOperation, Later, Outcome, Request
from keyplan.engine.objects import open_store
from keyplan.engine.operations import OPERATIONS, Operation
from keyplan.engine.regions import RegionMode, Regions
from keyplan.engine.storage import history
from keyplan.engine.storage.limits import cache_mib
from keyplan.engine.storage.storage import Busy, Durability, Storage
from keyplan.engine.storage.transaction import Paused, Transaction
from keyplan.engine.validation import check_request
from keyplan.engine.vectors.memory import VectorMemory

log = logging.getLogger("keyplan.engine")

SLICE_SECONDS = 0.001
"""How long a page is read before others have their turn. Shorter slices cost more: each is a transaction."""
TURN_SECONDS = 0.004
"""After this time, `execute_now` begins no more requests."""
_LOOK_EVERY = 8
"""Requests that are checked before the next look at the clock."""


class HistorySize(NamedTuple):
    """How large a table's history is: the number of changes, and their bytes, which are estimated."""

    changes: int
    bytes: int


class _Write(Later):
    """A checked write that is for later."""

    __slots__ = ("operation", "request")

    def __init__(self, operation: Operation, request: Request, go_on: Callable[[], Outcome]) -> None:
        super().__init__("writes", go_on)
        self.operation = operation
        self.request = request


NO_STORE = (
    "This DynamoDB has no S3 to export to and to import from: set s3 of Engine, or --s3 of keyplan dynamodb, to a "
    "folder or to the URL of an S3 endpoint"
)


class Database:
    """A DynamoDB with all its tables in one file, or in memory. Thread-safe; several processes may share a file."""

    def __init__(
        self,
        path: str = ":memory:",
        *,
        durability: Durability = "normal",
        clock: Callable[[], float] = time.time,
        ttl_interval: float | None = None,
        vector_memory: int | None = None,
        s3: str | Path | None = None,
        regions: RegionMode = "one",
        accounts: Mapping[str, str] | None = None,
    ) -> None:
        """`vector_memory` is how many MiB the vector indexes that are held in memory may take."""
        self._regions = Regions(regions, accounts)
        # The operations that are the same for all callers.
        self._direct = {} if self._regions.separate else {**OPERATIONS}
        self._direct.pop(ASKS_FOR_ADDRESS, None)
        self._commits_wait = durability == "full" and path != ":memory:"
        self._store = None if s3 is None else open_store(s3)
        self._storage = Storage(path, durability=durability, clock=clock)
        self._vectors = VectorMemory((cache_mib() if vector_memory is None else vector_memory) * 2**20)
        try:
            self._maintenance = Maintenance(self._storage, ttl_interval, self._store)
        except BaseException:
            self._storage.close()
            raise

    def execute(self, operation: str, request: Request, *, checked: bool = False) -> Answer:
        """Return the answer to one request, or raise the `DynamoError` that is its answer.

        `checked` says that the caller has read the request with the operation's reader already.
        """
        known = self._direct.get(operation) or self._operation(operation)
        return self._run(known, request if checked else check_request(operation, request))

    @property
    def regions_are_separate(self) -> bool:
        """Whether callers see only the tables of their account in their region."""
        return self._regions.separate

    def _operation(self, name: str) -> Operation:
        operation = OPERATIONS.get(name)
        if operation is None:
            raise unknown_operation()
        if self._regions.separate or name == ASKS_FOR_ADDRESS:
            return self._regions.operation_for(operation, name.caller if isinstance(name, CalledOperation) else NOBODY)
        return operation

    def _run(self, operation: Operation, request: Request) -> Answer:
        run = operation.run
        if not operation.alone:
            if not operation.writes or (operation.only_reads is not None and operation.only_reads(request)):
                return self._storage.read(lambda transaction: run(transaction, request))
            return self._storage.write(lambda transaction: run(transaction, request))
        if operation.search is not None:
            return operation.search(self._storage.read, self._vectors, request)
        if operation.needs_store and self._store is None:
            raise validation_error(NO_STORE)
        answer = self._storage.write(lambda transaction: run(transaction, request))
        if self._vectors.held_bytes:
            self._vectors.keep_only(self._storage.read(_vector_indexes))
        if operation.starts_work and self._maintenance.has_work():
            self._maintenance.start()
        return answer

    def execute_many(self, calls: Sequence[tuple[str, Request]]) -> list[Answer | DynamoError]:
        """Return the answers to several requests, in order; as many of them as possible share a transaction."""
        checked: list[Later] = []
        for name, request in calls:
            try:
                operation, request = self._operation(name), check_request(name, request)
            except DynamoError as error:
                operation = _raiser(error)
            checked.append(self._later(operation, request, writes=True))
        return self.execute_writes(checked)

    def execute_now(self, calls: Sequence[tuple[str, Request]], *, may_write: bool = True) -> list[Outcome | None]:
        """Return what can be said about several requests within some milliseconds and without waiting, in their order.

        None means that a request wasn't begun and should be given again. Without `may_write`, every write is for later.
        """
        may_write = may_write and not self._commits_wait
        if len(calls) == 1:
            return [self._one_now(*calls[0], may_write=may_write)]
        until = time.perf_counter() + TURN_SECONDS
        outcomes: list[Outcome | None] = [None] * len(calls)
        group: list[tuple[int, Operation, Request]] = []
        writes = False
        for position, (name, request) in enumerate(calls):
            if position % _LOOK_EVERY == _LOOK_EVERY - 1 and time.perf_counter() > until:
                break
            try:
                operation = self._operation(name)
                request = check_request(name, request)
                changes = operation.writes and operation.writes_for(request)
            except DynamoError as error:
                outcomes[position] = error
                continue
            if (changes and not may_write) or (operation.takes_long is not None and operation.takes_long(request)):
                outcomes[position] = self._later(operation, request, writes=changes)
            else:
                writes = writes or changes
                group.append((position, operation, request))
        if group:
            self._run_now(group, outcomes, until, writes=writes)
        return outcomes

    def _one_now(self, name: str, request: Request, *, may_write: bool) -> Outcome:
        """The same for a request that comes alone, in less time."""
        try:
            operation = self._operation(name)
            request = check_request(name, request)
            writes = operation.writes and operation.writes_for(request)
        except DynamoError as error:
            return error
        if (writes and not may_write) or (operation.takes_long is not None and operation.takes_long(request)):
            return self._later(operation, request, writes=writes)
        run = operation.run
        try:
            if writes:
                return self._storage.write_now(lambda transaction: run(transaction, request))
            return self._storage.read(
                lambda transaction: run(transaction, request), wait=False, pause_after=SLICE_SECONDS
            )
        except DynamoError as error:
            return error
        except Paused as paused:
            return Later("loop", partial(self._go_on, paused))
        except Exception:  # noqa: BLE001 - Busy, or a fault, which the thread meets again and logs
            return self._later(operation, request, writes=writes)

    def _run_now(
        self,
        group: list[tuple[int, Operation, Request]],
        outcomes: list[Outcome | None],
        until: float,
        *,
        writes: bool,
    ) -> None:
        """Run requests in one transaction, until the time is over; their outcomes go to their positions."""

        def work(transaction: Transaction) -> list[Outcome]:
            answers: list[Outcome] = []
            for _, operation, request in group:
                try:
                    answers.append(operation.run(transaction, request))
                except DynamoError as error:
                    answers.append(error)
                except Paused as paused:
                    answers.append(Later("loop", partial(self._go_on, paused)))
                if time.perf_counter() > until:
                    break
            return answers

        try:
            if writes:
                answers = self._storage.write_now(work, pause_after=SLICE_SECONDS)
            else:
                answers = self._storage.read(work, wait=False, pause_after=SLICE_SECONDS)
        except Busy:
            for position, operation, request in group:
                if not writes or operation.writes_for(request):
                    outcomes[position] = self._later(operation, request, writes=writes)
            if writes and (reads := [call for call in group if outcomes[call[0]] is None]):
                self._run_now(reads, outcomes, until, writes=False)
        except Exception as error:  # noqa: BLE001 - it is logged
            # Nothing of the group was written. Each gets its own transaction, so that only the faulty one fails.
            if len(group) > 1:
                _log_fault(error, len(group))
            for position, operation, request in group:
                outcomes[position] = self._later(operation, request, writes=operation.writes_for(request))
        else:
            for call, answer in zip(group, answers, strict=False):
                outcomes[call[0]] = answer

    def _go_on(self, paused: Paused) -> Outcome:
        """Read the next slice of a page."""
        try:
            return self._storage.read(paused.resume, wait=False, pause_after=SLICE_SECONDS)
        except Paused as again:
            return Later("loop", partial(self._go_on, again))
        except Busy:
            return Later("reads", partial(self._finish, paused))
        except Exception as error:  # noqa: BLE001 - every request gets an answer
            return _failure(error)

    def _finish(self, paused: Paused) -> Outcome:
        """Read the rest of a page, in a thread."""
        try:
            return self._storage.read(paused.resume)
        except Exception as error:  # noqa: BLE001 - every request gets an answer
            return _failure(error)

    def _later(self, operation: Operation, request: Request, *, writes: bool) -> Later:
        answer = partial(self._answer, operation, request)
        return _Write(operation, request, answer) if writes else Later("reads", answer)

    def execute_beside(self, operation: str, request: Request) -> Outcome:
        """Return the answer to a large request, in a thread that may take long; a write is for later."""
        try:
            known = self._operation(operation)
            request = check_request(operation, request)
            if known.writes_for(request):
                return self._later(known, request, writes=True)
            return self._run(known, request)
        except Exception as error:  # noqa: BLE001 - every request gets an answer
            return _failure(error)

    def execute_writes(self, writes: Sequence[Later]) -> list[Answer | DynamoError]:
        """Return the answers to writes that were for later, in their order; waits for the write lock."""
        answers: list[Answer | DynamoError] = []
        group: list[_Write] = []
        for write in writes:
            assert isinstance(write, _Write)
            if write.operation.alone:
                answers += self._run_group(group)
                group = []
                answers += self._run_group([write])
            else:
                group.append(write)
        return answers + self._run_group(group)

    def _run_group(self, group: list[_Write]) -> list[Answer | DynamoError]:
        if len(group) > 1:
            writes = any(write.operation.writes_for(write.request) for write in group)
            work = partial(_answers, group)
            try:
                return self._storage.write(work) if writes else self._storage.read(work)
            except Exception as error:  # noqa: BLE001 - it is logged
                # Nothing of the group was written. Each gets its own transaction, so that only the faulty one fails.
                _log_fault(error, len(group))
        return [self._answer(write.operation, write.request) for write in group]

    def _answer(self, operation: Operation, request: Request) -> Answer | DynamoError:
        try:
            return self._run(operation, request)
        except Exception as error:  # noqa: BLE001 - every request gets an answer
            return _failure(error)

    def sweep_expired(self) -> int:
        """Delete expired items and stream records older than a day; return the number of items."""
        return self._maintenance.sweep()

    def history_sizes(self) -> dict[str, HistorySize]:
        """Return how large the histories are that point-in-time recovery keeps, by table."""
        return {name: HistorySize(*size) for name, size in self._storage.read(history.sizes).items()}

    def close(self) -> None:
        """Finish what is in progress and close the file."""
        self._maintenance.stop()
        self._storage.close()


def _vector_indexes(transaction: Transaction) -> set[str]:
    """The SQLite tables of all vector indexes."""
    return {index.rows for table in transaction.tables_everywhere() for index in table.vector_indexes}


def _answers(group: list[_Write], transaction: Transaction) -> list[Answer | DynamoError]:
    """Run several requests in one transaction."""
    answers: list[Answer | DynamoError] = []
    for write in group:
        try:
            answers.append(write.operation.run(transaction, write.request))
        except DynamoError as error:
            answers.append(error)
    return answers


def _log_fault(error: Exception, requests: int) -> None:
    """Log why requests can't share a transaction, unless the storage refuses them and has said why."""
    if not isinstance(error, DynamoError | DamagedFile):
        log.error("%d requests could not share a transaction", requests, exc_info=error)


def _failure(error: Exception) -> DynamoError:
    """The answer to a request that raised an error. What isn't for clients is logged."""
    if isinstance(error, DynamoError):
        return error
    if isinstance(error, DamagedFile):
        log.error("%s", error)  # it names the file
        message = "The database file is damaged. The log of the endpoint says where, and what to do."
        return DynamoError("InternalServerError", message, status=500)
    log.error("A request failed", exc_info=error)
    return DynamoError("InternalServerError", "The request processing has failed", status=500)


def _raiser(error: DynamoError) -> Operation:
    """Stands for a request that was refused already, so that answers stay in order."""

    def run(transaction: Transaction, request: Request) -> Answer:
        raise error

    return Operation(run, writes=False, alone=False)
