"""Interleaved rounds: every contender does the same thing right after the other, so that noise meets them all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol

from bench.engine.wire import LoadError, Sample
from bench.engine.workload import OperationName

CLIENTS = (1, 8)


@dataclass(frozen=True)
class Plan:
    """How long and how often."""

    rounds: int
    seconds: float
    operations: Sequence[OperationName] = ("get", "query", "update", "transaction", "put", "batch")
    """Those that add most items come last: a peer that copies its tables for a transaction gets them small."""
    clients: Sequence[int] = CLIENTS


class Contender(Protocol):
    @property
    def label(self) -> str: ...

    def begin_round(self) -> None:
        """Empties the table for new items, so that rounds begin alike."""

    def measure(self, operation: OperationName, clients: int, seconds: float) -> Sample: ...


@dataclass
class Results:
    """All samples of a section, by operation, number of clients and contender."""

    samples: dict[tuple[OperationName, int, str], list[Sample]] = field(default_factory=dict)
    failures: dict[tuple[OperationName, int, str], str] = field(default_factory=dict)
    """What a contender could not do, with the reason; its samples of other rounds do not count."""

    def fail(self, operation: OperationName, clients: int, label: str, reason: str) -> None:
        self.failures[operation, clients, label] = reason
        self.samples.pop((operation, clients, label), None)

    def add(self, operation: OperationName, clients: int, label: str, sample: Sample) -> None:
        self.samples.setdefault((operation, clients, label), []).append(sample)

    def figure(
        self, operation: OperationName, clients: int, label: str, read: Callable[[Sample], float]
    ) -> float | None:
        """The median over the rounds."""
        samples = self.samples.get((operation, clients, label))
        return median(read(sample) for sample in samples) if samples else None

    def ratio(self, operation: OperationName, clients: int, ours: str, theirs: str) -> float | None:
        """How many times the operations per second, as the median of the rounds' own ratios."""
        mine = self.samples.get((operation, clients, ours), [])
        yours = self.samples.get((operation, clients, theirs), [])
        pairs = [a.rate / b.rate for a, b in zip(mine, yours, strict=False) if b.rate]
        return median(pairs) if pairs else None


def run(contenders: Sequence[Contender], plan: Plan, title: str) -> Results:
    results = Results()
    for turn in range(plan.rounds + 1):
        say(f"{title}: " + (f"round {turn} of {plan.rounds}" if turn else "warming up"))
        contenders = [contender for contender in contenders if _ready(contender)]
        for operation in plan.operations:
            for clients in plan.clients:
                # Nobody is always the one who comes after the same neighbour's disk traffic.
                first = turn % max(len(contenders), 1)
                for contender in [*contenders[first:], *contenders[:first]]:
                    _measure(contender, operation, clients, plan.seconds, results, warming=turn == 0)
    return results


def _ready(contender: Contender) -> bool:
    try:
        contender.begin_round()
    except (LoadError, OSError) as error:
        say(f"!! {contender.label} is OUT: {error}")
        return False
    return True


def _measure(
    contender: Contender, operation: OperationName, clients: int, seconds: float, results: Results, *, warming: bool
) -> None:
    if (operation, clients, contender.label) in results.failures:
        return
    try:
        sample = contender.measure(operation, clients, seconds / 3 if warming else seconds)
    except LoadError as error:
        results.fail(operation, clients, contender.label, str(error))
        say(f"!! {contender.label} FAILS at {operation} with {clients} client(s): {error}")
        return
    if not warming:
        results.add(operation, clients, contender.label, sample)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
