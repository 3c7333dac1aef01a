"""The index on the time-to-live attribute of a table's items.

It is an SQLite index on the attribute's number in the stored JSON. So enabling it is one statement, writes need no
code for it, and a sweep reads only what it deletes.
"""

import json
from copy import deepcopy

from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.transaction import Row, Transaction

FIVE_YEARS = 5 * 365.25 * 86_400.0
"""Items that expired longer ago than this are not deleted, as on AWS."""


def enable(transaction: Transaction, table: Table, attribute: str) -> None:
    expression = _expression(attribute)
    transaction.sql(f"CREATE INDEX {table.rows}_ttl ON {table.rows}({expression}) WHERE {expression} IS NOT NULL")
    _save(transaction, table, attribute)


def disable(transaction: Transaction, table: Table) -> None:
    transaction.sql(f"DROP INDEX {table.rows}_ttl")
    _save(transaction, table, None)


def expired_rows(transaction: Transaction, table: Table, limit: int) -> list[tuple[bytes, Row]]:
    """Return up to `limit` items whose time to live is over, with their row keys."""
    attribute = table.definition["ttl"]
    if attribute is None:
        return []
    expression = _expression(attribute)
    return transaction.rows_where(
        table,
        f"{expression} IS NOT NULL AND {expression} < ? AND {expression} > ? LIMIT ?",
        (transaction.now, transaction.now - FIVE_YEARS, limit),
    )


def _expression(attribute: str) -> str:
    path = "$." + json.dumps(attribute)
    literal = path.replace("'", "''")
    return f"CAST(json_extract(CAST(item AS TEXT), '{literal}.N') AS REAL)"


def _save(transaction: Transaction, table: Table, attribute: str | None) -> None:
    definition = deepcopy(table.definition)
    definition["ttl"] = attribute
    transaction.save(Table(table.number, definition))
