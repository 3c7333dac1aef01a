"""Operations without I/O: generators that ask for calls and get answers.

A generator yields a `Call` (a method of the DynamoDB client with its request), an `ObjectCall`, a `Computation`, a
`Wait`, or `Several` generators that don't depend on each other. It is sent the answer, and returns the result of the
operation. `Store` and `AsyncStore` only carry these out, so that every operation is written once for threads and
asyncio.
"""

import random
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from keyplan.data.errors import Conflict, DataError, MissingTable, RequestFailed, Throttled, TokenReused, Unsupported

T = TypeVar("T")

RETRIES = 8
"""How often a call is repeated in a row without success."""
ATTEMPTS = 10
"""How often an operation is tried when others keep changing its item."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0


class Call(NamedTuple):
    """A method of the client with its keyword arguments."""

    operation: str
    request: dict[str, Any]


class Wait(NamedTuple):
    """A pause, in seconds, before something is tried again."""

    seconds: float
    error: DataError | None = None
    """What a store raises instead if its time for waiting is over; without one, it always waits."""
    first: bool = False
    """Whether the time for waiting begins here, with the call before."""


class ObjectCall(NamedTuple):
    """A method of the store's object storage with its arguments."""

    method: str
    arguments: tuple[Any, ...]


class Computation(NamedTuple):
    """A function that takes so long that an event loop shouldn't wait for it. What it raises is thrown back."""

    compute: Callable[[], Any]


Answer: TypeAlias = dict[str, Any]
Step: TypeAlias = "Call | Wait | ObjectCall | Computation | Several"
Steps: TypeAlias = Generator[Step, Any, T]


class Several(NamedTuple):
    """Steps that don't depend on each other: an asynchronous store carries them out at the same time.

    The answer is the list of their results.
    """

    steps: "tuple[Steps[Any], ...]"


class ClientFailure(Exception):
    """The client's error for a call, as a store throws it into the generator."""

    def __init__(self, code: str, message: str, response: dict[str, Any]) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.response = response
        self.call: Call | None = None
        """The call that failed."""

    @property
    def repeated(self) -> bool:
        """Whether the client repeated the request before this answer."""
        return bool(self.response.get("ResponseMetadata", {}).get("RetryAttempts"))


_THROTTLING = {"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"}
_CONFLICTS = {"TransactionConflictException", "TransactionInProgressException"}

UNSUPPORTED = {"UnknownOperationException", "UnknownOperation", "NotImplemented", "NotImplementedException", "501"}
"""How endpoints say that they lack an operation; 501 is botocore's name for an answer without a code."""


def pause(attempt: int) -> float:
    """Seconds to wait before the next attempt: longer each time, with jitter."""
    return random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt))


def call(operation: str, request: dict[str, Any]) -> Steps[Answer]:
    """Make a call, and repeat a transaction that lost to others. Other failures are raised as `ClientFailure`.

    Throttling, errors of the server and lost connections are the client's to repeat: it knows its own settings, and
    repeating them here too would multiply the two. A cancelled transaction has written nothing, and one that may be in
    progress has the same token, so both can be repeated.
    """
    asked = Call(operation, request)
    for attempt in range(RETRIES + 1):
        try:
            answer: Answer = yield asked
            return answer
        except ClientFailure as failure:
            failure.call = asked
            if failure.code not in _CONFLICTS and not only_conflicts(failure):
                raise
            error = given_up(failure)
            if attempt == RETRIES:
                raise error from failure
        yield Wait(pause(attempt), error, first=attempt == 0)
    raise AssertionError("unreachable")


def computed(compute: Callable[[], T], *, long: bool) -> Steps[T]:
    """The result of a function; if it takes long, in a thread of an asynchronous store."""
    if not long:
        return compute()
    result: T = yield Computation(compute)
    return result


def together(steps: Sequence[Steps[T]]) -> Steps[list[T]]:
    """The results of steps that don't depend on each other."""
    if len(steps) == 1:
        return [(yield from steps[0])]
    results: list[T] = yield Several(tuple(steps))
    return results


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
    if failure.code in UNSUPPORTED:
        return Unsupported(operation, failure.code)
    if failure.code == "IdempotentParameterMismatchException":
        return TokenReused(operation, failure.code, "the token was used for another transaction in the last 10 minutes")
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
