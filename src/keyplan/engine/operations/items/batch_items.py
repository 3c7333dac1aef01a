"""BatchGetItem and BatchWriteItem."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, cast

import orjson

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import Projection
from keyplan.engine.operations.items.consumed_capacity import Consumed, describe_consumed, read_units
from keyplan.engine.operations.items.item_changes import (
    Change,
    apply_all,
    consumption,
    index_keys,
    size_with_local_indexes,
    vector_entries,
)
from keyplan.engine.operations.items.item_requests import (
    BatchGetRequest,
    BatchWriteRequest,
    ItemRequest,
    KeysRequest,
    WriteRequest,
)
from keyplan.engine.operations.items.legacy_parameters import legacy_projection
from keyplan.engine.operations.items.paged_reads import bound_projection
from keyplan.engine.operations.items.parameters import check_legacy, check_placeholders
from keyplan.engine.operations.items.transact_items import all_collection_metrics
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item, check_item_size
from keyplan.engine.values.normal_form import normalize_item, normalize_sized
from keyplan.engine.values.row_keys import checked_item_key, checked_key, key_mismatch

MAXIMUM_KEYS = 100
MAXIMUM_WRITES = 25
MAXIMUM_BYTES = 16 * 1_048_576
_READ_TOGETHER = 25
"""Items that are read with one query; at most 10 MB."""

_PreparedWrite: TypeAlias = tuple[Item, int | None]
"""A write that was checked without the table: an item and its size, or a key to delete and None."""

_KEYS_MEMBERS = ("AttributesToGet", "ProjectionExpression", "ExpressionAttributeNames", "ConsistentRead")


def batch_get_item(transaction: Transaction, request: BatchGetRequest) -> Answer:
    """Return the items in the order of their keys; keys beyond 16 MB are returned as unprocessed."""
    wanted = request["RequestItems"]
    if sum(len(keys["Keys"]) for keys in wanted.values()) > MAXIMUM_KEYS:
        raise _too_many("BatchGetItem")
    if len(wanted) > 1:  # legacy parameters for one table don't go with expressions for another
        check_legacy({member: None for keys in wanted.values() for member in keys})
    try:
        prepared = {name: _prepare_keys(keys) for name, keys in wanted.items()}
        reads = [
            _TableRead(transaction.catalog.table(name), name, wanted[name], *read) for name, read in prepared.items()
        ]
    except DynamoError:
        for keys in wanted.values():
            _prepare_keys(keys, compare=True)
        raise
    _refuse_duplicates((read.table.number, key) for read in reads for key in read.row_keys)
    budget = MAXIMUM_BYTES
    for read in reads:
        budget = read.run(transaction, budget)
    answer: Answer = {
        "Responses": {read.name: read.items for read in reads},
        "UnprocessedKeys": {read.name: read.unprocessed for read in reads if read.unprocessed},
    }
    kind = request.get("ReturnConsumedCapacity", "NONE")
    if kind != "NONE":
        answer["ConsumedCapacity"] = [
            describe_consumed(kind, read.table, Consumed(read.units), name=read.name) for read in reads
        ]
    return answer


def _prepare_keys(request: KeysRequest, *, compare: bool = False) -> tuple[list[Item], Projection | None]:
    """Return the keys and the projection for one table, after all checks that don't need the table.

    With `compare`, also refuse identical keys here. Where nothing else is wrong, this takes less time afterwards.
    """
    legacy = check_legacy(request)
    alike = cast(ItemRequest, request)
    check_placeholders(alike, with_names=("ProjectionExpression",), with_values=())
    bound = legacy_projection(request) if legacy else None
    keys: list[Item] = [normalize_item(key) for key in request["Keys"]]
    if compare:  # identical keys are refused even if they aren't keys of the table
        _refuse_duplicates(orjson.dumps(key, option=orjson.OPT_SORT_KEYS) for key in keys)
    return keys, bound or bound_projection(alike)


class _TableRead:
    """The reads of a batch from one table."""

    def __init__(
        self, table: Table, name: str, request: KeysRequest, keys: list[Item], bound: Projection | None
    ) -> None:
        self.table = table
        self.name = name
        self.items: list[object] = []
        self.unprocessed: dict[str, object] = {}
        self._sizes: list[int] = []
        self._request = request
        self._keys = keys
        self._projection = bound
        self.row_keys = [checked_key(table.schema, key) for key in keys]

    def run(self, transaction: Transaction, budget: int) -> int:
        """Read until the budget of bytes is used up; return what is left of it."""
        bound, items, sizes = self._projection, self.items, self._sizes
        for start in range(0, len(self.row_keys), _READ_TOGETHER):
            keys = self.row_keys[start : start + _READ_TOGETHER]
            rows = transaction.rows(self.table, keys)
            for row_key in keys:
                row = rows.get(row_key)
                if row is None:
                    sizes.append(0)
                    continue
                size = row.size
                if size > budget:
                    self._leave_unprocessed(len(sizes))
                    return 0
                budget -= size
                sizes.append(size)
                items.append(orjson.Fragment(row.stored) if bound is None else bound.apply(row.item))
        return budget

    @property
    def units(self) -> float:
        """The capacity that was consumed: each item is charged by itself, and so is a key without an item."""
        consistent = self._request.get("ConsistentRead", False)
        return sum(read_units(size, consistent=consistent) for size in self._sizes)

    def _leave_unprocessed(self, position: int) -> None:
        """Return the keys from this position on as unprocessed, in a request of the same form."""
        given = cast(Mapping[str, object], self._request)
        self.unprocessed = {
            "Keys": self._keys[position:],
            **{member: given[member] for member in _KEYS_MEMBERS if member in given},
        }


def _refuse_duplicates(items: Iterable[object]) -> None:
    """Refuse a batch that names an item twice; a table may be given by name and by ARN."""
    given = list(items)
    if len(set(given)) != len(given):
        raise validation_error("Provided list of item keys contains duplicates")


def batch_write_item(transaction: Transaction, request: BatchWriteRequest) -> Answer:
    """Write items without conditions; all writes are decided before the first one is applied."""
    wanted = request["RequestItems"]
    if sum(map(len, wanted.values())) > MAXIMUM_WRITES:
        raise _too_many("BatchWriteItem")
    prepared = {name: [_prepare_write(write) for write in writes] for name, writes in wanted.items()}
    keyed = {name: _put_keys(transaction.catalog.table(name), writes) for name, writes in prepared.items()}
    decided = {
        name: _decide_writes(transaction.catalog.table(name), writes, keyed[name]) for name, writes in prepared.items()
    }
    _refuse_duplicates((change.table.number, change.key) for changes in decided.values() for change in changes)
    for name, changes in decided.items():
        apply_all(transaction, transaction.catalog.table(name), changes)
    answer: Answer = {"UnprocessedItems": {}}
    _add_metrics(answer, request, decided)
    return answer


def _prepare_write(write: WriteRequest) -> _PreparedWrite:
    put, delete = write.get("PutRequest"), write.get("DeleteRequest")
    if put is not None and delete is None:
        sized = normalize_sized(put["Item"])
        check_item_size(sized[1])
        return sized
    if delete is not None and put is None:
        return normalize_item(delete["Key"]), None
    # For a request that isn't exactly one of the two, the service uses its message about attribute values.
    raise validation_error(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
    )


def _put_keys(table: Table, writes: list[_PreparedWrite]) -> list[bytes | None]:
    """The row keys of the puts, and None where one has to be looked at more closely.

    In a batch, a put without the table's key gets the same error as a delete, unlike in PutItem.
    """
    schema = table.schema
    try_row_key = schema.try_row_key
    keys = [None if size is None else try_row_key(named) for named, size in writes]
    if None in keys:
        for (named, size), key in zip(writes, keys, strict=True):
            if key is None and size is not None:
                for name, kind in schema.attributes:
                    if name not in named or kind not in named[name]:
                        raise key_mismatch()
    return keys


def _decide_writes(table: Table, writes: list[_PreparedWrite], known: list[bytes | None]) -> list[Change]:
    """The changes that the writes of one table make."""
    changes = []
    indexed, with_vectors, with_local = bool(table.indexes), bool(table.vector_indexes), table.has_local_indexes
    for (named, size), key in zip(writes, known, strict=True):
        if size is None:
            changes.append(Change(table, named, checked_key(table.schema, named), None, None, None, 0))
            continue
        key = key or checked_item_key(table.schema, named)
        keys = index_keys(table, named) if indexed else []
        entries = vector_entries(table, named) if with_vectors else None
        if with_local:
            check_item_size(size_with_local_indexes(table, named, size))
        changes.append(Change(table, named, key, None, None, named, size, keys, entries))
    return changes


def _too_many(operation: str) -> DynamoError:
    return validation_error(f"Too many items requested for the {operation} call")


def _add_metrics(answer: Answer, request: BatchWriteRequest, decided: dict[str, list[Change]]) -> None:
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted != "NONE":
        capacities = []
        for name, changes in decided.items():
            consumed = Consumed()
            for change in changes:
                consumed.add(consumption(change))
            capacities.append(describe_consumed(wanted, changes[0].table, consumed, name=name))
        answer["ConsumedCapacity"] = capacities
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        answer["ItemCollectionMetrics"] = all_collection_metrics(
            (name, change) for name, changes in decided.items() for change in changes
        )
