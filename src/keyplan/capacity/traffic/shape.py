"""The shape of the load: the hours of a day, popular items, and jobs. Forecasts need it; costs don't."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyplan.capacity.quantities import Rate, number, rate, share
from keyplan.capacity.traffic.nodes import Part

HOURS = 24


@dataclass(frozen=True)
class Popularity:
    """How unequally the items of an entity are asked for.

    The item of rank n is asked for in proportion to 1 / n ** `exponent`; the hottest one also has the share `hottest`.
    """

    exponent: float = 0.8
    hottest: float = 0.0


@dataclass(frozen=True)
class Job:
    """Something that runs for a part of the day, beside the users: an import, a report."""

    name: str
    run: str
    """A pattern, or a write such as `Post.update`."""
    rate: Rate
    start: float
    """The hour at which it begins."""
    hours: float
    one: bool = False
    """Whether it works on a single item or list, the hottest."""
    line: int = 0


_NUMBER: Mapping[str, Any] = {"type": "number", "minimum": 0}
_POPULARITY = ("zipf", "hottest")
_JOB = ("run", "rate", "start", "hours", "one")


def popularity_schema(share_schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the popularity of one entity's items."""
    both = {"zipf": _NUMBER, "hottest": share_schema}
    return {"oneOf": [_NUMBER, {"type": "object", "properties": both, "additionalProperties": False}]}


def job_schema(rate_schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of one job."""
    properties = {
        "run": {"type": "string"},
        "rate": rate_schema,
        "start": {"type": "number", "minimum": 0, "maximum": HOURS},
        "hours": {"type": "number", "exclusiveMinimum": 0, "maximum": HOURS},
        "one": {"type": "boolean"},
    }
    needed = ["run", "rate", "start", "hours"]
    return {"type": "object", "properties": properties, "additionalProperties": False, "required": needed}


HOURS_SCHEMA: Mapping[str, Any] = {"type": "array", "items": _NUMBER, "minItems": HOURS, "maxItems": HOURS}


def read_hours(part: Part) -> tuple[float, ...]:
    """How busy each hour of a day is, compared with the others."""
    hours = tuple(each.read(number) for each in part.members())
    if len(hours) != HOURS or not any(hours):
        part.fail("not-hours", f"hours has {len(hours)} numbers", "Write 24 of them, from midnight on.", at_name=True)
    return hours


def read_popularity(part: Part) -> Popularity:
    """How unequally the items of one entity are asked for: an exponent, or both values."""
    if not part.is_mapping:
        return Popularity(part.read(number))
    fields = {each.name: each for each in part.fields(_POPULARITY)}
    exponent = fields["zipf"].read(number) if "zipf" in fields else Popularity.exponent
    return Popularity(exponent, fields["hottest"].read(share) if "hottest" in fields else 0.0)


def read_job(part: Part, runnable: Sequence[str]) -> Job:
    """One job, which runs one of these patterns and writes."""
    fields = {each.name: each for each in part.fields(_JOB)}
    for name in ("run", "rate", "start", "hours"):
        if name not in fields:
            part.fail("no-value", f"{part.name} has no {name}", _example(runnable), at_name=True)
    run = fields["run"].one_of(runnable)
    start, hours = fields["start"].read(number), fields["hours"].read(number)
    if not 0 < hours <= HOURS or start > HOURS:
        part.fail("not-hours", f"{part.name} isn't within a day", "Write hours from 0 to 24.", at_name=True)
    one = fields["one"].is_true() if "one" in fields else False
    return Job(part.name, run, fields["rate"].read(rate), start, hours, one, part.name_line)


def _example(runnable: Sequence[str]) -> str:
    name = runnable[0] if runnable else "Post.update"
    return f"Write, for example: {{run: {name}, rate: 200 per second, start: 3, hours: 1}}."
