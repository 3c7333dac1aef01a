"""The interface between the ways into the engine and its database: a request goes in, an answer comes out.

In a thread of its own, a caller may wait: `execute` returns when the answer is there. The endpoint has one event loop
for all clients, so nothing in it may wait or take long: `execute_now` answers what can be answered at once, and returns
a `Later` for the rest.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from keyplan.engine.errors import DynamoError

Request: TypeAlias = dict[str, object]
"""A decoded request by AWS's member names, in the wire's JSON form."""
Answer: TypeAlias = dict[str, object]
"""An answer in the wire's JSON form; items in it may be `orjson.Fragment`s of their stored JSON."""
NOTHING: Answer = {}
"""The answer of an operation without output, which is sent without a body."""


class Caller(NamedTuple):
    """Who sends a request, by its signature, and the address that it was sent to."""

    access_key: str
    region: str
    address: str


NOBODY = Caller("", "", "")
"""The caller of the engine's own methods."""


class CalledOperation(str):
    """The name of an operation, with its caller; where the caller doesn't matter, a plain name does."""

    __slots__ = ("caller",)
    caller: Caller

    @classmethod
    def by(cls, caller: Caller, operation: str) -> "CalledOperation":
        made = cls(operation)
        made.caller = caller
        return made


ASKS_FOR_ADDRESS = "DescribeEndpoints"
"""The operation whose answer is the address that it was sent to, so that its caller always matters."""

Place: TypeAlias = Literal["loop", "reads", "writes"]
"""Where the rest of a request is executed: in the event loop, when others had their turn; in a thread for reads that
take long; or in the one thread for writes, which may wait for the file's write lock."""


class Later:
    """A request that wasn't answered at once: `go_on` executes the rest of it, in its place."""

    __slots__ = ("go_on", "place")

    def __init__(self, place: Place, go_on: "Callable[[], Outcome]") -> None:
        self.place = place
        self.go_on = go_on


Outcome: TypeAlias = Answer | DynamoError | Later


class Executor(Protocol):
    """Something that answers requests: the database, or a stand-in for it in tests."""

    def execute(self, operation: str, request: Request, *, checked: bool = False) -> Answer:
        """Return the answer to one request, or raise the `DynamoError` that is its answer.

        `checked` says that the caller has read the request with the operation's reader already.
        """
        ...


class LoopExecutor(Executor, Protocol):
    """An executor for an event loop, which nothing may hold up."""

    def execute_now(self, calls: Sequence[tuple[str, Request]], *, may_write: bool = True) -> list[Outcome | None]:
        """Return what can be said about several requests within some milliseconds and without waiting, in their order.

        None means that a request wasn't begun and should be given again. Without `may_write`, every write is for later.
        """
        ...

    def execute_beside(self, operation: str, request: Request) -> Outcome:
        """Return the answer to a large request, in a thread that may take long; a write is for later."""
        ...

    def execute_writes(self, writes: Sequence[Later]) -> list[Answer | DynamoError]:
        """Return the answers to writes that were for later, in their order; waits for the write lock."""
        ...
