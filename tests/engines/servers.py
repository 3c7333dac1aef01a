"""Other servers with DynamoDB's API, as programs from npm: how each is installed and started."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from bench.engine import cache
from bench.engine.servers import DYNOXIDE, free_port

EXTENDDB = "@extenddb/linux-x64@0.1.10"
START_SECONDS = 60.0


@dataclass(frozen=True)
class Server:
    """A server: its package on npm, the path of its program there, and its arguments before the port."""

    name: str
    package: str
    program: str
    arguments: tuple[str, ...]
    credentials: Mapping[str, str] = field(default_factory=dict)

    def binary(self) -> Path:
        """The installed program; raises `Unavailable` without npm."""
        return cache.node_peer(self.name, self.package) / self.program


SERVERS = {
    "dynoxide": Server(
        "dynoxide",
        DYNOXIDE,
        "@dynoxide/linux-x64/dynoxide",
        ("serve", "--host", "127.0.0.1"),
        {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"},
    ),
    # It accepts only the key that AWS's documentation uses as an example.
    "extenddb": Server(
        "extenddb",
        EXTENDDB,
        "@extenddb/linux-x64/extenddb",
        ("serve", "--foreground"),
        {
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        },
    ),
}


@contextmanager
def started(server: Server, folder: Path) -> Iterator[dict[str, str]]:
    """A running server with its data in a folder, as the environment variables with which commands use it."""
    binary, port = server.binary(), free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {**server.credentials, "AWS_DEFAULT_REGION": "us-east-1", "KEYPLAN_ENDPOINT_URL": url}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [str(binary), *server.arguments, "--port", str(port)],
            cwd=folder,
            env={**os.environ, "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_for(url, server, process)
            yield environment
        finally:
            process.terminate()
            process.wait(20)


def _wait_for(url: str, server: Server, process: "subprocess.Popen[bytes]") -> None:
    client = boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id=server.credentials["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=server.credentials["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=10),
    )
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            client.list_tables()
        except BotoCoreError:
            time.sleep(0.1)
        else:
            return
    raise cache.Unavailable(f"{server.name} doesn't answer on {url}")
