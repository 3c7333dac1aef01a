"""A stand-in for the database, an endpoint for it, and a client that sends exactly the given bytes."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from keyplan.engine.wire import serve_in_thread, server
from tests.engine.wire.client import Client
from tests.engine.wire.fake import FakeDatabase


@pytest.fixture(params=["now", "loop", "reads", "writes"])
def database(request: pytest.FixtureRequest) -> FakeDatabase:
    """Every test of the endpoint runs with requests that are answered at once, and with each place for later."""
    return FakeDatabase(None if request.param == "now" else request.param)


@pytest.fixture
def url(database: FakeDatabase, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An endpoint on uvloop's event loop, or on asyncio's, which is used where there is no uvloop."""
    if database.place == "reads":
        monkeypatch.setattr(server, "new_event_loop", asyncio.new_event_loop)
    before = set(threading.enumerate())
    with serve_in_thread(database) as url:
        yield url
    left = set(threading.enumerate()) - before
    assert not [thread for thread in left if thread.name.startswith("keyplan")]


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as client:
        yield client
