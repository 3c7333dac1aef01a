"""DynamoDB's operations, one function each, by AWS's names.

An operation is a function of a storage transaction and a request (decoded JSON whose shape the service model has
checked) that returns the answer or raises a `DynamoError`. It knows the catalog, the transaction, expressions and
values; it does not know who calls it, over what wire, or what else shares its transaction. `OPERATIONS` is the table
of all of them. An operation on items raises before it writes anything, so that several can share a transaction.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, cast

from keyplan.engine.operations import settings, stream_records, tables
from keyplan.engine.operations.batches import batch_get_item, batch_write_item
from keyplan.engine.operations.delete_item import delete_item
from keyplan.engine.operations.get_item import get_item
from keyplan.engine.operations.put_item import put_item
from keyplan.engine.operations.query import query
from keyplan.engine.operations.requests import Answer
from keyplan.engine.operations.scan import scan
from keyplan.engine.operations.transactions import transact_get_items, transact_write_items
from keyplan.engine.operations.update_item import update_item
from keyplan.engine.operations.update_table import update_table
from keyplan.engine.transaction import Transaction

Request: TypeAlias = dict[str, object]
Run: TypeAlias = Callable[[Transaction, Request], Answer]


class Operation(NamedTuple):
    """How an operation is run. `alone`: in a transaction of its own, since it may fail half-way."""

    run: Run
    writes: bool
    alone: bool


def _reads(run: object) -> Operation:
    return Operation(cast(Run, run), writes=False, alone=False)


def _writes(run: object) -> Operation:
    return Operation(cast(Run, run), writes=True, alone=False)


def _changes_tables(run: object) -> Operation:
    return Operation(cast(Run, run), writes=True, alone=True)


OPERATIONS: dict[str, Operation] = {
    "BatchGetItem": _reads(batch_get_item),
    "BatchWriteItem": _writes(batch_write_item),
    "CreateTable": _changes_tables(tables.create_table),
    "DeleteItem": _writes(delete_item),
    "DeleteTable": _changes_tables(tables.delete_table),
    "DescribeContinuousBackups": _reads(settings.describe_continuous_backups),
    "DescribeEndpoints": _reads(settings.describe_endpoints),
    "DescribeLimits": _reads(settings.describe_limits),
    "DescribeStream": _reads(stream_records.describe_stream),
    "DescribeTable": _reads(tables.describe_table),
    "DescribeTimeToLive": _reads(settings.describe_time_to_live),
    "GetItem": _reads(get_item),
    "GetRecords": _reads(stream_records.get_records),
    "GetShardIterator": _reads(stream_records.get_shard_iterator),
    "ListStreams": _reads(stream_records.list_streams),
    "ListTables": _reads(tables.list_tables),
    "ListTagsOfResource": _reads(settings.list_tags_of_resource),
    "PutItem": _writes(put_item),
    "Query": _reads(query),
    "Scan": _reads(scan),
    "TagResource": _changes_tables(settings.tag_resource),
    "TransactGetItems": _reads(transact_get_items),
    "TransactWriteItems": _writes(transact_write_items),
    "UntagResource": _changes_tables(settings.untag_resource),
    "UpdateItem": _writes(update_item),
    "UpdateTable": _changes_tables(update_table),
    "UpdateTimeToLive": _changes_tables(settings.update_time_to_live),
}
