"""Reads that cost more than they have to, or more and more."""

from collections.abc import Iterator
from typing import Any

from keyplan.design import Op
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import BatchGet, Get, Lookup
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.design.tables.attributes import Projection
from keyplan.review.changed_lines import with_projection
from keyplan.review.keys import copies_beside, partitions, prefix_parts
from keyplan.review.reviewed import Reviewed, is_housekeeping
from keyplan.review.rule import Unjudged, Violation, rule

_PAGE = 1024 * 1024
"""The most bytes that a query or a scan reads in one request."""
_USUAL_SIZE = 1024
_SMALL_SCAN = 1000
_WASTED = 2
"""How many items may be read for each one that is returned."""
_LARGE = 10_000
_DECIDES = 'decides="..."'
_ITEMS = "expected=expect(items=...)"
_PARTITION = "expected=expect(partition=...)"
_SIZE = "expected=expect(size=...)"
_RETURNS = "returns=..."


@rule(
    "KP406",
    "scan",
    group="hot",
    severity="warning",
    title="A pattern that scans a table",
)
def scans(reviewed: Reviewed) -> Iterator[Violation]:
    """An access pattern reads the whole table.

    A scan reads and bills all items, of all entities in the table, also those that a filter leaves out. It becomes
    slower and dearer with every item, returns no order, and takes throughput from everyone else. A list of 20 items out
    of a million costs a million.

    For a table of a few hundred items that has nothing else in it, a scan is fine: say so with
    `expected=expect(items=...)`. Otherwise list the items through an index.
    """
    for pattern, op in reviewed.reads:
        if isinstance(op, Scan) and not is_housekeeping(op.entity.spec.table):
            spec = op.entity.spec
            others = [each.name for each in reviewed.entities_in(spec.table) if each is not spec]
            expected = spec.expected
            items = None if expected is None else expected.items
            size = _USUAL_SIZE if expected is None or expected.size is None else expected.size
            if others:
                problem = f"it reads all items of {spec.table.name}, also those of {', '.join(others)}"
            elif items is None:
                problem = f"it reads all items of {spec.table.name}, however many there will be"
            elif items > _SMALL_SCAN or items * size > _PAGE:
                problem = f"it reads all {items:,} items of {spec.table.name}, about {items * size / _PAGE:.1f} MB"
            else:
                continue
            is_said = items is not None or bool(others)
            remedy = "" if is_said else ", or say that there are few of them"
            yield Violation(
                reviewed.at_pattern(pattern),
                problem,
                f"List them through an index{remedy}.",
                "" if is_said else _ITEMS,
            )


