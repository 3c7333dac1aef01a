"""The interface between the ways into the engine and its database: a request goes in, an answer comes out."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from keyplan.engine.errors import DynamoError

Request: TypeAlias = dict[str, object]
"""A decoded request by AWS's member names, in the wire's JSON form."""
Answer: TypeAlias = dict[str, object]
"""An answer in the wire's JSON form; items in it may be `orjson.Fragment`s of their stored JSON."""
NOTHING: Answer = {}
"""The answer of an operation without output, which is sent without a body."""


class Executor(Protocol):
    """Something that answers requests: the database, or a stand-in for it in tests."""

    def execute(self, operation: str, request: Request, *, checked: bool = False) -> Answer:
        """Return the answer to one request, or raise the `DynamoError` that is its answer.

        `checked` says that the caller has read the request with the operation's reader already.
        """
        ...

    def execute_many(self, calls: Sequence[tuple[str, Request]]) -> list[Answer | DynamoError]:
        """Return the answers to several requests, in their order."""
        ...
