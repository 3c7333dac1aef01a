"""A design as values that can be written as JSON, compared, and kept: `Snapshot`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from keyplan.design import Design, Entity, Table
from keyplan.design.entities.effects import BelongsTo, Counter, Derived, Unique
from keyplan.design.entities.specs import KeySpec
from keyplan.publish.differences.fields import default_text, limits_text, type_text
from keyplan.publish.differences.requests import requests_text
from keyplan.publish.shapes import TableShape, logical_id, shapes_of

FORMAT = 1
"""The number of the format of snapshots. It changes when older ones can't be read any more."""


class SnapshotError(Exception):
    """A text that isn't a snapshot."""


@dataclass(frozen=True)
class KeyShape:
    """A key of an entity: its templates, and the index that it is in."""

    hash: tuple[str, ...]
    range: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    index: str | None = None
    when: str | None = None


@dataclass(frozen=True)
class FieldShape:
    """A field of an entity."""

    stored: str
    type: str
    optional: bool = False
    default: str | None = None
    limits: tuple[str, ...] = ()
    kind: str = "plain"
    large: bool = False


@dataclass(frozen=True)
class EntityShape:
    """An entity: what is stored of it, and what changes together with it."""

    table: str
    """The id of the table."""
    type: str | None
    layout: str
    """How values are stored in the table: envelope, times, type attribute."""
    primary: KeyShape
    placements: Mapping[str, KeyShape] = field(default_factory=dict)
    fields: Mapping[str, FieldShape] = field(default_factory=dict)
    effects: Mapping[str, str] = field(default_factory=dict)
    """Guards, mirrors, derived items, counters and parents."""
    joint_limits: tuple[str, ...] = ()


@dataclass(frozen=True)
class PatternShape:
    """An access pattern: its wording, its parameters, and what it asks for."""

    wording: str
    parameters: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """A design, or tables that exist: then nothing is known of entities and patterns."""

    name: str
    tables: tuple[TableShape, ...]
    entities: Mapping[str, EntityShape] | None = None
    patterns: Mapping[str, PatternShape] | None = None
    format: int = FORMAT


def snapshot_of(design: Design) -> Snapshot:
    """A snapshot of a design, with the table names of its environment."""
    return Snapshot(
        type(design).__name__,
        shapes_of(design),
        {entity.__name__: _entity(entity) for entity in design.entities},
        {
            name: PatternShape(" ".join(each.wording.split()), each.parameters, requests_text(design, name, each))
            for name, each in design.patterns.items()
        },
    )


_Effect: TypeAlias = Unique | Derived[Any] | Counter[Any] | BelongsTo[Any]


def _entity(entity: type[Entity]) -> EntityShape:
    spec, table = entity.spec, entity.spec.table
    effects: list[_Effect] = [*spec.uniques]
    effects += [*spec.derived, *spec.counters, *spec.parents]
    return EntityShape(
        table=logical_id(table.name),
        type=spec.type,
        layout=_layout(table),
        primary=_key(spec.primary),
        placements={name: _key(placed) for name, placed in spec.placements.items()}
        | {name: KeyShape((), index=vectors.index.name) for name, vectors in spec.vectors.items()},
        fields={
            name: FieldShape(
                own.stored,
                type_text(own.annotation),
                own.optional,
                default_text(entity.declared_fields[name]),
                limits_text(entity.declared_fields[name]),
                own.kind,
                own.large is not None,
            )
            for name, own in spec.fields.items()
        },
        effects={each.name: _effect(each, table) for each in effects},
        joint_limits=tuple(sorted(" and ".join(each.fields) for each in spec.limits.joint)),
    )


def _layout(table: Table) -> str:
    """How values are stored in a table."""
    envelope = f", fields in {table.envelope}" if table.envelope else ""
    kind = f", type in {table.type_attribute}" if table.type_attribute else ""
    return f"times in {table.times}{envelope}{kind}"


def _key(key: KeySpec) -> KeyShape:
    index = None if key.index is None else key.index.name
    return KeyShape(
        tuple(part.source for part in key.hash),
        tuple(part.source for part in key.range),
        tuple(part.attribute.name for part in key.parts),
        index,
        key.when,
    )


def _effect(effect: _Effect, home: Table) -> str:
    """What changes together with an item of this table, as text."""
    match effect:
        case Unique(hash_text=text, range_text=range_, carries=carries, when=when, table=table):
            own = f", {range_}" if range_ else ""
            where = "" if table is home else f" in {logical_id(table.name)}"
            more = f", carries {', '.join(carries)}" if carries else ""
            return f"guard {text}{own}{where}{more}{f', when {when}' if when else ''}"
        case Derived(kind=kind, entities=entities):
            return f"{kind}: {', '.join(each.__name__ for each in entities)}"
        case Counter(field=name, floor=floor):
            return f"counts {name}{'' if floor is None else f', not below {floor}'}"
    parent = "" if effect.entity is None else f" {effect.entity.__name__}"
    counted = f", counted in {effect.count}" if effect.count else ""
    return f"belongs to{parent}, on delete {effect.on_delete}{counted}"


# JSON

_SNAPSHOT = TypeAdapter(Snapshot)


def snapshot_json(snapshot: Snapshot) -> str:
    """A snapshot as JSON, in an order that doesn't change."""
    values = _SNAPSHOT.dump_python(snapshot, mode="json", exclude_defaults=True)
    return json.dumps({"format": FORMAT, **values}, indent=2, ensure_ascii=False) + "\n"


def read_snapshot(text: str) -> Snapshot:
    """A snapshot from its JSON. Raises `SnapshotError`."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise SnapshotError(f"it isn't JSON: {error}") from error
    if not isinstance(values, dict) or "tables" not in values:
        raise SnapshotError("it isn't a snapshot. Write one with: keyplan diff --snapshot DESIGN")
    if values.get("format") != FORMAT:
        raise SnapshotError(f"it has format {values.get('format')}, and this release of Keyplan reads {FORMAT}")
    try:
        return _SNAPSHOT.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise SnapshotError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