@rule(
    "KP407",
    "filter-discards",
    group="hot",
    severity="warning",
    title="A filter that throws away most of what was read",
    needs=(_RETURNS, _PARTITION),
)
def filter_discards(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """A pattern filters what it reads, and returns only a small part of it.

    A filter is applied after the items are read, and they are all paid for. A page may come back empty although there
    are more items, so that several requests are needed to fill it. It becomes slower and dearer with every item that
    isn't wanted.

    Put what the filter asks for into the key: in front of the sort key, into the hash key, or into a sparse index that
    has only those items (`when="is_open"`).
    """
    for pattern, op in reviewed.reads:
        if not isinstance(op, Query | Scan) or op.filter is None:
            continue
        spec = (op.entities[0] if isinstance(op, Query) else op.entity).spec
        read = _items_read(spec, op)
        copies = copies_beside(reviewed, spec, op.key) if isinstance(op, Query) and not prefix_parts(op) else 0
        if copies:
            yield Violation(
                reviewed.at_pattern(pattern),
                f"of {copies + 1} items that it reads, {copies} are made from the other one and thrown away",
                "Leave them out of this index, or tell them apart by the sort key.",
            )
        elif pattern.returns is None or read is None:
            yield Unjudged(reviewed.at_pattern(pattern), _RETURNS if pattern.returns is None else _PARTITION)
        elif read > max(pattern.returns, 1) * _WASTED and read > 50:
            yield Violation(
                reviewed.at_pattern(pattern),
                f"it reads up to {read:,} items and returns {pattern.returns:,}",
                "Put what the filter asks for into the key, or into a sparse index.",
            )


def _items_read(spec: EntitySpec, op: Query[Any] | Scan[Any]) -> int | None:
    """How many items an operation can read, if the design says it."""
    expected = spec.expected
    if expected is None:
        return None
    if isinstance(op, Scan):
        return expected.items
    if expected.partition is not None:
        return expected.partition
    return expected.items if partitions(spec, op.key) == 1 else None


@rule(
    "KP408",
    "whole-collection",
    group="hot",
    severity="warning",
    title="A pattern that reads all of a large item collection",
    needs=(_PARTITION, _RETURNS),
)
def whole_collection(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """A pattern reads all items of a partition at once, to return them as one object or to count them.

    An aggregate reads page after page until it has everything, and holds it in memory. A count reads and pays for all
    items that it counts. Both are fast with 20 items, and take seconds with 20,000: the partition of the most active
    user decides.

    Of a range, such as what came since a time, it depends on how much of it there is: say so with `returns=`.

    Keep a number with `counts(...)` instead of counting. Read the root by its key and the others page by page, or bound
    how many there can be, and say so: `expected=expect(partition=...)`.
    """
    for pattern, op in reviewed.reads:
        if isinstance(op, Aggregated) or (isinstance(op, ItemCount) and op.source.size is None):
            source = op.source
            entities = source.entities if isinstance(source, Query) else (source.entity,)
            for spec in (each.spec for each in entities):
                if isinstance(op, Aggregated) and spec is entities[0].spec:
                    continue  # the root is one item
                is_bounded = isinstance(source, Query) and source.bound is not None
                read = pattern.returns if is_bounded else _items_read(spec, source)
                if read is None:
                    yield Unjudged(reviewed.at_pattern(pattern), _RETURNS if is_bounded else _PARTITION)
                elif read > _SMALL_SCAN:
                    yield Violation(
                        reviewed.at_pattern(pattern),
                        f"it reads up to {read:,} items of {spec.name} each time",
                        "Keep a count, or read the items page by page.",
                        '@counts("...")' if isinstance(op, ItemCount) else "",
                    )


@rule(
    "KP416",
    "needless-strong-read",
    group="hot",
    severity="info",
    title="A consistent read that decides nothing",
    needs=(_DECIDES,),
)
def needless_strong_read(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """A pattern reads consistently, and the design, which says what is decided on other reads, says nothing of it.

    A consistent read costs twice as much as an eventually consistent one, and it is always answered by the same one of
    three copies. It is right where something is decided on what was read, or where people look for what they have
    just written. For anything else it is wasted.

    Say what is decided on it (`@pattern(..., decides="whether the user may publish")`), or leave `consistent=True` out.
    """
    some_decide = any(pattern.decides is not None for pattern in reviewed.patterns)
    for pattern in reviewed.patterns:
        if pattern.decides is None and any(_is_strong(op) for each, op in reviewed.reads if each is pattern):
            if some_decide:
                yield Violation(
                    reviewed.at_pattern(pattern),
                    "it costs twice as much as an eventually consistent read, and nothing is decided on it",
                    "Leave consistent=True out, or say what is decided.",
                    _DECIDES,
                )
            else:
                yield Unjudged(reviewed.at_pattern(pattern), _DECIDES)


def _is_strong(op: Op[Any]) -> bool:
    return isinstance(op, Get | BatchGet | Lookup | Query | Scan) and op.consistent


@rule(
    "KP417",
    "large-in-lists",
    group="hot",
    severity="warning",
    title="Large items in a list",
    needs=(_SIZE,),
)
def large_in_lists(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """A list returns whole items, and they are large.

    A query is paid for by the bytes that it reads, and returns at most 1 MB at once: 50 articles of 100 KB are five
    requests and about 600 read units, to show 50 titles. To return only some fields doesn't make it cheaper, since
    whole items are read. If they are in an index, each write pays for the large field once more.

    List them through an index that has only what lists show (`index(key(...), include("title"))`), or keep the large
    field in an item of its own, with the same partition.
    """
    seen: set[tuple[str, str]] = set()
    for pattern, op in reviewed.reads:
        if not isinstance(op, Query | Scan) or any(op is part for part in _counted(reviewed)):
            continue
        for spec in (each.spec for each in (op.entities if isinstance(op, Query) else (op.entity,))):
            index = op.key.index if isinstance(op, Query) else None
            if (pattern.name, spec.name) in seen or (index is not None and index.projection.type != "ALL"):
                continue
            seen.add((pattern.name, spec.name))
            size = None if spec.expected is None else spec.expected.size
            if size is None:
                yield Unjudged(reviewed.at_pattern(pattern), _SIZE)
            elif size >= _LARGE:
                yield Violation(
                    reviewed.at_pattern(pattern),
                    f"it reads whole items of {spec.name}, of about {size / 1024:.0f} KB each",
                    "List them through an index that has only what the list shows, or keep the large field apart.",
                    "" if index is None else with_projection(index, Projection("INCLUDE", ("...",))),
                )


def _counted(reviewed: Reviewed) -> Iterator[Op[Any]]:
    """The lists that are only counted, or that only lead to other items."""
    for _, op in reviewed.reads:
        if isinstance(op, ItemCount | Follow):
            yield op.source


@rule(
    "KP419",
    "wide-fan-out",
    group="hot",
    severity="info",
    title="A list that is read from many partitions",
)
def wide_fan_out(reviewed: Reviewed) -> Iterator[Violation]:
    """A list is spread over many shards, or merged from many queries, and each page reads all of them.

    Shards spread writes. Reads pay for it: each page sends a query to each shard, and each query costs at least half a
    unit and takes the time of the slowest. With 64 shards, a page of 20 items is 64 requests.

    Use as many shards as the writes need: each takes 1,000 write units a second. If the list is read often, keep the
    newest items in one more place.
    """
    for pattern, op in reviewed.reads:
        count = len(op.queries) if isinstance(op, Merge) else _shards(op) if isinstance(op, Query) else 1
        if count > 16:
            yield Violation(
                reviewed.at_pattern(pattern),
                f"each page sends {count} queries",
                "Use fewer shards: each takes 1,000 write units a second.",
            )


def _shards(query: Query[Any]) -> int:
    parts = query.key.computed.values()
    return next((sum(part.slot.shards.counts) for part in parts if part.slot.shards is not None), 1)
