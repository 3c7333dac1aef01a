"""Starts other servers with DynamoDB's API, which `make test-engines` installs from npm."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ENDPOINT = "KEYPLAN_TEST_ENDPOINT"
"""The variable with the address of the server that tests run on, instead of the embedded DynamoDB."""
INDEX_LAG = 0.2
"""For how many seconds the indexes of a server may lack what was written. On AWS, too, they lag behind."""
_VERSIONS: dict[str, str] = json.loads((FOLDER / "package.json").read_text("utf-8"))["dependencies"]
_SECONDS_TO_START = 20.0


@dataclass(frozen=True)
class Server:
    """A server, the arguments that start it in an empty folder, and the credentials that it accepts."""

    name: str
    arguments: tuple[str, ...]
    access_key: str = "any"
    secret_key: str = "any"

    @property
    def package(self) -> str:
        return f"@{self.name}/linux-x64"

    @property
    def version(self) -> str:
        return _VERSIONS[self.package]

    @property
    def environment(self) -> dict[str, str]:
        """The variables from which every AWS SDK takes credentials."""
        return {"AWS_ACCESS_KEY_ID": self.access_key, "AWS_SECRET_ACCESS_KEY": self.secret_key}


SERVERS = (
    Server("dynoxide", ("serve", "--db-path", "data.db")),
    # It accepts the key that AWS's documentation uses as an example.
    Server("extenddb", ("serve", "--foreground"), "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
)


def endpoint() -> str | None:
    """The address of the server that tests run on; None for the embedded DynamoDB."""
    return os.environ.get(ENDPOINT)


@contextmanager
def started(server: Server, folder: Path) -> Iterator[str]:
    """The address of a new server with its data in this folder. It ends with the block."""
    port = _free_port()
    program = FOLDER / "node_modules" / server.package / server.name
    log = folder / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [program, *server.arguments, "--port", str(port)],
            cwd=folder,
            env={"HOME": str(folder), "PATH": os.environ["PATH"]},
            stdout=output,
            stderr=output,
        )
    try:
        _wait_until_it_answers(process, port, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _wait_until_it_answers(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"The server doesn't answer: {log.read_text()}")
