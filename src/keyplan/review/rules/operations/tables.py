"""Tables: what protects them, what shares them, and whether their capacity is enough."""

from collections.abc import Iterator

from keyplan.design import Op, Table
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.operation_entities import entities_read
from keyplan.design.operations.queries import Query
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Unjudged, Violation, rule

_TRAFFIC, _GROWTH = "--traffic FILE", "expected=expect(growth=...)"
_MONTH = 30 * 24 * 3600


@rule(
    "KP502",
    "not-protected",
    group="operations",
    severity="warning",
    title="A table that anybody with permissions can delete by mistake",
)
def not_protected(reviewed: Reviewed) -> Iterator[Violation]:
    """The design doesn't say whether the table is protected from being deleted. Without protection, one DeleteTable by
    mistake, or a stack that is removed or replaced, takes all its items.

    A protected table can only be deleted after the protection has been turned off, which nobody does by mistake. It
    costs nothing.

    Declare `protected=True`. For a table that may be lost, such as a cache, declare `protected=False`, so that readers
    know that it is meant."""
    for table in reviewed.tables:
        if table.protected is None:
            yield Violation(
                reviewed.at_table(table),
                "nothing protects it from being deleted by mistake",
                "Protect it, or say with False that it may be lost.",
                "protected=True",
            )


@rule(
    "KP503",
    "no-recovery",
    group="operations",
    severity="warning",
    title="A table without point-in-time recovery",
)
def no_recovery(reviewed: Reviewed) -> Iterator[Violation]:
    """The design doesn't say for how long the table can be restored to an earlier moment. Without that, a program with
    a mistake that overwrites or deletes items is final: DynamoDB's copies in three zones have the mistake, too.

    With point-in-time recovery, a new table can be made as of any second of the last 1 to 35 days. It is paid for by
    the size of the table.

    Declare `recovery=35`, or fewer days. For a table whose items can be made again, declare `recovery=False`, so that
    readers know that it is meant."""
    for table in reviewed.tables:
        if table.recovery is None:
            yield Violation(
                reviewed.at_table(table),
                "items that are overwritten or deleted by mistake can't be restored",
                "Turn on point-in-time recovery, or say with False that it isn't needed.",
                "recovery=35",
            )


@rule(
    "KP505",
    "expiring-among-lasting",
    group="operations",
    severity="info",
    title="Items that expire in a table that is kept for recovery",
)
def expiring_among_lasting(reviewed: Reviewed) -> Iterator[Violation]:
    """All items of the entity expire, and they are in a table with others that are kept for recovery. Backups and
    point-in-time recovery are for whole tables, so they keep sessions and tokens as well as what has to last.

    You pay for their size in each backup, and a restored table has them again until DynamoDB deletes them once more. An
    old token that is back can be a problem of security.

    Move them into a table of their own with `recovery=False`. If they are few, and belong into a transaction or a query
    with the others, accept the finding."""
    for table in reviewed.tables:
        specs = reviewed.entities_in(table)
        expiring = [spec for spec in specs if "ttl" in spec.by_kind and not spec.by_kind["ttl"].optional]
        if not table.recovery or len(expiring) == len(specs):
            continue
        for spec in expiring:
            yield Violation(
                reviewed.at(spec, spec.by_kind["ttl"].name),
                f"recovery keeps each {spec.noun} for {_days(table)} days after it has expired, and can bring it back",
                "Move it into a table without recovery.",
            )


def _days(table: Table) -> int:
    return 35 if table.recovery is True else int(table.recovery or 0)


@rule(
    "KP506",
    "capacity-too-small",
    group="operations",
    severity="warning",
    title="A provisioned table with less capacity than its traffic needs",
    needs=(_TRAFFIC, _GROWTH),
)
def capacity_too_small(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """The table's capacity is less than what its traffic needs at the very least: one write unit for each write, and
    half a read unit for each read. Requests beyond the capacity are throttled, after up to five minutes of burst.

    The real need is larger: items above 1 KB take more than one unit, transactions take twice as much, and the writes
    of effects such as guards and counters come on top. `keyplan cost` measures it.

    Without a traffic file, only new items are counted, if the design says how many: `expected=expect(growth=...)`.

    Raise the capacity, or use on-demand billing."""
    for table in reviewed.tables:
        if table.capacity is None:
            continue
        rates = reviewed.rates or {}
        names = {spec.name for spec in reviewed.entities_in(table)}
        writes = sum(rate for name, rate in rates.items() if name.partition(".")[0] in names and "." in name)
        reads = sum(rates.get(each.name, 0) / 2 for each in reviewed.patterns if _reads(each.symbolic, table))
        if reviewed.rates is None:
            yield Unjudged(reviewed.at_table(table), _TRAFFIC)
            writes = sum(map(_new_items, reviewed.entities_in(table)))
        for kind, need, has in (("read", reads, table.capacity[0]), ("write", writes, table.capacity[1])):
            if need > has:
                yield Violation(
                    reviewed.at_table(table),
                    f"its traffic needs at least {need:,.0f} {kind} units a second, and it has {has:,}",
                    "Raise the capacity, or use on-demand billing.",
                )


def _new_items(spec: EntitySpec) -> float:
    """How many items are added in a second on average, as far as the design says it."""
    return 0 if spec.expected is None else (spec.expected.growth or 0) / _MONTH


def _reads(op: Op[object], table: Table) -> bool:
    """Whether an operation uses the capacity of the table itself, not only that of a global index."""
    if isinstance(op, Query) and op.key.index is not None and not op.key.index.local:
        return False
    return any(entity.spec.table is table for entity in entities_read(op))


@rule(
    "KP515",
    "objects-not-restored",
    group="operations",
    severity="info",
    title="Large values that recovery doesn't restore",
)
def objects_not_restored(reviewed: Reviewed) -> Iterator[Violation]:
    """The field's value is kept in object storage if it is large, and the table is kept for recovery. Recovery and
    backups have the items, which name the objects, and not the objects.

    When a value is changed, its old object is deleted after a day. A table that is restored to an earlier moment names
    objects that may no longer be there.

    Turn on versions in the bucket, and let them be kept as long as the recovery reaches back; or keep the value in
    parts: `large()`."""
    for spec in reviewed.specs:
        for field in spec.large:
            if spec.table.recovery and field.large is not None and field.large.kept_in == "objects":
                yield Violation(
                    reviewed.at(spec, field.name),
                    f"recovery keeps items for {_days(spec.table)} days, and not the objects that they name",
                    "Turn on versions in the bucket, or keep the value in parts.",
                    f"{field.name}: Annotated[str, large()]",
                )
