"""What Query and Scan share: reading a page of a table or index, and answering with it.

A page ends with the range, with `Limit` items evaluated, or with the item that takes it over 1 MB; measured before
filter and projection, as it is charged for.
"""

from dataclasses import dataclass

import orjson

from keyplan.engine import capacity
from keyplan.engine.catalog import Index, Table
from keyplan.engine.errors import DynamoError, invalid_parameter, validation_error
from keyplan.engine.expressions import Condition, Placeholders, Projection, condition, projection
from keyplan.engine.keys import after
from keyplan.engine.operations.requests import Answer, ItemRequest
from keyplan.engine.transaction import Transaction
from keyplan.engine.values import Item, item_size, normalise_item

PAGE_BYTES = 1_048_576


@dataclass(slots=True)
class Wanted:
    """What a Query or Scan wants of the items it reads."""

    select: str
    filter: Condition | None
    projection: Projection | None


def wanted(request: ItemRequest, marks: Placeholders) -> Wanted:
    """Select, filter and projection, checked as far as they can be without the table."""
    select = check_select(request)
    text = request.get("FilterExpression")
    bound_filter = None if text is None else condition("FilterExpression", text, marks)
    text = request.get("ProjectionExpression")
    bound_projection = None if text is None else projection(text, marks)
    return Wanted(select, bound_filter, bound_projection)


_NOT_WITH_PROJECTION = {"ALL_ATTRIBUTES": "ALL_ATTRIBUTES", "COUNT": "only the Count"}


