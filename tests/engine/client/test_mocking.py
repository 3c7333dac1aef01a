"""`keyplan.mock()`: every boto3 client of a program is answered by an engine, and nothing reaches the network."""

import asyncio
import contextvars
import os
import re
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import boto3
import botocore.session
import pytest
from botocore.exceptions import ClientError
from botocore.httpsession import URLLib3Session
from moto import mock_aws

import keyplan
from keyplan.engine import Engine, RefusedRequest

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class _Sent(Exception):
    """Raised in place of a real request."""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """A mock undoes all it did, however it ends."""

    def state() -> object:
        aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        return URLLib3Session.send, aws, boto3.DEFAULT_SESSION

    before = state()
    yield
    assert state() == before


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where AWS was never configured."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)


def create_table(name: str, client: "DynamoDBClient | None" = None) -> None:
    (client or boto3.client("dynamodb")).create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )


def tables() -> list[str]:
    return boto3.client("dynamodb").list_tables()["TableNames"]


@pytest.mark.usefixtures("no_credentials")
def test_clients_and_resources_need_no_credentials_and_no_region() -> None:
    with keyplan.mock() as engine:
        create_table("Users")
        boto3.resource("dynamodb").Table("Users").put_item(Item={"pk": "ada"})
        assert engine.get_item(TableName="Users", Key={"pk": {"S": "ada"}})["Item"] == {"pk": {"S": "ada"}}
        assert boto3.Session().client("dynamodbstreams").list_streams()["Streams"] == []
        with pytest.raises(ClientError, match="Requested resource not found"):
            boto3.client("dynamodb").describe_table(TableName="Nothing")


def test_an_answer_has_what_programs_log() -> None:
    with keyplan.mock():
        metadata = boto3.client("dynamodb").list_tables()["ResponseMetadata"]
    assert metadata["HTTPStatusCode"] == 200
    assert len(metadata["RequestId"]) == 52


@pytest.mark.parametrize(
    "make",
    [
        lambda: boto3.client("dynamodb", endpoint_url="http://127.0.0.1:1"),
        lambda: boto3.client("dynamodb", region_name="eu-central-1"),
        lambda: botocore.session.get_session().create_client("dynamodb"),
        lambda: boto3.Session(aws_access_key_id="a", aws_secret_access_key="b").client("dynamodb"),
    ],
    ids=["endpoint", "region", "botocore", "credentials"],
)
def test_every_way_to_make_a_client(make: "Callable[[], DynamoDBClient]") -> None:
    with keyplan.mock():
        create_table("Users")
        assert make().list_tables()["TableNames"] == ["Users"]


def test_a_client_made_before_is_answered_too() -> None:
    client = boto3.Session().client("dynamodb")
    with keyplan.mock():
        create_table("Users", client)
        assert tables() == ["Users"]


@pytest.mark.parametrize("service", ["s3", "sts", "sqs"])
def test_another_service_is_refused_and_named(service: str) -> None:
    calls = {"s3": "list_buckets", "sts": "get_caller_identity", "sqs": "list_queues"}
    with keyplan.mock(), pytest.raises(RefusedRequest) as caught:
        getattr(boto3.client(service), calls[service])()  # type: ignore[call-overload]  # any of the three
    assert f"https://{service}" in str(caught.value)
    assert str(caught.value).endswith("use keyplan.mock(allow_other_services=True).")


def test_other_services_can_be_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "real")
    sent: list[str] = []

    def send(session: object, request: object) -> object:
        sent.append(str(getattr(request, "url", "")))
        raise _Sent

    monkeypatch.setattr(URLLib3Session, "send", send)
    with keyplan.mock(allow_other_services=True):
        assert tables() == []
        assert os.environ["AWS_ACCESS_KEY_ID"] == "real"
        with pytest.raises(_Sent):
            boto3.client("s3").list_buckets()
    assert len(sent) == 1
    assert sent[0].startswith("https://s3.")


def test_moto_can_answer_the_other_services() -> None:
    with mock_aws(config={"core": {"passthrough": {"services": ["dynamodb"]}}}), keyplan.mock() as engine:
        boto3.client("s3").create_bucket(Bucket="pictures")
        create_table("Users")
        assert engine.list_tables()["TableNames"] == ["Users"]


def test_region() -> None:
    with keyplan.mock(region="eu-central-1"):
        assert boto3.client("dynamodb").meta.region_name == "eu-central-1"
        with keyplan.mock(region="sa-east-1"):
            assert boto3.client("dynamodb").meta.region_name == "sa-east-1"
        assert boto3.client("dynamodb").meta.region_name == "eu-central-1"


def test_a_file_keeps_the_data(tmp_path: Path) -> None:
    for _ in range(2):
        with keyplan.mock(path=tmp_path / "test.db"):
            if not tables():
                create_table("Users")
            assert tables() == ["Users"]


def test_the_clock() -> None:
    with keyplan.mock(clock=lambda: 1_000_000_000.0):
        create_table("Users")
        created = boto3.client("dynamodb").describe_table(TableName="Users")["Table"]["CreationDateTime"]
    assert created.timestamp() == 1_000_000_000


def test_an_exception_ends_it() -> None:
    def fail() -> None:
        create_table("Users")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), keyplan.mock():
        fail()
    with keyplan.mock():
        assert tables() == []


