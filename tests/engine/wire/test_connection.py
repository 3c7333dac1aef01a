"""The endpoint as clients of every kind meet it, over real sockets: HTTP, its limits, and what breaks it."""

import contextlib
import gzip
import logging
import random
import re
import socket
import struct
import threading
import time

import pytest

from keyplan.engine.wire import Credentials, connection, http, serve_in_thread
from tests.engine.wire.client import SIGNED, Client, post
from tests.engine.wire.fake import FakeDatabase

MB = 1024 * 1024


def assert_alive(url: str) -> None:
    """The next client is served as if nothing had happened."""
    with Client(url) as client:
        assert client.ask(post(body=b'{"still":"here"}')).json["Request"] == {"still": "here"}


def test_a_response_has_the_headers_of_aws(client: Client) -> None:
    response = client.ask(post(body=b'{"a":1}'))
    assert response.status == 200
    assert response.body == b'{"Operation":"Echo","Request":{"a":1}}'
    assert response.headers["server"] == "Server"
    assert response.headers["content-type"] == "application/x-amz-json-1.0"
    assert response.headers["connection"] == "keep-alive"
    assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", response.headers["date"])
    assert re.fullmatch(r"[A-Z0-9]{52}", response.headers["x-amzn-requestid"])
    assert client.ask(post()).headers["x-amzn-requestid"] != response.headers["x-amzn-requestid"]


def test_errors_come_with_their_status(client: Client) -> None:
    assert client.ask(post("Refuse")).error == (400, "ResourceNotFoundException")
    assert client.ask(post("Nothing")).error == (400, "UnknownOperationException")
    assert client.ask(post(headers={"X-Amz-Target": None})).error == (400, "UnknownOperationException")
    assert client.ask(post(body=b"{")).error == (400, "SerializationException")
    assert client.ask(post(headers={"Authorization": None})).error == (400, "MissingAuthenticationTokenException")
    # A body that can't be read is reported before a missing signature, a missing body after it.
    assert client.ask(post(body=b"")).error == (400, "SerializationException")
    assert client.ask(post(body=b"{", headers={"Authorization": None})).error == (400, "SerializationException")
    unsigned = client.ask(post(body=b"", headers={"Authorization": None}))
    assert unsigned.json == {
        "__type": "com.amazon.coral.service#MissingAuthenticationTokenException",
        "message": "Request is missing Authentication Token",
    }
    assert client.ask(post(headers={"X-Amz-Date": None})).error == (400, "IncompleteSignatureException")
    assert client.ask(post()).status == 200


def test_a_fault_is_a_500_and_the_next_request_is_served(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        for operation in ("Break", "Unencodable"):
            response = client.ask(post(operation))
            assert response.error == (500, "InternalServerError")
            assert b"secret" not in response.body
    assert "a secret of the house" in caplog.text
    assert client.ask(post()).status == 200


def test_streams_share_the_port(client: Client) -> None:
    response = client.ask(post(headers={"X-Amz-Target": "DynamoDBStreams_20120810.GetRecords"}))
    assert response.json["Operation"] == "GetRecords"


def test_header_names_have_any_case(client: Client) -> None:
    request = post(body=b'{"a":1}')
    head, _, body = request.partition(b"\r\n\r\n")
    start, *lines = head.split(b"\r\n")
    for spell in (bytes.lower, bytes.upper, bytes.title):
        fields = [spell(name) + b":" + value for name, _, value in (line.partition(b":") for line in lines)]
        assert client.ask(b"\r\n".join([start, *fields]) + b"\r\n\r\n" + body).status == 200


@pytest.mark.parametrize(
    "kind", ["application/x-amz-json-1.0", "application/json", "Application/X-Amz-Json-1.0; charset=utf-8"]
)
def test_content_types_that_aws_takes(client: Client, kind: str) -> None:
    assert client.ask(post(headers={"Content-Type": kind})).status == 200


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/x-amz-json"]
)
def test_other_content_types_name_no_operation(client: Client, kind: str | None) -> None:
    response = client.ask(post(headers={"Content-Type": kind}))
    assert (response.status, response.body) == (404, b"<UnknownOperationException/>\n")
    assert client.ask(post()).status == 200


