"""Indexes that cost more than they give."""

from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeySpec
from keyplan.design.operations.conditions import FieldPath, Node
from keyplan.design.operations.queries import Follow, ItemCount, Query
from keyplan.design.operations.selections import select
from keyplan.design.tables.attributes import Projection
from keyplan.design.tables.tables import Index
from keyplan.review.changed_lines import with_projection
from keyplan.review.keys import keys_in
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule

_ALIKE = 0.75
"""How alike a name must be to be what was meant."""


@rule(
    "KP401",
    "unused-index",
    group="hot",
    severity="warning",
    title="An index that no access pattern uses",
    whole=True,
)
def unused_index(reviewed: Reviewed) -> Iterator[Violation]:
    """No access pattern reads the index, and no rule of an entity needs it, but every write to its items pays for it.

    A write that changes an attribute of an index is a second write, of the item in the index; one that changes its key
    there is a third. The index is stored and paid for as well, and a table can have 20 of them.

    Remove the index and the placements in it. An index can be added later to a table with data. If something outside of
    the design reads it, accept the finding and say what."""
    used = reviewed.indexes_used
    for table in reviewed.tables:
        for index in table.by_name.values():
            if index not in used and reviewed.knows_all_jobs:
                writers = ", ".join(spec.name for spec in reviewed.entities_in(table) if keys_in(spec, index))
                yield Violation(
                    reviewed.at_table(table, index.name),
                    f"nothing reads the index {index.name}"
                    + (f", and each write of {writers} pays for it" if writers else ", and nothing is in it"),
                    "Remove it from the table, with the placements in it, or declare the access pattern that reads it.",
                )


@rule(
    "KP413",
    "unread-projection",
    group="hot",
    severity="info",
    title="Attributes in an index that nobody reads from it",
    whole=True,
)
def unread_projection(reviewed: Reviewed) -> Iterator[Violation]:
    """An index has copies of attributes, and each pattern that reads it takes only others.

    Every attribute in an index is stored and paid for a second time, and every change of it is another write. Patterns
    that only count, that return some fields, or that follow the items to others, need little of it.

    Project what is read: `KEYS_ONLY`, or `include("title")`. If a pattern needs more one day, Keyplan gets it from the
    table, with one more request. Changing a projection means making a new index.
    """
    for table in reviewed.tables:
        for index in table.by_name.values():
            wanted = _read_from(reviewed, index)
            if wanted is None or index not in reviewed.indexes_used or _is_worked_on(reviewed, index):
                continue
            for spec, key in reviewed.placed_in(index):
                unread = _unread(spec, index, wanted.get(spec.name, set()))
                if unread and spec.name in wanted:
                    yield Violation(
                        reviewed.at(spec, key=key),
                        f"the index {index.name} has copies of {', '.join(unread)}, and no pattern reads them from it",
                        "Project only what is read.",
                        _projection(spec, index, wanted[spec.name]),
                    )


def _read_from(reviewed: Reviewed, index: Index) -> dict[str, set[str]] | None:
    """The fields of each entity that patterns read from an index; None if one of them reads whole items."""
    found: dict[str, set[str]] = {}
    inside = {id(op.source): op for _, op in reviewed.reads if isinstance(op, Follow | ItemCount)}
    for _, query in reviewed.queries:
        if query.key.index is not index:
            continue
        spec = query.entities[0].spec
        fields = _fields_read(query, inside.get(id(query)))
        if fields is None or len(query.entities) > 1 or _cascades(reviewed, spec, query.key):
            return None
        found.setdefault(spec.name, set()).update(fields | _filtered(query.filter))
    return found


def _is_worked_on(reviewed: Reviewed, index: Index) -> bool:
    """Whether a job may read whole items from an index."""
    return not reviewed.knows_all_jobs or any(job.key.index is index for job in reviewed.jobs if isinstance(job, Query))


def _fields_read(query: Query[Any], outer: Follow[Any] | ItemCount | None) -> set[str] | None:
    if isinstance(outer, ItemCount):
        return set()
    if isinstance(outer, Follow):
        with suppress(Exception):  # the link isn't ours, and may do more than name the fields of the item
            return set(_link_fields(query, outer))
        return None
    return None if query.selection is None else set(query.selection.fields)