def test_a_file_that_cannot_be_opened_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "test.db").write_text("no database")
    with pytest.raises(Exception, match=r"test\.db"), keyplan.mock(path=tmp_path / "test.db"):
        pytest.fail("it was opened")


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    missing = re.escape(str(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError, match=f"The folder of the database doesn't exist: '{missing}'"):
        keyplan.mock(path=tmp_path / "missing" / "test.db").__enter__()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"region": "east 1"}, ValueError, "Provided region_name 'east 1' doesn't match"),
        ({"region": 1}, TypeError, "region must be the name of an AWS region, such as 'us-east-1', not 1"),
        ({"path": None}, TypeError, "path must be a database file or ':memory:', not None"),
        ({"clock": 1700000000}, TypeError, "clock must be a function that returns the time in seconds since 1970"),
    ],
)
def test_a_wrong_setting_is_refused_at_once(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        keyplan.mock(**given)


def test_a_setting_needs_its_name() -> None:
    with pytest.raises(TypeError, match=r"takes its settings by name, such as path='test.db'"):
        keyplan.mock("test.db")  # type: ignore[call-overload]


def test_nested_blocks_have_their_own_tables() -> None:
    with keyplan.mock():
        create_table("Outer")
        with keyplan.mock():
            assert tables() == []
            create_table("Inner")
        assert tables() == ["Outer"]


def test_one_mock_can_be_used_again_and_nested() -> None:
    mock = keyplan.mock()
    with mock as outer:
        create_table("Outer")
        with mock as inner:
            assert inner is not outer
            assert tables() == []
        assert tables() == ["Outer"]
    with mock:
        assert tables() == []


@keyplan.mock
def test_a_decorator_without_parentheses() -> None:
    assert tables() == []
    create_table("Users")


@keyplan.mock(region="eu-west-1")
def test_a_decorator_with_settings() -> None:
    assert tables() == []
    assert boto3.client("dynamodb").meta.region_name == "eu-west-1"


def test_a_decorated_function_keeps_its_name_arguments_and_result() -> None:
    @keyplan.mock
    def count(name: str, *, more: int = 0) -> int:
        """How many."""
        create_table(name)
        return len(tables()) + more

    assert (count.__name__, count.__doc__) == ("count", "How many.")
    assert [count("One"), count("Two", more=1)] == [1, 2]


def test_a_coroutine_function() -> None:
    @keyplan.mock
    async def used(name: str) -> list[str]:
        create_table(name)
        await asyncio.sleep(0)
        return tables()

    async def together() -> list[list[str]]:
        return await asyncio.gather(*(used(name) for name in ("One", "Two", "Three")))

    assert asyncio.run(together()) == [["One"], ["Two"], ["Three"]]


def test_async_with() -> None:
    async def used() -> list[str]:
        async with keyplan.mock() as engine:
            assert isinstance(engine, Engine)
            create_table("Users")
            return await asyncio.to_thread(tables)

    assert asyncio.run(used()) == ["Users"]


def test_generators_and_other_classes_are_refused() -> None:
    def fixture() -> Iterator[None]:
        yield

    with pytest.raises(TypeError, match="fixture is a generator"):
        keyplan.mock(fixture)
    with pytest.raises(TypeError, match="neither a function nor"):
        keyplan.mock(dict)


def test_each_test_of_a_test_case_has_a_new_engine() -> None:
    @keyplan.mock
    class Case(unittest.TestCase):
        def setUp(self) -> None:
            create_table("Users")

        def test_one(self) -> None:
            assert tables() == ["Users"]
            create_table("More")

        def test_two(self) -> None:
            assert tables() == ["Users"]

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert (result.testsRun, result.errors, result.failures) == (2, [], [])


def test_threads_started_inside_share_the_tables() -> None:
    with keyplan.mock(), ThreadPoolExecutor(4) as pool:
        list(pool.map(create_table, [f"Table{number}" for number in range(8)]))
        assert len(tables()) == 8


def test_blocks_in_parallel_threads_are_apart() -> None:
    ready = threading.Barrier(4)

    def work(name: str) -> list[str]:
        with keyplan.mock():
            ready.wait()
            create_table(name)
            ready.wait()
            found = tables()
            ready.wait()
        return found

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, ["AAA", "BBB", "CCC", "DDD"])) == [["AAA"], ["BBB"], ["CCC"], ["DDD"]]


def test_a_thread_that_could_belong_to_several_blocks_is_refused() -> None:
    entered, done = threading.Event(), threading.Event()

    def other() -> None:
        with keyplan.mock():
            entered.set()
            done.wait()

    with keyplan.mock(), ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(other)
        entered.wait()
        create_table("Users")
        with pytest.raises(RefusedRequest, match="Several"):
            pool.submit(tables).result()
        assert pool.submit(contextvars.copy_context().run, tables).result() == ["Users"]
        done.set()
        waiting.result()


def test_pytest_xdist(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        dedent("""
            import boto3, keyplan, pytest

            @pytest.fixture
            def engine():
                with keyplan.mock() as engine:
                    yield engine

            @pytest.mark.parametrize("number", range(6))
            def test_it(engine, number):
                boto3.client("dynamodb").create_table(
                    TableName=f"Table{number}",
                    AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                    KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                    BillingMode="PAY_PER_REQUEST",
                )
                assert engine.list_tables()["TableNames"] == [f"Table{number}"]
        """)
    )
    command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", str(test)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "6 passed" in ran.stdout, ran.stdout
