"""Lists that also read other items, and keys that two kinds of items can both have."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from keyplan.design import Table
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import StandIn
from keyplan.design.keys.templates import Template
from keyplan.design.operations.conditions import FieldPath, Node
from keyplan.design.operations.queries import Query
from keyplan.review.keys import Neighbor, choices, neighbors, prefix_parts, surely_reads
from keyplan.review.places import Place
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule

_TESTS = ("=", "<", "<=", ">", ">=", "BETWEEN", "IN", "contains", "begins_with", "attribute_exists")
"""Conditions that don't hold for items without the attribute."""


class _Mixed(NamedTuple):
    """A query of a pattern, and the other items that it reads too."""

    place: Place
    query: Query[Any]
    others: Sequence[Neighbor]

    @property
    def prefix(self) -> str:
        """What the sort keys begin with that it asks for."""
        return "".join(part if isinstance(part, str) else f"{{{part.field}}}" for part in prefix_parts(self.query))

    @property
    def shown(self) -> str:
        return " and ".join(dict.fromkeys(other.shown for other in self.others))


@rule(
    "KP302",
    "prefix-of-others",
    group="wrong",
    severity="warning",
    title="A prefix that other items' sort keys have, too",
)
def prefix_of_others(reviewed: Reviewed) -> Iterator[Violation]:
    """A query asks for the sort keys that begin with a text, and those of another entity begin with it, too.

    `begins_with("SITE#")` finds a user's ratings, `SITE#7`, and the comments under `SITE#7#COMMENT#1` as well.
    Keyplan leaves the others out, but they are read and paid for, and pages need more requests to be filled. Whoever
    reads the table without this design (a console, an export, another program) takes them for what was asked for.

    Give each kind of item a prefix of its own, such as `RATING#7`. If the keys have to stay, accept the finding.
    """
    for each in _mixed_lists(reviewed):
        if each.prefix:
            yield Violation(
                each.place,
                f"it reads the sort keys that begin with {each.prefix!r}, which those of {each.shown} do, too: they "
                "are read, paid for and left out",
                "Give these items a prefix of their own, or read with one that only the wanted items have.",
            )


@rule(
    "KP303",
    "mixed-list",
    group="wrong",
    severity="warning",
    title="A list of some kinds of items in a partition with others",
)
def mixed_list(reviewed: Reviewed) -> Iterator[Violation]:
    """A query reads a whole partition of the table or an index, and other kinds of items are in it, too.

    Keyplan leaves the others out, but they are read and paid for: a `Limit` of 50 may bring 10 items, and a page needs
    several requests. Whoever reads the index without this design gets all of them, and counts them.

    Let the sort key begin with a text that tells the kinds apart (`ORDER#...`), so that the query can ask for it, or
    leave the others out of the index. A filter on an attribute that only these items have also says what is meant,
    though it costs the same.
    """
    for each in _mixed_lists(reviewed):
        if not each.prefix:
            index = each.query.key.index
            where = "the table" if index is None else f"the index {index.name}"
            yield Violation(
                each.place,
                f"the partition of {where} that it reads also has {each.shown}: they are read, paid for and left out",
                "Put a text in front of the sort keys that tells the kinds of items apart, or filter by an attribute "
                "that only the wanted items have.",
            )


def _mixed_lists(reviewed: Reviewed) -> Iterator[_Mixed]:
    """The queries that surely read other items too, each once for a pattern."""
    seen: set[tuple[str, str, str]] = set()
    for pattern, query in reviewed.queries:
        others = [
            other
            for other in neighbors(reviewed, query)
            if not _leaves_out(query, other) and surely_reads(reviewed, query, other)
        ]
        found = _Mixed(reviewed.at_pattern(pattern), query, others)
        identity = (pattern.name, found.prefix, found.shown)
        if others and identity not in seen:
            seen.add(identity)
            yield found


