"""A traffic file to begin with, and a `Traffic` as a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

import yaml

from keyplan.capacity.changes import changeable
from keyplan.capacity.quantities import Rate
from keyplan.capacity.traffic.model import (
    ItemTraffic,
    PatternTraffic,
    TableUse,
    Traffic,
    WriteKind,
    WriteTraffic,
)
from keyplan.capacity.traffic.shape import Job, Popularity
from keyplan.design import Design, Entity
from keyplan.design.examples import made_by_others

_USERS = 10_000
_HEADING = """\
# How often the patterns and writes of {name} run, and on how many items. The figures are made up: replace them.
# Rates: 20 per second, 1.5 per user and day, 0.1 per request; per second, minute, hour, day, week or month.
"""
_COMMENTS: Mapping[str, str] = {
    "patterns": "How often each access pattern runs. Longer: {rate: 1 per second, items: 20, missing: 5%, retries: 1%}",
    "writes": "How often items are written. Longer: {rate: 1 per second, refused: 5%, retries: 1%, changes: [field]}",
    "items": "How many items there are. Longer: {count: 10_000, size: 3 KB, growth: 100 per day}",
}


def starter(design: type[Design]) -> str:
    """A traffic file for a design, with every pattern and the usual writes of every entity."""
    made = made_by_others(design)
    own = [entity for entity in design.entities if entity not in made]
    writes: dict[tuple[str, WriteKind], WriteTraffic] = {}
    for entity in (each for each in own if each.spec.primary.fields):  # another has one item, written once
        writes[entity.__name__, "create"] = WriteTraffic(Rate(0.1, "day", each_user=True))
        if changeable(entity):
            writes[entity.__name__, "update"] = WriteTraffic(Rate(0.1, "day", each_user=True))
        writes[entity.__name__, "delete"] = WriteTraffic(Rate(0.01, "day", each_user=True))
    traffic = Traffic(
        "",
        users=_USERS,
        requests=Rate(10, "day", each_user=True),
        peak=3,
        patterns={
            name: PatternTraffic(Rate(1, "day", each_user=True), items=pattern.returns)
            for name, pattern in design.patterns.items()
        },
        writes=writes,
        items={entity.__name__: ItemTraffic(_items_of(entity)) for entity in own},
    )
    notes = {name: pattern.wording for name, pattern in design.patterns.items()}
    return _HEADING.format(name=design.__name__) + traffic_text(traffic, notes)


def _items_of(entity: type[Entity]) -> int:
    """How many items there are, as the design expects; else one for each user, or one in all."""
    expected = entity.spec.expected
    if expected is not None and expected.items is not None:
        return expected.items
    return _USERS if entity.spec.primary.fields else 1


def traffic_text(traffic: Traffic, notes: Mapping[str, str] | None = None) -> str:
    """A traffic file that says this, with notes at the lines of patterns."""
    lines = [f"users: {_count(traffic.users)}"]
    if traffic.hours:
        lines.append(f"hours: [{', '.join(f'{each:g}' for each in traffic.hours)}]")
    if traffic.requests is not None:
        lines.append(f"requests: {traffic.requests}")
    if traffic.peak != 1:
        lines.append(f"peak: {traffic.peak:g}  # how many times the average load the busiest hour of a day has")
    for name, body in (
        ("patterns", _patterns(traffic.patterns, notes or {})),
        ("writes", _writes(traffic.writes)),
        ("items", _items(traffic.items)),
        ("tables", _tables(traffic.tables)),
        ("popularity", _popularity(traffic.popularity)),
        ("jobs", _jobs(traffic.jobs)),
    ):
        if section := list(body):
            comment = [f"# {_COMMENTS[name]}"] if name in _COMMENTS and notes is not None else []
            lines += ["", *comment, f"{name}:", *section]
    return "\n".join(lines) + "\n"


def _patterns(patterns: Mapping[str, PatternTraffic], notes: Mapping[str, str]) -> Iterator[str]:
    for name, each in patterns.items():
        more = {"items": _count(each.items) if each.items is not None else None}
        more |= {"missing": _share(each.missing), "retries": _share(each.retries)}
        note = f"  # {' '.join(notes[name].split())}" if name in notes else ""
        yield f"  {_name(name)}: {_short(each.rate, more)}{note}"


def _writes(writes: Mapping[tuple[str, WriteKind], WriteTraffic]) -> Iterator[str]:
    for entity in dict.fromkeys(name for name, _ in writes):
        yield f"  {_name(entity)}:"
        for (name, kind), each in writes.items():
            if name == entity:
                more = {"refused": _share(each.refused), "retries": _share(each.retries)}
                more["changes"] = f"[{', '.join(each.changes)}]" if each.changes else None
                yield f"    {kind}: {_short(each.rate, more)}"


def _items(items: Mapping[str, ItemTraffic]) -> Iterator[str]:
    for name, each in items.items():
        more = {
            "size": None if each.size is None else f"{each.size} bytes",
            "growth": None if each.growth is None else str(each.growth),
            "fixed": "true" if each.fixed else None,
        }
        yield f"  {_name(name)}: {_short(_count(each.count), more, 'count')}"


def _tables(tables: Mapping[str, TableUse]) -> Iterator[str]:
    for name, use in tables.items():
        plain = TableUse(line=use.line)
        given = [each.name for each in fields(use) if getattr(use, each.name) != getattr(plain, each.name)]
        if given:
            yield f"  {_name(name)}:"
            yield from (f"    {each}: {_value(getattr(use, each))}" for each in given)


def _popularity(popularity: Mapping[str, Popularity]) -> Iterator[str]:
    for name, each in popularity.items():
        yield f"  {_name(name)}: {_short(f'{each.exponent:g}', {'hottest': _share(each.hottest)}, 'zipf')}"


def _jobs(jobs: Sequence[Job]) -> Iterator[str]:
    for each in jobs:
        said = f"run: {each.run}, rate: {each.rate}, start: {each.start:g}, hours: {each.hours:g}"
        yield f"  {_name(each.name)}: {{{said}{', one: true' if each.one else ''}}}"


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _short(first: object, more: Mapping[str, str | None], name: str = "rate") -> str:
    """One quantity, or a mapping if there is more to say."""
    given = {each: value for each, value in more.items() if value is not None}
    if not given:
        return str(first)
    return f"{{{', '.join(f'{each}: {value}' for each, value in ({name: str(first)} | given).items())}}}"


def _share(value: float) -> str | None:
    return f"{value * 100:g}%" if value else None


def _count(value: int) -> str:
    return f"{value:_}"


def _name(name: str) -> str:
    """A name as YAML; in quotes, if it would be something else without."""
    plain: str = yaml.safe_dump({name: 0}, allow_unicode=True, default_flow_style=True, width=10_000)
    return plain.strip().removeprefix("{").partition(": 0}")[0]
