"""`python -m bench.engine.worker KIND PATH SIZE SECONDS`: one client library in a process of its own.

It fills its tables, says so on stdout, then measures what stdin asks for: a line of JSON each way. It runs in the
project's environment for the engine and in a peer's for the peer, so it imports nothing but the workload at the top.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

from bench.engine.workload import (
    OPERATIONS,
    READS,
    WRITES,
    Fresh,
    OperationName,
    Workload,
    fresh_numbers,
    read_once,
    table_request,
)

Call: TypeAlias = Callable[..., Mapping[str, object]]
PREBUILT = 16
THREADS = 8


def moto_client() -> object:
    """A boto3 client answered by moto in this process."""
    importlib.import_module("moto").mock_aws().start()
    client: object = importlib.import_module("boto3").client(
        "dynamodb", region_name="us-east-1", aws_access_key_id="bench", aws_secret_access_key="bench"
    )
    return client


def engine_client(path: str) -> object:
    engine: object = importlib.import_module("keyplan.engine").Engine(path)
    return engine


class Worker:
    def __init__(self, client: object, size: int) -> None:
        self._client = client
        self._workloads = [Workload(size, seed) for seed in range(THREADS)]
        self._fresh = [fresh_numbers(first, THREADS) for first in range(1, THREADS + 1)]

    def fill(self, limit: float) -> None:
        for name in (READS, WRITES):
            self._method("create_table")(**table_request(name))
        write, deadline = self._method("batch_write_item"), time.perf_counter() + limit
        for done, batch in enumerate(self._workloads[0].seed_batches()):
            write(**batch)
            if time.perf_counter() > deadline:
                raise TimeoutError(f"{(done + 1) * 25:,} items of {self._workloads[0].size:,} in {limit:.0f} s")

    def begin_round(self) -> None:
        self._method("delete_table")(TableName=WRITES)
        self._method("create_table")(**table_request(WRITES))

    def read_once(self) -> None:
        scan = self._method("scan")
        read_once(lambda request: scan(**request))

    def measure(self, name: OperationName, clients: int, seconds: float) -> dict[str, float]:
        times: list[list[int]] = [[] for _ in range(clients)]
        errors: list[BaseException] = []
        deadline = time.perf_counter() + seconds

        def drive(client: int) -> None:
            try:
                self._drive(name, self._workloads[client], self._fresh[client], deadline, times[client])
            except Exception as error:  # noqa: BLE001  (whatever a peer raises belongs in the report)
                errors.append(error)

        began = time.perf_counter()
        threads = [threading.Thread(target=drive, args=(client,)) for client in range(1, clients)]
        for thread in threads:
            thread.start()
        drive(0)
        for thread in threads:
            thread.join()
        elapsed = time.perf_counter() - began
        if errors:
            raise errors[0]
        every = sorted(took for some in times for took in some)
        # A single client's requests are made between the calls; that is not the engine's time.
        return _figures(every, sum(every) / 1e9 if clients == 1 else elapsed)

    def _drive(self, name: OperationName, workload: Workload, fresh: Fresh, deadline: float, times: list[int]) -> None:
        call, clock = self._method(OPERATIONS[name].method), time.perf_counter_ns
        while True:
            for request in [workload.build(name, fresh) for _ in range(PREBUILT)]:
                began = clock()
                answer = call(**request)
                ended = clock()
                times.append(ended - began)
                _check(name, answer)
                if ended / 1e9 > deadline:
                    return

    def _method(self, name: str) -> Call:
        method: Call = getattr(self._client, name)
        return method


def _check(name: OperationName, answer: Mapping[str, object]) -> None:
    right = {"get": "Item" in answer, "query": answer.get("Count") == 100, "batch": not answer.get("UnprocessedItems")}
    if not right.get(name, True):
        raise ValueError(f"a wrong answer to {name}: {str(answer)[:300]}")


def _figures(sorted_times: list[int], seconds: float) -> dict[str, float]:
    last = len(sorted_times) - 1
    return {
        "count": last + 1,
        "seconds": seconds,
        "mean": sum(sorted_times) / len(sorted_times) / 1000,
        "p50": sorted_times[round(last * 0.5)] / 1000,
        "p99": sorted_times[round(last * 0.99)] / 1000,
    }


def _answer(worker: Worker, line: str) -> dict[str, object]:
    order = json.loads(line)
    try:
        if order["do"] == "begin_round":
            worker.begin_round()
            return {}
        if order["do"] == "read_once":
            worker.read_once()
            return {}
        return dict(worker.measure(order["operation"], order["clients"], order["seconds"]))
    except Exception as error:  # noqa: BLE001  (whatever a peer raises belongs in the report)
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def main() -> None:
    kind, path, size, limit = sys.argv[1:5]
    client = moto_client() if kind == "moto" else engine_client(path)
    worker = Worker(client, int(size))
    began = time.perf_counter()
    worker.fill(float(limit))
    print(json.dumps({"filled": time.perf_counter() - began}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(worker, line)), flush=True)
    close = getattr(client, "close", None)
    if close is not None:
        close()


if __name__ == "__main__":
    main()
