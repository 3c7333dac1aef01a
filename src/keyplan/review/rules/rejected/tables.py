"""Tables and indexes that DynamoDB doesn't create."""

import re
from collections.abc import Iterator, Mapping

from keyplan.design import HOUSEKEEPING, Table
from keyplan.design.tables.attributes import Projection
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule

MOST_GLOBAL_INDEXES, MOST_PROJECTED, MOST_IN_PROJECTION = 20, 100, 20
LONGEST_ATTRIBUTE = LONGEST_NAME = 255
"""AWS: "Quotas in Amazon DynamoDB", and the types of CreateTable in its API reference."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_OPEN = re.compile(r"\{([a-z_]+)\}")


def _default_name(table: Table, standing_in: str = "{{{}}}") -> str:
    """The table's name where nobody chose an environment, with something for each part that has no default."""
    return table.actual_name({name: standing_in.format(name) for name in _OPEN.findall(table.name)})


def _projections(table: Table) -> Mapping[str, Projection]:
    """The projections of a table's indexes, by the index's name."""
    plain = {name: index.projection for name, index in table.by_name.items()}
    return plain | {name: index.projection for name, index in table.vectors_by_name.items()}


@rule(
    "KP201",
    "too-many-indexes",
    group="rejected",
    severity="error",
    title="More than 20 global indexes in a table",
)
def too_many_indexes(reviewed: Reviewed) -> Iterator[Violation]:
    """A table can have 20 global indexes, unless AWS has raised the quota for your account. CreateTable refuses more.

    Each index is a copy of its items that every write of them pays for. Several kinds of entities can share an index if
    their keys have different texts around the fields (`index overloading` in AWS's documentation): `CUSTOMER#{id}` in
    the one, `PRODUCT#{id}` in the other.

    Put entities that aren't queried together into the same index. If AWS has raised the quota, accept the finding."""
    for table in reviewed.tables:
        indexes = [index for index in table.by_name.values() if not index.local]
        if len(indexes) > MOST_GLOBAL_INDEXES:
            yield Violation(
                reviewed.at_table(table),
                f"it has {len(indexes)} global indexes, and a table can have {MOST_GLOBAL_INDEXES}",
                "Share indexes between entities.",
            )


@rule(
    "KP202",
    "too-many-projected",
    group="rejected",
    severity="error",
    title="More than 100 projected attributes in a table",
)
def too_many_projected(reviewed: Reviewed) -> Iterator[Violation]:
    """The attributes that `include(...)` names count for all indexes of a table together, local and global, and each
    one once for each index that names it. CreateTable refuses more than 100.

    An index with `ALL` or `KEYS_ONLY` names no attributes, so it doesn't count, whatever its items have.

    Project all attributes, or only the keys, into the indexes with the longest lists."""
    for table in reviewed.tables:
        named = sum(len(projection.attributes) for projection in _projections(table).values())
        if named > MOST_PROJECTED:
            yield Violation(
                reviewed.at_table(table),
                f"its indexes name {named} projected attributes, and a table can have {MOST_PROJECTED}",
                "Use ALL or KEYS_ONLY for the indexes with the longest lists.",
            )


@rule(
    "KP203",
    "projection-length",
    group="rejected",
    severity="error",
    title="A projection of no attributes, or of more than 20",
)
def projection_length(reviewed: Reviewed) -> Iterator[Violation]:
    """`include(...)` lists the attributes that an index has beside its keys. CreateTable refuses an empty list, and one
    with more than 20 attributes.

    An index that needs nothing but keys has the projection `KEYS_ONLY`. One that needs most of an item has `ALL`, which
    is also what a query that returns whole entities reads fastest.

    Use `KEYS_ONLY` instead of an empty list, and `ALL` instead of a long one."""
    for table in reviewed.tables:
        for name, projection in _projections(table).items():
            named = len(projection.attributes)
            if projection.type == "INCLUDE" and not 1 <= named <= MOST_IN_PROJECTION:
                yield Violation(
                    reviewed.at_table(table, name),
                    f"it projects {named} attributes, and can project 1 to {MOST_IN_PROJECTION}",
                    "Use KEYS_ONLY." if not named else "Use ALL, or leave out attributes.",
                )


