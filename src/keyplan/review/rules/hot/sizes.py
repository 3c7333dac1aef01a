"""What grows without a limit.

The limits of items and of item collections are from AWS's "Constraints in Amazon DynamoDB" and "Item collections in
Local Secondary Indexes"."""

from collections.abc import Iterator
from enum import Enum
from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from keyplan.design import Table
from keyplan.design.designs.transaction_size import is_list, length_limit, lists_followed
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.fields.declarations import markers
from keyplan.design.values.annotations import plain_type
from keyplan.design.values.limits import Limit
from keyplan.review.changed_lines import annotated
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Unjudged, Violation, rule

_COLLECTION = 10 * 1024**3
"""The most bytes of an item collection in a table with local indexes."""
_EXPECTED = "expected=expect(partition=..., size=...)"


@rule(
    "KP409",
    "unbounded-list",
    group="hot",
    severity="info",
    title="A list in an item that can grow without a limit",
)
def unbounded_list(reviewed: Reviewed) -> Iterator[Violation]:
    """A list or a set in an item has no limit of its length.

    An item has at most 400 KB, and each write and read of it pays for its whole size, whatever is changed. A list that
    people add to grows until writes are refused, and then nothing can be added any more. If other items follow from its
    members, such as one for each tag, a change is one transaction, which has at most 100 items: the 50th tag can be
    refused.

    Limit it: `Annotated[list[Id], Field(max_length=20)]`. What really can be any number is better an item each, in the
    same partition.
    """
    for spec in reviewed.specs:
        followed = lists_followed(spec)
        for name in spec.fields if spec.entity not in reviewed.made_by_others else ():
            if _is_unbounded(spec, name):
                then = "until a change needs more than 100 items" if name in followed else "until the item has 400 KB"
                yield Violation(
                    reviewed.at(spec, name),
                    f"it can grow {then}; from then on, writes are refused",
                    "Limit its length, or store each member as an item of its own.",
                    annotated(spec, name, "Field(max_length=20)"),
                    severity="warning" if name in followed else "info",
                )


def _is_unbounded(spec: EntitySpec, name: str) -> bool:
    """Whether nothing that is declared limits the length of a list."""
    field = spec.fields[name]
    if field.large is not None or not is_list(field.annotation):
        return False
    is_vector = any(index.attribute == field.stored for index in spec.table.vectors_by_name.values())
    limited = any(map(_limits_length, markers(spec.entity.declared_fields[name])))
    return not (is_vector or limited or length_limit(spec, name) is not None or _is_set_of_few(field.annotation))


def _limits_length(mark: object) -> bool:
    """Whether a marker of a field limits the length, or may do so."""
    inside = mark.metadata if isinstance(mark, FieldInfo) else ()
    return isinstance(mark, Limit) or any(getattr(each, "max_length", None) is not None for each in (mark, *inside))


def _is_set_of_few(annotation: object) -> bool:
    """Whether it is a set of values of which there are few."""
    (member,) = get_args(annotation) if len(get_args(annotation)) == 1 else (None,)
    plain = plain_type(member)
    is_few = get_origin(plain) is Literal or (isinstance(plain, type) and issubclass(plain, Enum | bool))
    return get_origin(annotation) in (set, frozenset) and is_few


@rule(
    "KP410",
    "collection-over-10-gb",
    group="hot",
    severity="error",
    title="An item collection that outgrows a local index",
    needs=(_EXPECTED,),
)
def collection_over_10_gb(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """The table has a local index, and the items under one hash key will have more than 10 GB.

    In a table with local indexes, an item collection (the items with one hash key, and their entries in local indexes)
    can have 10 GB. Then DynamoDB refuses every write that makes it larger. It also never splits such a collection over
    partitions, so that it has the throughput of one. A local index can't be removed from a table.

    Use a global index, or put something into the hash key that divides the collection, such as a month.
    """
    for table in reviewed.tables:
        local = [index for index in table.by_name.values() if index.local]
        for spec in reviewed.entities_in(table) if local else ():
            expected = spec.expected
            if expected is None or expected.partition is None or expected.size is None:
                yield Unjudged(reviewed.at(spec), _EXPECTED)
                continue
            total = expected.partition * expected.size * (1 + _copies(spec, table))
            if total > _COLLECTION:
                yield Violation(
                    reviewed.at(spec, key=spec.primary),
                    f"{expected.partition:,} items of {expected.size:,} bytes under one hash key, with their copies "
                    f"in local indexes, are {total / 1024**3:.0f} GB, and 10 GB is the limit",
                    "Use a global index instead, or divide the collection by a part of the hash key.",
                )


def _copies(spec: EntitySpec, table: Table) -> int:
    """How many local indexes have a whole copy of the entity's items."""
    placed = {key.index.name for key in spec.placements.values() if key.index is not None}
    return sum(
        index.local and index.projection.type == "ALL" and index.name in placed for index in table.by_name.values()
    )
