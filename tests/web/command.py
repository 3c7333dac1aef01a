"""Runs the command `keyplan`, as a user does in a folder."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx

COMMAND = (sys.executable, "-m", "keyplan.cli")


def environment(given: dict[str, str]) -> dict[str, str]:
    """The environment of a command: no settings of Keyplan except those given."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KEYPLAN_")} | given


def keyplan(folder: Path, *arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a command until it ends."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env=environment(given), capture_output=True, text=True, timeout=60
    )


@dataclass
class Command:
    """A running command."""

    process: subprocess.Popen[str]
    output: IO[str]
    log: Path
    seconds: float = 0
    """How long it took to start."""
    processor_seconds: float = 0
    """How much of that was its own CPU time, however busy the machine was."""

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of its log, which are all JSON. Leaves out a line that isn't complete yet."""
        written, _, _ = self.log.read_text().rpartition("\n")
        return [json.loads(line) for line in written.splitlines()]

    def stop(self) -> int:
        """Stop it as a service manager does, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@dataclass
class Server(Command):
    """`keyplan serve`."""

    url: str = ""

    @property
    def api(self) -> str:
        return f"{self.url}/api/wavyblog"

    def get(self, path: str, **more: Any) -> httpx.Response:
        """The answer to a GET request on a new connection."""
        return httpx.get(f"{self.url}{path}", timeout=30, **more)


@contextmanager
def started(folder: Path, *arguments: str, **given: str) -> Iterator[Command]:
    """A command that runs until the block ends, and must then exit with 0."""
    log = folder / f"log-{time.monotonic_ns()}"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            env=environment(given),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    assert process.stdout is not None
    command = Command(process, process.stdout, log)
    try:
        yield command
        if process.poll() is None:
            assert command.stop() == 0, log.read_text()
    finally:
        with suppress(ProcessLookupError):  # all its processes have ended, as they should
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@contextmanager
def serve(folder: Path, *arguments: str, systems: Sequence[str] = ("wavyblog",), **given: str) -> Iterator[Server]:
    """`keyplan serve` on a free port, once it is ready."""
    began = time.monotonic()
    chosen = [part for system in systems for part in ("--system", system)]
    with started(folder, "serve", "--port", "0", *chosen, *arguments, **given) as command:
        line = command.output.readline()
        seconds = time.monotonic() - began
        assert line.startswith("Keyplan on http://"), line + command.log.read_text()
        computing = _processor_seconds(command.process.pid)
        yield Server(command.process, command.output, command.log, seconds, computing, line.split()[2])


def _processor_seconds(process: int) -> float:
    used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


_HOLD = """
import sqlite3, sys
lock = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
lock.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
lock.execute("ROLLBACK")
"""


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """A process of its own holds the write lock of a file: two copies of SQLite in one don't see each other's locks."""
    with subprocess.Popen([sys.executable, "-c", _HOLD, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as lock:
        assert lock.stdout is not None
        lock.stdout.readline()
        try:
            yield
        finally:
            lock.communicate()
