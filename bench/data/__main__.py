"""Measures, prints the tables, and saves every figure in `.bench/data.json`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict

from bench.data import report
from bench.data.process import MEMORY, PEERS, Contender, start_all
from bench.data.workload import OPERATIONS
from bench.engine import cache, rounds
from bench.engine.rounds import Plan, Results, say
from bench.engine.servers import OURS, SERVERS, Running

SECTIONS = ("process", "http")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.data", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="well under a minute; the figures are rough")
    parser.add_argument("--only", action="append", choices=tuple(PEERS), help="only this peer; may be repeated")
    parser.add_argument("--section", action="append", choices=SECTIONS, help="only this section; may be repeated")
    parser.add_argument("--rounds", type=int, help="rounds that count, after one that warms up")
    parser.add_argument("--items", type=int, default=2_000, help="items in the table that is read")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    turns: int = options.rounds or (3 if options.quick else 15)
    # Many short turns, so that a slow phase of the machine affects all contenders alike.
    plan = Plan(turns, 0.2, operations=tuple(OPERATIONS), clients=(1,))
    sections: set[str] = set(options.section or SECTIONS)
    names: set[str] = set(options.only or PEERS)
    began = time.perf_counter()
    cache.prepare()
    outcome = report.Outcome()
    try:
        if "process" in sections:
            outcome.inside = run(start_all(MEMORY, names, options.items, outcome.skipped), plan, "in-process")
        if "http" in sections:
            outcome.http = over_http(names, options.items, plan, outcome)
    finally:
        cache.clear_scratch()
    print(report.markdown(outcome))
    keep(outcome)
    say(f"{time.perf_counter() - began:.0f} s; every figure is in {cache.FOLDER.name}/data.json")


def over_http(names: set[str], size: int, plan: Plan, outcome: report.Outcome) -> Results:
    endpoint = next(server for server in SERVERS if (server.name, server.mode) == (OURS, "memory"))
    running = Running(endpoint, cache.scratch("endpoint"))
    try:
        return run(start_all(f"http://127.0.0.1:{running.port}", names, size, outcome.skipped), plan, "over HTTP")
    finally:
        running.stop()


def run(contenders: list[Contender], plan: Plan, title: str) -> Results:
    try:
        return rounds.run(contenders, plan, title)
    finally:
        for contender in contenders:
            contender.stop()


def keep(outcome: report.Outcome) -> None:
    machine = {"system": platform.platform(), "python": sys.version.split()[0], "cores": os.cpu_count()}
    figures = {
        "machine": machine,
        "in_process": samples(outcome.inside),
        "http": samples(outcome.http),
        "skipped": outcome.skipped,
        "verdicts": report.verdicts(outcome),
    }
    (cache.FOLDER / "data.json").write_text(json.dumps(figures, indent=1))


def samples(results: Results) -> dict[str, object]:
    found: dict[str, object] = {
        f"{name}, {label}": [asdict(sample) for sample in taken] for (name, _, label), taken in results.samples.items()
    }
    return found | {f"{name}, {label}": {"failed": why} for (name, _, label), why in results.failures.items()}


if __name__ == "__main__":
    main()
