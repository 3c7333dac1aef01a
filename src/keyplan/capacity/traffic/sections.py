"""The sections of a traffic file: how each is read, and its part of the schema. This is the only list of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from keyplan.capacity.naming import table_names
from keyplan.capacity.quantities import Rate, number, parse_count, rate, share, size
from keyplan.capacity.traffic.errors import nearest
from keyplan.capacity.traffic.model import (
    CapacityMode,
    ItemTraffic,
    PatternTraffic,
    Reserved,
    TableUse,
    WriteKind,
    WriteTraffic,
)
from keyplan.capacity.traffic.nodes import Part
from keyplan.capacity.traffic.shape import (
    HOURS_SCHEMA,
    Job,
    Popularity,
    job_schema,
    popularity_schema,
    read_hours,
    read_job,
    read_popularity,
)
from keyplan.design import Design, Entity

Schema: TypeAlias = Mapping[str, Any]
"""A part of a JSON schema."""


@dataclass(frozen=True)
class Section:
    """A section of a traffic file. `name` is also the attribute of `Traffic` that has what is read."""

    name: str
    help: str
    read: Callable[[Part, type[Design]], object]
    schema: Schema


# What a value may be, as a schema

RATE_SCHEMA: Schema = {
    "type": "string",
    "pattern": r"^[0-9._,]+\s*[kKmMbB]?\s+per\s+(request|(user\s+and\s+)?(second|minute|hour|day|week|month))$",
    "examples": ["20 per second", "1.5 per user and day", "0.1 per request"],
}
COUNT_SCHEMA: Schema = {
    "oneOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9_,.]+[kKmMbB]?$"}]
}
NUMBER_SCHEMA: Schema = {"type": "number", "minimum": 0}
SHARE_SCHEMA: Schema = {
    "oneOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": r"^[0-9.]+\s*%$"}]
}
SIZE_SCHEMA: Schema = {"type": "string", "pattern": r"^[0-9._,]+\s*([bB]ytes?|[kKmM]?[bB])$", "examples": ["3 KB"]}


def object_schema(fields: Mapping[str, Schema], *, required: tuple[str, ...] = ()) -> Schema:
    """The schema of a mapping with these fields and no others."""
    return {"type": "object", "properties": dict(fields), "additionalProperties": False, "required": list(required)}


def mapping_schema(value: Schema) -> Schema:
    """The schema of a mapping whose names are those of a design."""
    return {"type": "object", "additionalProperties": value}


def short_or_long(short: Schema, fields: Mapping[str, Schema], *, required: tuple[str, ...]) -> Schema:
    """The schema of a value that is either one quantity, or a mapping with more."""
    return {"oneOf": [short, object_schema(fields, required=required)]}


# Patterns and writes

_PATTERN_FIELDS = {"rate": RATE_SCHEMA, "items": COUNT_SCHEMA, "missing": SHARE_SCHEMA, "retries": SHARE_SCHEMA}
_CHANGES: Schema = {"type": "array", "items": {"type": "string"}}
_WRITE_FIELDS = {"rate": RATE_SCHEMA, "refused": SHARE_SCHEMA, "retries": SHARE_SCHEMA, "changes": _CHANGES}


def _patterns(part: Part, design: type[Design]) -> dict[str, PatternTraffic]:
    return {each.name: _pattern(each) for each in part.fields(design.patterns, "pattern")}


def _pattern(part: Part) -> PatternTraffic:
    fields = _fields(part, _PATTERN_FIELDS)
    return PatternTraffic(
        _needed_rate(part, fields),
        fields["items"].read(parse_count) if "items" in fields else None,
        _share(fields, "missing"),
        _share(fields, "retries"),
        part.name_line,
    )


def _writes(part: Part, design: type[Design]) -> dict[tuple[str, str], WriteTraffic]:
    return {
        (entity.name, kind.name): _write(kind, named(entity, design))
        for entity in part.fields(entity_names(design), "entity")
        for kind in entity.fields(get_args(WriteKind), "write")
    }


def _write(part: Part, entity: type[Entity]) -> WriteTraffic:
    fields = _fields(part, _WRITE_FIELDS)
    changes = fields["changes"].members() if "changes" in fields else []
    for each in changes:
        if each.text() not in entity.spec.fields:
            problem = f"{entity.__name__} has no field {each.text()}"
            each.fail("unknown-field", problem, nearest(each.text(), entity.spec.fields))
    return WriteTraffic(
        _needed_rate(part, fields),
        _share(fields, "refused"),
        _share(fields, "retries"),
        tuple(each.text() for each in changes),
        part.name_line,
    )


def _fields(part: Part, known: Mapping[str, Schema]) -> dict[str, Part]:
    """The fields of a value; one that is a quantity by itself is the first of them."""
    if part.is_mapping:
        return {each.name: each for each in part.fields(known)}
    return {next(iter(known)): part}


def _needed_rate(part: Part, fields: Mapping[str, Part]) -> Rate:
    if "rate" not in fields:
        part.fail("no-rate", f"{part.name} has no rate", "Write rate: 20 per second.", at_name=True)
    return fields["rate"].read(rate)


def _share(fields: Mapping[str, Part], name: str) -> float:
    return fields[name].read(share) if name in fields else 0.0


def entity_names(design: type[Design]) -> list[str]:
    """The names of the entities of a design."""
    return [entity.__name__ for entity in design.entities]


def named(part: Part, design: type[Design]) -> type[Entity]:
    """The entity that a part is named after."""
    return next(entity for entity in design.entities if entity.__name__ == part.name)


# Items and tables

_BOOLEAN: Schema = {"type": "boolean"}
_ITEM_FIELDS = {"count": COUNT_SCHEMA, "size": SIZE_SCHEMA, "growth": RATE_SCHEMA, "fixed": _BOOLEAN}


def _items(part: Part, design: type[Design]) -> dict[str, ItemTraffic]:
    return {each.name: _item(each) for each in part.fields(entity_names(design), "entity")}


def _item(part: Part) -> ItemTraffic:
    fields = _fields(part, _ITEM_FIELDS)
    return ItemTraffic(
        fields["count"].read(parse_count) if "count" in fields else 0,
        fields["size"].read(size) if "size" in fields else None,
        fields["growth"].read(rate) if "growth" in fields else None,
        "fixed" in fields and fields["fixed"].is_true(),
        part.name_line,
    )


_TABLE_FIELDS: Mapping[str, tuple[Schema, Callable[[Part], object]]] = {
    "capacity": ({"enum": list(get_args(CapacityMode))}, lambda part: part.one_of(get_args(CapacityMode))),
    "utilization": (SHARE_SCHEMA, lambda part: part.read(share)),
    "reserved": ({"enum": list(get_args(Reserved))}, lambda part: part.one_of(get_args(Reserved))),
    "infrequent": (_BOOLEAN, lambda part: part.is_true()),
    "recovery": (_BOOLEAN, lambda part: part.is_true()),
    "backups": (NUMBER_SCHEMA, lambda part: part.read(number)),
    "cold_backups": (NUMBER_SCHEMA, lambda part: part.read(number)),
    "restores": (RATE_SCHEMA, lambda part: part.read(rate)),
    "exports": (RATE_SCHEMA, lambda part: part.read(rate)),
    "imports": (RATE_SCHEMA, lambda part: part.read(rate)),
    "stream_reads": (RATE_SCHEMA, lambda part: part.read(rate)),
    "kinesis": (_BOOLEAN, lambda part: part.is_true()),
}


def _tables(part: Part, design: type[Design]) -> dict[str, TableUse]:
    return {each.name: _table(each) for each in part.fields(table_names(design), "table")}


def _table(part: Part) -> TableUse:
    values: dict[str, Any] = {each.name: _TABLE_FIELDS[each.name][1](each) for each in part.fields(_TABLE_FIELDS)}
    if values.get("utilization") == 0:
        part.fail("not-a-share", "the utilization can't be 0", "AWS accepts 20% to 90%; 70% is usual.", at_name=True)
    return TableUse(**values, line=part.name_line)


def _at_least_one(part: Part) -> float:
    if (value := part.read(number)) < 1:
        part.fail(
            "not-a-peak", "the busiest hour can't be below the average", "Write how many times as much, such as 3."
        )
    return value


# The shape of the load


def _popularity(part: Part, design: type[Design]) -> dict[str, Popularity]:
    return {each.name: read_popularity(each) for each in part.fields(entity_names(design), "entity")}


def _jobs(part: Part, design: type[Design]) -> tuple[Job, ...]:
    writes = [f"{entity}.{kind}" for entity in entity_names(design) for kind in get_args(WriteKind)]
    return tuple(read_job(each, [*design.patterns, *writes]) for each in part.fields())


SECTIONS: tuple[Section, ...] = (
    Section("users", "How many users there are.", lambda part, _: part.read(parse_count), COUNT_SCHEMA),
    Section(
        "requests",
        "How many requests users send; a cost per request is calculated with it.",
        lambda part, _: part.read(rate),
        RATE_SCHEMA,
    ),
    Section(
        "peak",
        "How many times the average load the busiest hour of a day has. Matters for provisioned capacity.",
        lambda part, _: _at_least_one(part),
        {"type": "number", "minimum": 1},
    ),
    Section(
        "patterns",
        "How often each pattern runs.",
        _patterns,
        mapping_schema(short_or_long(RATE_SCHEMA, _PATTERN_FIELDS, required=("rate",))),
    ),
    Section(
        "writes",
        "How often items of each entity are written.",
        _writes,
        mapping_schema(
            object_schema(
                {kind: short_or_long(RATE_SCHEMA, _WRITE_FIELDS, required=("rate",)) for kind in get_args(WriteKind)}
            )
        ),
    ),
    Section(
        "items",
        "How many items of each entity there are, and how large they are on average.",
        _items,
        mapping_schema(short_or_long(COUNT_SCHEMA, _ITEM_FIELDS, required=())),
    ),
    Section(
        "tables",
        "How tables are run, if not as the design declares.",
        _tables,
        mapping_schema(object_schema({name: schema for name, (schema, _) in _TABLE_FIELDS.items()})),
    ),
    Section(
        "hours",
        "How busy each hour of a day is, compared with the others: 24 numbers.",
        lambda part, _: read_hours(part),
        HOURS_SCHEMA,
    ),
    Section(
        "popularity",
        "How unequally the items of an entity are asked for: the exponent of Zipf's law, and the share of the hottest.",
        _popularity,
        mapping_schema(popularity_schema(SHARE_SCHEMA)),
    ),
    Section(
        "jobs", "What runs for a part of the day, beside the users.", _jobs, mapping_schema(job_schema(RATE_SCHEMA))
    ),
)
