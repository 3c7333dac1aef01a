"""Operations without I/O: generators that ask for calls and get answers.

An operation is worked out by a generator that yields a `Call` (a method of the DynamoDB client with its request) or a
`Wait`, is sent the answer, and returns its result. A driver (`store`, `aio`) does nothing but carry these out, so that
there is one way of doing things for threads and for asyncio.
"""

import random
from collections.abc import Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from keyplan.data.errors import Conflict, MissingTable, RequestFailed, Throttled

T = TypeVar("T")

RETRIES = 8
ATTEMPTS = 10
"""How often an operation starts over when somebody else changed its item meanwhile."""
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
    """The client's error for a call, as a driver passes it into the generator."""

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
    # botocore's names for a connection that was lost, so that nobody knows whether the request arrived
    "ConnectionClosedError",
    "ConnectTimeoutError",
    "EndpointConnectionError",
    "ReadTimeoutError",
}


def pause(attempt: int) -> float:
    """How long to wait before the next attempt: longer each time, and never two callers in step."""
    return random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt))


def call(operation: str, request: dict[str, Any], *, again: bool = True) -> Steps[Answer]:
    """Make a call, again after a pause where that is safe and may help; other failures are the caller's to explain.

    `again` says that repeating the call does no harm: reads, and writes whose outcome does not depend on it.
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
    """Whether a transaction was cancelled for nothing but conflicts with others and a lack of capacity."""
    if failure.code != "TransactionCanceledException":
        return False
    codes = {reason.get("Code", "None") for reason in failure.response.get("CancellationReasons", [])}
    return bool(codes - {"None"}) and codes <= {"None", "TransactionConflict", "ThrottlingError"}


def given_up(failure: ClientFailure) -> RequestFailed:
    """The error for a call that failed in the end."""
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
    """The tables that a request names."""
    parts = [part for action in request.get("TransactItems", ()) for part in action.values()]
    named = {part["TableName"] for part in (request, *parts) if "TableName" in part}
    return sorted(named.union(request.get("RequestItems", ())))