def _leaves_out(query: Query[Any], other: Neighbor) -> bool:
    """Whether the filter of a query surely leaves a neighbor's items out: by an attribute or a value that none has."""
    return any(
        node.operator in _TESTS and isinstance(node.operands[0], FieldPath) and not _may_hold(query, other, node)
        for node in _conjuncts(query.filter)
    )


def _may_hold(query: Query[Any], other: Neighbor, node: Node) -> bool:
    """Whether a condition on a field can be true for a neighbor's items."""
    path, *values = node.operands
    assert isinstance(path, FieldPath)
    stored = query.entities[0].spec.fields[str(path.names[0])].stored
    if stored not in other.attributes:
        return False
    field = next((field.name for field in other.spec.fields.values() if field.stored == stored), None)
    possible = choices(other.spec, field) if field is not None and other.key is not None else None
    if node.operator != "=" or len(path.names) > 1 or possible is None or isinstance(values[0], StandIn):
        return True
    return values[0] in possible


def _conjuncts(node: object) -> Iterator[Node]:
    """The conditions that all have to hold."""
    if isinstance(node, Node) and node.operator == "AND":
        for each in node.operands:
            yield from _conjuncts(each)
    elif isinstance(node, Node):
        yield node


class _Keys(NamedTuple):
    """The primary keys of an entity's items, or the keys of its guards."""

    spec: EntitySpec
    shown: str
    member: str
    is_guard: bool
    table: Table
    templates: tuple[Template | None, ...]

    def may_equal(self, other: "_Keys") -> bool:
        return self.table is other.table and all(
            mine is None or theirs is None or mine.may_equal(theirs)
            for mine, theirs in zip(self.templates, other.templates, strict=False)
        )

    def is_like(self, other: "_Keys") -> bool:
        """Whether they are written alike: then it is on purpose that a key can be of both."""
        mine, theirs = (tuple(map(_form, each.templates)) for each in (self, other))
        return mine == theirs

    def is_refused_with(self, other: "_Keys") -> bool:
        """Whether a design with both is refused at import, since their items couldn't be told apart."""
        if self.is_guard and other.is_guard:
            return False
        types = [each.spec.type for each in (self, other) if not each.is_guard]
        return self.table.type_attribute is None or None in types or len(set(types)) < len(types)

    @property
    def texts(self) -> str:
        return " / ".join(template.text for template in self.templates if template is not None)


@rule(
    "KP304",
    "keys-meet",
    group="wrong",
    severity="warning",
    title="Keys that two kinds of items can both have",
)
def keys_meet(reviewed: Reviewed) -> Iterator[Violation]:
    """Two entities, or a guard and an entity, or two guards, have different templates that can give the same key.

    A table has one item for each key. Where one of them is, the other can't be created: a user named `7#ADMIN` is
    refused because there is a role with that key, or a value counts as taken that nobody has. A type attribute tells
    the items apart when they are read, but doesn't give them different keys.

    Begin the keys with different texts, or use `Id` for the fields, which can't contain the separator.
    """
    for first, second in combinations(_all_keys(reviewed), 2):
        if first.may_equal(second) and not first.is_like(second) and not first.is_refused_with(second):
            yield Violation(
                reviewed.at(first.spec, first.member),
                f"{first.shown} and {second.shown} can have the same key ({first.texts} and {second.texts}), and only "
                "one of them can exist then",
                "Begin the keys with different texts, or use Id for fields that can contain the separator.",
            )


def _all_keys(reviewed: Reviewed) -> Iterator[_Keys]:
    for spec in reviewed.specs:
        templates = tuple(part.template for part in spec.primary.parts)
        yield _Keys(spec, f"an item of {spec.name}", "primary", False, spec.table, templates)
        for guard in spec.uniques:
            shown = f"a guard {spec.name}.{guard.name}"
            yield _Keys(spec, shown, guard.name, True, guard.table, (guard.hash, guard.range))


def _form(template: Template | None) -> object:
    """A template without the names of its fields."""
    if template is None:
        return None
    return tuple(
        part if isinstance(part, str) else (part.fold, part.spec, part.inverted, part.shards) for part in template.parts
    )
