"""Records: JSON documents that the engine keeps beside tables and items, such as the description of a backup.

A record has a kind, a name that is unique within its kind, and a body. It is read and written in the transaction of
the operation that it belongs to.
"""

from typing import TypeAlias, cast

import orjson

from keyplan.engine.storage.transaction import Transaction

Record: TypeAlias = dict[str, object]


def get_record(transaction: Transaction, kind: str, name: str) -> Record | None:
    """Return the body of a record, or None."""
    body: bytes | None = transaction.sql("SELECT body FROM records WHERE kind = ? AND name = ?", (kind, name)).get
    return None if body is None else cast(Record, orjson.loads(body))


def put_record(transaction: Transaction, kind: str, name: str, body: Record) -> None:
    """Create a record, or replace its body."""
    transaction.sql(
        "INSERT OR REPLACE INTO records(kind, name, body) VALUES (?, ?, ?)", (kind, name, orjson.dumps(body))
    )


def delete_record(transaction: Transaction, kind: str, name: str) -> bool:
    """Delete a record; return whether there was one."""
    deleted = transaction.sql("DELETE FROM records WHERE kind = ? AND name = ? RETURNING 1", (kind, name)).fetchall()
    return bool(deleted)


def list_records(
    transaction: Transaction, kind: str, *, prefix: str = "", after: str = "", limit: int = -1
) -> list[tuple[str, Record]]:
    """Return name and body of the records of a kind, in the order of their names.

    Only names that start with `prefix` and come after `after` are returned. A negative limit means no limit.
    """
    found = transaction.sql(
        "SELECT name, body FROM records WHERE kind = ? AND name >= ? AND name > ? AND substr(name, 1, ?) = ? "
        "ORDER BY name LIMIT ?",
        (kind, prefix, after, len(prefix), prefix, limit),
    ).fetchall()
    return [(name, cast(Record, orjson.loads(body))) for name, body in cast(list[tuple[str, bytes]], found)]
