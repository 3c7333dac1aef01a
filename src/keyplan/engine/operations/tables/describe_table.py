"""DescribeTable and ListTables."""

from typing import TypedDict

import orjson

from keyplan.engine.executor import Answer
from keyplan.engine.operations.items.consumed_capacity import vector_entry_size
from keyplan.engine.operations.tables.replication import replication_of
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.descriptions import IndexDescription, TableDescription, VectorIndexDescription
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item, item_size

INDEX_SAMPLE = 100
"""The size of an index with up to this many entries is exact; of a larger one it is estimated."""


class TableNamed(TypedDict):
    TableName: str


class ListTablesRequest(TypedDict, total=False):
    ExclusiveStartTableName: str
    Limit: int


def describe_table(transaction: Transaction, request: TableNamed) -> Answer:
    return {"Table": describe(transaction, transaction.catalog.table_for_administration(request["TableName"]))}


def describe(transaction: Transaction, table: Table) -> TableDescription:
    """Return the table's description with the number and size of items, for the table and each index."""
    count, size = transaction.measure(table)
    description: TableDescription = {
        **table.description,
        **replication_of(table.definition),
        "ItemCount": count,
        "TableSizeBytes": size,
    }
    indexes = {index.name: index for index in table.indexes}

    def counted(described: IndexDescription) -> IndexDescription:
        index = indexes[described["IndexName"]]
        entries = transaction.count_entries(index)
        whole = index.holds_all and entries == count
        return {
            **described,
            "ItemCount": entries,
            "IndexSizeBytes": size if whole else _index_size(transaction, table, index, entries),
        }

    if "LocalSecondaryIndexes" in description:
        description["LocalSecondaryIndexes"] = [counted(index) for index in description["LocalSecondaryIndexes"]]
    if "GlobalSecondaryIndexes" in description:
        description["GlobalSecondaryIndexes"] = [counted(index) for index in description["GlobalSecondaryIndexes"]]
        if table.is_being_created:
            for described in description["GlobalSecondaryIndexes"]:
                described["IndexStatus"] = "CREATING"
    if "VectorIndexes" in description:
        description["VectorIndexes"] = [
            _with_vectors(transaction, table, each) for each in description["VectorIndexes"]
        ]
    return description


def _with_vectors(transaction: Transaction, table: Table, described: VectorIndexDescription) -> VectorIndexDescription:
    """Add the number of entries of a vector index and their size, which is estimated if there are many."""
    index = table.vector_index(described["IndexName"])
    assert index is not None
    entries = transaction.count_vectors(index)
    sample = [number for number, _, _ in transaction.vectors_after(index, (b"", 0), INDEX_SAMPLE)]
    sizes = [vector_entry_size(index, row.item) for row in transaction.rows_numbered(table, sample).values()]
    size = sum(sizes) * entries // len(sizes) if sizes else 0
    return {**described, "ItemCount": entries, "IndexSizeBytes": size}


def _index_size(transaction: Transaction, table: Table, index: Index, entries: int) -> int:
    """The size of an index in bytes, estimated from a sample if it is large."""
    sizes: list[int] = []
    for size, stored in transaction.scan(table, index, b"", None, limit=INDEX_SAMPLE):
        if not index.holds_all:
            item: Item = orjson.loads(stored)
            size = item_size(index.project(item))
        sizes.append(size)
    return sum(sizes) * entries // len(sizes) if sizes else 0


def list_tables(transaction: Transaction, request: ListTablesRequest) -> Answer:
    start, limit = request.get("ExclusiveStartTableName"), request.get("Limit", 100)
    names = sorted(transaction.catalog.tables)
    if start is not None:
        names = [name for name in names if name > start]
    answer: Answer = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer
