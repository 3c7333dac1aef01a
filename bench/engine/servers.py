"""The servers that are compared: how each is had, started on this machine's loopback, and watched."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from bench.engine import cache
from bench.engine.cache import ROOT, Unavailable
from bench.engine.wire import ANSWER_SECONDS, ANY, Credentials, LoadError, call
from bench.engine.workload import Request

Mode: TypeAlias = Literal["disk", "memory"]
START_SECONDS = 60.0
OURS = "keyplan"

DYNALITE = "dynalite@4.0.0"
DYNOXIDE = "@dynoxide/linux-x64@1.2.1"
EXTENDDB = "@extenddb/linux-x64@0.1.10"
EXTENDDB_KEYS = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
"""The example of AWS's documentation, which ExtendDB accepts without settings."""
MINISTACK = "ministack==1.5.33"
MOTO = ("moto[dynamodb,server]==5.2.5", "boto3==1.44.0")
VERSIONS = (DYNALITE, DYNOXIDE, EXTENDDB, MINISTACK, *MOTO)


@dataclass(frozen=True)
class Launch:
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Server:
    """A program in one of its modes."""

    name: str
    mode: Mode
    launch: Callable[[int, Path], Launch]
    """From a port and an empty folder; raises Unavailable."""
    note: str = ""
    credentials: Credentials = ANY

    @property
    def label(self) -> str:
        return f"{self.name} {self.mode}"


def keyplan_command() -> str:
    command = ROOT / ".venv" / "bin" / "keyplan"
    if not command.exists():
        raise Unavailable(".venv/bin/keyplan is not there: run `make setup`")
    return str(command)


def _keyplan(port: int, *where: str) -> Launch:
    return Launch([keyplan_command(), "dynamodb", "--port", str(port), *where])


def _dynoxide(port: int, *where: str) -> Launch:
    binary = cache.node_peer("dynoxide", DYNOXIDE) / "@dynoxide" / "linux-x64" / "dynoxide"
    return Launch([str(binary), "serve", "--host", "127.0.0.1", "--port", str(port), *where])


def _dynalite(port: int, *where: str) -> Launch:
    script = cache.node_peer("dynalite", DYNALITE) / ".bin" / "dynalite"
    at_once = ("--createTableMs", "0", "--deleteTableMs", "0")
    return Launch([str(script), "--host", "127.0.0.1", "--port", str(port), *at_once, *where])


def _extenddb(port: int, folder: Path) -> Launch:
    binary = cache.node_peer("extenddb", EXTENDDB) / "@extenddb" / "linux-x64" / "extenddb"
    environment = {
        "HOME": str(folder),
        "AWS_ACCESS_KEY_ID": EXTENDDB_KEYS.access_key,
        "AWS_SECRET_ACCESS_KEY": EXTENDDB_KEYS.secret_key,
    }
    return Launch([str(binary), "serve", "--foreground", "--port", str(port)], environment)


def _ministack(port: int, folder: Path) -> Launch:
    command = cache.python_peer("ministack", MINISTACK) / "ministack"
    environment = {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "LOG_LEVEL": "ERROR",
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
        "STATE_DIR": str(folder),
        "S3_DATA_DIR": str(folder),
    }
    return Launch([str(command)], environment)


def moto_python() -> str:
    return str(cache.python_peer("moto", *MOTO) / "python")


def _moto(port: int, folder: Path) -> Launch:
    return Launch([str(Path(moto_python()).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port)])


SERVERS = (
    Server(OURS, "disk", lambda port, folder: _keyplan(port, "--path", str(folder / "bench.db"))),
    Server("dynoxide", "disk", lambda port, folder: _dynoxide(port, "--db-path", str(folder / "bench.db"))),
    Server("dynalite", "disk", lambda port, folder: _dynalite(port, "--path", str(folder / "level"))),
    Server("extenddb", "disk", _extenddb, "it always verifies signatures; the others were not asked to", EXTENDDB_KEYS),
    Server(OURS, "memory", lambda port, folder: _keyplan(port, "--memory")),
    Server("dynoxide", "memory", lambda port, folder: _dynoxide(port)),
    Server("dynalite", "memory", lambda port, folder: _dynalite(port)),
    Server("ministack", "memory", _ministack, "its PERSIST_STATE saves at shutdown only: no disk mode"),
    Server("moto", "memory", _moto, "moto_server: no disk mode"),
)


class Running:
    """A started server that has given its first answer."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.port = free_port()
        launch = server.launch(self.port, folder)
        self._log = (folder / "server.log").open("wb")
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench"}
        started = time.perf_counter()
        try:
            self.process = subprocess.Popen(
                launch.command,
                cwd=folder,
                env={**environment, **launch.environment},
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise Unavailable(f"{launch.command[0]}: {error}") from error
        try:
            self._first_answer(started)
        except BaseException:
            self.stop()
            raise
        self.start_seconds = time.perf_counter() - started

    def _first_answer(self, started: float) -> None:
        while time.perf_counter() - started < START_SECONDS:
            if self.process.poll() is not None:
                raise Unavailable(f"it ended at once: {self._last_words()}")
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                try:
                    self.call("ListTables", {})
                except LoadError as error:
                    raise Unavailable(f"no ListTables: {error}") from error
                return
            time.sleep(0.002)
        raise Unavailable(f"no answer within {START_SECONDS:.0f} s: {self._last_words()}")

    def call(self, api: str, request: Request, seconds: float = ANSWER_SECONDS) -> dict[str, object]:
        """One request outside the measuring."""
        return call(self.port, api, request, seconds, self.server.credentials)

    def _last_words(self) -> str:
        self._log.flush()
        lines = Path(self._log.name).read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self.process.poll()}, no output"

    def memory(self) -> int:
        """Resident bytes of the process and its children."""
        return sum(_resident(pid) for pid in _family(self.process.pid))

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _resident(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


def _family(pid: int) -> list[int]:
    if shutil.which("pgrep") is None:
        return [pid]
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return [pid] + [child for text in found for child in _family(int(text))]