def check_select(request: ItemRequest) -> str:
    """The kind of answer, given or implied."""
    select = request.get("Select")
    projected = "ProjectionExpression" in request
    if select is None:
        if projected:
            return "SPECIFIC_ATTRIBUTES"
        return "ALL_PROJECTED_ATTRIBUTES" if "IndexName" in request else "ALL_ATTRIBUTES"
    if projected and select != "SPECIFIC_ATTRIBUTES":
        raise validation_error(
            f"Cannot specify the ProjectionExpression when choosing to get {_NOT_WITH_PROJECTION.get(select, select)}"
        )
    if select == "SPECIFIC_ATTRIBUTES" and not projected:
        raise validation_error(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if select == "ALL_PROJECTED_ATTRIBUTES" and "IndexName" not in request:
        raise validation_error("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
    return select


def source(transaction: Transaction, request: ItemRequest, want: Wanted) -> tuple[Table, Index | None]:
    """Table and index to read from, able to give what is wanted."""
    table = transaction.catalog.table(request["TableName"])
    name = request.get("IndexName")
    if name is None:
        return table, None
    index = table.index(name)
    if not index.is_global:
        return table, index
    if request.get("ConsistentRead"):
        raise validation_error("Consistent reads are not supported on global secondary indexes")
    if index.holds_all:
        return table, index
    if want.select == "ALL_ATTRIBUTES":
        raise invalid_parameter(
            f"Select type ALL_ATTRIBUTES is not supported for global secondary index {name} "
            "because its projection type is not ALL"
        )
    if want.projection is not None:
        absent = sorted(want.projection.attributes - index.included)
        if absent:
            raise invalid_parameter(f"Global secondary index {name} does not project [{', '.join(absent)}]")
    return table, index


@dataclass(slots=True)
class Range:
    """A range of row keys, in one direction. `high` is None at the end of the table."""

    low: bytes
    high: bytes | None
    backward: bool = False

    def contains(self, key: bytes) -> bool:
        return self.low <= key and (self.high is None or key < self.high)

    def start_after(self, key: bytes) -> None:
        """Leave out what an earlier page has read, the item with this key included."""
        if self.backward:
            self.high = key
        else:
            self.low = key + b"\x00"


def start_key(request: ItemRequest, table: Table, index: Index | None) -> tuple[Item, bytes] | None:
    """The ExclusiveStartKey with its row key; it must be a key as LastEvaluatedKey has it."""
    given = request.get("ExclusiveStartKey")
    if given is None:
        return None
    key = normalise_item(given)
    attributes = {**dict(table.schema.attributes), **(dict(index.schema.attributes) if index else {})}
    if len(key) != len(attributes) or any(
        name not in key or kind not in key[name] for name, kind in attributes.items()
    ):
        detail = "" if index else ": The provided key element does not match the schema"
        raise validation_error("The provided starting key is invalid" + detail)
    row_key = table.row_key(key)
    return key, row_key if index is None else index.schema.row_key(key) + row_key


def read_page(
    transaction: Transaction, request: ItemRequest, table: Table, index: Index | None, bounds: Range, want: Wanted
) -> Answer:
    """Read until the page ends, and answer."""
    page = _Page(table, index, want)
    limit = request.get("Limit")
    rows = transaction.scan(
        table, index, bounds.low, bounds.high, backward=bounds.backward, limit=-1 if limit is None else limit
    )
    ended = False
    for size, stored in rows:
        page.add(size, stored)
        if page.size > PAGE_BYTES:
            ended = True
            rows.close()
            break
    answer = page.answer()
    if ended or page.scanned == limit:
        answer["LastEvaluatedKey"] = page.last_key()
    wants = request.get("ReturnConsumedCapacity")
    if wants is not None and wants != "NONE":
        consumed = page.consumed(consistent=request.get("ConsistentRead", False))
        answer["ConsumedCapacity"] = capacity.describe(wants, table, consumed)
    return answer


class _Page:
    """The items of a page as they are read."""

    def __init__(self, table: Table, index: Index | None, want: Wanted) -> None:
        self._table = table
        self._index = index
        self._want = want
        self._partial = index is not None and not index.holds_all
        self._fetches = self._partial and self._wants_more_than_projected()
        self._decodes = self._partial or want.filter is not None or want.projection is not None
        self._last: bytes = b""
        self._items: list[object] = []
        self._fetched_units = 0
        self.scanned = 0
        self.count = 0
        self.size = 0

    def _wants_more_than_projected(self) -> bool:
        """A local index gets what it does not hold from the table (a global one has refused by now)."""
        index, want = self._index, self._want
        if index is None or index.is_global:
            return False
        if want.select == "ALL_ATTRIBUTES":
            return True
        names = want.projection.attributes if want.projection else frozenset()
        return bool((names | (want.filter.attributes if want.filter else frozenset())) - index.included)

    def add(self, size: int, stored: bytes) -> None:
        self.scanned += 1
        self._last = stored
        if not self._decodes:
            self.size += size
            self.count += 1
            self._items.append(stored)
            return
        item: Item = orjson.loads(stored)
        if self._index is not None and self._partial:
            projected = self._index.project(item)
            self.size += item_size(projected)
            if self._fetches:
                self._fetched_units += -(-size // capacity.READ_UNIT)
            else:
                item = projected
        else:
            self.size += size
        want = self._want
        if want.filter is not None and not want.filter.matches(item):
            return
        self.count += 1
        if want.projection is not None:
            self._items.append(want.projection.apply(item))
        else:
            self._items.append(stored if not self._partial or self._fetches else item)

    def answer(self) -> Answer:
        answer: Answer = {"Count": self.count, "ScannedCount": self.scanned}
        if self._want.select != "COUNT":
            fragment = orjson.Fragment
            answer["Items"] = [fragment(item) if type(item) is bytes else item for item in self._items]
        return answer

    def last_key(self) -> Item:
        item: Item = orjson.loads(self._last)
        names = self._table.schema.names if self._index is None else self._table.schema.names + self._index.schema.names
        return {name: item[name] for name in names}

    def consumed(self, *, consistent: bool) -> capacity.Consumed:
        units = capacity.read_units(self.size, consistent=consistent)
        if self._index is None:
            return capacity.Consumed(units)
        fetched = float(self._fetched_units) if consistent else self._fetched_units / 2
        return capacity.Consumed(fetched, {self._index.name: units})


def whole(prefix: bytes, *, backward: bool = False) -> Range:
    """The range of all row keys that begin with the prefix."""
    return Range(prefix, after(prefix), backward)


def outside(message: str) -> DynamoError:
    """A starting key that does not belong to what is read."""
    return validation_error("The provided starting key " + message)
