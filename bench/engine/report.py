"""Tables in Markdown and a verdict per target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from bench.engine import scale
from bench.engine.beside import CLIENTS, Samples
from bench.engine.over_wire import Footprint
from bench.engine.rounds import Results
from bench.engine.servers import OURS, VERSIONS, Mode
from bench.engine.wire import Sample
from bench.engine.workload import OPERATIONS, OperationName

OURS_DISK = f"{OURS} disk"
OURS_MEMORY = f"{OURS} memory"
MOTO = "moto memory"
BUSY = 0.85

WIRE_TARGETS: dict[OperationName, float] = {
    "put": 1.5, "get": 3, "query": 3, "update": 1.5, "transaction": 1.5, "batch": 3,
}  # fmt: skip
MOTO_TARGETS: dict[OperationName, float] = {
    "put": 10, "get": 30, "query": 100, "update": 10, "transaction": 100, "batch": 10,
}  # fmt: skip
GET_MICROSECONDS = 40.0
LARGE_TARGETS: dict[OperationName, float] = {
    "put": 3, "get": 2.5, "query": 3, "update": 3, "transaction": 3, "batch": 3,
}  # fmt: skip
SCALE_TARGET = 2.0
BESIDE_TARGET = 10.0
START_TARGET = 0.5
MEMORY_TARGET = 60.0


@dataclass
class Outcome:
    """Everything that was measured in one run."""

    wire: Results = field(default_factory=Results)
    inside: Results = field(default_factory=Results)
    large: Results = field(default_factory=Results)
    beside: Samples = field(default_factory=dict)
    scale: dict[str, Results] = field(default_factory=dict)
    sizes: Sequence[int] = ()
    footprints: dict[str, Footprint] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def markdown(outcome: Outcome) -> str:
    parts = [
        *_section("Over the wire", outcome.wire, with_ratios=True),
        *_section("In-process", outcome.inside, with_ratios=False),
        *_section(f"Over the wire, {outcome.sizes[-1]:,} items", outcome.large, with_ratios=True),
        *_beside(outcome.beside),
        *_scale(outcome),
        *_footprints(outcome),
        *_remarks(outcome),
        "## Verdict\n",
        *(f"- {line}" for line in verdicts(outcome)),
    ]
    return "\n".join(parts)


def _labels(results: Results, clients: int) -> list[str]:
    """Contenders: on disk before in memory, ours before the others."""
    found = {label for (_, count, label) in [*results.samples, *results.failures] if count == clients}
    return sorted(found, key=lambda label: (label.endswith("memory"), not label.startswith(OURS), label))


def _section(title: str, results: Results, *, with_ratios: bool) -> Iterable[str]:
    for clients in sorted({clients for (_, clients, _) in results.samples}):
        labels = _labels(results, clients)
        who = "one client" if clients == 1 else f"{clients} clients"
        yield f"## {title}, {who}: operations per second\n"
        ratios = _wire_ratios(results, clients, labels) if with_ratios else _moto_ratios(results, clients, labels)
        rows = [
            [OPERATIONS[name].title]
            + [_cell(results, name, clients, label, lambda sample: sample.rate) for label in labels]
            + [_times(ratio(name)) for _, ratio in ratios]
            for name in OPERATIONS
        ]
        yield _table(["", *labels, *(heading for heading, _ in ratios)], rows)
        yield f"## {title}, {who}: p50 / p99 in µs\n"
        rows = [
            [OPERATIONS[name].title]
            + [
                _cell(results, name, clients, label, lambda sample: sample.p50)
                + " / "
                + _cell(results, name, clients, label, lambda sample: sample.p99)
                for label in labels
            ]
            for name in OPERATIONS
        ]
        yield _table(["", *labels], rows)


Ratios = list[tuple[str, Callable[[OperationName], float | None]]]


def _wire_ratios(results: Results, clients: int, labels: Sequence[str]) -> Ratios:
    if OURS_DISK not in labels:
        return []
    return [
        ("disk against the best on disk", lambda name: against_best(results, name, clients, OURS_DISK, "disk")),
        ("disk against the best in memory", lambda name: against_best(results, name, clients, OURS_DISK, "memory")),
        ("memory against the best in memory", lambda name: against_best(results, name, clients, OURS_MEMORY, "memory")),
    ]


def _moto_ratios(results: Results, clients: int, labels: Sequence[str]) -> Ratios:
    if OURS_DISK not in labels or MOTO not in labels:
        return []
    return [("disk against moto", lambda name: results.ratio(name, clients, OURS_DISK, MOTO))]


def against_best(results: Results, name: OperationName, clients: int, ours: str, mode: Mode) -> float | None:
    """Ours against the peer that leaves us least ahead."""
    rivals = [label for label in _labels(results, clients) if label.endswith(mode) and not label.startswith(OURS)]
    ratios = [ratio for label in rivals if (ratio := results.ratio(name, clients, ours, label)) is not None]
    return min(ratios, default=None)


def _cell(results: Results, name: OperationName, clients: int, label: str, read: Callable[[Sample], float]) -> str:
    if (name, clients, label) in results.failures:
        return "fails"
    value = results.figure(name, clients, label, read)
    return "-" if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:,.2f}x"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _scale(outcome: Outcome) -> Iterable[str]:
    if not outcome.scale:
        return
    small, large = (scale.label(size) for size in (outcome.sizes[0], outcome.sizes[-1]))
    rows = []
    for where, results in outcome.scale.items():
        for name, clients in sorted({(name, clients) for (name, clients, _) in results.samples}):
            figures = [_cell(results, name, clients, label, lambda sample: sample.mean) for label in (small, large)]
            rows.append(
                [f"{name}, {where}, {clients} client(s)", *figures, _times(_cost(outcome, results, name, clients))]
            )
    yield f"## {OURS} on disk, small and large: mean µs\n"
    yield _table(["", small, large, "cost of the large one"], rows)


def _beside(samples: Samples) -> Iterable[str]:
    if not samples:
        return
    rows = [
        [
            name,
            *(
                f"{_median(samples, name, clients, 'p50'):,.0f} / {_median(samples, name, clients, 'p99'):,.0f}"
                for clients in CLIENTS
            ),
        ]
        for name in dict.fromkeys(name for name, _ in samples)
    ]
    yield "## get beside other requests: p50 / p99 in µs\n"
    yield _table(["beside", *(f"{clients} client(s)" for clients in CLIENTS)], rows)


def _median(samples: Samples, name: str, clients: int, figure: Literal["p50", "p99"]) -> float:
    return median(each.p50 if figure == "p50" else each.p99 for each in samples[name, clients])


def _cost(outcome: Outcome, results: Results, name: OperationName, clients: int) -> float | None:
    small, large = (scale.label(size) for size in (outcome.sizes[0], outcome.sizes[-1]))
    return results.ratio(name, clients, small, large)


def _footprints(outcome: Outcome) -> Iterable[str]:
    if outcome.footprints:
        yield "## Before any work\n"
        rows = [
            [label, f"{print_.start_seconds:.2f}", f"{print_.idle_bytes / 1e6:,.0f}"]
            for label, print_ in outcome.footprints.items()
        ]
        yield _table(["", "start to first answer, s", "idle memory, MB"], rows)


def _remarks(outcome: Outcome) -> Iterable[str]:
    lines = [f"- **{label} was SKIPPED**: {reason}" for label, reason in outcome.skipped.items()]
    failures = {
        **outcome.wire.failures,
        **{(n, c, f"{w} in-process"): r for (n, c, w), r in outcome.inside.failures.items()},
    }
    lines += [
        f"- {label} fails at {name} with {clients} client(s): {r}" for (name, clients, label), r in failures.items()
    ]
    lines += [f"- {label}: {note}" for label, note in outcome.notes.items()]
    lines.append(f"- Peers: {', '.join(VERSIONS)}.")
    spreads = sorted(_spreads(outcome.wire))
    if spreads:
        middle, worst = spreads[len(spreads) // 2], spreads[-1]
        lines.append(
            f"- Noise: fastest round / slowest round is {middle:.2f} for the middle cell, {worst:.2f} at worst."
        )
    elif outcome.wire.samples:
        lines.append("- **One round only**: nothing shows the noise, so take the verdicts as hints.")
    busy = [
        f"{label} {name} with {clients}"
        for (name, clients, label), samples in outcome.wire.samples.items()
        if max(sample.client_cpu for sample in samples) > BUSY
    ]
    if busy:
        lines.append(
            f"- **The load client was a core's {BUSY:.0%} or more**, its figures are too low: {', '.join(busy)}"
        )
    if lines:
        yield "## Remarks\n"
        yield "\n".join(lines) + "\n"


def _spreads(results: Results) -> Iterable[float]:
    for samples in results.samples.values():
        rates = [sample.rate for sample in samples]
        if len(rates) > 1:
            yield max(rates) / min(rates)


def verdicts(outcome: Outcome) -> list[str]:
    return [
        *_wire_verdicts(outcome.wire),
        *_inside_verdicts(outcome.inside),
        *_large_verdicts(outcome),
        *_beside_verdicts(outcome.beside),
        *_scale_verdicts(outcome),
        *_footprint_verdicts(outcome),
    ]


def _judge(target: str, value: float | None, shown: str, *, hit: bool) -> str:
    if value is None:
        return f"NOT MEASURED: {target}"
    return f"{'hit' if hit else 'MISSED'}: {target}: {shown}"


def _at_least(target: str, value: float | None, wanted: float) -> str:
    return _judge(f"{target}, at least {wanted:g}x", value, _times(value), hit=value is not None and value >= wanted)


def _under(target: str, value: float | None, limit: float, unit: str) -> str:
    shown = "" if value is None else f"{value:,.2f} {unit}"
    return _judge(f"{target}, under {limit:g} {unit}", value, shown, hit=value is not None and value < limit)


def _wire_verdicts(results: Results) -> Iterable[str]:
    for name, wanted in WIRE_TARGETS.items():
        best = against_best(results, name, 8, OURS_DISK, "disk")
        yield _at_least(f"{name} over the wire, 8 clients, disk against the best peer on disk", best, wanted)
    for name in WIRE_TARGETS:
        best = against_best(results, name, 8, OURS_DISK, "memory")
        yield _at_least(f"{name} over the wire, 8 clients, disk against the best peer in memory", best, 1)


def _inside_verdicts(results: Results) -> Iterable[str]:
    get = results.figure("get", 1, OURS_DISK, lambda sample: sample.p50)
    yield _under("get in-process on disk, p50", get, GET_MICROSECONDS, "µs")
    for name, wanted in MOTO_TARGETS.items():
        yield _at_least(f"{name} in-process on disk against moto", results.ratio(name, 1, OURS_DISK, MOTO), wanted)


def _large_verdicts(outcome: Outcome) -> Iterable[str]:
    if outcome.large.samples:
        for name, wanted in LARGE_TARGETS.items():
            best = against_best(outcome.large, name, 8, OURS_DISK, "disk")
            yield _at_least(f"{name} at {outcome.sizes[-1]:,} items, 8 clients, against the best peer", best, wanted)


def _beside_verdicts(samples: Samples) -> Iterable[str]:
    for name, clients in samples:
        yield _under(
            f"get, {clients} client(s), beside {name}: p99",
            _median(samples, name, clients, "p99") / 1000,
            BESIDE_TARGET,
            "ms",
        )


def _scale_verdicts(outcome: Outcome) -> Iterable[str]:
    if not outcome.scale:
        yield "NOT MEASURED: get and query at 1,000 and at 1,000,000 items"
    for where, results in outcome.scale.items():
        for name in scale.OPERATIONS:
            costs = [_cost(outcome, results, name, clients) for clients in (1, 8)]
            worst = max((cost for cost in costs if cost is not None), default=None)
            sizes = f"{outcome.sizes[0]:,} and {outcome.sizes[-1]:,} items"
            hit = worst is not None and worst <= SCALE_TARGET
            yield _judge(f"{name} {where} at {sizes}, within {SCALE_TARGET:g}x", worst, _times(worst), hit=hit)


def _footprint_verdicts(outcome: Outcome) -> Iterable[str]:
    for label in (OURS_DISK, OURS_MEMORY):
        footprint = outcome.footprints.get(label)
        start = footprint.start_seconds if footprint else None
        idle = footprint.idle_bytes / 1e6 if footprint else None
        yield _under(f"{label}: start to first answer", start, START_TARGET, "s")
        yield _under(f"{label}: idle memory", idle, MEMORY_TARGET, "MB")
