"""The contenders: one worker process each, in the project's environment or in a peer's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.data.workload import OPERATIONS, PATCHES
from bench.engine import cache, workload
from bench.engine.cache import ROOT, Unavailable
from bench.engine.over_wire import skip
from bench.engine.wire import LoadError, Sample

SAME_BOTO3 = ("boto3==1.44.0", "botocore==1.44.0")
PEERS = {
    "pynamodb": "pynamodb==6.1.0",
    "pydynantic": "pydynantic==1.0.0",
    "pydynox": "pydynox==1.8.0",
    "dyntastic": "dyntastic==0.18.0",
}
OURS = "keyplan"
RAW = {True: "engine", False: "boto3"}
"""What Keyplan runs on: the engine in the same process, or over HTTP."""
MEMORY = ":memory:"
NOT_MEASURED = "not measured"
"""The reason why a peer has no figure for an operation that is ours alone."""


class Contender:
    """A worker process: see `worker.py`."""

    def __init__(self, label: str, python: str, kind: str, target: str, size: int) -> None:
        self.label = label
        self._errors = cache.FOLDER / f"data-{label}-{'in-process' if target == MEMORY else 'http'}.log"
        with self._errors.open("wb") as log:
            self._process = subprocess.Popen(
                [python, "-m", "bench.data.worker", kind, target, str(size)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            self._read()
        except LoadError as error:
            self.stop()
            raise Unavailable(str(error)) from error

    def begin_round(self) -> None:
        """Does nothing: new items have their own partitions, so all rounds are alike."""

    def measure(self, operation: workload.OperationName, clients: int, seconds: float) -> Sample:
        assert operation in OPERATIONS
        assert clients == 1
        if operation in PATCHES and self.label in PEERS:
            raise LoadError(NOT_MEASURED)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"operation": operation, "seconds": seconds}) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise LoadError(f"the worker has ended: {self._last_words()}") from error
        figures = self._read()
        return Sample(int(figures["count"]), figures["seconds"], figures["mean"], figures["p50"], figures["p99"])

    def stop(self) -> None:
        try:
            self._process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

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


def start_all(target: str, names: set[str], size: int, skipped: dict[str, str]) -> list[Contender]:
    """Start Keyplan, the raw requests and, over HTTP, the peers that can be installed; others go into `skipped`."""
    inside = target == MEMORY
    contenders = [Contender(RAW[inside], sys.executable, "raw", target, size)]
    contenders.append(Contender(OURS, sys.executable, OURS, target, size))
    for name in PEERS if not inside else ():
        if name not in names:
            continue
        try:
            contenders.append(Contender(name, _python_of(name), name, target, size))
        except Unavailable as reason:
            skip(skipped, name, str(reason))
    return contenders


def _python_of(name: str) -> str:
    return str(Path(cache.python_peer(name, PEERS[name], *SAME_BOTO3)) / "python")
