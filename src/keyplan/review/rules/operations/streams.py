"""Streams and what reads them."""

from collections.abc import Iterator

from keyplan.design import Entity
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Unjudged, Violation, rule

MOST_READERS = 2
"""AWS, "Quotas in Amazon DynamoDB": the processes that can read one shard of a stream at the same time."""
_CONSUMERS = 'consumers=(consumer("..."),)'


@rule(
    "KP501",
    "consumer-without-failures",
    group="operations",
    severity="warning",
    title="A stream consumer without a place for failures",
    needs=(_CONSUMERS,),
)
def consumer_without_failures(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """A consumer of the stream has no place where records go that it can't process.

    A stream is read in order, shard by shard. A record that always fails is repeated until it leaves the stream after
    24 hours, and holds up all records behind it in the shard; then it is lost, and often the others with it.

    Say where such records go after a few attempts, such as a queue that somebody watches:
    `consumer("search", failures="search-failures")`.
    """
    for table in reviewed.tables:
        if table.stream is not None and not table.consumers:
            yield Unjudged(reviewed.at_table(table), _CONSUMERS)
        for each in table.consumers:
            if each.failures is None:
                yield Violation(
                    reviewed.at_table(table),
                    f"a record that {each.name} can't process holds up its shard for up to 24 hours, and is then lost",
                    "Give it a place for failures.",
                    f'consumer("{each.name}", failures="{each.name}-failures")',
                )


@rule(
    "KP504",
    "too-many-consumers",
    group="operations",
    severity="warning",
    title="A stream with more than two consumers",
)
def too_many_consumers(reviewed: Reviewed) -> Iterator[Violation]:
    """At most two processes should read a shard of a stream at the same time. With more, their reads are throttled, and
    all of them fall behind.

    Each event source mapping of Lambda and each stream runner is one such process. For a table in several regions, AWS
    recommends one.

    Let one consumer pass the records on: to a topic, an event bus, or Kinesis Data Streams, which any number can read.
    """
    for table in reviewed.tables:
        if len(table.consumers) > MOST_READERS:
            names = ", ".join(each.name for each in table.consumers)
            yield Violation(
                reviewed.at_table(table),
                f"it has {len(table.consumers)} consumers ({names}), and more than {MOST_READERS} are throttled",
                "Let one of them pass the records on to the others.",
            )


@rule(
    "KP510",
    "consumer-in-regions",
    group="operations",
    severity="info",
    title="A stream consumer of a table in several regions",
)
def consumer_in_regions(reviewed: Reviewed) -> Iterator[Violation]:
    """The table is in several regions. The stream of each region has all changes, those that were made in other regions
    as well. A consumer that runs in each region gets each change once for each region.

    That is right for a cache or a search index of the region. An e-mail would be sent several times, and a counter
    would count several times.

    Run the consumer in one region, with another one that can take over; or have it leave out changes of other regions,
    which takes an attribute with the region in each item."""
    for table in reviewed.tables:
        if len(reviewed.design.regions) > 1 and table.consumers:
            *others, last = [each.name for each in table.consumers]
            names = f"{', '.join(others)} and {last}" if others else last
            yield Violation(
                reviewed.at_table(table),
                f"in each of {len(reviewed.design.regions)} regions, {names} would get the changes of all regions",
                "Run it in one region, or make sure that it may get a change several times.",
            )


@rule(
    "KP517",
    "expiry-leaves-children",
    group="operations",
    severity="warning",
    title="Children that stay when their parent expires",
)
def expiry_leaves_children(reviewed: Reviewed) -> Iterator[Violation]:
    """The entity's items expire, and children that don't expire are deleted together with it. DynamoDB deletes an
    expired item and nothing else, so its children stay: they are listed and paid for, and refer to nothing.

    A handler of the table's stream can do what a delete would have done: `clean_up_expired(change.before)`. For that,
    the stream must have the old images, and the table has none, or one without them.

    Give the table `stream="NEW_AND_OLD_IMAGES"` and run such a handler, or let the children expire with their parent.
    """
    for spec in reviewed.specs:
        children = [
            each.name for each in reviewed.specs if "ttl" not in each.by_kind and _falls_with(each, spec.entity)
        ]
        has_old_images = spec.table.stream in ("NEW_AND_OLD_IMAGES", "OLD_IMAGE")
        if "ttl" in spec.by_kind and children and not has_old_images:
            yield Violation(
                reviewed.at(spec, spec.by_kind["ttl"].name),
                f"when DynamoDB deletes an expired {spec.noun}, its {' and '.join(children)} items stay",
                "Give the table a stream with old images, and run a handler with clean_up_expired.",
                'stream="NEW_AND_OLD_IMAGES"',
            )


def _falls_with(child: EntitySpec, parent: type[Entity]) -> bool:
    return any(each.entity is parent and each.on_delete == "cascade" for each in child.parents)
