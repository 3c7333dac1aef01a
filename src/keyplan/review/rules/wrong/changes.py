"""Changes that two requests make at the same time, and numbers that other items keep."""

from collections.abc import Iterator

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.standins import read_refs
from keyplan.review.changed_lines import with_floor
from keyplan.review.counters import refs_of_variants
from keyplan.review.reviewed import Reviewed, is_housekeeping
from keyplan.review.rule import Violation, rule


@rule(
    "KP315",
    "no-version",
    group="wrong",
    severity="info",
    title="Items that are changed without a version",
)
def no_version(reviewed: Reviewed) -> Iterator[Violation]:
    """The entity has a stamp of its last change, so its items are changed, and it has no version.

    Without a version, Keyplan makes a change on the condition that the fields which it writes are still as they were
    read. So two people who change the same field don't overwrite each other unnoticed, but a change of one field and
    a change of another both pass, even if they only make sense together; and a program that writes without Keyplan
    overwrites anything. With a version, the second change is refused, and its author sees what was changed. (Items
    from which others follow, and items in an envelope, are compared as a whole: they don't need one.)

    Declare `version: Version = 0`, or inherit from `Versioned`. If changes of different fields never depend on each
    other, accept the finding.
    """
    for spec in reviewed.specs:
        is_changed = "updated" in spec.by_kind and spec.entity not in reviewed.made_by_others
        if is_changed and not is_housekeeping(spec.table) and not _is_compared(spec):
            yield Violation(
                reviewed.at(spec),
                "two changes at the same time both pass if they write different fields, even if they contradict each "
                "other",
                "Give it a version.",
                "version: Version = 0",
            )


def _is_compared(spec: EntitySpec) -> bool:
    """Whether a change is refused if anything of the item has changed since it was read."""
    own = [name for name, field in spec.fields.items() if field.kind == "plain" and name not in spec.primary.fields]
    has_effects = spec.uniques or spec.derived or spec.counters or spec.parents
    return "version" in spec.by_kind or bool(has_effects) or spec.table.envelope is not None or len(own) < 2


@rule(
    "KP316",
    "refusal-without-floor",
    group="wrong",
    severity="error",
    title="A refusal that never happens, because a count has no floor",
)
def refusal_without_floor(reviewed: Reviewed) -> Iterator[Violation]:
    """A count says what callers are told when a change is refused, but it has no floor, so that none is ever refused.

    `counts("admins", refusal=...)` counts the admins. Only `floor=1` makes the transaction fail that would remove the
    last one. Without it the number goes down to 0, and below.

    Say the least number that there may be: `floor=1` for "not the last one", `floor=0` for "no more than there are".
    """
    for spec in reviewed.specs:
        for counter in spec.counters:
            if counter.refusal is not None and counter.floor is None:
                yield Violation(
                    reviewed.at(spec, counter.name),
                    f"{counter.field} has no floor, so its refusal {counter.refusal.code!r} never happens",
                    "Give it a floor.",
                    with_floor(spec, counter.name, 1),
                )


@rule(
    "KP317",
    "count-below-zero",
    group="wrong",
    severity="warning",
    title="A count that only goes down, without a floor",
)
def count_below_zero(reviewed: Reviewed) -> Iterator[Violation]:
    """Each item takes something from a number, and nothing stops it at zero.

    An order takes from the stock, a member takes a seat. Without a floor, the last one is sold twice when two requests
    come at the same time: each has seen that there is one left. To look before the write doesn't help, only a condition
    of the write itself does.

    Say `floor=0`: the transaction that would take the number below it is refused.
    """
    for spec in reviewed.specs:
        for counter in spec.counters:
            if counter.floor is None and counter.refusal is None:
                amounts = [each.amount for refs in refs_of_variants(spec, counter.target) for each in refs]
                if amounts and all(amount < 0 for amount in amounts):
                    yield Violation(
                        reviewed.at(spec, counter.name),
                        f"each {spec.noun} takes from {counter.field}, which can go below zero",
                        "Give it a floor.",
                        with_floor(spec, counter.name, 0),
                    )


@rule(
    "KP319",
    "redundant-guard",
    group="wrong",
    severity="info",
    title="A guard of what the primary key keeps unique",
)
def redundant_guard(reviewed: Reviewed) -> Iterator[Violation]:
    """A guard has the whole primary key of its item in its own key, so it can never be taken by another item.

    The item's own key is unique: a create is one conditional write, which is refused if the item exists. With the
    guard, each create and delete is a transaction of two items, which costs four times as much, for nothing.

    Remove the guard, or guard only the field that has to be unique by itself. If other programs read the guards, accept
    the finding.
    """
    for spec in reviewed.specs:
        for guard in spec.uniques:
            templates = [guard.hash, *([guard.range] if guard.range else [])]
            exact = {name for template in templates for name in template.readable_fields}
            if set(spec.primary.fields) <= exact:
                yield Violation(
                    reviewed.at(spec, guard.name),
                    f"the primary key {' / '.join(part.source for part in spec.primary.parts)} already keeps "
                    f"{' and '.join(spec.primary.fields)} unique, and each create becomes a transaction of two items",
                    "Remove the guard.",
                )


@rule(
    "KP320",
    "count-not-kept",
    group="wrong",
    severity="warning",
    title="A count that nothing counts",
    whole=True,
)
def count_not_kept(reviewed: Reviewed) -> Iterator[Violation]:
    """An entity has a `Count`, and no other entity's items add to it.

    The store never writes a `Count` with its own item, and refuses to change it in any other way. If nothing counts, it
    stays what it was at the beginning, and whoever shows it or decides on it is always wrong.

    Say what counts: `@counts("posts")` or `@belongs_to(count="posts")` in the entity that is counted. A number that
    your program sets is an `int`.
    """
    kept, unknown = _kept(reviewed)
    for spec in reviewed.specs:
        for field in spec.counts:
            is_kept = (spec.name, field.name) in kept or field.name in unknown
            if not is_kept and spec.entity not in reviewed.made_by_others:
                yield Violation(
                    reviewed.at(spec, field.name),
                    "nothing adds to it, and nothing else can change it",
                    "Declare what is counted, or make it an int.",
                    f'@counts("{field.name}")',
                )


def _kept(reviewed: Reviewed) -> tuple[set[tuple[str, str]], set[str]]:
    """The counts that other items add to, and the names of counts of which it isn't known where they are."""
    kept: set[tuple[str, str]] = set()
    unknown: set[str] = set()
    for spec in reviewed.specs:
        for counter in spec.counters:
            named = read_refs(spec, counter.target)
            kept |= {(each.entity.spec.name, counter.field) for each in named}
            unknown |= set() if named else {counter.field}
        for parent in spec.parents:
            if parent.count is not None and parent.entity is not None:
                kept |= {(each.entity.spec.name, parent.count) for each in read_refs(spec, parent.parent)}
                kept.add((parent.entity.spec.name, parent.count))
    return kept, unknown