def test_the_health_check(client: Client) -> None:
    response = client.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (response.status, response.body) == (200, b"healthy: dynamodb.us-east-1.amazonaws.com ")
    client.send(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert client.read(has_body=False).headers["content-length"] == str(len(response.body))
    assert client.ask(post()).status == 200


@pytest.mark.parametrize("start", ["GET /other", "PUT /", "DELETE /", "POST /other", "PATCH /", "GET //"])
def test_other_methods_and_paths_name_no_operation(client: Client, start: str) -> None:
    request = post().replace(b"POST /", start.encode(), 1)
    response = client.ask(request)
    assert (response.status, response.body) == (404, b"<UnknownOperationException/>\n")
    assert client.ask(post()).status == 200


PREFLIGHT = (
    b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://page\r\nAccess-Control-Request-Method: POST\r\n"
    b"Access-Control-Request-Headers: authorization,x-amz-target\r\n\r\n"
)


def test_pages_from_elsewhere_are_kept_out_where_nothing_is_verified(client: Client) -> None:
    message = (
        "Requests from web pages are refused, because the endpoint doesn't verify signatures. To allow them, set an "
        "access key: --access-key and --secret-key-file."
    )
    for request in (PREFLIGHT, post(headers={"Origin": "http://page"}), post(headers={"Origin": "null"})):
        response = client.ask(request)
        assert response.error == (403, "AccessDeniedException")
        assert response.json["Message"] == message
        assert not [name for name in response.headers if name.startswith("access-control")]
    assert client.ask(post()).status == 200


LOOPBACK = ("localhost:8000", "LOCALHOST.", "a.localhost", "127.0.0.1:1", "127.8.9.1", "[::1]:8000", "[::1]")
FOREIGN = (
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "192.168.1.5",
    "[::2]:1",
)


@pytest.mark.parametrize("host", LOOPBACK)
def test_names_of_this_machine_are_answered(client: Client, host: str) -> None:
    assert client.ask(post(headers={"Host": host})).status == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_other_hosts_are_refused(client: Client, host: str) -> None:
    """A web page whose name was made to mean 127.0.0.1 sends its own name."""
    response = client.ask(post(headers={"Host": host}))
    assert response.error == (403, "AccessDeniedException")
    name = host.rpartition(":")[0].strip("[]") if host[-2:] in (":1", "00") else host
    assert response.json["Message"] == (
        f"The endpoint doesn't answer requests to the host {name}. If it is one of its names, start the endpoint with "
        f"--allowed-host {name}, or set KEYPLAN_DYNAMODB_ALLOWED_HOSTS={name}."
    )
    client.send(b"HEAD / HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n")
    assert client.read(has_body=False).status == 403
    assert client.ask(post()).status == 200


def test_hosts_that_were_allowed_are_answered(database: FakeDatabase) -> None:
    with (
        serve_in_thread(database, allowed_hosts=["dynamodb", "Db.Example.", "192.168.1.5"]) as url,
        Client(url) as client,
    ):
        for host in ("dynamodb:8000", "db.example", "DB.example:1", "192.168.1.5:8000", *LOOPBACK):
            assert client.ask(post(headers={"Host": host})).status == 200
        assert client.ask(post(headers={"Host": "other"})).status == 403
        assert client.ask(post(headers={"Host": None}, version="1.0")).status == 200


def test_pages_from_elsewhere_may_ask_where_signatures_are_verified(database: FakeDatabase) -> None:
    with serve_in_thread(database, credentials=Credentials("AKID", "secret")) as url, Client(url) as client:
        preflight = client.ask(PREFLIGHT)
        assert preflight.status == 200
        assert preflight.headers["access-control-allow-origin"] == "*"
        assert preflight.headers["access-control-allow-methods"] == "POST"
        assert preflight.headers["access-control-allow-headers"] == "authorization,x-amz-target"
        assert preflight.headers["access-control-max-age"] == "172800"
        response = client.ask(post(headers={"Origin": "http://page"}))
        assert response.headers["access-control-allow-origin"] == "*"
        assert "x-amzn-RequestId" in response.headers["access-control-expose-headers"]
        for request in (
            post(),
            PREFLIGHT.replace(b"Origin: http://page\r\n", b""),
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ):
            assert not [name for name in client.ask(request).headers if name.startswith("access-control")]


def test_byte_by_byte(client: Client) -> None:
    for byte in post(body=b'{"a":"split"}'):
        client.send(bytes([byte]))
    assert client.read().json["Request"] == {"a": "split"}


def test_pipelined_requests_are_answered_in_order(client: Client, database: FakeDatabase) -> None:
    requests = [
        post(body=b'{"n":%d}' % number) if number % 3 else post("Refuse" if number % 2 else "Echo", b"{")
        for number in range(500)
    ]
    client.send(b"".join(requests))
    for number in range(500):
        response = client.read()
        if number % 3:
            assert response.json["Request"] == {"n": number}
        else:
            assert response.error == (400, "SerializationException")
    assert set(database.batches) == {1}


def test_a_pipeline_split_anywhere(client: Client) -> None:
    data = post(body=b'{"n":1}') + post(body=b'{"n":2}') + post(body=b'{"n":3}')
    for cut in range(0, len(data), 37):
        client.send(data[:cut])
        time.sleep(0.001)
        client.send(data[cut:])
        assert [client.read().json["Request"] for _ in range(3)] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_chunked_body(client: Client) -> None:
    chunked = post(headers={"Content-Length": None, "Transfer-Encoding": "chunked"}).removesuffix(b"{}")
    body = b'{"a":"chunked"}'
    data = b"".join(b"%x;ext=1\r\n%b\r\n" % (len(part), part) for part in (body[:1], body[1:7], body[7:]))
    assert client.ask(chunked + data + b"0\r\nTrailer: x\r\n\r\n").json["Request"] == {"a": "chunked"}
    assert client.ask(post()).status == 200


def test_expect_100_continue(client: Client) -> None:
    request = post(body=b'{"a":1}', headers={"Expect": "100-continue"})
    client.send(request.removesuffix(b'{"a":1}'))
    assert client.line() == "HTTP/1.1 100 Continue\r\n"
    assert client.line() == "\r\n"
    assert client.ask(b'{"a":1}').json["Request"] == {"a": 1}
    assert client.ask(request).status == 200


def test_connection_close(client: Client) -> None:
    assert client.ask(post(headers={"Connection": "close"})).headers["connection"] == "close"
    assert client.at_end()


def test_http_1_0(url: str) -> None:
    with Client(url) as client:
        assert client.ask(post(version="1.0")).headers["connection"] == "close"
        assert client.at_end()
    with Client(url) as client:
        assert client.ask(post(version="1.0", headers={"Connection": "keep-alive"})).status == 200
        assert client.ask(post(version="1.0")).status == 200
        assert client.at_end()


def test_a_client_that_has_nothing_more_to_say_is_answered(client: Client) -> None:
    client.send(post() + post("Large", b'{"Size":1000000}'))
    client.socket.shutdown(socket.SHUT_WR)
    assert client.read().status == 200
    assert len(client.read().body) > 1_000_000
    assert client.at_end()


def test_an_offer_of_http_2_is_ignored(client: Client) -> None:
    offer = post(body=b'{"a":1}', headers={"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c"})
    assert client.ask(offer).json["Request"] == {"a": 1}
    client.send(offer * 100 + post())
    assert {client.read().status for _ in range(101)} == {200}
    client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" * 3000)
    assert {client.read().status for _ in range(3000)} == {200}


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nA: \x00\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_bad_http_is_refused_after_what_came_before(url: str, garbage: bytes) -> None:
    with Client(url) as client:
        client.send(post(body=b'{"a":1}') + garbage)
        assert client.read().json["Request"] == {"a": 1}
        assert client.read().status == 400
        assert client.at_end()
    assert_alive(url)


def test_headers_without_end_are_refused(url: str) -> None:
    with Client(url) as client:
        client.send(b"POST / HTTP/1.1\r\n")
        for number in range(40):
            client.send(b"X-%d: %b\r\n" % (number, b"x" * 16 * 1024))
        assert client.read().status == 431
        assert client.at_end()
    assert_alive(url)


@pytest.mark.parametrize("chunked", [False, True])
def test_17_mb_are_refused(url: str, chunked: bool) -> None:
    body = b'{"a":"' + b"x" * 17 * MB + b'"}'
    with Client(url) as client:
        if chunked:
            head = post(headers={"Content-Length": None, "Transfer-Encoding": "chunked"}).removesuffix(b"{}")
            client.send(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        else:
            client.send(post(body=body))
        assert client.read().error == (413, "RequestEntityTooLargeException")
        assert client.at_end()
    assert_alive(url)


def test_a_large_body_need_not_be_sent_to_be_refused(url: str) -> None:
    with Client(url) as client:
        client.send(post(headers={"Content-Length": str(17 * MB), "Expect": "100-continue"}).removesuffix(b"{}"))
        assert client.read().status == 413
    assert_alive(url)


def test_15_mb_are_accepted(client: Client) -> None:
    body = b'{"a":"' + b"x" * 15 * MB + b'"}'
    response = client.ask(post(body=body))
    assert len(response.body) > 15 * MB
    assert client.ask(post()).status == 200


@pytest.mark.parametrize(
    "body",
    [b'{"a":"\xff"}', b'{"a":' * 10_000 + b"1" + b"}" * 10_000, b"[" * 100_000, b"", b"[]", b'{"a":1}}'],
    ids=["bad UTF-8", "10,000 deep", "100,000 deep", "empty", "list", "rest"],
)
def test_bad_json_is_refused_at_once(client: Client, body: bytes) -> None:
    assert client.ask(post(body=body)).error == (400, "SerializationException")
    assert client.ask(post()).status == 200


def test_a_gzip_request(client: Client) -> None:
    body = gzip.compress(b'{"a":"packed"}')
    response = client.ask(post(body=body, headers={"Content-Encoding": "gzip"}))
    assert response.json["Request"] == {"a": "packed"}


def test_gzip_is_unpacked_beside_the_others(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body of 16 KB can become 16 MB."""
    threads = []

    def decompress(body: bytes, limit: int) -> bytes:
        threads.append(threading.current_thread().name)
        return gzip.decompress(body)

    monkeypatch.setattr(http, "decompress", decompress)
    assert client.ask(post(body=gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"})).status == 200
    assert threads == ["keyplan-requests_0"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"{}", (400, "SerializationException")),
        (b"", (400, "SerializationException")),
        (gzip.compress(b"{}")[:-5], (400, "SerializationException")),
        (gzip.compress(b"{}")[:-8] + b"12345678", (400, "SerializationException")),
        (gzip.compress(b"{}") + b"more", (400, "SerializationException")),
        (gzip.compress(bytes(200 * MB), 1), (413, "RequestEntityTooLargeException")),
    ],
    ids=["not packed", "empty", "cut off", "wrong checksum", "something after", "bomb"],
)
def test_bad_gzip_is_refused(client: Client, body: bytes, error: tuple[int, str]) -> None:
    assert client.ask(post(body=body, headers={"Content-Encoding": "gzip"})).error == error
    assert client.ask(post()).status == 200


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [("gzip", True), ("deflate, GZIP;q=0.5", True), ("identity", False), ("gzip;q=0, identity", False), (None, False)],
)
def test_a_large_answer_is_packed_for_who_asks(client: Client, accepted: str | None, packed: bool) -> None:
    response = client.ask(post("Large", b'{"Size":100000}', {"Accept-Encoding": accepted}))
    assert response.headers.get("content-encoding") == ("gzip" if packed else None)
    body = gzip.decompress(response.body) if packed else response.body
    assert len(body) == 100_000 + len('{"Data":""}')
    assert "content-encoding" not in client.ask(post(headers={"Accept-Encoding": accepted})).headers


def test_clients_that_vanish(url: str) -> None:
    linger_not = struct.pack("ii", 1, 0)
    for data in (b"", b"POST", post()[:50], post()[:-1], post(), post("Large", b'{"Size":5000000}') * 5):
        with Client(url) as client:
            client.send(data)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not)
    assert_alive(url)


def test_a_client_that_does_not_read_gets_no_more(url: str, database: FakeDatabase) -> None:
    with Client(url, receive_buffer=4096) as client:
        client.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            client.send(post("Large", b'{"Size":1000000}') * 100_000)
        assert_alive(url)
        executed = len(database.batches)
        assert executed < 20
        time.sleep(0.2)
        assert_alive(url)
        assert len(database.batches) == executed + 1
        client.socket.settimeout(10)
        assert {len(client.read().body) for _ in range(20)} == {1_000_011}


def is_dropped(client: Client) -> bool:
    """Whether the server takes no more of what this client sends."""
    try:
        for _ in range(10):
            client.send(b"x")
            time.sleep(0.02)
    except (ConnectionResetError, BrokenPipeError):
        return True
    return False


def test_slow_clients_are_dropped(database: FakeDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUEST_TIME", "IDLE_TIME", "LINGER_TIME"):
        monkeypatch.setattr(connection, name, 0)
    with serve_in_thread(database) as url:
        unread = post("Large", b'{"Size":10000000}')
        clients = [Client(url, 4096) for _ in range(5)]
        for client, data in zip(clients, (b"", b"POST / HTT", post()[:-1], b"nonsense\r\n\r\n", unread), strict=True):
            client.send(data)
        time.sleep(2.5)
        for client in clients:
            assert is_dropped(client)
            client.close()
        monkeypatch.undo()
        assert_alive(url)


def test_many_connections_share_a_batch(url: str, database: FakeDatabase) -> None:
    clients = [Client(url) for _ in range(100)]
    blocker = Client(url)
    blocker.send(post("Block"))
    assert database.waiting.wait(5)
    for number, client in enumerate(clients):
        client.send(post(body=b'{"n":%d}' % number))
    time.sleep(0.2)
    database.go_on.set()
    for number, client in enumerate(clients):
        assert client.read().json["Request"] == {"n": number}
        client.close()
    blocker.close()
    assert max(database.batches) == 64
    assert sum(database.batches) == 101


def test_requests_are_answered_while_a_write_waits(database: FakeDatabase, url: str) -> None:
    if database.place == "writes":
        pytest.skip("writes wait behind each other")
    with Client(url) as writer, Client(url) as reader:
        writer.send(post("Wait"))
        assert database.waiting.wait(5)
        large = b'{"text":"%b"}' % (b"x" * 200_000)
        for body in (b"{}", large):
            assert reader.ask(post(body=body)).status == 200
        database.go_on.set()
        assert writer.read().json == {"Waited": True}


def test_writes_that_wait_share_a_batch(url: str, database: FakeDatabase) -> None:
    clients = [Client(url) for _ in range(70)]
    for client in clients:
        client.send(post("Wait"))
    assert database.waiting.wait(5)
    time.sleep(0.2)
    database.go_on.set()
    for client in clients:
        assert client.read().json == {"Waited": True}
        client.close()
    assert max(database.writes) == 64


@pytest.mark.parametrize("value", ["AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=\xff", "AWS4-", "=" * 9000])
def test_odd_signatures_are_refused(client: Client, value: str) -> None:
    response = client.ask(post(headers={"Authorization": value}))
    assert response.error[1] in ("IncompleteSignatureException", "MissingAuthenticationTokenException")
    assert client.ask(post(headers={"Authorization": SIGNED["Authorization"]})).status == 200


def test_mutilated_requests_break_nothing(url: str, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(7)
    whole = post(body=b'{"a":{"M":{"b":{"S":"x"}}}}', headers={"Accept-Encoding": "gzip", "Expect": "100-continue"})
    for _ in range(150):
        data = bytearray(whole * chance.randint(1, 3))
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    data[place] = chance.randrange(256)
                case 1:
                    del data[place : place + chance.randint(1, 40)]
                case _:
                    data[place:place] = chance.randbytes(chance.randint(1, 5))
        with Client(url) as client:
            client.send(bytes(data))
            client.socket.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                while client.socket.recv(100_000):
                    pass
    assert_alive(url)
    assert caplog.text == ""
