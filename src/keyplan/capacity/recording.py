"""A traffic file from the log of a running system: how often each pattern and write ran, and what it found.

`keyplan serve` logs each request as a line of JSON, with its calls to DynamoDB and the patterns and writes that they
were for. Other lines are skipped. How many users and items there are isn't in a log.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, get_args

from keyplan.capacity.quantities import Rate
from keyplan.capacity.traffic import PatternTraffic, Traffic, WriteKind, WriteTraffic, traffic_text
from keyplan.design import Design

__all__ = ["Recording", "RecordingError", "record"]

_DAY = 24 * 3600


class RecordingError(Exception):
    """Lines of a log from which no traffic can be read."""

    code = "no-traffic"


@dataclass
class _Runs:
    """How often something ran, and how that ended."""

    times: int = 0
    found: int = 0
    """The items that were found, in all."""
    nothing: int = 0
    """How often nothing was found."""
    refused: int = 0


@dataclass
class Recording:
    """What a log says about the traffic of a design."""

    seconds: float
    """The time between the first and the last request of the log."""
    requests: int
    traffic: Traffic
    others: Mapping[str, int] = field(default_factory=dict)
    """What isn't in a traffic file, and how often it ran: reads that aren't patterns, and writes of other kinds."""

    def text(self, design: type[Design]) -> str:
        """The traffic file, with comments on what it is from and what it lacks."""
        notes = {name: each.wording for name, each in design.patterns.items() if name in self.traffic.patterns}
        lines = [
            f"# Recorded from {self.requests:,} requests in {_duration(self.seconds)}.",
            "# A log doesn't know how many users and items there are: fill in users and items.",
            *(f"# Not in this file: {name}, {_times(number)}" for name, number in sorted(self.others.items())),
        ]
        return "\n".join(lines) + "\n" + traffic_text(self.traffic, notes)


def record(lines: Iterable[str], design: type[Design]) -> Recording:
    """The traffic of a design in the lines of a log. Raises `RecordingError` if there is none."""
    counted: dict[str, _Runs] = {}
    times: list[datetime] = []
    for request in _requests(lines):
        runs = [run for run in request.get("runs", ()) if run.get("design") == design.__name__]
        if not runs:
            continue
        times.append(datetime.fromisoformat(request["time"]))
        for run in runs:
            for name in run["by"]:
                _count(counted.setdefault(name, _Runs()), run)
    if not counted:
        raise RecordingError(f"no request in the log ran a pattern or a write of {design.__name__}")
    seconds = (max(times) - min(times)).total_seconds()
    if not seconds:
        raise RecordingError("all requests of the log were at the same time, so that it says nothing about rates")
    return _recording(design, counted, times, seconds)


def _requests(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue  # the last line of a log that is still written
            if found.get("message") == "request" and "time" in found:
                yield found


def _count(runs: _Runs, run: Mapping[str, Any]) -> None:
    runs.times += 1
    runs.refused += bool(run.get("refused"))
    items = run.get("items")
    if items is not None:
        runs.found += items
        runs.nothing += items == 0


def _recording(design: type[Design], counted: Mapping[str, _Runs], times: list[datetime], seconds: float) -> Recording:
    patterns: dict[str, PatternTraffic] = {}
    writes: dict[tuple[str, WriteKind], WriteTraffic] = {}
    others: dict[str, int] = {}
    entities = {entity.__name__ for entity in design.entities}
    kinds = {kind: kind for kind in get_args(WriteKind)}
    for name, runs in counted.items():
        entity, _, kind = name.rpartition(".")
        rate = _rate(runs.times, seconds)
        if name in design.patterns:
            hits = runs.times - runs.nothing
            items = max(1, round(runs.found / hits)) if hits else None
            patterns[name] = PatternTraffic(rate, items, round(runs.nothing / runs.times, 4))
        elif entity in entities and kind in kinds:
            writes[entity, kinds[kind]] = WriteTraffic(rate, round(runs.refused / runs.times, 4))
        else:
            others[name] = runs.times
    in_order = {name: patterns[name] for name in design.patterns if name in patterns}
    traffic = Traffic("", requests=_rate(len(times), seconds), patterns=in_order, writes=writes)
    if seconds >= _DAY:
        traffic = replace(traffic, peak=_peak(times, seconds))
    return Recording(seconds, len(times), traffic, others)


def _rate(times: int, seconds: float) -> Rate:
    """A rate in the shortest period in which it happens at least once."""
    for period, length in (("second", 1), ("minute", 60), ("hour", 3600), ("day", _DAY)):
        amount = times * length / seconds
        if amount >= 1 or period == "day":
            return Rate(float(f"{amount:.4g}"), period)  # type: ignore[arg-type]  # one of the periods
    raise AssertionError("unreachable")


def _peak(times: list[datetime], seconds: float) -> float:
    """How many times the average the busiest hour has."""
    hours = Counter(each.replace(minute=0, second=0, microsecond=0) for each in times)
    return max(1.0, round(max(hours.values()) / (len(times) * 3600 / seconds), 1))


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _duration(seconds: float) -> str:
    for name, length in (("days", _DAY), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {name}"
    return f"{seconds:.3g} seconds"
