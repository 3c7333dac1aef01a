"""The clients of commands against servers in trouble: over real sockets, with short timeouts."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, EndpointConnectionError, ReadTimeoutError
from typer.testing import CliRunner

from keyplan.cli import main
from keyplan.cli.clients import Repeats, clients
from keyplan.cli.serve import ProgressLines

TIMEOUT = 2.0
KEY = {"pk": {"S": "a"}}


@contextmanager
def client(url: str, timeout: float = TIMEOUT) -> Iterator[Any]:
    made, streams = clients(url, timeout)
    with closing(made), closing(streams):
        yield made


@contextmanager
def answering(*answers: tuple[int, str] | None) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these answers in turn, the last one forever; None closes the connection without an answer.

    Also the operations that it was asked for.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(self.headers["X-Amz-Target"].partition(".")[2])
            answer = answers[min(len(asked), len(answers)) - 1]
            if answer is None:
                self.close_connection = True
                return
            status, code = answer
            body = json.dumps({"__type": f"x#{code}", "message": "as told"} if code else {}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def silent() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def closed() -> Iterator[str]:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    ("place", "error"),
    [
        (closed, EndpointConnectionError),
        (silent, ReadTimeoutError),
        (lambda: answering((500, "InternalServerError")), ClientError),
        (lambda: answering((400, "ThrottlingException")), ClientError),
        (lambda: answering(None), ConnectionClosedError),
    ],
    ids=["a closed port", "no answer", "errors", "throttling", "lost connections"],
)
def test_a_request_ends_within_the_timeout_and_says_what_it_waits_for(
    place: Callable[[], Any], error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    with place() as found, client(found[0] if isinstance(found, tuple) else found) as dynamodb:
        began = time.monotonic()
        with pytest.raises(error), caplog.at_level(logging.WARNING):
            dynamodb.get_item(TableName="Table", Key=KEY)
        assert time.monotonic() - began < TIMEOUT + 0.3
    (said,) = caplog.messages
    assert said.startswith("Waiting for http://127.0.0.1:")
    assert "up to 2 s (KEYPLAN_DYNAMODB_TIMEOUT): " in said


def test_it_names_the_endpoint_that_the_environment_sets(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "eu-west-1"}
    with closed() as url:
        for name, value in {**settings, "AWS_ENDPOINT_URL_DYNAMODB": url}.items():
            monkeypatch.setenv(name, value)
        made, streams = clients(None, 0.1)
        with closing(made), closing(streams), caplog.at_level(logging.WARNING), pytest.raises(EndpointConnectionError):
            made.list_tables()
    assert caplog.messages[0].startswith(f"Waiting for {url}, up to 0.1 s")


@pytest.mark.parametrize("trouble", [(500, "InternalServerError"), (400, "ThrottlingException"), None])
def test_a_request_is_repeated_until_it_succeeds(trouble: tuple[int, str] | None) -> None:
    with answering(trouble, trouble, (200, "")) as (url, asked), client(url, 10) as dynamodb:
        dynamodb.get_item(TableName="Table", Key=KEY)
        assert asked == ["GetItem"] * 3


UPDATES: Sequence[tuple[str, bool]] = [
    ("SET #n = :n", True),
    ("REMOVE #n", True),
    ("ADD #n :n", False),
    ("SET #n = #n + :n", False),
    ("SET #n = list_append(#n, :n)", False),
]


@pytest.mark.parametrize(("update", "again"), UPDATES, ids=[update for update, _ in UPDATES])
@pytest.mark.parametrize("trouble", [(500, "InternalServerError"), None])
def test_an_update_that_may_have_been_carried_out_is_repeated_only_if_that_changes_nothing(
    update: str, again: bool, trouble: tuple[int, str] | None
) -> None:
    with answering(trouble, (200, "")) as (url, asked), client(url, 10) as dynamodb:
        request = {
            "TableName": "Table",
            "Key": KEY,
            "UpdateExpression": update,
            "ExpressionAttributeNames": {"#n": "n"},
        }
        if again:
            dynamodb.update_item(**request)
        else:
            with pytest.raises((ClientError, ConnectionClosedError)):
                dynamodb.update_item(**request)
        assert len(asked) == 1 + again


def test_an_update_that_was_throttled_is_repeated_in_any_case() -> None:
    with answering((400, "ThrottlingException"), (200, "")) as (url, asked), client(url, 10) as dynamodb:
        dynamodb.update_item(
            TableName="Table", Key=KEY, UpdateExpression="ADD #n :n", ExpressionAttributeNames={"#n": "n"}
        )
        assert len(asked) == 2


@pytest.mark.parametrize("refusal", [(400, "ConditionalCheckFailedException"), (501, "NotImplemented")])
def test_a_refusal_is_not_repeated(refusal: tuple[int, str]) -> None:
    with answering(refusal) as (url, asked), client(url) as dynamodb, pytest.raises(ClientError) as refused:
        dynamodb.put_item(TableName="Table", Item=KEY, ConditionExpression="attribute_not_exists(pk)")
    assert refused.value.response["Error"]["Code"] == refusal[1]
    assert len(asked) == 1


def test_the_id_of_a_shard_is_sent_as_it_was_received() -> None:
    """AWS's have at least 28 characters, and boto3 refuses shorter ones, which some servers give."""
    with answering((400, "TrimmedDataAccessException")) as (url, asked), closing(clients(url, TIMEOUT)[1]) as streams:
        with pytest.raises(ClientError, match="TrimmedDataAccessException"):
            streams.get_shard_iterator(StreamArn="a" * 37, ShardId="short", ShardIteratorType="TRIM_HORIZON")
        assert asked == ["GetShardIterator"]


