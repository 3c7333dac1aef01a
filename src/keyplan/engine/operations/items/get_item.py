"""GetItem."""

import orjson

from keyplan.engine.executor import Answer
from keyplan.engine.operations.items.consumed_capacity import Consumed, describe_consumed, read_units
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.paged_reads import bound_projection
from keyplan.engine.operations.items.parameters import check_legacy, check_placeholders
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.normal_form import normalize_item
from keyplan.engine.values.row_keys import checked_key

_TABLE_AND_KEY = 2
"""The number of members that every request has; most have no others."""


def get_item(transaction: Transaction, request: ItemRequest) -> Answer:
    more = len(request) > _TABLE_AND_KEY
    if more:
        check_legacy(request)
        check_placeholders(request, with_names=("ProjectionExpression",), with_values=())
    key = normalize_item(request["Key"])
    bound = bound_projection(request) if more else None
    table = transaction.catalog.table(request["TableName"])
    row = transaction.row(table, checked_key(table.schema, key))
    answer: Answer = {}
    if row is not None:
        answer["Item"] = orjson.Fragment(row.stored) if bound is None else bound.apply(row.item)
    if not more:
        return answer
    wanted = request.get("ReturnConsumedCapacity")
    if wanted is not None and wanted != "NONE":
        size = row.size if row else 0
        units = read_units(size, consistent=request.get("ConsistentRead", False))
        consumed = Consumed(units)
        answer["ConsumedCapacity"] = describe_consumed(wanted, table, consumed, name=request["TableName"])
    return answer
