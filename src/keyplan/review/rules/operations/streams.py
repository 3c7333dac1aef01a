"""Streams and what reads them."""

from collections.abc import Iterator

from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Problem, rule


@rule(
    "KP501",
    "consumer-without-failures",
    group="operations",
    severity="warning",
    title="A stream consumer without a place for failures",
)
def consumer_without_failures(reviewed: Reviewed) -> Iterator[Problem]:
    """A consumer of the stream has no place where records go that it can't process.

    A stream is read in order, shard by shard. A record that always fails is repeated until it leaves the stream after
    24 hours, and holds up all records behind it in the shard; then it is lost, and often the others with it.

    Say where such records go after a few attempts, such as a queue that somebody watches:
    `consumer("search", failures="search-failures")`.
    """
    for table in reviewed.tables:
        for each in table.consumers:
            if each.failures is None:
                yield Problem(
                    reviewed.at_table(table),
                    f"a record that {each.name} can't process holds up its shard for up to 24 hours, and is then lost",
                    "Give it a place for failures.",
                    f'consumer("{each.name}", failures="{each.name}-failures")',
                )
