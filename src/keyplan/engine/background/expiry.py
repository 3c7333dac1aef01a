"""Deleting the items whose time to live is over."""

from keyplan.engine.operations.items.item_changes import Change, apply
from keyplan.engine.storage.scopes import Place
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.storage.ttl_index import expired_rows

SWEEP_ITEMS = 100
"""Items deleted in one transaction, with other writes in between."""

SERVICE = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
"""Who deleted the item, in its stream record."""


def sweep(transaction: Transaction, place: Place) -> int:
    """Delete some of a table's expired items as the service itself does, and return how many."""
    table = transaction.table_at(place)
    attribute = table.definition["ttl"] if table else None
    if table is None or attribute is None:
        return 0
    deleted = 0
    for key, row in expired_rows(transaction, table, SWEEP_ITEMS):
        item = row.item
        # SQLite reads a name up to a zero character, so it may have found a different attribute.
        if "N" in item.get(attribute, {}):
            apply(transaction, Change(table, item, key, row, item, None, 0), SERVICE)
            deleted += 1
    return deleted
