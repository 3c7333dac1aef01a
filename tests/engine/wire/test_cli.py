"""`keyplan dynamodb` as a user runs it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from types_boto3_dynamodb import DynamoDBClient

from tests.engine.wire.client import Client

COMMAND = [sys.executable, "-m", "keyplan.cli"]


class Running:
    """A server process that has said that it is ready."""

    def __init__(self, process: subprocess.Popen[str], line: str) -> None:
        self.process = process
        self.line = line
        found = re.search(r"http://\S+", line)
        assert found, line + process.communicate()[1]
        self.url = found.group()

    @contextmanager
    def client(self, secret_key: str = "secret") -> Iterator[DynamoDBClient]:
        client = boto3.client(
            "dynamodb",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="AKID",
            aws_secret_access_key=secret_key,
            config=Config(retries={"total_max_attempts": 1}),
        )
        try:
            yield client
        finally:
            client.close()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit code and what the process said after its first line."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=10)
        return self.process.returncode, out, err


@contextmanager
def running(folder: Path, *arguments: str, **environment: str) -> Iterator[Running]:
    process = subprocess.Popen(
        [*COMMAND, "dynamodb", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            yield Running(process, process.stdout.readline())
        finally:
            process.kill()


def failing(folder: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and message of a command that is to fail, which is never a stack trace."""
    result = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    return result.returncode, result.stderr


