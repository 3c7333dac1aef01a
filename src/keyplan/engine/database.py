"""`Database`: requests in, answers out, in the wire's JSON form.

`Engine` and the HTTP endpoint are both built on it. It checks a request against the service model, runs its operation
in a storage transaction, and runs the maintenance between requests.
"""

import logging
import time
from collections.abc import Callable, Sequence

from keyplan.engine.background.maintenance import Maintenance
from keyplan.engine.errors import DamagedFile, DynamoError, unknown_operation
from keyplan.engine.executor import Answer, Request
from keyplan.engine.operations import OPERATIONS, Operation
from keyplan.engine.storage.storage import Durability, Storage
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.validation import check_request

log = logging.getLogger("keyplan.engine")


class Database:
    """A DynamoDB with all its tables in one file, or in memory. Thread-safe; several processes may share a file."""

    def __init__(
        self,
        path: str = ":memory:",
        *,
        durability: Durability = "normal",
        clock: Callable[[], float] = time.time,
        ttl_interval: float | None = None,
    ) -> None:
        self._storage = Storage(path, durability=durability, clock=clock)
        try:
            self._maintenance = Maintenance(self._storage, ttl_interval)
        except BaseException:
            self._storage.close()
            raise

    def execute(self, operation: str, request: Request, *, checked: bool = False) -> Answer:
        """Return the answer to one request, or raise the `DynamoError` that is its answer.

        `checked` says that the caller has read the request with the operation's reader already.
        """
        known = _operation(operation)
        return self._run(known, request if checked else check_request(operation, request))

    def _run(self, operation: Operation, request: Request) -> Answer:
        run = operation.run
        if not operation.writes or (operation.only_reads is not None and operation.only_reads(request)):
            return self._storage.read(lambda transaction: run(transaction, request))
        answer = self._storage.write(lambda transaction: run(transaction, request))
        if operation.starts_work and self._maintenance.has_work():
            self._maintenance.start()
        return answer

    def execute_many(self, calls: Sequence[tuple[str, Request]]) -> list[Answer | DynamoError]:
        """Return the answers to several requests, in order; as many of them as possible share a transaction."""
        answers: list[Answer | DynamoError] = []
        group: list[tuple[Operation, Request]] = []
        for name, request in calls:
            try:
                operation = _operation(name)
                request = check_request(name, request)
            except DynamoError as error:
                group.append((_raiser(error), request))
                continue
            if operation.alone:
                answers += self._run_group(group)
                group = []
                answers.append(self._answer(operation, request))
            else:
                group.append((operation, request))
        return answers + self._run_group(group)

    def _run_group(self, group: list[tuple[Operation, Request]]) -> list[Answer | DynamoError]:
        if not group:
            return []
        if len(group) == 1:
            return [self._answer(*group[0])]
        writes = any(operation.writes_for(request) for operation, request in group)

        def work(transaction: Transaction) -> list[Answer | DynamoError]:
            answers: list[Answer | DynamoError] = []
            for operation, request in group:
                try:
                    answers.append(operation.run(transaction, request))
                except DynamoError as error:
                    answers.append(error)
            return answers

        try:
            return self._storage.write(work) if writes else self._storage.read(work)
        except Exception:
            # Nothing of the group was written. Each gets its own transaction, so that only the faulty one fails.
            log.exception("%d requests could not share a transaction", len(group))
            return [self._answer(*call) for call in group]

    def _answer(self, operation: Operation, request: Request) -> Answer | DynamoError:
        try:
            return self._run(operation, request)
        except DynamoError as error:
            return error
        except DamagedFile as error:
            log.error("%s", error)  # it names the file, which is not for clients
            message = "The database file is damaged. The log of the endpoint says where, and what to do."
            return DynamoError("InternalServerError", message, status=500)
        except Exception:
            log.exception("A request failed")
            return DynamoError("InternalServerError", "The request processing has failed", status=500)

    def sweep_expired(self) -> int:
        """Delete expired items and stream records older than a day; return the number of items."""
        return self._maintenance.sweep()

    def close(self) -> None:
        """Finish what is in progress and close the file."""
        self._maintenance.stop()
        self._storage.close()


def _operation(name: str) -> Operation:
    try:
        return OPERATIONS[name]
    except KeyError:
        raise unknown_operation() from None


def _raiser(error: DynamoError) -> Operation:
    """Stands for a request that was refused already, so that answers stay in order."""

    def run(transaction: Transaction, request: Request) -> Answer:
        raise error

    return Operation(run, writes=False, alone=False)
