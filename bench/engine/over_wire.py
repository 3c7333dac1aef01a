"""The six operations over HTTP, and what a server costs before it has done anything."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.engine import cache
from bench.engine.cache import Unavailable
from bench.engine.rounds import say
from bench.engine.servers import Running, Server
from bench.engine.wire import Credentials, LoadClient, LoadError, Sample, operation_file, seed_file
from bench.engine.workload import OPERATIONS, READS, WRITES, OperationName, Workload, table_request

NO_LIMIT = 10**9
SETTLE_SECONDS = 1.0
FILL_SECONDS = 1200.0
"""For filling a table. What a slow peer can't hold by then isn't compared."""


@dataclass(frozen=True)
class Footprint:
    start_seconds: float
    idle_bytes: int


class WireContender:
    """A running server with its tables made and filled."""

    def __init__(self, running: Running, binary: Path, files: dict[OperationName, Path]) -> None:
        self.running = running
        self.label = running.server.label
        self._client = LoadClient(binary, running.port, running.server.credentials.secret_key)
        self._files = files

    def make_tables(self) -> None:
        for name in (READS, WRITES):
            self.running.call("CreateTable", table_request(name))
        for name in (READS, WRITES):
            self._wait_for(name)

    def begin_round(self) -> None:
        self.running.call("DeleteTable", {"TableName": WRITES})
        for _ in range(300):
            if WRITES not in str(self.running.call("ListTables", {})["TableNames"]):
                break
            time.sleep(0.05)
        self.running.call("CreateTable", table_request(WRITES))
        self._wait_for(WRITES)

    def _wait_for(self, name: str) -> None:
        for _ in range(300):
            table = self.running.call("DescribeTable", {"TableName": name})["Table"]
            if isinstance(table, dict) and table.get("TableStatus") == "ACTIVE":
                return
            time.sleep(0.1)
        raise LoadError(f"table {name} did not become ACTIVE")

    def fill(self, requests: Path, count: int) -> None:
        done = self._client.run(
            requests, clients=4, seconds=FILL_SECONDS, count=count, expects=OPERATIONS["batch"].expects
        )
        if done.count < count:
            raise LoadError(f"{done.count:,} of {count:,} batches in {FILL_SECONDS:.0f} s")

    def measure(self, operation: OperationName, clients: int, seconds: float) -> Sample:
        expects = OPERATIONS[operation].expects
        return self._client.run(
            self._files[operation], clients=clients, seconds=seconds, count=NO_LIMIT, expects=expects
        )


def start_all(servers: Sequence[Server], size: int, skipped: dict[str, str]) -> list[WireContender]:
    """Every server that can be had, filled with the same items. What can't be had goes into `skipped`."""
    folder = cache.scratch("requests")
    workload = Workload(size)
    binary = cache.load_client()
    contenders: list[WireContender] = []
    requests: dict[Credentials, tuple[dict[OperationName, Path], Path, int]] = {}
    try:
        for server in servers:
            if server.credentials not in requests:
                files = {name: operation_file(folder, workload, name, server.credentials) for name in OPERATIONS}
                requests[server.credentials] = (files, *seed_file(folder, workload, server.credentials))
            files, seeds, count = requests[server.credentials]
            contender = _start(server, binary, files, skipped)
            if contender is not None:
                contenders.append(contender)
                _fill(contender, seeds, count, skipped)
    except BaseException:
        for contender in contenders:
            contender.running.stop()
        raise
    return [contender for contender in contenders if contender.label not in skipped]


def _start(
    server: Server, binary: Path, files: dict[OperationName, Path], skipped: dict[str, str]
) -> WireContender | None:
    try:
        running = Running(server, cache.scratch(server.label.replace(" ", "-")))
    except Unavailable as reason:
        skip(skipped, server.label, str(reason))
        return None
    return WireContender(running, binary, files)


def _fill(contender: WireContender, seeds: Path, count: int, skipped: dict[str, str]) -> None:
    began = time.perf_counter()
    try:
        contender.make_tables()
        contender.fill(seeds, count)
    except (LoadError, OSError) as reason:
        contender.running.stop()
        skip(skipped, contender.label, str(reason))
        return
    say(f"{contender.label}: filled in {time.perf_counter() - began:.1f} s")


def footprints(servers: Sequence[Server], times: int, skipped: dict[str, str]) -> dict[str, Footprint]:
    """Start to first answer and memory at rest, on empty data; the servers take turns."""
    starts: dict[str, list[float]] = {}
    idle: dict[str, list[int]] = {}
    for _ in range(times):
        for server in [server for server in servers if server.label not in skipped]:
            try:
                running = Running(server, cache.scratch("footprint"))
            except Unavailable as reason:
                skip(skipped, server.label, str(reason))
                continue
            try:
                time.sleep(SETTLE_SECONDS)
                starts.setdefault(server.label, []).append(running.start_seconds)
                idle.setdefault(server.label, []).append(running.memory())
            finally:
                running.stop()
    return {label: Footprint(median(values), int(median(idle[label]))) for label, values in starts.items()}


def skip(skipped: dict[str, str], label: str, reason: str) -> None:
    skipped[label] = reason
    say(f"!! {label} is SKIPPED: {reason}")
