"""The embedded DynamoDB as a Python object with the methods of boto3's clients."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from keyplan.engine.database import Database

if TYPE_CHECKING:
    from aiobotocore.session import AioSession
    from boto3.session import Session
    from types_boto3_dynamodb import DynamoDBServiceResource

    from keyplan.engine.client.typed import Client, Methods
    from keyplan.engine.database import HistorySize
else:
    from keyplan.engine.client.methods import Methods


class Engine(Methods):
    """A DynamoDB in this process, in memory or durable in one file.

    It has the methods of `boto3.client("dynamodb")` and `boto3.client("dynamodbstreams")`, with the same keyword
    arguments, return values and exceptions, so that a function written for a boto3 client runs on it unchanged.

    `path` is a file, which is created if it doesn't exist, or ":memory:". With `durability="full"` an acknowledged
    write also survives a power failure. `clock` returns the time in seconds. `ttl_interval` is the number of seconds
    between sweeps that delete expired items; None means that only `sweep_expired` deletes them. `vector_memory` is how
    many MiB the vector indexes that are held in memory may take; None is an eighth of the memory, at most 2 GiB. `s3`
    is what exports and imports use as S3: a folder, whose subfolders are the buckets, or the URL of an S3 endpoint.

    With `regions="separate"`, sessions and endpoints see only the tables of their account in their region. `accounts`
    has the accounts by access key. The methods of the engine itself are those of us-east-1 and account 000000000000.
    """

    def __init__(
        self,
        path: str = ":memory:",
        *,
        durability: Literal["normal", "full"] = "normal",
        clock: Callable[[], float] = time.time,
        ttl_interval: float | None = None,
        vector_memory: int | None = None,
        s3: str | Path | None = None,
        regions: Literal["one", "separate"] = "one",
        accounts: Mapping[str, str] | None = None,
    ) -> None:
        self._database = Database(
            path,
            durability=durability,
            clock=clock,
            ttl_interval=ttl_interval,
            vector_memory=vector_memory,
            s3=s3,
            regions=regions,
            accounts=accounts,
        )

    @property
    def database(self) -> Database:
        """The database that answers the requests, for example to serve it over HTTP as well."""
        return self._database

    def sweep_expired(self) -> int:
        """Delete the items whose time to live is over; return the number of deleted items."""
        return self._database.sweep_expired()

    def history_sizes(self) -> "dict[str, HistorySize]":
        """Return how large the histories are that point-in-time recovery keeps, by table.

        Each has the number of `changes`, and their size in `bytes`, which is estimated.
        """
        return self._database.history_sizes()

    def boto3_session(self, region_name: str = "us-east-1") -> "Session":
        """Return a real boto3 session whose DynamoDB requests this engine answers, without a socket."""
        from keyplan.engine.client.sessions import boto3_session  # slow to import, and rarely needed

        return boto3_session(self._database, region_name)

    def boto3_client(self, region_name: str = "us-east-1") -> "Client":
        """Return a real boto3 client for DynamoDB whose requests this engine answers."""
        return self.boto3_session(region_name).client("dynamodb")

    def boto3_resource(self, region_name: str = "us-east-1") -> "DynamoDBServiceResource":
        """Return a real boto3 resource for DynamoDB whose requests this engine answers."""
        return self.boto3_session(region_name).resource("dynamodb")

    def aiobotocore_session(self, region_name: str = "us-east-1") -> "AioSession":
        """Return a real aiobotocore session whose DynamoDB requests this engine answers, without a socket."""
        from keyplan.engine.client.sessions import aiobotocore_session

        return aiobotocore_session(self._database, region_name)

    def close(self) -> None:
        """Close the file. The engine can't be used afterwards."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
