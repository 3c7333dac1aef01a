"""The life of a server: it starts, it stops cleanly, and AWS's own client is at home with it."""

import concurrent.futures
import threading
import time

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from types_boto3_dynamodb import DynamoDBClient

from keyplan.engine.wire import Credentials, serve_in_thread
from tests.engine.wire.client import Client, post
from tests.engine.wire.fake import FakeDatabase


def test_a_request_under_way_is_answered_before_the_end(database: FakeDatabase) -> None:
    with serve_in_thread(database) as url:
        idle, client, partial = Client(url), Client(url), Client(url)
        client.send(post("Wait"))
        partial.send(post()[:-1])
        assert database.waiting.wait(5)
        threading.Timer(0.3, database.go_on.set).start()
        threading.Timer(0.3, partial.send, [b"}"]).start()
    response = client.read()
    assert response.json == {"Waited": True}
    assert response.headers["connection"] == "close"
    assert partial.read().status == 200
    for connection in (idle, client, partial):
        assert connection.at_end()
        connection.close()
    with pytest.raises(ConnectionRefusedError):
        Client(url)


def test_a_taken_port_is_an_error(url: str, database: FakeDatabase) -> None:
    port = int(url.rpartition(":")[2])
    with pytest.raises(OSError, match="in use"), serve_in_thread(database, port=port):
        pass


def test_ipv6(database: FakeDatabase) -> None:
    with serve_in_thread(database, host="::1") as url:
        assert url.startswith("http://[::1]:")


def test_an_unknown_host_is_an_error(database: FakeDatabase) -> None:
    with pytest.raises(OSError, match="known"), serve_in_thread(database, host="nowhere.invalid"):
        pass


def test_many_clients_at_once(url: str) -> None:
    def work(number: int) -> int:
        with Client(url) as client:
            for turn in range(50):
                body = b'{"n":%d,"turn":%d}' % (number, turn)
                assert client.ask(post(body=body)).json["Request"] == {"n": number, "turn": turn}
        return number

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(32))) == list(range(32))


def boto(url: str, access_key: str = "AKID", secret_key: str = "secret") -> DynamoDBClient:
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(retries={"total_max_attempts": 1}),
    )


def test_boto3(url: str) -> None:
    client = boto(url)
    response = client.list_tables(Limit=7)
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert len(response["ResponseMetadata"]["RequestId"]) == 52
    with pytest.raises(ClientError) as caught:
        client.describe_limits()
    assert caught.value.response["Error"]["Code"] == "UnknownOperationException"
    client.close()


def test_only_the_right_secret_is_let_in(database: FakeDatabase) -> None:
    with serve_in_thread(database, credentials=Credentials("AKID", "secret")) as url:
        client = boto(url)
        assert client.list_tables()["ResponseMetadata"]["HTTPStatusCode"] == 200
        client.close()
        for keys, code in (
            (("AKID", "guess"), "InvalidSignatureException"),
            (("OTHER", "secret"), "UnrecognizedClientException"),
        ):
            client = boto(url, *keys)
            with pytest.raises(ClientError) as caught:
                client.list_tables()
            assert caught.value.response["Error"]["Code"] == code
            client.close()
        with Client(url) as unsigned:
            assert unsigned.ask(post(headers={"Authorization": None})).status == 400
            assert unsigned.ask(post()).error == (400, "InvalidSignatureException")


def test_the_date_goes_on(client: Client) -> None:
    first = client.ask(post()).headers["date"]
    time.sleep(1.2)
    assert client.ask(post()).headers["date"] != first
