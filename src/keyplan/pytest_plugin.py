"""Fixtures for the tests of any project that uses DynamoDB; pytest finds them once keyplan is installed.

`dynamodb` is a fresh engine in memory, `dynamodb_endpoint` the URL of a fresh endpoint for everything that speaks
HTTP: `boto3.client("dynamodb", endpoint_url=dynamodb_endpoint)`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from keyplan.engine import Engine

# The engine is imported by the fixtures: a test run that does not use them shall not pay for it.


@pytest.fixture
def dynamodb() -> "Iterator[Engine]":
    """A fresh DynamoDB in memory with the methods of boto3's client."""
    from keyplan.engine import Engine

    with Engine() as engine:
        yield engine


@pytest.fixture
def dynamodb_endpoint() -> Iterator[str]:
    """The URL of a fresh DynamoDB endpoint on a free port of the loopback interface."""
    from keyplan.engine import Database
    from keyplan.engine.wire import serve_in_thread

    database = Database()
    try:
        with serve_in_thread(database) as url:
            yield url
    finally:
        database.close()
