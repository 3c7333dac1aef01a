"""Measures, prints the tables, and keeps every figure in `.bench/engine.json`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict

from bench.engine import beside, cache, in_process, over_wire, report, rounds, scale
from bench.engine.rounds import Contender, Plan, Results, say
from bench.engine.servers import OURS, SERVERS, Server

NAMES = list(dict.fromkeys(server.name for server in SERVERS))
SECTIONS = ("wire", "process", "scale", "large", "beside", "start")
LARGE = ("keyplan disk", "dynoxide disk", "dynalite disk", "extenddb disk")
"""The servers that may hold the items of the large file. One that isn't filled in time isn't compared."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about two minutes; the figures are rough")
    parser.add_argument("--only", action="append", choices=NAMES, help="only this contender; may be repeated")
    parser.add_argument("--section", action="append", choices=SECTIONS, help="only this section; may be repeated")
    parser.add_argument("--rounds", type=int, help="rounds that count, after one that warms up")
    parser.add_argument("--items", type=int, default=2_000, help="items in the table that is read")
    parser.add_argument("--large", type=int, help="items in the large files of the other sections")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    quick: bool = options.quick
    plan = Plan(options.rounds or (1 if quick else 5), 0.25 if quick else 0.5)
    sections: set[str] = set(options.section or SECTIONS)
    names: set[str] = set(options.only or NAMES)
    servers = [server for server in SERVERS if server.name in names]
    large: int = options.large or (50_000 if quick else 1_000_000)
    began = time.perf_counter()
    cache.prepare()
    outcome = report.Outcome(sizes=(scale.SMALL, large))
    try:
        measure(servers, names, sections, options.items, plan, outcome, quick=quick)
    finally:
        cache.clear_scratch()
    outcome.notes = {server.label: server.note for server in servers if server.note}
    print(report.markdown(outcome))
    keep(outcome)
    say(f"{time.perf_counter() - began:.0f} s; every figure is in {cache.FOLDER.name}/engine.json")


def measure(
    servers: Sequence[Server],
    names: set[str],
    sections: set[str],
    items: int,
    plan: Plan,
    outcome: report.Outcome,
    *,
    quick: bool,
) -> None:
    if "wire" in sections:
        outcome.wire = wire(servers, items, plan, outcome)
    if "process" in sections:
        outcome.inside = inside(names, items, plan, outcome)
    if "start" in sections:
        available = [server for server in servers if server.label not in outcome.skipped]
        outcome.footprints = over_wire.footprints(available, 1 if quick else 3, outcome.skipped)
    if "large" in sections:
        capable = [server for server in servers if server.label in LARGE]
        outcome.large = wire(capable, outcome.sizes[-1], plan, outcome)
    if "beside" in sections and OURS in names:
        outcome.beside = beside.measure(outcome.sizes[-1], plan, outcome.skipped)
    if "scale" in sections and OURS in names:
        outcome.scale = scale.measure(outcome.sizes, plan, outcome.skipped)


def wire(servers: Sequence[Server], size: int, plan: Plan, outcome: report.Outcome) -> Results:
    contenders = over_wire.start_all(servers, size, outcome.skipped)
    rivals: list[Contender] = [*contenders]
    try:
        return rounds.run(rivals, plan, "over the wire")
    finally:
        for contender in contenders:
            contender.running.stop()


def inside(names: set[str], size: int, plan: Plan, outcome: report.Outcome) -> Results:
    workers = in_process.start_all(names, size, outcome.skipped)
    rivals: list[Contender] = [*workers]
    try:
        return rounds.run(rivals, plan, "in-process")
    finally:
        for worker in workers:
            worker.stop()


def keep(outcome: report.Outcome) -> None:
    machine = {"system": platform.platform(), "python": sys.version.split()[0], "cores": os.cpu_count()}
    figures = {
        "machine": machine,
        "wire": samples(outcome.wire),
        "in_process": samples(outcome.inside),
        "large": samples(outcome.large),
        "beside": {
            f"{name}, {clients}": [asdict(each) for each in taken] for (name, clients), taken in outcome.beside.items()
        },
        "scale": {where: samples(results) for where, results in outcome.scale.items()},
        "footprints": {label: asdict(footprint) for label, footprint in outcome.footprints.items()},
        "skipped": outcome.skipped,
        "verdicts": report.verdicts(outcome),
    }
    (cache.FOLDER / "engine.json").write_text(json.dumps(figures, indent=1))


def samples(results: Results) -> dict[str, object]:
    found: dict[str, object] = {
        f"{name}, {clients}, {label}": [asdict(sample) | {"rate": sample.rate} for sample in taken]
        for (name, clients, label), taken in results.samples.items()
    }
    return found | {f"{n}, {c}, {label}": {"failed": why} for (n, c, label), why in results.failures.items()}


if __name__ == "__main__":
    main()
