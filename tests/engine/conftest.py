"""A fresh database for every test of the operations, reached in-process and through boto3 over the wire.

A test that takes `client` runs twice, with an `Engine` and with a boto3 client of a running endpoint; one that takes
`engine` runs in-process only. `support` has the helpers.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import boto3
import pytest
from botocore.config import Config

from keyplan.engine import Engine
from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer, Later, Outcome, Request
from keyplan.engine.wire import serve_in_thread
from tests.engine.support import Clock, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

__all__ = ["index", "make_table", "refused"]


class Switch:
    """Stands for the database of the test that runs, so that one endpoint serves them all."""

    database: Database

    def execute(self, operation: str, request: Request, *, checked: bool = False) -> Answer:
        return self.database.execute(operation, request, checked=checked)

    def execute_now(self, calls: Sequence[tuple[str, Request]], *, may_write: bool = True) -> list[Outcome | None]:
        return self.database.execute_now(calls, may_write=may_write)

    def execute_beside(self, operation: str, request: Request) -> Outcome:
        return self.database.execute_beside(operation, request)

    def execute_writes(self, writes: Sequence[Later]) -> list[Answer | DynamoError]:
        return self.database.execute_writes(writes)


class Endpoint:
    """A running endpoint and boto3's clients for it. Making them takes longer than most tests."""

    def __init__(self, switch: Switch, url: str) -> None:
        self.switch = switch
        self.url = url
        session = boto3.Session(region_name="us-east-1")
        config = Config(retries={"max_attempts": 0})
        self.client = session.client("dynamodb", endpoint_url=url, config=config)
        self.streams_client = session.client("dynamodbstreams", endpoint_url=url, config=config)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Endpoint]:
    """One endpoint for all tests, in front of the database of the test that runs."""
    switch = Switch()
    with serve_in_thread(switch) as url:
        made = Endpoint(switch, url)
        yield made
        made.client.close()
        made.streams_client.close()


@pytest.fixture
def engine() -> Iterator[Engine]:
    """A fresh engine in memory."""
    with Engine() as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    """The clock of `timed`."""
    return Clock()


@pytest.fixture
def timed(clock: Clock) -> Iterator[Engine]:
    """A fresh engine in memory whose time stands still until the test moves `clock`."""
    with Engine(clock=clock) as made:
        yield made


@pytest.fixture
def database(engine: Engine) -> Database:
    """The database behind all clients of a test."""
    return engine.database


@pytest.fixture(params=["engine", "wire"])
def client(request: pytest.FixtureRequest, engine: Engine) -> "DynamoDBClient":
    """A client for a fresh database: in-process, and over the wire."""
    if request.param == "engine":
        return engine
    endpoint: Endpoint = request.getfixturevalue("endpoint")
    endpoint.switch.database = engine.database
    return endpoint.client


@pytest.fixture
def streams_client(client: "DynamoDBClient", request: pytest.FixtureRequest) -> "DynamoDBStreamsClient":
    """The client for streams that goes with `client`; in-process the engine is both."""
    if isinstance(client, Engine):
        return cast("DynamoDBStreamsClient", client)
    endpoint: Endpoint = request.getfixturevalue("endpoint")
    return endpoint.streams_client
