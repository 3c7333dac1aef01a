"""What each pattern and each write of a design consumes, found out by running it.

`meter` creates the design's tables on a client that its caller gives it, with two examples of each entity, as large as
they are said to be. Then every pattern runs once, on as many items as it is said to find, and every write runs once.
DynamoDB's answers say what was consumed in each table and index. That includes guards, mirrors, derived items,
counters, what a write has to read first, and the double price of transactions, because all of these are requests like
others. The same design always has the same figures.

| module | what it is |
| --- | --- |
| `model` | `Metered` for one run, `MeteredDesign` for all of them |
| `altered` | what can be different from the design, to find out what that would consume |
| `client` | a client that adds up what its calls consume |
| `sandbox` | the tables with example items |
| `patterns`, `writes` | runs each pattern, and each write |

`keyplan.capacity.consumed` reads the figures in DynamoDB's answers.
"""

from collections.abc import Callable, Mapping
from typing import get_args

from keyplan.capacity.changes import changeable
from keyplan.capacity.counts import item_counts
from keyplan.capacity.metering.altered import UNALTERED, Altered
from keyplan.capacity.metering.model import Metered, MeteredDesign, StoredPart, WriteName
from keyplan.capacity.metering.patterns import METERING_ERRORS, meter_missing, meter_pattern
from keyplan.capacity.metering.sandbox import Sandbox
from keyplan.capacity.metering.writes import WriteMeter
from keyplan.capacity.traffic.model import Traffic, WriteKind
from keyplan.design import Design, Entity

__all__ = ["Altered", "Metered", "MeteredDesign", "StoredPart", "WriteName", "item_sizes", "meter"]


def meter(
    design: type[Design],
    client: object,
    traffic: Traffic | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    altered: Altered = UNALTERED,
    progress: Callable[[int, int], None] | None = None,
) -> MeteredDesign:
    """What every pattern and write of a design consumes on a client of boto3's shape, whose tables must be empty.

    `traffic` says how large items are, how many a pattern finds, and what an update changes; with it, only the patterns
    and writes that it names are metered, with those of its jobs. `sizes` has the average size of items by entity, such
    as those of a real table; they count where the traffic says nothing. `altered` is what is different from the design.
    `progress` is told how many of how many were metered.
    """
    counts = {} if traffic is None else item_counts(design, traffic)
    sandbox = Sandbox(design, client, item_sizes(design, traffic, sizes or {}), altered, counts)
    meters = WriteMeter(sandbox)
    failures = dict(sandbox.failures)
    patterns, missing = {}, {}
    jobs = {job.run for job in traffic.jobs} if traffic is not None else set()
    names = [name for name in design.patterns if traffic is None or name in traffic.patterns or name in jobs]
    writes = _writes(design, traffic)
    report = progress or _nothing
    for number, name in enumerate(names):
        report(number, len(names) + len(writes))
        pattern = design.patterns[name]
        asked = traffic.patterns.get(name) if traffic is not None else None
        wanted = asked.items if asked is not None else None
        try:
            found, nothing = meter_pattern(sandbox, pattern, wanted), meter_missing(sandbox, pattern)
            patterns[name], missing[name] = found, nothing
        except METERING_ERRORS as error:
            failures[name] = str(error)
    for number, (entity, kind) in enumerate(writes):
        report(len(names) + number, len(names) + len(writes))
        said = traffic.writes.get((entity.__name__, kind)) if traffic is not None else None
        meters.meter(entity, kind, said.changes if said is not None else ())
    meters.meter_refused_deletes()
    report(len(names) + len(writes), len(names) + len(writes))
    return MeteredDesign(
        patterns, missing, meters.metered, sandbox.stored, _actual_sizes(sandbox), {**failures, **meters.failures}
    )


def item_sizes(design: type[Design], traffic: Traffic | None, known: Mapping[str, int]) -> dict[type[Entity], int]:
    """How large items are, by entity: as the traffic says, as is known, or as the design expects."""
    sizes = {}
    for entity in design.entities:
        said = traffic.items.get(entity.__name__) if traffic is not None else None
        expected = entity.spec.expected
        size = (said.size if said else None) or known.get(entity.__name__) or (expected.size if expected else None)
        if size:
            sizes[entity] = size
    return sizes


def _writes(design: type[Design], traffic: Traffic | None) -> list[tuple[type[Entity], WriteKind]]:
    """The writes to meter: those of the traffic and of its jobs, or all that are possible."""
    kinds: tuple[WriteKind, ...] = get_args(WriteKind)
    if traffic is not None:
        named = {entity.__name__: entity for entity in design.entities}
        runs = {job.run for job in traffic.jobs}
        asked = {(name, kind): None for name in named for kind in kinds if f"{name}.{kind}" in runs}
        return [(named[name], kind) for name, kind in {**dict.fromkeys(traffic.writes), **asked}]
    changing = ("update", "patch", "upsert")
    return [
        (entity, kind) for entity in design.entities for kind in kinds if kind not in changing or changeable(entity)
    ]


def _actual_sizes(sandbox: Sandbox) -> dict[str, int]:
    return {entity.__name__: sandbox.size(entity) for entity in type(sandbox.design).entities}


def _nothing(done: int, of: int) -> None:
    """Report nothing."""
