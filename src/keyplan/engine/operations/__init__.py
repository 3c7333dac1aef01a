"""DynamoDB's operations, one function each, by AWS's names: on `items`, `tables`, `backups`, `exports`,
`imports` and `stream_records`.

An operation is a function of a storage transaction and a request that was checked against the service model. It
returns the answer or raises a `DynamoError`. It knows storage, expressions and values; it doesn't know who calls it or
what else runs in its transaction. An operation on items raises before it writes anything, so that several can share a
transaction.

`OPERATIONS` is the table of all operations; the main type is `Operation`. `jobs` is work that is larger than one
request; `client_tokens` and `listed_arns` are what exports, imports and bulk operations share; `differences` says where
an answer isn't AWS's.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias, cast

from keyplan.engine.executor import Answer, Request
from keyplan.engine.operations import stream_records
from keyplan.engine.operations.backups import continuous_backups, on_demand, restores
from keyplan.engine.operations.exports import export_requests
from keyplan.engine.operations.imports import bulk_put_items, import_table
from keyplan.engine.operations.items.batch_execute_statement import batch_execute_statement
from keyplan.engine.operations.items.batch_items import batch_get_item, batch_write_item
from keyplan.engine.operations.items.delete_item import delete_item
from keyplan.engine.operations.items.execute_statement import execute_statement
from keyplan.engine.operations.items.execute_transaction import execute_transaction
from keyplan.engine.operations.items.get_item import get_item
from keyplan.engine.operations.items.put_item import put_item
from keyplan.engine.operations.items.query import query
from keyplan.engine.operations.items.scan import scan
from keyplan.engine.operations.items.search_vectors import search_vectors
from keyplan.engine.operations.items.statement_reads import only_selects
from keyplan.engine.operations.items.transact_items import transact_get_items, transact_write_items
from keyplan.engine.operations.items.update_item import update_item
from keyplan.engine.operations.tables import (
    account,
    contributor_insights,
    describe_table,
    global_table_settings,
    global_tables,
    kinesis_destinations,
    replica_auto_scaling,
    resource_policies,
    tags,
    time_to_live,
)
from keyplan.engine.operations.tables.create_table import create_table
from keyplan.engine.operations.tables.delete_table import delete_table
from keyplan.engine.operations.tables.update_table import update_table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.vectors.memory import VectorMemory
from keyplan.engine.vectors.source import Reads

Run: TypeAlias = Callable[[Transaction, Request], Answer]


class Searching(Protocol):
    """An operation that reads several times, in transactions of its own, and computes for long in between."""

    def __call__(self, reads: Reads, memory: VectorMemory, request: Request, /) -> Answer: ...


class Operation(NamedTuple):
    """How an operation is run. `alone`: in its own transaction, because it may fail after it has written."""

    run: Run
    writes: bool
    alone: bool
    only_reads: Callable[[Request], bool] | None = None
    """Tells which requests of a writing operation only read; these don't wait for the writers of other processes."""
    starts_work: bool = False
    """Whether it may leave work to maintenance."""
    takes_long: Callable[[Request], bool] | None = None
    """Tells which requests take so long that nobody should wait for them. Pages need no such rule: they can pause."""
    search: Searching | None = None
    """Runs the operation instead of `run`, if it isn't run in one transaction."""
    needs_store: bool = False
    """Whether it needs something that stands for S3."""

    def writes_for(self, request: Request) -> bool:
        """Return whether the operation needs a transaction that writes, for this request."""
        return self.writes and (self.only_reads is None or not self.only_reads(request))


FEW_ACTIONS = 25
"""A transaction of more actions takes long: it writes as much as several batches."""


def _always(request: Request) -> bool:
    return True


def _has_many_actions(request: Request) -> bool:
    actions = request.get("TransactItems") or request.get("TransactStatements")
    return len(cast(list[object], actions or ())) > FEW_ACTIONS


def _reads(run: object, takes_long: Callable[[Request], bool] | None = None) -> Operation:
    return Operation(cast(Run, run), writes=False, alone=False, takes_long=takes_long)


def _writes(
    run: object,
    only_reads: Callable[[Request], bool] | None = None,
    takes_long: Callable[[Request], bool] | None = None,
) -> Operation:
    return Operation(cast(Run, run), writes=True, alone=False, only_reads=only_reads, takes_long=takes_long)


def _changes_tables(run: object, *, starts_work: bool = False) -> Operation:
    return Operation(cast(Run, run), writes=True, alone=True, starts_work=starts_work, takes_long=_always)


def _searches(search: object) -> Operation:
    return Operation(_unused, writes=False, alone=True, takes_long=_always, search=cast(Searching, search))


def _unused(transaction: Transaction, request: Request) -> Answer:
    raise AssertionError("the operation isn't run in one transaction")


def _uses_store(run: object) -> Operation:
    return Operation(cast(Run, run), writes=True, alone=True, starts_work=True, takes_long=_always, needs_store=True)


