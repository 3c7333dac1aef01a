"""Time to live: which items have expired, and their removal.

SQLite keeps an index over the attribute's number in the stored JSON, so that enabling it is one statement, writes
need no code for it, and a sweep reads only what it deletes.
"""

import json
from copy import deepcopy

from keyplan.engine.catalog import Table
from keyplan.engine.operations.changes import Change, apply
from keyplan.engine.transaction import Transaction

FIVE_YEARS = 5 * 365.25 * 86_400.0
"""Items that expired longer ago than this are left alone, as AWS leaves them."""
SWEEP_ITEMS = 100
"""Items deleted in one transaction, with other writes in between."""

SERVICE = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}


def _expression(attribute: str) -> str:
    path = "$." + json.dumps(attribute)
    literal = path.replace("'", "''")
    return f"CAST(json_extract(CAST(item AS TEXT), '{literal}.N') AS REAL)"


def enable(transaction: Transaction, table: Table, attribute: str) -> None:
    expression = _expression(attribute)
    transaction.sql(f"CREATE INDEX {table.rows}_ttl ON {table.rows}({expression}) WHERE {expression} IS NOT NULL")
    _save(transaction, table, attribute)


def disable(transaction: Transaction, table: Table) -> None:
    transaction.sql(f"DROP INDEX {table.rows}_ttl")
    _save(transaction, table, None)


def _save(transaction: Transaction, table: Table, attribute: str | None) -> None:
    definition = deepcopy(table.definition)
    definition["ttl"] = attribute
    transaction.save(Table(table.number, definition))


def sweep(transaction: Transaction, name: str) -> int:
    """Delete some of a table's expired items, as the service itself; how many they were."""
    table = transaction.catalog.tables.get(name)
    attribute = table.definition["ttl"] if table else None
    if table is None or attribute is None:
        return 0
    expression = _expression(attribute)
    rows = transaction.rows_where(
        table,
        f"{expression} IS NOT NULL AND {expression} < ? AND {expression} > ? LIMIT ?",
        (transaction.now, transaction.now - FIVE_YEARS, SWEEP_ITEMS),
    )
    deleted = 0
    for key, row in rows:
        item = row.item
        # SQLite reads a name up to a zero character, and may find another attribute than the one that is meant.
        if "N" in item.get(attribute, {}):
            apply(transaction, Change(table, item, key, row, item, None, 0), SERVICE)
            deleted += 1
    return deleted
