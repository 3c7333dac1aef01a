"""A stand-in for the database, an endpoint for it, and a client that sends exactly the given bytes."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from keyplan.engine.wire import serve_in_thread, server
from tests.engine.wire.client import Client
from tests.engine.wire.fake import FakeDatabase


@pytest.fixture
def database() -> FakeDatabase:
    return FakeDatabase()


@pytest.fixture(params=["loop", "thread", "asyncio"])
def url(request: pytest.FixtureRequest, database: FakeDatabase, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An endpoint; every test runs with the database in uvloop's event loop, in its own thread, in asyncio's loop."""
    if request.param == "asyncio":
        monkeypatch.setattr(server, "new_event_loop", asyncio.new_event_loop)
    before = set(threading.enumerate())
    with serve_in_thread(database, background=request.param == "thread") as url:
        yield url
    left = set(threading.enumerate()) - before
    assert not [thread for thread in left if thread.name.startswith("keyplan")]


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as client:
        yield client
