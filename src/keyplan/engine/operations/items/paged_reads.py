"""The pages of Query and Scan: reading one from a table or index, and making the answer.

A page ends at the end of the range, after `Limit` items, or with the item that exceeds 1 MB. Items are counted and
measured before filter and projection, as they are charged.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Protocol, cast

import apsw
import orjson

from keyplan.engine.errors import DynamoError, invalid_parameter, not_found, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import Condition, Placeholders, Projection, condition, projection
from keyplan.engine.operations.items.consumed_capacity import READ_UNIT, Consumed, describe_consumed, read_units
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.key_ranges import Range
from keyplan.engine.operations.items.legacy_parameters import LegacyRead, legacy_projection
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.transaction import ITEM_END, Paused, Transaction, incomplete_item
from keyplan.engine.values.attribute_values import Item, item_size
from keyplan.engine.values.normal_form import normalize_item
from keyplan.engine.values.row_keys import check_key_values, key_mismatch

PAGE_BYTES = 1_048_576
_LOOK_EVERY = 32
"""Items that are decoded before the next look at the clock."""
_LOOK_BYTES = 16_384
"""What is read of other items before the next look: some hundred microseconds, even if they are tiny."""


class ItemProjection(Protocol):
    """The parts of an item that a request returns: a `Projection`, or the columns of a SELECT."""

    @property
    def attributes(self) -> frozenset[str]:
        """The top-level attributes that they are in."""
        ...

    def apply(self, item: Item) -> Item: ...


@dataclass(slots=True)
class Selection:
    """Which items a Query or Scan returns, and which of their attributes."""

    select: str
    filter: Condition | None
    projection: ItemProjection | None


def read_selection(request: ItemRequest, placeholders: Placeholders, select: str, legacy: LegacyRead) -> Selection:
    """Return filter and projection of a request, after all checks that don't need the table."""
    bound_filter, bound_projection = legacy
    text = request.get("FilterExpression")
    if text is not None:
        bound_filter = condition("FilterExpression", text, placeholders)
    text = request.get("ProjectionExpression")
    if text is not None:
        bound_projection = projection(text, placeholders)
    return Selection(select, bound_filter, bound_projection)


def bound_projection(request: ItemRequest) -> Projection | None:
    """Return the projection of a request whose operation has no other expression."""
    text = request.get("ProjectionExpression")
    if text is None:
        return legacy_projection(request)
    placeholders = Placeholders(request.get("ExpressionAttributeNames"), None)
    bound = projection(text, placeholders)
    placeholders.finish()
    return bound


_NOT_WITH_PROJECTION = {"ALL_ATTRIBUTES": "ALL_ATTRIBUTES", "COUNT": "only the Count"}