def _link_fields(query: Query[Any], outer: Follow[Any]) -> tuple[str, ...]:
    return select(query.entity, lambda item: tuple(_values(outer.link(item)))).fields


def _values(link: object) -> list[object]:
    return list(getattr(link, "values", {}).values())


def _filtered(node: object) -> set[str]:
    if isinstance(node, FieldPath):
        return {str(node.names[0])}
    return set().union(*map(_filtered, node.operands)) if isinstance(node, Node) else set()


def _cascades(reviewed: Reviewed, spec: EntitySpec, key: KeySpec) -> bool:
    """Whether a cascading delete goes through the key, which needs whole items."""
    return any(parent.on_delete == "cascade" and parent.via == key.name for parent in spec.parents)


def _unread(spec: EntitySpec, index: Index, wanted: set[str]) -> list[str]:
    """The attributes that an index has beyond its keys and what is wanted."""
    keys = {attribute.name for attribute in (*spec.table.hash, *spec.table.range, *index.attributes)}
    needed = {spec.fields[name].stored for name in wanted} | {spec.table.ttl, spec.table.type_attribute}
    own = [field.stored for field in spec.fields.values() if field.on_top or not spec.table.envelope]
    own += [spec.table.envelope] if spec.table.envelope else []
    return [name for name in own if name not in keys | needed and name not in spec.not_in(index)]


def _projection(spec: EntitySpec, index: Index, wanted: set[str]) -> str:
    keys = {attribute.name for attribute in (*spec.table.hash, *spec.table.range, *index.attributes)}
    names = sorted({spec.fields[name].stored for name in wanted} - keys)
    return f"include({', '.join(map(repr, names))})".replace("'", '"') if names else "KEYS_ONLY"


@rule(
    "KP414",
    "projected-nothing",
    group="hot",
    severity="warning",
    title="A projection of an attribute that no item has",
)
def projected_nothing(reviewed: Reviewed) -> Iterator[Violation]:
    """An index projects an attribute by a name that no item in it has.

    DynamoDB takes any name, so a mistake isn't noticed: the attribute isn't in the index, and each read through it gets
    it from the table with another request. Names are those of stored attributes, with their capital letters, not those
    of fields.

    Correct the name, or remove it. Changing a projection means making a new index.
    """
    for table in reviewed.tables:
        for index in table.by_name.values():
            placed = reviewed.placed_in(index)
            known = {name for spec, _ in placed for name in spec.known_attributes}
            known |= {name for name in (table.type_attribute, table.envelope, table.ttl) if name}
            for name in index.projection.attributes if placed else ():
                if name not in known:
                    near = next(iter(get_close_matches(name, sorted(known), 1, _ALIKE)), None)
                    right = tuple((near or "") if each == name else each for each in index.projection.attributes)
                    yield Violation(
                        reviewed.at_table(table, index.name),
                        f"it projects {name}, which no item in the index has" + (f": {near}?" if near else ""),
                        "Write the name of a stored attribute, or remove it.",
                        with_projection(index, Projection("INCLUDE", right)) if near else "",
                    )


@rule(
    "KP415",
    "unused-placement",
    group="hot",
    severity="warning",
    title="Items in an index that no access pattern reads there",
    whole=True,
)
def unused_placement(reviewed: Reviewed) -> Iterator[Violation]:
    """Items of an entity are in an index that is read for other entities only.

    Each write of these items is a second write, in the index, and each query of the others may read them as well. It
    happens when an attribute of an item has the name of an index key by chance, or when a pattern was dropped.

    Remove the placement, or declare the pattern that reads it. If the attribute is needed, store it under another name.
    """
    read = {(spec.name, key.name) for spec, key in reviewed.keys_read}
    read |= {(job.entity.spec.name, job.key.name) for job in reviewed.jobs if isinstance(job, Query)}
    for spec in reviewed.specs:
        cascades = {parent.via for parent in spec.parents if parent.on_delete == "cascade"}
        for key in spec.placements.values():
            is_read = (spec.name, key.name) in read or key.name in cascades or not reviewed.knows_all_jobs
            if key.index is not None and key.index in reviewed.indexes_used and not is_read:
                yield Violation(
                    reviewed.at(spec, key=key),
                    f"its items are in the index {key.index.name}, and no pattern reads them there",
                    "Remove the placement, or declare the access pattern that reads it.",
                )
