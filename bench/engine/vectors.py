"""Vector search: how long a search takes in an index of 100,000 vectors, and how much memory it needs.

`python -m bench.engine.vectors` (about two minutes) fills a file, and measures the first search after opening it, then
searches in this process and over HTTP, with one and with eight clients, beside writes and without room in memory.
"""

import argparse
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import boto3
import numpy as np
from botocore.config import Config

from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread

TABLE, INDEX = "Vectors", "ByVector"
Search = Callable[[], object]


def create(engine: Engine, dimensions: int) -> None:
    engine.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "kind", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
        VectorIndexes=[
            {
                "IndexName": INDEX,
                "VectorAttribute": {"AttributeName": "v"},
                "Dimensions": dimensions,
                "DistanceFunction": "COSINE",
                "SearchSchema": [{"AttributeName": "kind", "SearchSchemaElementType": "INLINE_FILTER"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


class Vectors:
    """Random vectors, always the same ones."""

    def __init__(self, dimensions: int) -> None:
        self._random = np.random.default_rng(1)
        self._dimensions = dimensions

    def next(self) -> list[dict[str, str]]:
        numbers = self._random.standard_normal(self._dimensions).astype(np.float32)
        return [{"N": f"{float(number):.7f}"} for number in numbers]


def fill(engine: Engine, vectors: Vectors, items: int) -> None:
    for start in range(0, items, 25):
        puts = [
            {
                "PutRequest": {
                    "Item": {"pk": {"S": str(number)}, "kind": {"S": f"k{number % 100}"}, "v": {"L": vectors.next()}}
                }
            }
            for number in range(start, min(items, start + 25))
        ]
        engine.batch_write_item(RequestItems={TABLE: puts})  # type: ignore[dict-item]


def measured(search: Search, clients: int, searches: int) -> list[float]:
    """How long each search takes, in milliseconds."""
    times: list[float] = []

    def ask() -> None:
        for _ in range(searches // clients):
            began = time.perf_counter()
            search()
            times.append((time.perf_counter() - began) * 1000)

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times)


def show(name: str, times: list[float]) -> None:
    median, late = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
    print(f"| {name} | {median:.1f} | {late:.1f} |", flush=True)


def report(path: Path, dimensions: int, searches: int) -> None:
    vectors = Vectors(dimensions)
    asked = [Vectors(dimensions).next() for _ in range(1)] + [vectors.next() for _ in range(20)]
    numbers = count()

    def search(client: object, **more: object) -> Search:
        request = {"TableName": TABLE, "IndexName": INDEX, "TopK": 10, "ProjectionExpression": "pk", **more}
        method: Callable[..., object] = client.search_vectors  # type: ignore[attr-defined]
        return lambda: method(SearchVector=asked[next(numbers) % len(asked)], **request)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    with Engine(str(path)) as engine:
        search(engine)()
        print(f"first search after opening: {(time.perf_counter() - began) * 1000:.0f} ms")
        held = engine.database._vectors.held_bytes
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"memory: {held / 2**20:.0f} MiB for the index; the process grew by {(after - before) / 1024:.0f} MiB\n")
        print("| searches | median, ms | p99, ms |\n| --- | ---: | ---: |")
        show("in this process, 1 client", measured(search(engine), 1, searches))
        show("in this process, 8 clients", measured(search(engine), 8, searches))
        equal = {"SearchConditionExpression": "kind = :k", "ExpressionAttributeValues": {":k": {"S": "k7"}}}
        show("with a filter that 1 % meet", measured(search(engine, **equal), 1, searches))
        stop = threading.Event()
        writer = threading.Thread(target=_write, args=(engine, vectors, stop))
        writer.start()
        show("beside a client that writes vectors, 1 client", measured(search(engine), 1, searches))
        stop.set()
        writer.join()
        with serve_in_thread(engine.database) as url:
            config = Config(retries={"max_attempts": 0}, max_pool_connections=8)
            keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
            client = boto3.client("dynamodb", endpoint_url=url, config=config, **keys)  # type: ignore[call-overload]
            show("over HTTP by boto3, 1 client", measured(search(client), 1, searches))
            show("over HTTP by boto3, 8 clients", measured(search(client), 8, searches))
    with Engine(str(path), vector_memory=0) as engine:
        show("without room in memory, 1 client", measured(search(engine), 1, max(5, searches // 20)))


def _write(engine: Engine, vectors: Vectors, stop: threading.Event) -> None:
    for number in count():
        if stop.is_set():
            return
        item = {"pk": {"S": f"new{number % 1000}"}, "kind": {"S": "k1"}, "v": {"L": vectors.next()}}
        engine.put_item(TableName=TABLE, Item=item)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--searches", type=int, default=400)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.db"
        began = time.perf_counter()
        with Engine(str(path)) as engine:
            create(engine, given.dimensions)
            fill(engine, Vectors(given.dimensions), given.items)
        print(f"{given.items:,} vectors of {given.dimensions} dimensions, load {os.getloadavg()[0]:.1f}")
        print(f"filled in {time.perf_counter() - began:.0f} s; the file has {path.stat().st_size / 2**20:.0f} MiB")
        report(path, given.dimensions, given.searches)


if __name__ == "__main__":
    main()
