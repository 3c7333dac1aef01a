"""BatchGetItem and BatchWriteItem."""

from collections.abc import Mapping
from typing import cast

import orjson

from keyplan.engine import capacity
from keyplan.engine.catalog import Table
from keyplan.engine.errors import validation_error
from keyplan.engine.expressions import Projection, projection
from keyplan.engine.keys import check_key
from keyplan.engine.operations.changes import Change, Decide, apply, collection_metrics, consumption
from keyplan.engine.operations.delete_item import prepare_delete
from keyplan.engine.operations.parameters import placeholders, refuse_legacy
from keyplan.engine.operations.put_item import prepare_put
from keyplan.engine.operations.requests import (
    Answer,
    BatchGetRequest,
    BatchWriteRequest,
    ItemRequest,
    KeysRequest,
    WriteRequest,
)
from keyplan.engine.transaction import Transaction
from keyplan.engine.values import Item, normalise_item

MAXIMUM_KEYS = 100
MAXIMUM_WRITES = 25
MAXIMUM_BYTES = 16 * 1_048_576


def batch_get_item(transaction: Transaction, request: BatchGetRequest) -> Answer:
    """The items in the order of their keys; what does not fit into 16 MB comes back as unprocessed."""
    wanted = request["RequestItems"]
    prepared = {name: _prepare_keys(keys) for name, keys in wanted.items()}
    if sum(len(keys) for keys, _ in prepared.values()) > MAXIMUM_KEYS:
        raise validation_error("Too many items requested for the BatchGetItem call")
    reads = [
        _TableRead(transaction, transaction.catalog.table(name), name, wanted[name], *prepared[name]) for name in wanted
    ]
    budget = MAXIMUM_BYTES
    for read in reads:
        budget = read.run(transaction, budget)
    answer: Answer = {
        "Responses": {read.name: read.items for read in reads},
        "UnprocessedKeys": {read.name: read.unprocessed for read in reads if read.unprocessed},
    }
    capacities = [
        capacity.describe(request.get("ReturnConsumedCapacity"), read.table, capacity.Consumed(read.units))
        for read in reads
    ]
    if any(capacities):
        answer["ConsumedCapacity"] = capacities
    return answer


def _prepare_keys(request: KeysRequest) -> tuple[list[Item], Projection | None]:
    refuse_legacy(request)
    marks = placeholders(cast(ItemRequest, request), with_names=("ProjectionExpression",), with_values=())
    text = request.get("ProjectionExpression")
    bound = None if text is None else projection(text, marks)
    marks.finish()
    return [normalise_item(key) for key in request["Keys"]], bound


class _TableRead:
    """What a batch reads of one table."""

    def __init__(
        self,
        transaction: Transaction,
        table: Table,
        name: str,
        request: KeysRequest,
        keys: list[Item],
        bound: Projection | None,
    ) -> None:
        self.table = table
        self.name = name
        self.items: list[object] = []
        self.unprocessed: dict[str, object] = {}
        self.units = 0.0
        self._request = request
        self._keys = keys
        self._projection = bound
        for key in keys:
            check_key(table.schema, key)
        self._row_keys = [table.row_key(key) for key in keys]
        _refuse_duplicates(self._row_keys)

    def run(self, transaction: Transaction, budget: int) -> int:
        """Read until the budget is used up; what is left of it."""
        consistent = self._request.get("ConsistentRead", False)
        for position, row_key in enumerate(self._row_keys):
            row = transaction.row(self.table, row_key)
            size = row.size if row else 0
            if size > budget:
                self._leave(position)
                return 0
            budget -= size
            self.units += capacity.read_units(size, consistent=consistent)
            if row is not None:
                bound = self._projection
                self.items.append(orjson.Fragment(row.stored) if bound is None else bound.apply(row.item))
        return budget

    def _leave(self, position: int) -> None:
        """The same request for the keys that are left."""
        self.unprocessed = {**cast(Mapping[str, object], self._request), "Keys": self._keys[position:]}


def _refuse_duplicates(keys: list[bytes]) -> None:
    if len(set(keys)) != len(keys):
        raise validation_error("Provided list of item keys contains duplicates")


def batch_write_item(transaction: Transaction, request: BatchWriteRequest) -> Answer:
    """Writes without conditions; all are decided before the first is applied."""
    wanted = request["RequestItems"]
    prepared = {name: [_prepare_write(name, write) for write in writes] for name, writes in wanted.items()}
    if sum(map(len, prepared.values())) > MAXIMUM_WRITES:
        raise validation_error("Too many items requested for the BatchWriteItem call")
    for name in wanted:
        transaction.catalog.table(name)
    decided = {name: [decide(transaction) for decide in writes] for name, writes in prepared.items()}
    for changes in decided.values():
        _refuse_duplicates([change.key for change in changes])
    for changes in decided.values():
        for change in changes:
            apply(transaction, change)
    answer: Answer = {"UnprocessedItems": {}}
    _add_metrics(answer, request, decided)
    return answer


def _prepare_write(table: str, write: WriteRequest) -> Decide:
    if len(write) != 1:
        raise validation_error(
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes"
            if write
            else "Supplied WriteRequest is empty, must contain exactly one of the supported requests"
        )
    if "PutRequest" in write:
        return prepare_put({"TableName": table, "Item": write["PutRequest"]["Item"]})
    return prepare_delete({"TableName": table, "Key": write["DeleteRequest"]["Key"]})


def _add_metrics(answer: Answer, request: BatchWriteRequest, decided: dict[str, list[Change]]) -> None:
    wanted = request.get("ReturnConsumedCapacity")
    if wanted is not None and wanted != "NONE":
        capacities = []
        for changes in decided.values():
            consumed = capacity.Consumed()
            for change in changes:
                consumed.add(consumption(change))
            capacities.append(capacity.describe(wanted, changes[0].table, consumed))
        answer["ConsumedCapacity"] = capacities
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        answer["ItemCollectionMetrics"] = {
            name: [collection_metrics(change) for change in changes]
            for name, changes in decided.items()
            if changes[0].table.has_local_indexes
        }
