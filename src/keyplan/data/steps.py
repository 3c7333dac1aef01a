"""Operations without I/O: generators that ask for calls and get answers.

A generator yields a `Call` (a method of the DynamoDB client with its request) or a `Wait`, is sent the answer, and
returns the result of the operation. `Store` and `AsyncStore` only carry out calls and waits, so that every operation is
written once for threads and asyncio.
"""

import random
from collections.abc import Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from keyplan.data.errors import Conflict, MissingTable, RequestFailed, Throttled

T = TypeVar("T")

RETRIES = 8
ATTEMPTS = 10
"""How often an operation is tried when others keep changing its item."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0


class Call(NamedTuple):
    """A method of the client with its keyword arguments."""

    operation: str
    request: dict[str, Any]


class Wait(NamedTuple):
    """A pause, in seconds."""

    seconds: float


Answer: TypeAlias = dict[str, Any]
Step: TypeAlias = Call | Wait
Steps: TypeAlias = Generator[Step, Any, T]


class ClientFailure(Exception):
    """The client's error for a call, as a store throws it into the generator."""

    def __init__(self, code: str, message: str, response: dict[str, Any]) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.response = response
        self.call: Call | None = None
        """The call that failed."""


_THROTTLING = {"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"}
_CONFLICTS = {"TransactionConflictException", "TransactionInProgressException"}
_PASSING = {
    "InternalServerError",
    "ServiceUnavailable",
    # botocore's names for lost connections: the request may or may not have arrived
    "ConnectionClosedError",
    "ConnectTimeoutError",
    "EndpointConnectionError",
    "ReadTimeoutError",
}


def pause(attempt: int) -> float:
    """Seconds to wait before the next attempt: longer each time, with jitter."""
    return random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt))


def call(operation: str, request: dict[str, Any], *, again: bool = True) -> Steps[Answer]:
    """Make a call, and retry it where that is safe and may help. Other failures are raised as `ClientFailure`.

    `again` says that the call may be repeated when it is unknown whether it arrived: reads, and writes with a token.
    """
    attempt = 0
    asked = Call(operation, request)
    while True:
        try:
            answer: Answer = yield asked
            return answer
        except ClientFailure as failure:
            failure.call = asked
            retry = failure.code in _THROTTLING or failure.code in _CONFLICTS or only_conflicts(failure)
            if not retry and not (again and failure.code in _PASSING):
                raise
            if attempt == RETRIES:
                raise given_up(failure) from failure
        yield Wait(pause(attempt))
        attempt += 1


def only_conflicts(failure: ClientFailure) -> bool:
    """Whether a transaction was cancelled only because of conflicts with others or missing capacity."""
    if failure.code != "TransactionCanceledException":
        return False
    codes = {reason.get("Code", "None") for reason in failure.response.get("CancellationReasons", [])}
    return bool(codes - {"None"}) and codes <= {"None", "TransactionConflict", "ThrottlingError"}


def given_up(failure: ClientFailure) -> RequestFailed:
    """The error to raise for a call that failed for good."""
    operation, request = failure.call or Call("request", {})
    if failure.code == "ResourceNotFoundException" and (tables := _tables_of(request)):
        return MissingTable(operation, failure.code, tables)
    kind = RequestFailed
    if failure.code in _THROTTLING:
        kind = Throttled
    elif failure.code in _CONFLICTS or only_conflicts(failure):
        kind = Conflict
    return kind(operation, failure.code, failure.message)


def _tables_of(request: dict[str, Any]) -> list[str]:
    """The names of the tables in a request."""
    parts = [part for action in request.get("TransactItems", ()) for part in action.values()]
    named = {part["TableName"] for part in (request, *parts) if "TableName" in part}
    return sorted(named.union(request.get("RequestItems", ())))
