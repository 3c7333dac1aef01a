"""`python -m bench.data.worker KIND TARGET SIZE`: one library in a process of its own.

It fills its table, says so on stdout, then measures what stdin asks for: a line of JSON each way. `TARGET` is the
address of an endpoint, or `:memory:` for the engine in this process. It runs in the environment of its library, so it
imports nothing but the workload at the top.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
import time
from itertools import count
from typing import Any, cast

from bench.data.workload import (
    OPERATIONS,
    PARTITION,
    OperationName,
    PatchSubject,
    Subject,
    Task,
    order,
    table_request,
)

PREBUILT = 16
UPDATED = 50
"""The number of orders that are updated in turn: each update needs the version of the one before."""


def client_of(target: str) -> Any:  # noqa: ANN401 - the engine or a boto3 client
    if target == ":memory:":
        return importlib.import_module("keyplan.engine").Engine()
    return importlib.import_module("boto3").client(
        "dynamodb",
        endpoint_url=target,
        region_name="us-east-1",
        aws_access_key_id="bench",
        aws_secret_access_key="bench",
    )


def subject_of(kind: str, target: str) -> Subject:
    """The library on an empty table of its own."""
    ours = kind in ("keyplan", "raw")
    client = client_of(target)
    # Keyplan and the raw requests write the same items, so they can share a table; peers store in their own ways.
    table = "orders" if ours else f"orders-{kind}"
    if table not in client.list_tables()["TableNames"]:
        client.create_table(**table_request(table))
    if ours:
        made: Subject = importlib.import_module("bench.data.ours").__dict__[kind.capitalize()](client)
        return made
    peer: Subject = importlib.import_module("bench.data.peers").PEERS[kind](target, table)
    return peer


class Worker:
    def __init__(self, subject: Subject, size: int, first: int) -> None:
        self._subject = subject
        self._random = random.Random(7)
        self._numbers = count(first)
        self._statuses = count()
        self._filled = range(first, first + size)
        self._customers = [f"{first + number:012d}" for number in range(size // PARTITION)]

    def fill(self) -> None:
        for number in self._filled:
            customer = int(self._customers[number % len(self._customers)])
            self._subject.putting(order(next(self._numbers), customer))()

    def measure(self, name: OperationName, seconds: float) -> dict[str, float]:
        times: list[int] = []
        clock, deadline = time.perf_counter_ns, time.perf_counter_ns() + int(seconds * 1e9)
        while True:
            # An update needs the version of the one before, so it is prepared when its turn comes.
            for task in (self._task(name) for _ in range(PREBUILT)):
                began = clock()
                answer = task()
                ended = clock()
                times.append(ended - began)
                _check(name, answer)
                if ended > deadline:
                    return _figures(times)

    def _task(self, name: OperationName) -> Task:
        match name:
            case "get":
                return self._subject.getting(f"{self._random.choice(self._filled):012d}")
            case "put":
                number = next(self._numbers)
                return self._subject.putting(order(number, number))
            case "update":
                number = self._filled[next(self._statuses) % UPDATED]
                return self._subject.updating(f"{number:012d}", f"STATUS-{next(self._statuses)}")
            case "patch" | "patch-new":
                number = self._filled[next(self._statuses) % UPDATED + UPDATED]
                subject = cast(PatchSubject, self._subject)
                return subject.patching(f"{number:012d}", f"STATUS-{next(self._statuses)}", whole=name == "patch-new")
            case "query":
                return self._subject.querying(self._random.choice(self._customers))


def _check(name: OperationName, answer: object) -> None:
    wrong = (name == "get" and answer is None) or (name == "query" and len(answer) != PARTITION)  # type: ignore[arg-type]
    if wrong:
        raise ValueError(f"a wrong answer to {name}: {str(answer)[:300]}")


def _figures(times: list[int]) -> dict[str, float]:
    times.sort()
    last = len(times) - 1
    return {
        "count": len(times),
        "seconds": sum(times) / 1e9,
        "mean": sum(times) / len(times) / 1000,
        "p50": times[round(last * 0.5)] / 1000,
        "p99": times[round(last * 0.99)] / 1000,
    }


def _answer(worker: Worker, line: str) -> dict[str, object]:
    order = json.loads(line)
    try:
        assert order["operation"] in OPERATIONS
        return dict(worker.measure(order["operation"], order["seconds"]))
    except Exception as error:  # noqa: BLE001  (whatever a peer raises belongs in the report)
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def main() -> None:
    kind, target, size = sys.argv[1:4]
    # Keyplan and the raw requests share a table, but not their orders.
    worker = Worker(subject_of(kind, target), int(size), first=10**9 if kind == "raw" else 0)
    worker.fill()
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(worker, line)), flush=True)


if __name__ == "__main__":
    main()