@rule(
    "KP204",
    "attribute-name",
    group="rejected",
    severity="error",
    title="A key attribute with an impossible name",
)
def attribute_name(reviewed: Reviewed) -> Iterator[Violation]:
    """The attributes of keys, and those that `include(...)` names, have names of 1 to 255 bytes. CreateTable refuses
    others.

    Names count in the size of each item, and in what a scan or query reads, so shorter is better anyway. Attributes
    that are in no key and in no projection may have longer names.

    Rename the attribute."""
    for table in reviewed.tables:
        projected = [name for projection in _projections(table).values() for name in projection.attributes]
        for name in dict.fromkeys([*(each.name for each in table.key_attributes), *projected]):
            size = len(name.encode())
            if not 1 <= size <= LONGEST_ATTRIBUTE:
                yield Violation(
                    reviewed.at_table(table),
                    f"the name of an attribute has {size} bytes, and can have 1 to {LONGEST_ATTRIBUTE}: {name[:40]!r}",
                    "Rename the attribute.",
                )


@rule(
    "KP205",
    "default-name",
    group="rejected",
    severity="error",
    title="A table name whose default isn't allowed",
)
def default_name(reviewed: Reviewed) -> Iterator[Violation]:
    """The name has a part in braces with a default, such as `{table=Blog}`, and with that default it isn't a name that
    DynamoDB allows: 3 to 255 letters, digits, underscores, hyphens and dots.

    The check at import can't know what the part will be, so it looks at the rest of the name only. With the default,
    CreateTable would refuse it.

    Change the default."""
    for table in reviewed.tables:
        name = _default_name(table)
        if name != table.name and not _NAME.fullmatch(_default_name(table, "xxx")):
            yield Violation(
                reviewed.at_table(table),
                f"with its default, its name is {name!r}, which DynamoDB doesn't allow",
                "Use 3 to 255 letters, digits, _, - and dots.",
            )


@rule(
    "KP206",
    "same-default-name",
    group="rejected",
    severity="error",
    title="Two tables with the same name by default",
)
def same_default_name(reviewed: Reviewed) -> Iterator[Violation]:
    """The names of two tables differ only in parts in braces that have the same default: `{posts=Blog}` and
    `{users=Blog}`. Where nobody sets these, both have one name.

    CreateTable creates the first one, and the second is taken for it. If their keys differ, all requests to the second
    are refused; if they don't, its items are mixed with those of the first.

    Give them different defaults."""
    names: dict[str, Table] = {}
    for table in reviewed.tables:
        other = names.setdefault(_default_name(table), table)
        if other is not table:
            yield Violation(
                reviewed.at_table(table),
                f"by default, its name is {_default_name(table)}, and so is that of {other.name}",
                "Give them different defaults.",
            )


@rule(
    "KP207",
    "housekeeping-name",
    group="rejected",
    severity="error",
    title="A table name that leaves no room for the housekeeping table",
)
def housekeeping_name(reviewed: Reviewed) -> Iterator[Violation]:
    """The name of the design's housekeeping table is that of its first table with `-keyplan` behind it, and it would
    have more than 255 characters.

    Keyplan keeps journals, checkpoints and the secret of cursors in that table, so that your own tables hold nothing
    but what the design says. It is created together with them.

    Shorten the name of the first table, or put another table first."""
    for table in reviewed.tables[:1]:
        own = _default_name(table, "xxx")
        name = HOUSEKEEPING.actual_name({"document": own})
        if len(name) > LONGEST_NAME >= len(own):
            yield Violation(
                reviewed.at_table(table),
                f"the name of the housekeeping table would have {len(name)} characters, and can have {LONGEST_NAME}",
                "Shorten the name of the table.",
            )
