"""Expiry: whether the time to live of an item has passed, as a condition and for an item that was read.

DynamoDB deletes expired items later, often by hours. Reads leave them out, and writes treat them as absent, by the
store's clock. An item expires at the second in its time to live.
"""

from datetime import datetime

from keyplan.data.codec.values import Item
from keyplan.data.expressions.conditions import attribute_path, item_exists
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.conditions import Node


def not_expired(attribute: str, now: datetime) -> Node:
    """The time to live in this attribute hasn't passed; true as well for an item without one."""
    return Node("NOT", (expired(attribute, now),))


def expired(attribute: str, now: datetime) -> Node:
    """The time to live in this attribute has passed."""
    return Node("<=", (attribute_path(attribute), {"N": str(second_of(now))}))


def second_of(now: datetime) -> int:
    """A moment as DynamoDB's time to live counts it."""
    return int(now.timestamp() // 1)


def is_expired(attribute: str | None, item: Item, now: datetime) -> bool:
    """Whether the time to live in this attribute of an item has passed; never, if the attribute is None."""
    time = item.get(attribute, {}).get("N") if attribute is not None else None
    return time is not None and float(time) <= second_of(now)


def item_is_there(spec: EntitySpec, now: datetime) -> tuple[Node, ...]:
    """The item exists, and hasn't expired."""
    ttl = spec.by_kind.get("ttl")
    return (item_exists(spec),) if ttl is None else (item_exists(spec), not_expired(ttl.stored, now))