def test_pauses_grow_and_end_in_the_first_half_of_the_timeout() -> None:
    now = 0.0
    repeats = Repeats("here", 10, lambda: now)
    request: dict[str, Any] = {"context": {}, "body": b"{}"}
    repeats.begin(request)
    pauses: list[float] = []
    error = EndpointConnectionError(endpoint_url="here")
    while (pause := repeats.delay(None, len(pauses) + 1, error, None, request)) is not None:
        pauses.append(pause)
        now += pause
    assert 5 <= len(pauses) <= 20
    assert 4 <= now <= 5
    assert pauses[0] <= 0.05
    assert max(pauses) <= 1


@pytest.mark.parametrize("command", [("tables", "wavyblog", "--create"), ("verify", "wavyblog"), ("serve",)])
def test_a_command_gives_up_and_says_where(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPLAN_DYNAMODB_TIMEOUT", "0.2")
    with closed() as url:
        done = CliRunner().invoke(main, [*command, "--endpoint-url", url])
    assert done.exit_code == 2
    assert f'Could not connect to the endpoint URL: "{url}/"' in done.output


@contextmanager
def lacking(endpoint: str, *operations: str) -> Iterator[str]:
    """A server before an endpoint that lacks some operations of it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers["X-Amz-Target"].partition(".")[2] in operations:
                status, answer = 400, b'{"__type":"com.amazon.coral.service#UnknownOperationException"}'
            else:
                headers = {name: self.headers[name] for name in ("X-Amz-Target", "X-Amz-Date", "Authorization")}
                behind = HTTPConnection(endpoint.removeprefix("http://"))
                behind.request("POST", "/", body, {**headers, "Content-Type": "application/x-amz-json-1.0"})
                with behind.getresponse() as response:
                    status, answer = response.status, response.read()
                behind.close()
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_an_endpoint_without_transactions_is_refused_in_one_sentence_before_anything_is_created(
    dynamodb_endpoint: str,
) -> None:
    with lacking(dynamodb_endpoint, "TransactWriteItems") as url, client(dynamodb_endpoint) as behind:
        for command in (("tables", "wavyblog", "--create"), ("serve", "--system", "wavyblog", "--demo")):
            done = CliRunner().invoke(main, [*command, "--endpoint-url", url])
            assert done.exit_code == 2
            assert "this endpoint lacks transactions" in done.output
            assert "Use DynamoDB on AWS, `keyplan dynamodb` or another endpoint that has them" in done.output
            assert len(done.output.splitlines()) == 1
        assert behind.list_tables()["TableNames"] == []


def test_an_endpoint_without_time_to_live_has_its_tables_created(dynamodb_endpoint: str) -> None:
    with lacking(dynamodb_endpoint, "DescribeTimeToLive") as url:
        done = CliRunner().invoke(main, ["tables", "wavyblog", "--create", "--endpoint-url", url])
    assert done.exit_code == 2
    created, housekeeping, said = done.output.splitlines()
    assert (created, housekeeping) == ("WavyBlog: created", "WavyBlog-keyplan: created")
    assert said.startswith("keyplan: Can't turn on time to live: describe_time_to_live: UnknownOperationException: ")
    assert "The tables exist and can be used; delete expired items yourself" in said


def test_demo_data_says_how_far_it_is_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    lines = ProgressLines("WavyBlog", lambda: now)
    for done in range(10):
        now += 2
        lines(done, 10)
    assert capsys.readouterr().err.splitlines() == [
        "Demo data of WavyBlog: 2 of 10",
        "Demo data of WavyBlog: 5 of 10",
        "Demo data of WavyBlog: 8 of 10",
    ]
