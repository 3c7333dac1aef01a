"""Tables in Markdown and a verdict per target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from bench.data.process import NOT_MEASURED, OURS, PEERS, RAW, SAME_BOTO3
from bench.data.workload import OPERATIONS, PARTITION, OperationName
from bench.engine.rounds import Results
from bench.engine.wire import Sample

INSIDE_TARGETS: dict[OperationName, float] = {"get": 2.0, "put": 2.0}
ITEM_MICROSECONDS = 5.0
HTTP_TARGET = 1.1
PATCH_RETURN = 0.3


@dataclass
class Outcome:
    """Everything that was measured in one run."""

    inside: Results = field(default_factory=Results)
    http: Results = field(default_factory=Results)
    skipped: dict[str, str] = field(default_factory=dict)


def pairs(
    results: Results, name: OperationName, mine: str, base: str, compare: Callable[[float, float], float]
) -> float | None:
    """The median over the rounds of a figure that compares two contenders' medians of one round."""
    found = [
        compare(one.p50, other.p50)
        for one, other in zip(
            results.samples.get((name, 1, mine), ()), results.samples.get((name, 1, base), ()), strict=False
        )
    ]
    return median(found) if found else None


def times(results: Results, name: OperationName, mine: str, base: str) -> float | None:
    """How many times the other's time."""
    return pairs(results, name, mine, base, lambda one, other: one / other)


def per_item(results: Results, mine: str, base: str) -> float | None:
    """Microseconds that an item of a query costs on top."""
    return pairs(results, "query", mine, base, lambda one, other: (one - other) / PARTITION)


def markdown(outcome: Outcome) -> str:
    parts = [
        *_section("In-process: the engine and keyplan on it", outcome.inside, RAW[True]),
        *_section("Over HTTP: boto3 and what stands on it", outcome.http, RAW[False]),
        *_remarks(outcome),
        "## Verdict\n",
        *(f"- {line}" for line in verdicts(outcome)),
    ]
    return "\n".join(parts)


def _section(title: str, results: Results, base: str) -> Iterable[str]:
    found = {label for (_, _, label) in [*results.samples, *results.failures]}
    labels = sorted(found, key=lambda label: (label != base, label != OURS, label))
    if not labels:
        return
    yield f"## {title}\n"
    yield "Median time in µs, and how many times the first one's.\n"
    rows = [
        [OPERATIONS[name]] + [_cell(results, name, label, base) for label in labels] + _extra(results, name, base)
        for name in OPERATIONS
    ]
    yield _table(["", *labels, "keyplan per item on top, µs"], rows)


def _extra(results: Results, name: OperationName, base: str) -> list[str]:
    value = per_item(results, OURS, base) if name == "query" else None
    return ["" if value is None else f"{value:.1f}"]


def _cell(results: Results, name: OperationName, label: str, base: str) -> str:
    if (name, 1, label) in results.failures:
        return "-" if results.failures[name, 1, label] == NOT_MEASURED else "fails"
    value = results.figure(name, 1, label, lambda sample: sample.p50)
    if value is None:
        return "-"
    ratio = times(results, name, label, base)
    shown = f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
    return shown if label == base or ratio is None else f"{shown} ({ratio:.2f}x)"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _remarks(outcome: Outcome) -> Iterable[str]:
    lines = [f"- **{label} was SKIPPED**: {reason}" for label, reason in outcome.skipped.items()]
    for where, results in (("in-process", outcome.inside), ("over HTTP", outcome.http)):
        failed = {at: why for at, why in results.failures.items() if why != NOT_MEASURED}
        lines += [f"- {label} fails at {name} {where}: {why}" for (name, _, label), why in failed.items()]
    lines += [
        "- engine and boto3 send the very requests that keyplan sends, built before; their answers stay as they come.",
        "- A put of keyplan is `create`: the item must not be there. So do pynamodb and pydynantic, by version.",
        "- pydynantic's update raises the version without looking at it; the others write under the one they know.",
        "- pydynox does not use boto3: its requests go out from Rust.",
        f"- Peers: {', '.join((*PEERS.values(), *SAME_BOTO3))}.",
    ]
    spreads = sorted(_spreads((*outcome.inside.samples.values(), *outcome.http.samples.values())))
    if spreads:
        middle, worst = spreads[len(spreads) // 2], spreads[-1]
        lines.append(
            f"- Noise: slowest round / fastest round is {middle:.2f} for the middle cell, {worst:.2f} at worst."
        )
    yield "## Remarks\n"
    yield "\n".join(lines) + "\n"


def _spreads(cells: Iterable[Sequence[Sample]]) -> Iterable[float]:
    for samples in cells:
        medians = [sample.p50 for sample in samples]
        if len(medians) > 1:
            yield max(medians) / min(medians)


def verdicts(outcome: Outcome) -> list[str]:
    lines = []
    for name, limit in INSIDE_TARGETS.items():
        ratio = times(outcome.inside, name, OURS, RAW[True])
        lines.append(_at_most(f"{name} in-process against the engine call itself", ratio, limit, "x"))
    lines.append(
        _at_most(
            "query of 100 in-process, on top of the engine",
            per_item(outcome.inside, OURS, RAW[True]),
            ITEM_MICROSECONDS,
            " µs per item",
        )
    )
    lines += _of_patches(outcome)
    for name in OPERATIONS:
        ratio = times(outcome.http, name, OURS, RAW[False])
        lines.append(_at_most(f"{name} over HTTP against raw boto3", ratio, HTTP_TARGET, "x"))
    return lines


def _of_patches(outcome: Outcome) -> list[str]:
    """A patch against an update in the same run, each as times of its own engine call."""
    base = RAW[True]
    update, patch, whole = (times(outcome.inside, name, OURS, base) for name in ("update", "patch", "patch-new"))
    return [
        _at_most("patch in-process against the engine call itself, as an update", patch, round(update or 0.0, 2), "x"),
        _at_most("patch with the new item, on top of that", whole, round((patch or 0.0) + PATCH_RETURN, 2), "x"),
    ]


def _at_most(target: str, value: float | None, limit: float, unit: str) -> str:
    wanted = f"{target}, at most {limit:g}{unit}"
    if value is None:
        return f"NOT MEASURED: {wanted}"
    return f"{'hit' if value <= limit else 'MISSED'}: {wanted}: {value:.2f}{unit}"
