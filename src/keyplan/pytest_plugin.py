"""Pytest fixtures for projects that use DynamoDB; available once keyplan is installed.

`dynamodb` is a new engine in memory. `dynamodb_endpoint` is the URL of a new endpoint for everything that uses HTTP:
`boto3.client("dynamodb", endpoint_url=dynamodb_endpoint)`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from keyplan.engine import Engine

# The fixtures import the engine, so that test runs that don't use them aren't slowed down.


@pytest.fixture
def dynamodb() -> "Iterator[Engine]":
    """A new DynamoDB in memory, with the methods of boto3's client."""
    from keyplan.engine import Engine

    with Engine() as engine:
        yield engine


@pytest.fixture
def dynamodb_endpoint() -> Iterator[str]:
    """The URL of a new DynamoDB endpoint on a free port of the loopback interface."""
    from keyplan.engine import Database
    from keyplan.engine.wire import serve_in_thread

    database = Database()
    try:
        with serve_in_thread(database) as url:
            yield url
    finally:
        database.close()
