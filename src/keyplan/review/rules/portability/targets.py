"""What a target doesn't have, or does differently.

Alternator: ScyllaDB's page "ScyllaDB Alternator for DynamoDB users". ExtendDB: its page "Differences from DynamoDB".
The embedded DynamoDB: docs/engine.md. Servers on which Keyplan is tested are in docs/servers.md.
"""

import re
from collections.abc import Iterator, Mapping

from keyplan.design import Table
from keyplan.review.reviewed import Reviewed, TargetName
from keyplan.review.rule import Violation, rule

_NAMES: Mapping[TargetName, str] = {
    "aws": "AWS",
    "extenddb": "ExtendDB",
    "alternator": "Alternator",
    "embedded": "the embedded DynamoDB",
}
_TTL_NAME = re.compile(r"[A-Za-z0-9._-]+")


@rule(
    "KP601",
    "no-transactions",
    group="portability",
    severity="error",
    title="A target without transactions",
    targets=("alternator",),
)
def no_transactions(reviewed: Reviewed) -> Iterator[Violation]:
    """The target is Alternator, which has no transactions. Guards, mirrors, counters and all that changes together with
    an item is written in one, so Keyplan refuses to create tables there (`Unsupported`).

    Single items with conditions work in Alternator, but a design can't be limited to them: jobs, checkpoints and the
    cleaning up of deletes use transactions as well.

    Use AWS, ExtendDB or the embedded DynamoDB."""
    yield Violation(
        reviewed.at_design(),
        "Alternator has no transactions, so the tables can't be created there",
        "Choose another target.",
    )


@rule(
    "KP602",
    "no-recovery-there",
    group="portability",
    severity="warning",
    title="Recovery on a target that doesn't have it",
    targets=("alternator",),
)
def no_recovery_there(reviewed: Reviewed) -> Iterator[Violation]:
    """The table is declared with point-in-time recovery, and Alternator doesn't have it. The request to turn it on is
    refused, and nothing could be restored.

    ScyllaDB has backups of its own (snapshots, ScyllaDB Manager), which are set up outside of DynamoDB's API.

    Declare `recovery=False` for this target, and set up its own backups."""
    for table in reviewed.tables:
        if table.recovery:
            yield Violation(
                reviewed.at_table(table),
                "Alternator has no point-in-time recovery, so items can't be restored as the design says",
                "Set up ScyllaDB's own backups, and declare recovery=False.",
                "recovery=False",
            )


@rule(
    "KP603",
    "projection-ignored",
    group="portability",
    severity="info",
    title="A projection that the target ignores",
    targets=("alternator",),
)
def projection_ignored(reviewed: Reviewed) -> Iterator[Violation]:
    """The index has only some attributes, and Alternator projects all of them. Queries answer the same, and the index
    needs more storage than on AWS.

    A design that relies on a small index, for example because its items are large and the list is read often, is as
    expensive there as with `ALL`.

    Nothing has to be changed. Count with the size of whole items for each index."""
    for table in reviewed.tables:
        for index in table.by_name.values():
            if index.projection.type != "ALL":
                yield Violation(
                    reviewed.at_table(table, index.name),
                    "Alternator projects all attributes, so the index is as large as its items",
                    "Count with that, or move what lists don't need into items of its own.",
                )


@rule(
    "KP604",
    "setting-without-effect",
    group="portability",
    severity="info",
    title="A setting that has no effect on the target",
    targets=("embedded", "alternator"),
)
def setting_without_effect(reviewed: Reviewed) -> Iterator[Violation]:
    """The table is declared with a setting that the target accepts and ignores: the class of storage, a capacity that
    limits requests, or a key that encrypts the items.

    The embedded DynamoDB throttles nothing and doesn't encrypt its file. Alternator ignores billing and capacity, and
    sets up encryption outside of DynamoDB's API.

    Nothing has to be changed if the design also runs on AWS. Where encryption matters, encrypt the disk."""
    for table in reviewed.tables:
        for setting in _ignored(table):
            yield Violation(
                reviewed.at_table(table),
                f"{setting} has no effect on {_NAMES[reviewed.target]}",
                "Set it up outside of the design, if it matters there.",
            )


def _ignored(table: Table) -> Iterator[str]:
    if table.capacity is not None:
        yield f"capacity={table.capacity}"
    if table.table_class != "STANDARD":
        yield f'table_class="{table.table_class}"'
    if table.encryption not in (None, "AWS_OWNED"):
        yield f'encryption="{table.encryption}"'


@rule(
    "KP605",
    "no-vectors",
    group="portability",
    severity="error",
    title="A vector index on a target without them",
    targets=("alternator",),
)
def no_vectors(reviewed: Reviewed) -> Iterator[Violation]:
    """The table has a vector index, and Alternator's CreateTable doesn't have DynamoDB's vector indexes. Searches are
    refused.

    ScyllaDB has vector search of its own, in another form of API.

    Use AWS or the embedded DynamoDB, or keep the vectors in a store of their own, which a stream handler fills."""
    for table in reviewed.tables:
        for name in table.vectors_by_name:
            yield Violation(
                reviewed.at_table(table, name),
                "Alternator doesn't have DynamoDB's vector indexes",
                "Choose another target, or keep the vectors elsewhere.",
            )


@rule(
    "KP606",
    "no-regions",
    group="portability",
    severity="warning",
    title="Several regions on a target that has one",
    targets=("extenddb", "alternator", "embedded"),
)
def no_regions(reviewed: Reviewed) -> Iterator[Violation]:
    """The design is in several regions, and the target doesn't replicate tables between regions by DynamoDB's API.
    ExtendDB refuses global tables; Alternator replicates between the data centers of its cluster instead; in the
    embedded DynamoDB, all regions share the items of one file.

    So if that machine or cluster fails, there is no other region that has the data.

    Declare one region for this target, and plan for its failure in the target's own way."""
    if len(reviewed.design.regions) > 1:
        yield Violation(
            reviewed.at_design("regions"),
            f"{_NAMES[reviewed.target]} doesn't keep the tables in {len(reviewed.design.regions)} regions",
            "Declare one region, and plan for failures in the target's own way.",
        )


@rule(
    "KP607",
    "ttl-name-refused",
    group="portability",
    severity="error",
    title="A time to live whose name the target refuses",
    targets=("extenddb",),
)
def ttl_name_refused(reviewed: Reviewed) -> Iterator[Violation]:
    """ExtendDB allows letters, digits, dots, underscores and hyphens in the name of the attribute with the time to
    live, and refuses others, which AWS allows. UpdateTimeToLive fails there, so nothing expires.

    The name is stored in each item, so it can't be changed later without writing all of them.

    Store the field under a name of these characters."""
    for table in reviewed.tables:
        if table.ttl is not None and not _TTL_NAME.fullmatch(table.ttl):
            yield Violation(
                reviewed.at_table(table),
                f"ExtendDB refuses {table.ttl!r} as the name of the time to live",
                "Use letters, digits, dots, underscores and hyphens.",
            )
