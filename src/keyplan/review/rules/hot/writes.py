"""What a write costs, and which items all writes have in common.

The limits of transactions are from AWS's "Constraints in Amazon DynamoDB"."""

from collections.abc import Iterator

from keyplan.design import Entity
from keyplan.design.designs.transaction_size import MOST_ACTIONS, most_actions
from keyplan.design.entities.effects import named_by
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.review.counters import refs_of_variants
from keyplan.review.reviewed import Reviewed, is_housekeeping
from keyplan.review.rule import Violation, rule

_MANY, _TOO_MANY = 12, 30
_NEAR = 80
_TRANSACTION = 4 * 1024 * 1024
"""The most bytes in a transaction."""


@rule(
    "KP411",
    "write-amplification",
    group="hot",
    severity="info",
    title="A write that is many writes",
)
def write_amplification(reviewed: Reviewed) -> Iterator[Violation]:
    """To create one item writes many others: guards, mirrors, derived items, numbers on other items, and index entries.

    Each is at least one write unit, two in a transaction; each index that an item is in is one more for each of them.
    A number that changes on another item is also written to every index that has a copy of it: this is easily
    overlooked, and can be half of all. Transactions that touch the same item at the same time are refused and repeated.

    Look for what nobody reads: an index with `KEYS_ONLY` or `include(...)` isn't written when a number changes that it
    doesn't have. Numbers that may lag behind can be kept by a reader of the stream.
    """
    for spec in reviewed.specs:
        item = None if spec.entity in reviewed.made_by_others else reviewed.example(spec)
        if item is None or is_housekeeping(spec.table):
            continue
        items, entries = _written(item)
        if items + entries >= _MANY:
            yield Violation(
                reviewed.at(spec),
                f"to create a typical {spec.noun} writes {items} items and {entries} entries of indexes",
                "Project less into the indexes, or do without what nobody reads.",
                severity="warning" if items + entries >= _TOO_MANY else "info",
            )


def _written(item: Entity) -> tuple[int, int]:
    """How many items and entries of indexes a create writes."""
    spec = item.spec
    made = [each for derived in spec.derived for each in derived.make(item)]
    counted = _counted(item)
    entries = _entries(item) + sum(map(_entries, made)) + sum(_entries_with_counts(*each) for each in counted)
    return 1 + _guards(item) + len(made) + len(counted), entries


def _guards(item: Entity) -> int:
    values = item.__dict__
    return sum(
        each.hash.write(values) is not None and (each.when is None or bool(values[each.when]))
        for each in item.spec.uniques
    )


def _counted(item: Entity) -> list[tuple[EntitySpec, set[str]]]:
    """The items on which numbers change, with the attributes."""
    counting = [(each.field, each.target) for each in item.spec.counters]
    counting += [(each.count, each.parent) for each in item.spec.parents if each.count is not None]
    found: dict[object, tuple[EntitySpec, set[str]]] = {}
    for field, method in counting:
        for target in (each for each in named_by(method(item)) if each.amount):
            spec = target.entity.spec
            where = (spec.name, *target.values.values())
            found.setdefault(where, (spec, set()))[1].update(each.stored for each in spec.counts if each.name == field)
    return list(found.values())


def _entries(item: Entity) -> int:
    """How many indexes an item is in."""
    values = item.__dict__
    return sum(
        all(values[name] is not None for part in key.parts for name in part.fields)
        and (key.when is None or bool(values[key.when]))
        for key in item.spec.placements.values()
    )


def _entries_with_counts(spec: EntitySpec, attributes: set[str]) -> int:
    """How many indexes are written when these attributes of an item change."""
    indexes = [key.index for key in spec.placements.values() if key.index is not None and key.when is None]
    return sum(not attributes <= set(spec.not_in(index)) for index in indexes)


@rule(
    "KP412",
    "near-transaction-limit",
    group="hot",
    severity="warning",
    title="A change that comes near the limits of a transaction",
)
def near_transaction_limit(reviewed: Reviewed) -> Iterator[Violation]:
    """A change of one item can affect nearly as many others as a transaction can have, or nearly as many bytes.

    A transaction has at most 100 items and 4 MB. A change that replaces all members of a list removes one item for each
    old member and adds one for each new one. The design is within the limits as it is, but one more guard, count or
    mirror, or a change together with another item in one transaction, is refused. Large transactions also fail more
    often, because others write the same items.

    Limit the lists to fewer members, or keep what follows from them up to date by a reader of the stream.
    """
    for spec in reviewed.specs:
        most = most_actions(spec)
        size = (spec.expected.size if spec.expected is not None else None) or 0
        copies = 1 + sum(derived.kind == "mirror" for derived in spec.derived)
        if _NEAR <= most <= MOST_ACTIONS:
            yield Violation(
                reviewed.at(spec),
                f"a change can affect {most} items, and a transaction can have {MOST_ACTIONS}",
                "Limit its lists to fewer members.",
            )
        elif size * copies > _TRANSACTION * 3 // 4:
            yield Violation(
                reviewed.at(spec),
                f"a change can write {size * copies / 1024**2:.1f} MB, and a transaction can have 4 MB",
                "Copy only what is read from the copies.",
            )


@rule(
    "KP418",
    "one-counter",
    group="hot",
    severity="warning",
    title="A number that every write changes",
)
def one_counter(reviewed: Reviewed) -> Iterator[Violation]:
    """Each item of an entity is counted on the same single item.

    Every create and delete then writes that item, in a transaction. One item takes 1,000 write units a second, and a
    transactional write is two of them; and transactions that meet on an item are refused and repeated, so that much
    less gets through. Nothing splits a single item.

    Count by something with many values, and add the numbers up when they are read; count with a reader of the stream;
    or count only what must be decided at once, such as admins and not users.
    """
    for spec in reviewed.specs:
        counting = [(each.name, each.target) for each in spec.counters]
        counting += [(each.name, each.parent) for each in spec.parents if each.count is not None]
        for name, method in counting:
            always = [[each for each in refs if each.amount] for refs in refs_of_variants(spec, method)]
            targets = {each.entity.spec.name for refs in always for each in refs if not each.values}
            if targets and all(always) and spec.name not in targets:
                yield Violation(
                    reviewed.at(spec, name),
                    f"each {spec.noun} is counted on the only item of {' and '.join(sorted(targets))}, which all of "
                    "them write",
                    "Count by something with many values, or let a reader of the stream count.",
                )
