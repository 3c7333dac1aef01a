"""Decisions on what was read, and values that are looked up."""

from collections.abc import Iterator
from typing import Any

from keyplan.design import Op
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import BatchGet, Exists, Get, GuardTaken, Lookup, Together, TransactGet
from keyplan.design.operations.nearest import Nearest
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.review.changed_lines import guard_for
from keyplan.review.keys import is_unique
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Unjudged, Violation, rule

_DECIDES = 'decides="..."'
_RETURNS = "returns=1"


@rule(
    "KP311",
    "stale-decision",
    group="wrong",
    severity="error",
    title="A decision on an eventually consistent read",
    needs=(_DECIDES,),
)
def stale_decision(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """The design says that something is decided on what a pattern reads, and the read may be out of date.

    An eventually consistent read may miss what was written a moment ago: a right that was just withdrawn still counts,
    and a second request gets what only one may get. A global secondary index is always eventually consistent, and
    behind its table by more than a moment when it is throttled.

    Read by key or by a query of the table, with `consistent=True`. Better still, let the write decide: a guard, a
    count with a `floor`, a `where=`, or `check(...)` in the same transaction is right even if two requests come at the
    same time.
    """
    for pattern in reviewed.patterns:
        index = _stale_part(pattern.symbolic)
        if index is None:
            continue
        if pattern.decides is None:
            yield Unjudged(reviewed.at_pattern(pattern), _DECIDES)
        elif index:
            yield Violation(
                reviewed.at_pattern(pattern),
                f"it decides {pattern.decides}, and the index {index} may be out of date",
                "Read the item by its key with consistent=True, or let the write decide: by a guard, a count or a "
                "condition.",
            )
        else:
            yield Violation(
                reviewed.at_pattern(pattern),
                f"it decides {pattern.decides}, and what it reads may be out of date",
                "Read consistently, or let the write decide: by a guard, a count or a condition.",
                "consistent=True",
            )


def _stale_part(op: Op[Any]) -> str | None:
    """The index from which an operation reads, or "" if it can miss new writes for another reason. None: it can't."""
    match op:
        case Get(consistent=consistent) | BatchGet(consistent=consistent) | Scan(consistent=consistent):
            return None if consistent else ""
        case Lookup(consistent=consistent):
            return None if consistent else ""
        case Exists() | GuardTaken():
            return ""
        case Nearest(access=access):
            return access.index.name
        case Query(key=key, consistent=consistent):
            return None if consistent else key.index.name if key.index is not None else ""
        case Follow(source=source):
            return _stale_part(source) or ""
        case ItemCount(source=source) | Aggregated(source=source):
            return _stale_part(source)
        case Merge(queries=parts) | Together(gets=parts):
            found = [_stale_part(each) for each in parts]
            return max((each for each in found if each is not None), default=None)
        case _:
            return None  # a transaction reads what is there


@rule(
    "KP318",
    "transaction-of-one",
    group="wrong",
    severity="warning",
    title="A transaction that reads one item",
)
def transaction_of_one(reviewed: Reviewed) -> Iterator[Violation]:
    """A pattern reads a single item with a transaction.

    A transaction reads several items as they were at one moment. For one item, a consistent read says the same, at half
    the price: a transactional read costs two units for each 4 KB. It is also refused while another transaction writes
    the item, which then has to be handled.

    Use `get(..., consistent=True)`.
    """
    for pattern, op in reviewed.reads:
        if isinstance(op, TransactGet) and len(op.gets) == 1:
            yield Violation(
                reviewed.at_pattern(pattern),
                "a transaction with one item costs twice as much as a consistent read, and tells no more",
                "Read the item with a get.",
                "get(..., consistent=True)",
            )


@rule(
    "KP322",
    "one-of-many",
    group="wrong",
    severity="warning",
    title="One item by a value that several can have",
    needs=(_RETURNS,),
)
def one_of_many(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """A pattern is said to return one item, and nothing keeps several from having the value that it is found by.

    Keys of an index needn't be unique. As soon as two items have the same slug or e-mail address, the query returns
    both, and whoever takes the first one takes either. Looking before each write doesn't prevent it: two requests at
    the same time both find nothing.

    Guard the value with `unique(...)`, and find the item with `lookup(...)`: it is consistent if asked for, and needs
    no index.
    """
    asked: set[str] = set()
    for pattern, query in reviewed.queries:
        spec, key = query.entities[0].spec, query.key
        if len(query.entities) > 1 or query.size is not None or spec.broken or not set(key.fields) <= set(query.values):
            continue
        if is_unique(reviewed, spec, key):
            continue
        if pattern.returns is None and pattern.name not in asked:
            asked.add(pattern.name)
            yield Unjudged(reviewed.at_pattern(pattern), _RETURNS)
        elif pattern.returns == 1:
            named = " and ".join(key.fields)
            yield Violation(
                reviewed.at_pattern(pattern),
                f"several items of {spec.name} can have the same {named}, and it is said to return one",
                "Guard the value, and find the item with lookup.",
                guard_for(spec, key.fields),
            )
