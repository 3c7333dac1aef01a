"""The engine and moto inside a Python process, each in a worker of its own, measured in turns."""

from __future__ import annotations

import json
import subprocess
import sys

from bench.engine import cache
from bench.engine.cache import ROOT, Unavailable
from bench.engine.over_wire import skip
from bench.engine.servers import OURS, moto_python
from bench.engine.wire import LoadError, Sample
from bench.engine.workload import OperationName

FILL_SECONDS = 60.0


class InProcess:
    """A worker process: see `worker.py`."""

    def __init__(self, label: str, python: str, kind: str, path: str, size: int, limit: float = FILL_SECONDS) -> None:
        self.label = label
        self._errors = cache.FOLDER / f"worker-{label.replace(' ', '-')}.log"
        with self._errors.open("wb") as log:
            self._process = subprocess.Popen(
                [python, "-m", "bench.engine.worker", kind, path, str(size), str(limit)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            self.fill_seconds = self._read()["filled"]
        except LoadError as error:
            self.stop()
            raise Unavailable(str(error)) from error

    def begin_round(self) -> None:
        self._ask({"do": "begin_round"})

    def read_once(self) -> None:
        self._ask({"do": "read_once"})

    def measure(self, operation: OperationName, clients: int, seconds: float) -> Sample:
        figures = self._ask({"do": "measure", "operation": operation, "clients": clients, "seconds": seconds})
        return Sample(int(figures["count"]), figures["seconds"], figures["mean"], figures["p50"], figures["p99"])

    def stop(self) -> None:
        try:
            self._process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def _ask(self, order: dict[str, object]) -> dict[str, float]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise LoadError(f"the worker has ended: {self._last_words()}") from error
        return self._read()

    def _read(self) -> dict[str, float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise LoadError(f"the worker has ended: {self._last_words()}")
        answer: dict[str, float] = json.loads(line)
        if "error" in answer:
            raise LoadError(str(answer["error"]))
        return answer

    def _last_words(self) -> str:
        lines = self._errors.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no output"


def start_all(names: set[str], size: int, skipped: dict[str, str]) -> list[InProcess]:
    """The workers that can be had; what can't goes into `skipped`."""
    workers = []
    for label, kind, path in (
        (f"{OURS} disk", "engine", "file"),
        (f"{OURS} memory", "engine", ":memory:"),
        ("moto memory", "moto", ""),
    ):
        if label.split()[0] not in names:
            continue
        try:
            where = str(cache.scratch("in-process") / "bench.db") if path == "file" else path
            python = moto_python() if kind == "moto" else sys.executable
            workers.append(InProcess(label, python, kind, where, size))
        except Unavailable as reason:
            skip(skipped, f"{label} in-process", str(reason))
    return workers
