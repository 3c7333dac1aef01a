"""A store on a client in trouble: how long it waits, and what it makes of an answer that was lost."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

from keyplan.data import (
    AlreadyExists,
    AsyncStore,
    Conflict,
    NotFound,
    RequestFailed,
    Store,
    Throttled,
    at,
    create,
    delete,
    patch,
    put_all,
    update,
)
from keyplan.data import operations as operations_module
from keyplan.data import store as store_module
from keyplan.data.steps import RETRIES
from keyplan.design import batch_get, get, ref
from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread
from tests.data.club import Club, Note, User
from tests.data.support import Failing, Recorder, failure

CANCELLED = failure("TransactionCanceledException", "TransactionConflict")


class VirtualTime:
    """Time that passes only by sleeping, and with each call."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    clock = VirtualTime()
    monkeypatch.setattr(store_module, "time", clock)
    monkeypatch.setattr(operations_module, "time", clock)
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    return clock


class Slow:
    """Answers each call after some seconds of virtual time."""

    def __init__(self, client: object, clock: VirtualTime, seconds: float) -> None:
        self.client = client
        self.clock = clock
        self.seconds = seconds

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.clock.sleep(self.seconds)
            return getattr(self.client, name)(**request)

        return call


class Unwilling:
    """Leaves everything in a batch unprocessed, or all but one."""

    def __init__(self, client: object, *, takes_one: bool = False) -> None:
        self.client = client
        self.takes_one = takes_one
        self.calls = 0

    def batch_get_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - DynamoDB's name
        self.calls += 1
        return {"Responses": {}, "UnprocessedKeys": RequestItems}

    def batch_write_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - DynamoDB's name
        self.calls += 1
        ((table, requests),) = RequestItems.items()
        left = requests[1:] if self.takes_one else requests
        return {"UnprocessedItems": {table: left} if left else {}}


@pytest.mark.parametrize(("timeout", "seconds", "tried"), [(10, 0, RETRIES + 1), (10, 3, 5), (1, 0, 6), (0.01, 0, 1)])
def test_a_transaction_in_conflict_is_repeated_until_the_time_is_over(
    store: Store[Club], passing: VirtualTime, timeout: float, seconds: float, tried: int
) -> None:
    client = Failing(object(), [CANCELLED] * 50)
    began = passing.now
    with pytest.raises(Conflict, match="TransactionCanceledException"):
        Store(store.design, Slow(client, passing, seconds), timeout=timeout).run(create(User(username="a", email="a")))
    assert client.tried == tried
    assert passing.now - began <= timeout + 2 * seconds


