"""The server under attack, and a normal user of it."""

import itertools
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx

LIMITS = {
    "KEYPLAN_HEADER_SECONDS": "2",
    "KEYPLAN_BODY_SECONDS": "2",
    "KEYPLAN_STALL_SECONDS": "2",
    "KEYPLAN_IDLE_SECONDS": "2",
    "KEYPLAN_BODY_RATE": "65536",
    "KEYPLAN_RATE_ADDRESS": "300",
}
"""Shorter than the defaults, so that the attacks take a minute and not ten."""
LONG = 20.0
USER = "127.0.0.9"
"""The address of the normal user. Each attack has another."""
OPERATOR = "127.0.0.8"
"""The address of who looks at the metrics."""
PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Outcome:
    """What came of an attack: how often something was tried, and whether the server held."""

    tried: int
    held: bool
    what: str


@dataclass
class Target:
    """A running server."""

    url: str
    file: Path
    _addresses: Iterator[int] = field(default_factory=lambda: iter(range(1, 255)))

    @property
    def place(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        return str(parts.hostname), int(parts.port or 0)

    def new_address(self) -> str:
        """An address of this machine that nobody has used, so that attacks don't share limits."""
        return f"127.0.1.{next(self._addresses)}"

    def connect(self, address: str, sent: bytes = b"") -> socket.socket:
        made = socket.create_connection(self.place, LONG, (address, 0))
        made.sendall(sent)
        return made

    def client(self, address: str, token: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        transport = httpx.HTTPTransport(local_address=address, limits=httpx.Limits(max_connections=300))
        return httpx.Client(base_url=self.url, transport=transport, headers=headers, timeout=LONG)

    def metrics(self) -> str:
        """What the server counts."""
        with self.client(OPERATOR) as client:
            return client.get("/metrics").text

    def new_user(self, address: str) -> tuple[str, str]:
        """A new account of WavyBlog: its name and its token."""
        name = f"user_{secrets.token_hex(4)}"
        with self.client(address) as client:
            body = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
            answer = client.post("/api/wavyblog/register", json=body).raise_for_status()
        return name, str(answer.json()["access_token"])

    def many(self, number: int, ask: Callable[[int], int], at_once: int = 50) -> list[int]:
        """The statuses of many requests, some at a time. 0 is a connection that was closed."""

        def asked(turn: int) -> int:
            try:
                return ask(turn)
            except httpx.TransportError:
                return 0

        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(asked, range(number)))


@contextmanager
def started(folder: Path) -> Iterator[Target]:
    """A server with demo data in a folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KEYPLAN_")} | LIMITS
    file = folder / "attacked.db"
    systems = ("--system", "wavyblog")
    command = [sys.executable, "-m", "keyplan.cli", "serve", "--port", "0", "--demo", "--path", str(file), *systems]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line.startswith("Keyplan on "):
            raise RuntimeError(f"The server didn't start: {line}{(folder / 'log').read_text()}")
        yield Target(line.split()[2], file)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(LONG)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()


class NormalUser:
    """Somebody who reads the blog while it is attacked, on a new connection each time."""

    def __init__(self, target: Target, token: str) -> None:
        self._target = target
        self._token = token
        self._stopping = threading.Event()
        self._addresses = itertools.cycle(("/api/wavyblog/posts?limit=5", "/wavyblog/categories"))
        self.seconds: list[float] = []
        self.failures: list[str] = []
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> "NormalUser":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._stopping.wait(0.15):
            began = time.monotonic()
            try:
                with self._target.client(USER, self._token) as client:
                    answer = client.get(next(self._addresses))
                if answer.status_code != 200:
                    self.failures.append(str(answer.status_code))
            except httpx.TransportError as error:
                self.failures.append(type(error).__name__)
            self.seconds.append(time.monotonic() - began)

    def noticed(self) -> str:
        """The middle and the longest time of an answer, and how many failed."""
        if not self.seconds:
            return "nothing asked"
        shown = f"{median(self.seconds) * 1000:.0f} / {max(self.seconds) * 1000:.0f} ms"
        return f"{shown}, {len(self.failures)} failed" if self.failures else shown
