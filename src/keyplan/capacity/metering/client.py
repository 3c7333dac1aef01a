"""A DynamoDB client that adds up what its calls consume, and notes which items they write."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from keyplan.capacity.consumed import METERED, WRITES, TableOrIndex, Units, consumed, summed
from keyplan.capacity.metering.altered import UNALTERED, Altered
from keyplan.capacity.metering.model import Metered
from keyplan.data import item_size

Item: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, ...]
"""The values of an item's key attributes, with their types, as texts."""
_PADDING = "~"
"""An attribute that no design has: readers leave out what they don't know."""


class MeteredClient:
    """A client of boto3's shape around another one. `keys` has the key attributes of each table."""

    def __init__(self, client: object, keys: Mapping[str, tuple[str, ...]], altered: Altered = UNALTERED) -> None:
        self._client = client
        self._altered = altered
        self._keys = keys
        self._calls: list[str] = []
        self._units: list[tuple[TableOrIndex, Units]] = []
        self._written: set[tuple[str, Key]] = set()
        self.touched: dict[tuple[str, Key], Item] = {}
        """The items that were written, and those that a failed call would have written: at least their keys."""
        self.paddings: dict[tuple[str, Key], int] = {}
        """By how many bytes items are made larger when they are put."""

    def begin(self) -> None:
        """Begin to count from zero."""
        self._calls, self._units, self._written = [], [], set()

    def metered(self, items: int | None = None) -> Metered:
        """What was consumed since `begin`; `items` is what it found, if it isn't a write."""
        found = len(self._written) if items is None else items
        return Metered(summed(self._units), len(self._calls), found, tuple(self._calls))

    def touch(self, table: str, item: Item) -> None:
        """Note that an item was written."""
        self.touched[table, self.key(table, item)] = item

    def __getattr__(self, name: str) -> Callable[..., dict[str, Any]]:
        method: Callable[..., dict[str, Any]] = getattr(self._client, name)
        if name == "create_table":
            return lambda **request: method(**self._altered.create_table(request))
        if name not in METERED:
            return method

        def call(**given: Any) -> dict[str, Any]:  # noqa: ANN401 - boto3's own shape
            request = self._altered.query(given, self._keys) if name == "query" else self._padded(name, given)
            items = list(_written(name, request)) if name in WRITES else []
            for table, item in items:
                self.touch(table, item)
            self._calls.append(name)
            before = [self._stored(table, item) for table, item in items]
            answer = method(**{**request, "ReturnConsumedCapacity": "INDEXES"})
            self._units += consumed(name, request, answer)
            for (table, item), old in zip(items, before, strict=True):
                self._written.add((table, self.key(table, item)))
                self._units.append((TableOrIndex(table), Units(changes=_change(old, self._stored(table, item)))))
            return answer

        return call

    def key(self, table: str, item: Item) -> Key:
        """What tells an item from the others in its table."""
        return tuple(str(item[name]) for name in self._keys[table])

    def _padded(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """The request with larger items, if it puts some that have a padding."""
        if not self.paddings:
            return request
        if operation == "put_item":
            return self._larger(request)
        if operation == "transact_write_items":
            actions = [
                {**each, "Put": self._larger(each["Put"])} if "Put" in each else each
                for each in request["TransactItems"]
            ]
            return {**request, "TransactItems": actions}
        return request

    def _larger(self, put: dict[str, Any]) -> dict[str, Any]:
        size = self.paddings.get((put["TableName"], self.key(put["TableName"], put["Item"])), 0)
        return {**put, "Item": padded(put["Item"], size)}

    def _stored(self, table: str, item: Item) -> Item | None:
        found: Mapping[str, Any] = getattr(self._client, "get_item")(  # noqa: B009 - a client of any class
            TableName=table, Key={name: item[name] for name in self._keys[table]}, ConsistentRead=True
        )
        return found.get("Item")


def padded(item: Item, size: int) -> Item:
    """An item with so many bytes more."""
    return {**item, _PADDING: {"S": "-" * (size - len(_PADDING))}} if size else item


def _change(old: Item | None, new: Item | None) -> float:
    """The change data capture units of a change: 1 KB of the larger of the two items."""
    if old == new:
        return 0.0
    return math.ceil(max(item_size(each) for each in (old, new) if each is not None) / 1024)


def _written(operation: str, request: Mapping[str, Any]) -> Iterator[tuple[str, Item]]:
    """The table and the key of each item that a request writes; for a new item, all of it."""
    if operation == "batch_write_item":
        for table, actions in request["RequestItems"].items():
            for action in actions:
                yield table, action["PutRequest"]["Item"] if "PutRequest" in action else action["DeleteRequest"]["Key"]
    elif operation == "transact_write_items":
        for action in request["TransactItems"]:
            ((kind, part),) = action.items()
            if kind != "ConditionCheck":
                yield part["TableName"], part["Item"] if kind == "Put" else part["Key"]
    else:
        yield request["TableName"], request["Item"] if operation == "put_item" else request["Key"]