def test_asyncio_has_the_same_deadline(store: Store[Club], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    client = Failing(object(), [CANCELLED] * 50)
    with pytest.raises(Conflict):
        asyncio.run(AsyncStore(store.design, client, timeout=0.1).run(create(User(username="a", email="a"))))
    assert client.tried == 3


def test_an_unprocessed_batch_is_repeated_until_the_time_is_over(store: Store[Club], passing: VirtualTime) -> None:
    for op in (batch_get(User, ["ann"]), put_all([Note(note_id="n")])):
        client = Unwilling(object())
        with pytest.raises(Throttled, match="unprocessed"):
            Store(store.design, client, timeout=1).run(op)
        assert client.calls == 5


def test_a_batch_that_gets_on_may_take_longer(store: Store[Club], passing: VirtualTime) -> None:
    client = Unwilling(object(), takes_one=True)
    began = passing.now
    slow = Slow(client, passing, 1.0)
    assert Store(store.design, slow, timeout=1).run(put_all(Note(note_id=f"n{n}") for n in range(20))) == 20
    assert client.calls == 20
    assert passing.now - began > 20


class Forgetful:
    """Carries out a write, loses the answer, and repeats the request, as boto3 does after a lost connection."""

    def __init__(self, client: object, only: str) -> None:
        self.client = client
        self.only = only

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        def call(**request: Any) -> Any:
            if name != self.only:
                return method(**request)
            method(**request)
            try:
                return method(**request)
            except self.client.exceptions.ConditionalCheckFailedException as error:  # type: ignore[attr-defined]  # an engine
                error.response["ResponseMetadata"] = {"RetryAttempts": 1}
                raise

        return call


def test_a_write_that_the_client_repeated_is_not_taken_for_somebody_elses(store: Store[Club], raw: Any) -> None:
    note = Store(store.design, Forgetful(raw, "put_item"), clock=store.clock).run(create(Note(note_id="n", stars=1)))
    note.stars = 2
    Store(store.design, Forgetful(raw, "update_item"), clock=store.clock).run(update(note))
    note.stars = 3
    store.run(update(note))
    Store(store.design, Forgetful(raw, "delete_item"), clock=store.clock).run(delete(note))
    assert raw.scan(TableName="Club")["Count"] == 0


def test_a_repeated_write_that_others_made_impossible_is_refused(store: Store[Club], raw: Any, sent: Recorder) -> None:
    store.run(create(Note(note_id="n", text="theirs")))
    error = failure("ConditionalCheckFailedException")
    error.response["ResponseMetadata"] = {"RetryAttempts": 1}  # type: ignore[typeddict-item]  # the rest isn't needed
    error.response["Item"] = raw.scan(TableName="Club")["Items"][0]  # type: ignore[typeddict-unknown-key]
    with pytest.raises(AlreadyExists):
        Store(store.design, Failing(sent, [error])).run(create(Note(note_id="n", text="mine")))
    store.run(delete(Note(note_id="n", text="theirs")))
    with pytest.raises(NotFound):
        store.run(delete(Note(note_id="n", text="theirs")))


@contextmanager
def losing_an_answer(engine: Engine) -> Iterator[tuple[str, list[str]]]:
    """An endpoint that carries out every request, and closes the connection instead of answering the first one.

    Also the operations that it was asked for.
    """
    asked: list[str] = []
    with serve_in_thread(engine.database) as behind:

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                asked.append(self.headers["X-Amz-Target"].partition(".")[2])
                server = HTTPConnection(urlsplit(behind).netloc)
                server.request("POST", "/", body, dict(self.headers.items()))
                answer = server.getresponse()
                content = answer.read()
                server.close()
                if len(asked) == 1:
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            server.server_close()


NOTE = ref(Note, note_id="n")
LOST: list[tuple[str, dict[str, Any], Callable[[Store[Club]], object], int, list[str]]] = [
    ("an increment", {}, lambda s: s.run(patch(NOTE, lambda n: at(n.stars).add(1))), 3, ["UpdateItem"] * 2),
    (
        "with a token",
        {},
        lambda s: s.transact(patch(NOTE, lambda n: at(n.stars).add(1)), token="t"),
        2,
        ["TransactWriteItems"] * 2,
    ),
    (
        "never repeated",
        {"total_max_attempts": 1},
        lambda s: s.run(patch(NOTE, lambda n: at(n.stars).add(1))),
        2,
        ["UpdateItem"],
    ),
]


@pytest.mark.parametrize(
    ("retries", "write", "stars", "requests"), [each[1:] for each in LOST], ids=[e[0] for e in LOST]
)
def test_an_increment_whose_answer_is_lost(
    store: Store[Club],
    raw: Engine,
    retries: Any,
    write: Callable[[Store[Club]], object],
    stars: int,
    requests: list[str],
) -> None:
    """What boto3 does by itself, and what the documentation says against it."""
    store.run(create(Note(note_id="n", stars=1)))
    own: Any = dict(retries)  # botocore changes it
    with losing_an_answer(raw) as (url, asked):
        boto = boto3.client("dynamodb", endpoint_url=url, region_name="us-east-1", config=Config(retries=own))
        through_boto3 = Store(store.design, boto, clock=store.clock)
        if retries:
            with pytest.raises(RequestFailed, match="update_item: ConnectionClosedError"):
                write(through_boto3)
        else:
            write(through_boto3)
        assert asked == requests
    note = store.run(get(Note, note_id="n"))
    assert note is not None
    assert note.stars == stars
