"""DeleteTable."""

from keyplan.engine.errors import validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables.describe_table import TableNamed
from keyplan.engine.operations.tables.resource_policies import delete_policies
from keyplan.engine.storage import stream_log
from keyplan.engine.storage.catalog import TableDescription, in_use
from keyplan.engine.storage.transaction import Transaction


def delete_table(transaction: Transaction, request: TableNamed) -> Answer:
    table = transaction.catalog.table_for_administration(request["TableName"])
    if any(index.status == "CREATING" for index in table.indexes):
        raise in_use(f"Attempt to change a resource which is still in use: Table is being updated: {table.name}")
    if table.description.get("DeletionProtectionEnabled"):
        raise validation_error(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
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
    stream_log.disable(transaction, table)
    delete_policies(transaction, table)
    transaction.drop_table(table)
    return {"TableDescription": description}
