"""A traffic file as `Traffic`, and the JSON schema of all traffic files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from keyplan.capacity.quantities import Rate
from keyplan.capacity.traffic.errors import TrafficError
from keyplan.capacity.traffic.model import Traffic
from keyplan.capacity.traffic.nodes import Part, parsed
from keyplan.capacity.traffic.sections import SECTIONS
from keyplan.design import Design


def read_traffic(file: Path, design: type[Design]) -> Traffic:
    """The traffic in a file, compared with a design. Raises `TrafficError`."""
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise TrafficError("not-text", str(file), line, "this isn't UTF-8", "Save the file as text in UTF-8.") from None
    return traffic_of(text, design, str(file))


def traffic_of(text: str, design: type[Design], file: str = "traffic.yaml") -> Traffic:
    """The traffic in a text, compared with a design. Raises `TrafficError`; `file` is named in it."""
    by_name = {section.name: section for section in SECTIONS}
    parts = {part.name: part for part in parsed(text, file).fields(by_name, "section")}
    values: dict[str, Any] = {name: by_name[name].read(part, design) for name, part in parts.items()}
    traffic = Traffic(file, **values)
    for rate, line in _rates(traffic, parts):
        if rate.each_user and not traffic.users:
            problem = f"the rate {rate} needs the number of users"
            raise TrafficError("no-users", file, line, problem, "Add a line: users: 10_000.")
        if rate.period is None and traffic.requests is None:
            problem = f"the rate {rate} needs the number of requests"
            raise TrafficError("no-requests", file, line, problem, "Add a line: requests: 10 per user and day.")
    if traffic.requests is not None and traffic.requests.period is None:
        parts["requests"].fail("no-requests", "requests can't be per request", "Write 10 per user and day.")
    return traffic


def _rates(traffic: Traffic, parts: Mapping[str, Part]) -> Iterator[tuple[Rate, int]]:
    """All rates, with their lines."""
    if traffic.requests is not None:
        yield traffic.requests, parts["requests"].line
    yield from ((each.rate, each.line) for each in traffic.patterns.values())
    yield from ((each.rate, each.line) for each in traffic.writes.values())
    yield from ((each.growth, each.line) for each in traffic.items.values() if each.growth is not None)
    yield from ((each.rate, each.line) for each in traffic.jobs)
    for use in traffic.tables.values():
        given = (use.restores, use.exports, use.imports, use.stream_reads)
        yield from ((each, use.line) for each in given if each is not None)


def traffic_schema() -> dict[str, Any]:
    """The JSON schema of traffic files, for editors. The names that a design has are checked by `read_traffic`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Traffic of a Keyplan design",
        "type": "object",
        "additionalProperties": False,
        "properties": {section.name: {"description": section.help, **section.schema} for section in SECTIONS},
    }