OPERATIONS: dict[str, Operation] = {
    "BatchExecuteStatement": _writes(batch_execute_statement, only_reads=only_selects),
    "BatchGetItem": _reads(batch_get_item),
    "BatchWriteItem": _writes(batch_write_item),
    "CancelBulkOperation": _changes_tables(bulk_put_items.cancel_bulk_operation, starts_work=True),
    "CreateBackup": _changes_tables(on_demand.create_backup, starts_work=True),
    "CreateGlobalTable": _changes_tables(global_tables.create_global_table),
    "CreateTable": _changes_tables(create_table),
    "DeleteBackup": _changes_tables(on_demand.delete_backup, starts_work=True),
    "DeleteItem": _writes(delete_item),
    "DeleteResourcePolicy": _changes_tables(resource_policies.delete_resource_policy),
    "DeleteTable": _changes_tables(delete_table, starts_work=True),
    "DescribeBackup": _reads(on_demand.describe_backup),
    "DescribeBulkOperation": _reads(bulk_put_items.describe_bulk_operation),
    "DescribeContinuousBackups": _reads(continuous_backups.describe_continuous_backups),
    "DescribeContributorInsights": _reads(contributor_insights.describe_contributor_insights),
    "DescribeEndpoints": _reads(account.describe_endpoints),
    "DescribeExport": _reads(export_requests.describe_export),
    "DescribeGlobalTable": _reads(global_tables.describe_global_table),
    "DescribeGlobalTableSettings": _reads(global_table_settings.describe_global_table_settings),
    "DescribeImport": _reads(import_table.describe_import),
    "DescribeKinesisStreamingDestination": _reads(kinesis_destinations.describe_kinesis_streaming_destination),
    "DescribeLimits": _reads(account.describe_limits),
    "DescribeStream": _reads(stream_records.describe_stream),
    "DescribeTable": _reads(describe_table.describe_table, takes_long=_always),
    "DescribeTableReplicaAutoScaling": _reads(replica_auto_scaling.describe_table_replica_auto_scaling),
    "DescribeTimeToLive": _reads(time_to_live.describe_time_to_live),
    "DisableKinesisStreamingDestination": _changes_tables(kinesis_destinations.disable_kinesis_streaming_destination),
    "EnableKinesisStreamingDestination": _changes_tables(kinesis_destinations.enable_kinesis_streaming_destination),
    "ExecuteStatement": _writes(execute_statement, only_reads=only_selects),
    "ExecuteTransaction": _writes(execute_transaction, only_reads=only_selects, takes_long=_has_many_actions),
    "ExportTableToPointInTime": _uses_store(export_requests.export_table_to_point_in_time),
    "GetItem": _reads(get_item),
    "GetRecords": _reads(stream_records.get_records),
    "GetResourcePolicy": _reads(resource_policies.get_resource_policy),
    "GetShardIterator": _reads(stream_records.get_shard_iterator),
    "ImportTable": _uses_store(import_table.import_table),
    "ListBackups": _reads(on_demand.list_backups),
    "ListBulkOperations": _reads(bulk_put_items.list_bulk_operations),
    "ListContributorInsights": _reads(contributor_insights.list_contributor_insights),
    "ListExports": _reads(export_requests.list_exports),
    "ListGlobalTables": _reads(global_tables.list_global_tables),
    "ListImports": _reads(import_table.list_imports),
    "ListStreams": _reads(stream_records.list_streams),
    "ListTables": _reads(describe_table.list_tables),
    "ListTagsOfResource": _reads(tags.list_tags_of_resource),
    "PutItem": _writes(put_item),
    "PutResourcePolicy": _changes_tables(resource_policies.put_resource_policy),
    "Query": _reads(query),
    "RestoreTableFromBackup": _changes_tables(restores.restore_table_from_backup, starts_work=True),
    "RestoreTableToPointInTime": _changes_tables(restores.restore_table_to_point_in_time, starts_work=True),
    "Scan": _reads(scan),
    "SearchVectors": _searches(search_vectors),
    "StartBulkPutItems": _uses_store(bulk_put_items.start_bulk_put_items),
    "TagResource": _changes_tables(tags.tag_resource),
    "TransactGetItems": _reads(transact_get_items),
    "TransactWriteItems": _writes(transact_write_items, takes_long=_has_many_actions),
    "UntagResource": _changes_tables(tags.untag_resource),
    "UpdateContinuousBackups": _changes_tables(continuous_backups.update_continuous_backups, starts_work=True),
    "UpdateContributorInsights": _changes_tables(contributor_insights.update_contributor_insights),
    "UpdateGlobalTable": _changes_tables(global_tables.update_global_table),
    "UpdateGlobalTableSettings": _changes_tables(global_table_settings.update_global_table_settings),
    "UpdateItem": _writes(update_item),
    "UpdateKinesisStreamingDestination": _changes_tables(kinesis_destinations.update_kinesis_streaming_destination),
    "UpdateTable": _changes_tables(update_table, starts_work=True),
    "UpdateTableReplicaAutoScaling": _changes_tables(replica_auto_scaling.update_table_replica_auto_scaling),
    "UpdateTimeToLive": _changes_tables(time_to_live.update_time_to_live),
}