def put_one(client: DynamoDBClient) -> None:
    client.create_table(
        TableName="Music",
        KeySchema=[{"AttributeName": "Artist", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "Artist", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.put_item(TableName="Music", Item={"Artist": {"S": "No One You Know"}})


def count(client: DynamoDBClient) -> int:
    return client.scan(TableName="Music")["Count"]


def test_version() -> None:
    result = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"keyplan \d+\.\d+\.\d+\n", result.stdout)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_when_it_is_ready_and_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path, "--port", "0") as server:
        assert re.fullmatch(
            r"DynamoDB endpoint on http://127\.0\.0\.1:\d+ \(file keyplan\.db, durability normal\)\n", server.line
        )
        with server.client() as client:
            put_one(client)
        assert server.stop(number) == (0, "", "")
    assert (tmp_path / "keyplan.db").exists()
    assert not (tmp_path / "keyplan.db-wal").exists()


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_the_data_is_still_there_after_a_restart(tmp_path: Path, durability: str) -> None:
    options = ("--port", "0", "--path", "data.db", "--durability", durability)
    with running(tmp_path, *options) as server, server.client() as client:
        put_one(client)
        assert server.stop()[0] == 0
    with running(tmp_path, *options) as server, server.client() as client:
        assert f"(file data.db, durability {durability})" in server.line
        assert count(client) == 1


def test_acknowledged_writes_survive_a_kill(tmp_path: Path) -> None:
    with running(tmp_path, "--port", "0") as server, server.client() as client:
        put_one(client)
        server.stop(signal.SIGKILL)
    with running(tmp_path, "--port", "0") as server, server.client() as client:
        assert count(client) == 1


def test_in_memory(tmp_path: Path) -> None:
    with running(tmp_path, "--port", "0", "--memory") as server, server.client() as client:
        assert "(in memory)" in server.line
        put_one(client)
        assert count(client) == 1
    assert list(tmp_path.iterdir()) == []


def test_every_option_has_an_environment_variable(tmp_path: Path) -> None:
    with running(
        tmp_path,
        KEYPLAN_DYNAMODB_HOST="localhost",
        KEYPLAN_DYNAMODB_PORT="0",
        KEYPLAN_DYNAMODB_PATH="other.db",
        KEYPLAN_DYNAMODB_DURABILITY="full",
        KEYPLAN_DYNAMODB_TTL_INTERVAL="5",
        KEYPLAN_DYNAMODB_ACCESS_KEY="AKID",
        KEYPLAN_DYNAMODB_SECRET_KEY="right",
    ) as server:
        assert re.search(r"http://localhost:\d+ \(file other.db, durability full\)", server.line)
        with server.client("right") as client:
            assert client.list_tables()["TableNames"] == []
        with server.client("wrong") as client, pytest.raises(ClientError, match="InvalidSignatureException"):
            client.list_tables()
    with running(tmp_path, KEYPLAN_DYNAMODB_MEMORY="1", KEYPLAN_DYNAMODB_PORT="0") as server:
        assert "(in memory)" in server.line


def test_separate_regions_and_accounts(tmp_path: Path) -> None:
    with running(
        tmp_path,
        *("--port", "0", "--regions", "separate"),
        KEYPLAN_DYNAMODB_ACCOUNTS="AKID=111122223333 OTHER=444455556666",
    ) as server:
        with server.client() as client:
            put_one(client)
            arn = client.describe_table(TableName="Music")["Table"]["TableArn"]
            assert arn == "arn:aws:dynamodb:us-east-1:111122223333:table/Music"
        elsewhere = boto3.client(
            "dynamodb",
            endpoint_url=server.url,
            region_name="eu-west-1",
            aws_access_key_id="AKID",
            aws_secret_access_key="secret",
        )
        assert elsewhere.list_tables()["TableNames"] == []


def test_a_warning_where_others_can_reach_it(tmp_path: Path) -> None:
    with running(tmp_path, "--port", "0", "--memory", "--host", "0.0.0.0") as server:
        assert "Warning: 0.0.0.0 is not a loopback address" in server.stop()[2]


def test_allowed_hosts(tmp_path: Path) -> None:
    with running(
        tmp_path, "--port", "0", "--memory", "--allowed-host", "dynamodb", "--allowed-host", "db.example"
    ) as server:
        statuses = [status_for(server.url, host) for host in ("dynamodb:8000", "db.example", "other")]
        assert statuses == [200, 200, 403]
    with running(tmp_path, "--port", "0", "--memory", KEYPLAN_DYNAMODB_ALLOWED_HOSTS="dynamodb other") as server:
        assert [status_for(server.url, host) for host in ("other", "db.example")] == [200, 403]


def status_for(url: str, host: str) -> int:
    with Client(url) as client:
        client.send(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        return client.read().status


def test_s3(tmp_path: Path) -> None:
    """A folder stands for S3, given by the option or the environment."""
    (tmp_path / "s3/bucket").mkdir(parents=True)
    (tmp_path / "s3/bucket/rows.csv").write_text("Artist,Album\nNo One You Know,Somewhat Famous\n")
    for arguments, environment in ((["--s3", "s3"], {}), ([], {"KEYPLAN_DYNAMODB_S3": "s3"})):
        with (
            running(tmp_path, "--memory", "--port", "0", *arguments, **environment) as server,
            server.client() as client,
        ):
            client.import_table(
                S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": "rows"},
                InputFormat="CSV",
                TableCreationParameters={
                    "TableName": "Music",
                    "KeySchema": [{"AttributeName": "Artist", "KeyType": "HASH"}],
                    "AttributeDefinitions": [{"AttributeName": "Artist", "AttributeType": "S"}],
                    "BillingMode": "PAY_PER_REQUEST",
                },
            )
            client.get_waiter("table_exists").wait(TableName="Music", WaiterConfig={"Delay": 1})
            assert count(client) == 1
    assert failing(tmp_path, "dynamodb", "--memory", "--s3", "nowhere") == (
        2,
        "keyplan: Can't use nowhere as S3: folder not found\n",
    )


def test_the_first_answer_comes_soon(tmp_path: Path) -> None:
    started = time.monotonic()
    with running(tmp_path, "--port", "0") as server:
        parts = urlsplit(server.url)
        assert parts.hostname is not None
        with socket.create_connection((parts.hostname, parts.port or 0)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        # Half a second on a quiet machine; this one may be busy.
        assert time.monotonic() - started < 3


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_idle_server_is_small(tmp_path: Path) -> None:
    with running(tmp_path, "--port", "0") as server:
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        assert int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) < 60_000


def test_a_server_knows_no_boto_and_no_systems(tmp_path: Path) -> None:
    """It reads botocore's model and does without its code, which would cost start-up time and memory."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, pathlib, sys\n"
        "atexit.register(lambda: pathlib.Path('modules').write_text(' '.join(sys.modules)))\n"
    )
    with running(tmp_path, "--port", "0", PYTHONPATH=str(tmp_path)) as server, server.client() as client:
        put_one(client)
        assert server.stop()[0] == 0
    modules = set((tmp_path / "modules").read_text().split())
    assert "keyplan.engine.database" in modules
    assert {"boto3", "botocore", "pydantic_settings", "keyplan.web", "keyplan.design"}.isdisjoint(modules)


def test_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, message = failing(tmp_path, "dynamodb", "--memory", "--port", str(port))
    assert (code, message) == (2, f"keyplan: Can't listen on 127.0.0.1, port {port}: Address already in use\n")


def test_an_unknown_host(tmp_path: Path) -> None:
    code, message = failing(tmp_path, "dynamodb", "--memory", "--host", "nowhere.invalid")
    assert code == 2
    assert message.startswith("keyplan: Can't listen on nowhere.invalid, port 8000: ")
    assert message.count("\n") == 1


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("buy milk\n" * 1000)
    code, message = failing(tmp_path, "dynamodb", "--port", "0", "--path", "notes.txt")
    assert code == 2
    assert message.startswith("keyplan: Can't open notes.txt: ")
    assert (tmp_path / "notes.txt").read_text() == "buy milk\n" * 1000


def test_a_path_that_can_not_be(tmp_path: Path) -> None:
    assert failing(tmp_path, "dynamodb", "--path", "nowhere/x.db")[0] == 2
    assert failing(tmp_path, "dynamodb", "--path", ".") == (2, "keyplan: Can't open .: it is a folder\n")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind root")
def test_a_path_that_can_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    code, message = failing(tmp_path, "dynamodb", "--path", "x.db")
    tmp_path.chmod(0o700)
    assert (code, message) == (2, "keyplan: Can't open x.db: no write permission\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--path", "x.db", "--memory"],
        ["--access-key", "x"],
        ["--secret-key", "x"],
        ["--port", "70000"],
        ["--durability", "some"],
        ["--regions", "many"],
        ["--account", "AKID=111122223333"],
        ["--regions", "separate", "--account", "AKID=1"],
        ["--regions", "separate", "--account", "111122223333"],
        ["--ttl-interval", "-1"],
        ["--nonsense"],
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str]) -> None:
    assert failing(tmp_path, "dynamodb", *arguments)[0] == 2
    assert list(tmp_path.iterdir()) == []