def check_select(request: ItemRequest) -> str:
    """Return the Select of a request, given or implied."""
    select = request.get("Select")
    if select is None and "ProjectionExpression" not in request and "AttributesToGet" not in request:
        return "ALL_PROJECTED_ATTRIBUTES" if "IndexName" in request else "ALL_ATTRIBUTES"
    projected = "ProjectionExpression"
    if projected not in request:
        projected = "AttributesToGet" if "AttributesToGet" in request else ""
    if select is None:
        return "SPECIFIC_ATTRIBUTES"
    if projected and select != "SPECIFIC_ATTRIBUTES":
        raise validation_error(
            f"Cannot specify the {projected} when choosing to get {_NOT_WITH_PROJECTION.get(select, select)}"
        )
    if select == "SPECIFIC_ATTRIBUTES" and not projected:
        raise validation_error(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if select == "ALL_PROJECTED_ATTRIBUTES" and "IndexName" not in request:
        raise validation_error("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
    return select


def table_and_index(
    transaction: Transaction, request: ItemRequest, selection: Selection, operation: str
) -> tuple[Table, Index | None]:
    """Return the table and index to read from; refuse an index that doesn't hold the selected attributes."""
    table = transaction.catalog.table(request["TableName"])
    name = request.get("IndexName")
    if name is None:
        return table, None
    index = table.index(name, operation)
    if not index.is_global:
        return table, index
    if request.get("ConsistentRead"):
        raise validation_error("Consistent reads are not supported on global secondary indexes")
    if index.holds_all:
        return table, index
    if selection.select == "ALL_ATTRIBUTES":
        raise invalid_parameter(
            f"Select type ALL_ATTRIBUTES is not supported for global secondary index {name} "
            "because its projection type is not ALL"
        )
    if selection.projection is not None:
        absent = sorted(selection.projection.attributes - index.included)
        if absent:
            raise invalid_parameter(f"Global secondary index {name} does not project [{', '.join(absent)}]")
    return table, index


def check_projected_filter(index: Index | None, given: Condition) -> None:
    """Refuse a Query's filter on attributes that the index doesn't hold."""
    if index is not None and not index.holds_all:
        absent = sorted(given.attributes - index.included)
        if absent:
            raise invalid_parameter(
                f"Secondary index {index.name} does not project one or more filter attributes: [{', '.join(absent)}]"
            )


def given_start_key(request: ItemRequest) -> Item | None:
    """Return the ExclusiveStartKey, after all checks that don't need the table."""
    given = request.get("ExclusiveStartKey")
    if given is None:
        return None
    try:
        return normalize_item(given)
    except DynamoError as error:
        raise _invalid_start(error) from None


def start_row_key(key: Item, table: Table, index: Index | None, *, explain: bool) -> bytes:
    """Return the row key of an ExclusiveStartKey, which must have the attributes of a LastEvaluatedKey.

    With `explain`, the error says what is wrong with the key: AWS does so only for the Scan of a table.
    """
    schemas = [table.schema] if index is None else [table.schema, index.schema]
    attributes = dict(attribute for schema in schemas for attribute in schema.attributes)
    if len(key) != len(attributes) or any(
        name not in key or kind not in key[name] for name, kind in attributes.items()
    ):
        raise _invalid_start(key_mismatch() if explain else None)
    try:
        for schema in schemas:
            check_key_values(schema, key)
    except DynamoError as error:
        raise _invalid_start(error) from None
    row_key = table.row_key(key)
    return row_key if index is None else index.schema.row_key(key) + row_key


def _invalid_start(reason: DynamoError | None) -> DynamoError:
    return start_key_error("is invalid" if reason is None else f"is invalid: {reason.message}")


def read_page(
    transaction: Transaction,
    request: ItemRequest,
    table: Table,
    index: Index | None,
    bounds: Range,
    selection: Selection,
) -> Answer:
    """Read a page and return the answer."""
    return _read_on(transaction, request, Page(table, index, selection), bounds)


def _read_on(transaction: Transaction, request: ItemRequest, page: "Page", bounds: Range) -> Answer:
    """Read a page from where it is, which may pause again."""
    try:
        stopped = page.read(transaction, bounds, request.get("Limit"))
    except Interrupted:
        raise Paused(lambda later: _read_on(later, request, page, bounds)) from None
    table = page.table
    answer = page.answer()
    if stopped:
        answer["LastEvaluatedKey"] = page.last_key()
    wants = request.get("ReturnConsumedCapacity")
    if wants is not None and wants != "NONE":
        consumed = page.consumed(consistent=request.get("ConsistentRead", False))
        answer["ConsumedCapacity"] = describe_consumed(wants, table, consumed, name=request["TableName"])
    return answer


class Interrupted(Exception):
    """A page has been read for as long as the transaction allows; `Page.read` can go on later, in another one."""


class Page:
    """Collects the items of a page, from one range of row keys or several."""

    # What most pages start with: setting it for each of them would take time.
    _partial = False
    """Whether the index holds only a part of each item."""
    _fetches = False
    """Whether the rest of each item is fetched from the table."""
    _decodes = False
    """Whether items have to be decoded, and aren't returned as they are stored."""
    _last = b""
    _index_bytes = 0
    _fetched_units = 0
    _bytes = 0
    _paused = False
    scanned = 0
    count = 0

    def __init__(self, table: Table, index: Index | None, selection: Selection) -> None:
        self.table = table
        self._index = index
        self._selection = selection
        self._items: list[object] = []
        self._ends: list[int] = []
        if index is not None and not index.holds_all:
            self._partial = self._decodes = True
            self._fetches = self._wants_more_than_projected()
        elif selection.filter is not None or selection.projection is not None:
            self._decodes = True

    def _wants_more_than_projected(self) -> bool:
        """Whether a local index has to fetch attributes from the table; a global index refuses such a request."""
        index, selection = self._index, self._selection
        if index is None or index.is_global:
            return False
        if selection.select == "ALL_ATTRIBUTES":
            return True
        names = selection.projection.attributes if selection.projection else frozenset()
        return bool((names | (selection.filter.attributes if selection.filter else frozenset())) - index.included)

    def read(self, transaction: Transaction, bounds: Range, limit: int | None) -> bool:
        """Read a range to its end, or until the page has so many items or 1 MB; return whether it has.

        Raises `Interrupted` when others should have their turn; `bounds` are then what is left of the range.
        """
        left = -1 if limit is None else limit - self.scanned
        if self._paused:
            self._check_still_there(transaction)
        full = self._read(transaction, bounds, left)
        self._ends.append(self._index_bytes if self._partial else self._bytes)
        return full or self.scanned == limit

    def _check_still_there(self, transaction: Transaction) -> None:
        """Refuse to read on in a table or index that was deleted during a pause."""
        table = transaction.catalog.table(self.table.name)
        if table.number != self.table.number:
            raise not_found("Requested resource not found")
        if self._index is not None and table.index(self._index.name).rows != self._index.rows:
            raise not_found("Requested resource not found")

    def _read(self, transaction: Transaction, bounds: Range, limit: int) -> bool:
        """Read rows until there are no more or the page is full; return whether it is full."""
        until = perf_counter() + transaction.pause_after
        rows = transaction.scan(self.table, self._index, bounds.low, bounds.high, backward=bounds.backward, limit=limit)
        if not self._decodes:
            stopped = self._copy(rows, until)
        elif self._partial:
            stopped = self._take_entries(rows, until)
        else:
            stopped = self._take(rows, until)
        if not stopped:
            return False
        rows.close()
        if self._bytes > PAGE_BYTES:
            return True
        self._paused = True
        bounds.start_after(self.last_row_key())
        raise Interrupted

    def _take(self, rows: apsw.Cursor, until: float) -> bool:
        """Add items that have to be decoded; return whether it stopped because the page is full or the time is over."""
        matches = self._selection.filter.matches if self._selection.filter else None
        project = self._selection.projection.apply if self._selection.projection else None
        items, scanned, read = self._items, self.scanned, self._bytes
        known = len(items)
        stopped, stored = False, self._last
        for size, stored in rows:
            if stored is None or stored[-1] != ITEM_END:
                raise incomplete_item()
            scanned += 1
            read += size
            item: Item = orjson.loads(stored)
            if matches is None or matches(item):
                items.append(stored if project is None else project(item))
            if read > PAGE_BYTES or (scanned % _LOOK_EVERY == 0 and perf_counter() > until):
                stopped = True
                break
        self._last, self._bytes, self.scanned = stored, read, scanned
        self.count += len(items) - known
        return stopped

    def _take_entries(self, rows: apsw.Cursor, until: float) -> bool:
        """The same for an index that holds only a part of each item."""
        for size, stored in rows:
            if stored is None or stored[-1] != ITEM_END:
                raise incomplete_item()
            self._add(size, stored)
            if self._bytes > PAGE_BYTES or (self.scanned % _LOOK_EVERY == 0 and perf_counter() > until):
                return True
        return False

    def _copy(self, rows: apsw.Cursor, until: float) -> bool:
        """The same for items that are returned exactly as they are stored."""
        items = self._items
        read = self._bytes
        look = min(PAGE_BYTES, read + _LOOK_BYTES)
        stopped = False
        for size, stored in rows:
            if stored is None or stored[-1] != ITEM_END:
                raise incomplete_item()
            items.append(stored)
            read += size
            if read > look:
                if read > PAGE_BYTES or perf_counter() > until:
                    stopped = True
                    break
                look = min(PAGE_BYTES, read + _LOOK_BYTES)
        if items:
            self._last = cast(bytes, items[-1])
        self._bytes = read
        self.scanned = self.count = len(items)
        return stopped

    def _add(self, size: int, stored: bytes) -> None:
        index, selection = self._index, self._selection
        assert index is not None
        self.scanned += 1
        self._last = stored
        item: Item = orjson.loads(stored)
        entry = index.project(item)
        self._count_entry(item_size(entry), size)
        seen = item if self._fetches else entry
        if selection.filter is not None and not selection.filter.matches(seen):
            return
        self.count += 1
        if selection.projection is not None:
            self._items.append(selection.projection.apply(seen))
        else:
            self._items.append(stored if selection.select == "ALL_ATTRIBUTES" else entry)

    def _count_entry(self, entry_size: int, size: int) -> None:
        """Count an index entry and, if the rest is fetched from the table, the whole item."""
        self._index_bytes += entry_size
        if self._fetches:
            self._bytes += size
            self._fetched_units += -(-size // READ_UNIT)
        else:
            self._bytes += entry_size

    def answer(self) -> Answer:
        answer: Answer = {"Count": self.count, "ScannedCount": self.scanned}
        if self._selection.select != "COUNT":
            answer["Items"] = self.items()
        return answer

    def items(self) -> orjson.Fragment:
        """Return the items as one piece of JSON, joined from their stored JSON where possible."""
        parts = cast(list[bytes], self._items)
        if self._decodes:
            parts = [item if type(item) is bytes else orjson.dumps(item) for item in self._items]
        return orjson.Fragment(b"[%b]" % b",".join(parts))

    def last_row_key(self) -> bytes:
        """Return the row key of the last item that was read, in the table or index."""
        item: Item = orjson.loads(self._last)
        row_key = self.table.row_key(item)
        return row_key if self._index is None else self._index.schema.row_key(item) + row_key

    def last_key(self) -> Item:
        item: Item = orjson.loads(self._last)
        key = {name: item[name] for name in self.table.schema.names}
        if self._index is not None:
            key.update({name: item[name] for name in self._index.schema.names})
        return key

    def consumed(self, *, consistent: bool) -> Consumed:
        # Each range is charged by itself; `_ends` has what was read up to the end of each.
        sizes = [end - start for start, end in zip([0, *self._ends], self._ends, strict=False)]
        units = sum(read_units(size, consistent=consistent) for size in sizes)
        if self._index is None:
            return Consumed(units)
        fetched = float(self._fetched_units) if consistent else self._fetched_units / 2
        return Consumed(fetched, {self._index.name: units})


def start_key_error(message: str) -> DynamoError:
    """AWS's error for an ExclusiveStartKey that doesn't fit the request."""
    return validation_error("The provided starting key " + message)
