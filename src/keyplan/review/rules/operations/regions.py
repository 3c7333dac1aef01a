"""What doesn't hold between the regions of a global table.

AWS, "Global tables core concepts": with eventual consistency between regions, the default, conditions and transactions
see one region only, and of two writes of an item in two regions the later one wins. Strong consistency between regions
has no transactions, without which Keyplan can't keep counters and guards.
"""

from collections.abc import Iterator

from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule


@rule(
    "KP507",
    "counter-in-regions",
    group="operations",
    severity="warning",
    title="A counter in a table in several regions",
)
def counter_in_regions(reviewed: Reviewed) -> Iterator[Violation]:
    """The entity has a number that writes of other items change, and the table is in several regions. Each region adds
    to its own copy. If two regions write the item within the second or so that replication takes, the later write wins
    as a whole, and what the other one added is lost.

    The item's other fields are lost in the same way, but a count stays wrong forever, and with a floor the rule that
    it stands for doesn't hold.

    Send all writes of an item to one region, for example the one that its owner belongs to; or keep one count for each
    region, and add them up when they are read."""
    for spec in reviewed.specs if len(reviewed.design.regions) > 1 else ():
        for field in spec.counts:
            yield Violation(
                reviewed.at(spec, field.name),
                "two regions that change it at the same time overwrite each other, and one change is lost",
                "Write each item in one region only, or keep a count for each region.",
            )


@rule(
    "KP508",
    "guard-in-regions",
    group="operations",
    severity="warning",
    title="A unique value in a table in several regions",
)
def guard_in_regions(reviewed: Reviewed) -> Iterator[Violation]:
    """The value is guarded in a transaction, and the table is in several regions. A transaction sees the items of its
    own region. Two regions can give the same value to two items at the same time, and both succeed.

    When the guards are replicated, the later one wins. Then two items have the value, and the guard names one of them:
    a lookup by the value never finds the other.

    Create such items in one region only: send the requests that take unique values there. Or make the region a part of
    the value."""
    for spec in reviewed.specs if len(reviewed.design.regions) > 1 else ():
        for guard in spec.uniques:
            yield Violation(
                reviewed.at(spec, guard.name),
                "two regions can give the same value to two items at the same time",
                "Take unique values in one region only.",
            )


@rule(
    "KP509",
    "version-in-regions",
    group="operations",
    severity="warning",
    title="An optimistic lock in a table in several regions",
)
def version_in_regions(reviewed: Reviewed) -> Iterator[Violation]:
    """The entity has a version, which each update compares and increments, and the table is in several regions. With
    eventual consistency between regions, the condition sees the item of its own region. Two updates of one version in
    two regions both succeed, and the later one overwrites the other.

    Both callers were told that their change was stored. Nobody finds out, since the versions are the same afterwards.

    Write each item in one region only. In tables with strong consistency between regions the lock holds: accept the
    finding then."""
    for spec in reviewed.specs if len(reviewed.design.regions) > 1 else ():
        if "version" in spec.by_kind:
            yield Violation(
                reviewed.at(spec, spec.by_kind["version"].name),
                "two regions can update the same version at the same time, and one change is lost",
                "Write each item in one region only.",
            )
