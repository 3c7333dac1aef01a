"""Requests per second of WavyBlog on the embedded engine, as a share of what a bare FastAPI handler gives."""

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench.api.bare import ANNOTATED
from bench.engine import cache
from bench.engine.rounds import say
from bench.engine.servers import free_port, keyplan_command
from bench.engine.wire import LoadClient, Sample, write_requests

TARGET = 0.35
OURS = "keyplan"
BARE = "bare FastAPI"
FASTEST = "bare FastAPI, annotated"
"""What a bare handler returns is made JSON in two ways: see `bare`."""
LISTED = "/api/wavyblog/posts?limit=20"
CLIENTS = (1, 8)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.api", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    cache.prepare()
    try:
        with ExitStack() as stack:
            print(report(measured(stack, options.rounds, options.seconds)))
    finally:
        cache.clear_scratch()


def measured(stack: ExitStack, rounds: int, seconds: float) -> dict[tuple[str, int, str], list[Sample]]:
    """All samples, by operation, number of clients and server; each round does everything once, side by side."""
    folder = cache.scratch("api")
    ours = stack.enter_context(wavyblog(folder))
    paths = [f"/api/wavyblog/posts/{slug}" for slug in published(ours)]
    answers = {path: fetched(ours, path) for path in [*paths, LISTED]}
    (folder / "answers.json").write_text(json.dumps(answers))
    bare = stack.enter_context(
        started(
            [sys.executable, "-m", "bench.api.bare"], folder, lambda port: [str(port), str(folder / "answers.json")]
        )
    )
    asked = {"get-post": paths, "list-posts": [LISTED]}
    loads = {
        OURS: (LoadClient(cache.load_client(), ours), ""),
        BARE: (LoadClient(cache.load_client(), bare), ""),
        FASTEST: (LoadClient(cache.load_client(), bare), ANNOTATED),
    }
    files = {
        (operation, name): requests(
            folder, f"{operation}{prefix.replace('/', '-')}", [prefix + each for each in wanted]
        )
        for operation, wanted in asked.items()
        for name, (_, prefix) in loads.items()
    }
    samples: dict[tuple[str, int, str], list[Sample]] = {}
    for turn in range(rounds + 1):
        say(f"round {turn} of {rounds}" if turn else "warming up")
        for operation in asked:
            for clients in CLIENTS:
                for name in sorted(loads, reverse=turn % 2 == 0):
                    load, file = loads[name][0], files[operation, name]
                    sample = load.run(file, clients=clients, seconds=seconds, count=10**9, expects=None)
                    if turn:
                        samples.setdefault((operation, clients, name), []).append(sample)
    return samples


def wavyblog(folder: Path) -> Any:  # noqa: ANN401 - a context manager
    """WavyBlog with its made-up data on a file, as `keyplan serve` runs it; only without a limit on requests."""
    command = [keyplan_command(), "serve", "--demo", "--system", "wavyblog", "--path", str(folder / "blog.db")]
    return started(command, folder, lambda port: ["--port", str(port)])


@contextmanager
def started(command: list[str], folder: Path, more: Any) -> Iterator[int]:  # noqa: ANN401 - port to arguments
    port = free_port()
    environment = {**os.environ, "KEYPLAN_RATE_ADDRESS": "0", "KEYPLAN_RATE_IDENTITY": "0"}
    with (folder / f"{port}.log").open("wb") as log:
        process = subprocess.Popen([*command, *more(port)], env=environment, stdout=log, stderr=log)
        try:
            until = time.monotonic() + 120
            while True:
                try:
                    fetched(port, LISTED)
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > until:
                        raise SystemExit(Path(log.name).read_text()[-2000:]) from None
                    time.sleep(0.05)
            yield port
        finally:
            process.terminate()
            process.wait()


def fetched(port: int, path: str) -> Any:  # noqa: ANN401 - any JSON
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return json.load(answer)


def published(port: int) -> list[str]:
    return [each["slug"] for each in fetched(port, "/api/wavyblog/posts?limit=100")["items"]]


def requests(folder: Path, name: str, paths: list[str]) -> Path:
    heads = [f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n".encode() for path in paths]
    return write_requests(folder / f"{name}.requests", heads)


def report(samples: dict[tuple[str, int, str], list[Sample]]) -> str:
    lines = [
        f"| operation | clients | keyplan, 1/s | {BARE}, 1/s | {FASTEST}, 1/s | shares of them | | p50 / p99 µs |",
        "| --- |" + " ---: |" * 7,
    ]
    verdicts = []
    for operation, clients, name in samples:
        if name != OURS:
            continue
        ours, bare, fastest = (samples[operation, clients, each] for each in (OURS, BARE, FASTEST))
        shares = [median(a.rate / b.rate for a, b in zip(ours, each, strict=True)) for each in (bare, fastest)]
        rates = " | ".join(f"{median(each.rate for each in side):,.0f}" for side in (ours, bare, fastest))
        times = f"{median(each.p50 for each in ours):,.0f} / {median(each.p99 for each in ours):,.0f}"
        lines.append(f"| {operation} | {clients} | {rates} | {shares[0]:.2f} | {shares[1]:.2f} | {times} |")
        for share, which in zip(shares, (BARE, FASTEST), strict=True):
            hit = "hit" if share >= TARGET else "MISSED"
            verdicts.append(f"- {hit}: {operation}, {clients} client(s), at least {TARGET} of {which}: {share:.2f}")
    return "\n".join([*lines, "", *verdicts])


if __name__ == "__main__":
    main()
