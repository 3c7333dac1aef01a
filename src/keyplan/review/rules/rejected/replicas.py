"""Tables that can't be in several regions as they are declared."""

from collections.abc import Iterator

from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule


@rule(
    "KP213",
    "replica-stream",
    group="rejected",
    severity="error",
    title="A global table whose stream has another view",
)
def replica_stream(reviewed: Reviewed) -> Iterator[Violation]:
    """The design is in several regions, and the stream of the table isn't of the view `NEW_AND_OLD_IMAGES`. A table
    with eventual consistency between regions, which is the default, is replicated by its stream, and needs that view.
    Adding a region is refused.

    Consumers get more than they asked for then; they can leave out what they don't need.

    Use `stream="NEW_AND_OLD_IMAGES"`, or leave the stream out: it is turned on with the first region that is added."""
    for table in reviewed.tables:
        if len(reviewed.design.regions) > 1 and table.stream not in (None, "NEW_AND_OLD_IMAGES"):
            yield Violation(
                reviewed.at_table(table),
                f"its stream has the view {table.stream}, and a table in several regions needs NEW_AND_OLD_IMAGES",
                "Change the view of the stream.",
                'stream="NEW_AND_OLD_IMAGES"',
            )


@rule(
    "KP214",
    "replica-key",
    group="rejected",
    severity="error",
    title="An encryption key of one region for tables in others",
)
def replica_key(reviewed: Reviewed) -> Iterator[Violation]:
    """The table is encrypted with a key that is named by its ARN. A key belongs to one region, and a table can only use
    one of its own region, so the table can't be created in the other regions of the design.

    A design names one key for all regions. A key of AWS exists in each region by itself. Keys of your own are named for
    each region in the infrastructure, not in the design; multi-Region keys have an ARN in each region as well.

    Use `AWS_MANAGED` or `AWS_OWNED`, or leave `encryption` out here and set the keys where the tables are created."""
    for table in reviewed.tables:
        region = _region(table.encryption or "")
        elsewhere = [each for each in reviewed.design.regions if region and each != region]
        if elsewhere:
            yield Violation(
                reviewed.at_table(table),
                f"its key is in {region}, and can't encrypt the table in {', '.join(elsewhere)}",
                "Use AWS_MANAGED or AWS_OWNED, or set the keys where the tables are created.",
            )


def _region(arn: str) -> str:
    """The region in an ARN: arn:aws:kms:eu-central-1:111122223333:key/..."""
    parts = arn.split(":")
    return parts[3] if len(parts) > 3 else ""
