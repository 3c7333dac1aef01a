"""DeleteTable."""

from keyplan.engine.errors import validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.backups.on_demand import keep_as_system_backup
from keyplan.engine.operations.jobs import jobs_of
from keyplan.engine.operations.tables.describe_table import TableNamed
from keyplan.engine.operations.tables.global_tables import forget_global_table
from keyplan.engine.operations.tables.replicas import leave_replication
from keyplan.engine.operations.tables.replication import STRONG
from keyplan.engine.operations.tables.resource_policies import delete_policies
from keyplan.engine.storage import stream_log, ttl_index
from keyplan.engine.storage.catalog import Table, in_use
from keyplan.engine.storage.descriptions import TableDescription
from keyplan.engine.storage.disposal import dispose
from keyplan.engine.storage.transaction import Transaction


def delete_table(transaction: Transaction, request: TableNamed) -> Answer:
    table = transaction.catalog.table_to_change(request["TableName"])
    if any(index.status == "CREATING" for index in table.all_indexes):
        raise in_use(f"Attempt to change a resource which is still in use: Table is being updated: {table.name}")
    if jobs_of(transaction, table):
        raise in_use(f"Attempt to change a resource which is still in use: Table is being backed up: {table.name}")
    if table.description.get("DeletionProtectionEnabled"):
        raise validation_error(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    if "replication" in table.definition and table.definition["replication"]["consistency"] == STRONG:
        raise validation_error(
            "A replica of a global table with STRONG consistency can't be deleted. Delete the other replicas, and the "
            "witness if there is one, with UpdateTable first."
        )
    count, size = transaction.measure(table)
    description: TableDescription = {
        **table.description,
        "TableStatus": "DELETING",
        "ItemCount": count,
        "TableSizeBytes": size,
    }
    # AWS doesn't describe the keys and indexes of a table that is being deleted.
    del description["AttributeDefinitions"], description["KeySchema"], description["CreationDateTime"]
    description.pop("LocalSecondaryIndexes", None)
    description.pop("GlobalSecondaryIndexes", None)
    description.pop("VectorIndexes", None)
    if transaction.catalog.separate and "replication" in table.definition:
        leave_replication(transaction, table)
    else:
        _drop(transaction, table)
    return {"TableDescription": description}


def _drop(transaction: Transaction, table: Table) -> None:
    """Drop a table with its history; if it has point-in-time recovery, its items become a backup."""
    kept = table.recovery is not None
    if kept:
        keep_as_system_backup(transaction, table)
    if table.history is not None:
        dispose(transaction, table.history)
    stream_log.disable(transaction, table)
    delete_policies(transaction, table)
    forget_global_table(transaction, table)
    if kept and table.definition["ttl"] is not None:
        ttl_index.disable(transaction, transaction.catalog.tables[table.name])
    transaction.drop_table(table, keep_items=kept)
