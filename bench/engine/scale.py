"""Get and query on a small and on a large file of the engine: they should cost the same."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.engine import cache
from bench.engine.cache import Unavailable
from bench.engine.in_process import InProcess
from bench.engine.over_wire import WireContender, skip
from bench.engine.rounds import Contender, Plan, Results, run, say
from bench.engine.servers import OURS, Launch, Running, Server, keyplan_command
from bench.engine.wire import call, operation_file
from bench.engine.workload import OperationName, Workload, read_once

OPERATIONS: tuple[OperationName, ...] = ("get", "query")
SMALL = 1_000
FILL_SECONDS = 300.0


def label(size: int) -> str:
    return f"{size:,} items"


def measure(sizes: Sequence[int], plan: Plan, skipped: dict[str, str]) -> dict[str, Results]:
    """Results in-process and over the wire; empty when the large file can't be made."""
    folder = cache.scratch("scale")
    plan_inside = Plan(plan.rounds, plan.seconds, OPERATIONS, (1,))
    plan_wire = Plan(plan.rounds, plan.seconds, OPERATIONS, plan.clients)
    results: dict[str, Results] = {}
    try:
        results["in-process"] = _in_process(folder, sizes, plan_inside)
        results["over the wire"] = _over_wire(folder, sizes, plan_wire)
    except Unavailable as reason:
        skip(skipped, f"{OURS} at {label(sizes[-1])}", str(reason))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return results


def _in_process(folder: Path, sizes: Sequence[int], plan: Plan) -> Results:
    workers: list[InProcess] = []
    try:
        for size in sizes:
            worker = InProcess(label(size), sys.executable, "engine", str(_file(folder, size)), size, FILL_SECONDS)
            used = sum(file.stat().st_size for file in folder.glob(f"{size}.db*"))
            say(f"{OURS}: {size:,} items in {worker.fill_seconds:.1f} s, {used / size:,.0f} bytes each on disk")
            workers.append(worker)
            worker.read_once()
        contenders: list[Contender] = [*workers]
        return run(contenders, plan, "scale in-process")
    finally:
        for worker in workers:
            worker.stop()


def _over_wire(folder: Path, sizes: Sequence[int], plan: Plan) -> Results:
    binary, contenders = cache.load_client(), []
    try:
        for size in sizes:
            workload = Workload(size)
            files = {name: operation_file(folder, workload, name) for name in OPERATIONS}
            running = Running(_server(_file(folder, size)), cache.scratch(f"scale-{size}"))
            contender = WireContender(running, binary, files)
            contender.label = label(size)
            contenders.append(contender)
            read_once(partial(call, running.port, "Scan"))
        rivals: list[Contender] = [*contenders]
        return run(rivals, plan, "scale over the wire")
    finally:
        for contender in contenders:
            contender.running.stop()


def _file(folder: Path, size: int) -> Path:
    return folder / f"{size}.db"


def _server(path: Path) -> Server:
    def launch(port: int, folder: Path) -> Launch:
        return Launch([keyplan_command(), "dynamodb", "--port", str(port), "--path", str(path)])

    return Server(OURS, "disk", launch)
