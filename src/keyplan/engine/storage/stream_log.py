"""The streams of tables: one record for each change, written in the transaction of the change.

A stream is an SQLite table of numbered records and has a single shard. A record is stored in the form that GetRecords
returns. Numbers are in commit order, because there is one writer at a time. Records are kept for 24 hours, and so is a
stream after it was disabled.
"""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypedDict, cast
from uuid import uuid4

import orjson

from keyplan.engine.storage import numbered_log
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.descriptions import KeySchemaElements
from keyplan.engine.storage.scopes import arn_in, scope_of
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item, item_size

RETENTION_SECONDS = 86_400.0
TRIM_EVERY = 1000
"""Old records are also deleted after this many new ones, in case no sweeper runs."""
_FIRST_SEQUENCE = 10**20


class StreamDescription(TypedDict):
    """The stored description of a stream."""

    StreamArn: str
    StreamLabel: str
    StreamViewType: str
    CreationRequestDateTime: float
    TableName: str
    KeySchema: KeySchemaElements
    ShardId: str


class Stream(NamedTuple):
    """A stream with its number; `ended` is when it was disabled."""

    number: int
    description: StreamDescription
    ended: float | None


def streams_of(transaction: Transaction, table: str | None = None) -> list[Stream]:
    """All streams of a scope, or those of a table, oldest first; without those that ended before the retention time."""
    rows = transaction.sql(
        "SELECT number, description, ended FROM streams "
        "WHERE table_name = coalesce(?, table_name) AND (ended IS NULL OR ended >= ?) ORDER BY number",
        (table, transaction.now - RETENTION_SECONDS),
    ).fetchall()
    found: list[Stream] = []
    for number, stored, ended in cast(list[tuple[int, bytes, float | None]], rows):
        description: StreamDescription = orjson.loads(stored)
        arn = _arn_seen(transaction, number, description)
        if arn is not None:
            found.append(Stream(number, {**description, "StreamArn": arn}, ended))
    return found


def _arn_seen(transaction: Transaction, number: int, description: StreamDescription) -> str | None:
    """The ARN of a stream in the scope of the transaction; None if it isn't one of its streams.

    The replicas of a global table share its stream, which has an ARN in each of their regions.
    """
    scope, arn = transaction.catalog.scope, description["StreamArn"]
    table = transaction.catalog.tables.get(description["TableName"])
    if table is not None and table.stream == number:
        return arn_in(arn, scope.region)
    return arn if scope_of(arn) == scope else None


def enable(transaction: Transaction, table: Table, view: str) -> None:
    """Start a new stream for the table."""
    label = _new_label(transaction, table.name)
    stream: StreamDescription = {
        "StreamArn": f"{table.arn}/stream/{label}",
        "StreamLabel": label,
        "StreamViewType": view,
        "CreationRequestDateTime": transaction.now,
        "TableName": table.name,
        "KeySchema": table.description["KeySchema"],
        "ShardId": f"shardId-{int(transaction.now * 1000):020d}-{uuid4().hex[:8]}",
    }
    number: int = transaction.sql(
        "INSERT INTO streams(table_name, description) VALUES (?, ?) RETURNING number",
        (table.name, orjson.dumps(stream)),
    ).get
    transaction.sql(f"CREATE TABLE s{number}(number INTEGER PRIMARY KEY, at REAL NOT NULL, record BLOB NOT NULL)")
    definition = deepcopy(table.definition)
    definition["stream"] = number
    description = definition["description"]
    description["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    description["LatestStreamLabel"], description["LatestStreamArn"] = label, stream["StreamArn"]
    transaction.save(Table(table.number, definition))


def _new_label(transaction: Transaction, table: str) -> str:
    """The current time in milliseconds, or the next millisecond that no stream of the table has."""
    rows = transaction.sql("SELECT description FROM streams WHERE table_name = ?", (table,)).fetchall()
    taken = {orjson.loads(stored)["StreamLabel"] for (stored,) in cast(list[tuple[bytes]], rows)}
    moment = datetime.fromtimestamp(transaction.now, UTC)
    while (label := moment.isoformat(timespec="milliseconds")[:-6]) in taken:
        moment += timedelta(milliseconds=1)
    return label


def disable(transaction: Transaction, table: Table) -> None:
    """End the table's stream; its records can still be read."""
    if table.stream is None:
        return
    transaction.sql("UPDATE streams SET ended = ? WHERE number = ?", (transaction.now, table.stream))
    definition = deepcopy(table.definition)
    definition["stream"] = None
    definition["description"].pop("StreamSpecification")
    transaction.save(Table(table.number, definition))


def trim(transaction: Transaction) -> None:
    """Delete everything older than the retention time from all streams."""
    horizon = transaction.now - RETENTION_SECONDS
    rows = transaction.sql("SELECT number, ended FROM streams").fetchall()
    for number, ended in cast(list[tuple[int, float | None]], rows):
        if ended is not None and ended < horizon:
            transaction.sql(f"DROP TABLE s{number}")
            transaction.sql("DELETE FROM streams WHERE number = ?", (number,))
        else:
            _trim_records(transaction, number)


def _trim_records(transaction: Transaction, stream: int) -> None:
    """Delete old records except the newest of them, because the number of the last record must not be reused."""
    transaction.sql(f"DELETE FROM s{stream} WHERE number < ?", (trimmed_to(transaction, stream),))


def trimmed_to(transaction: Transaction, stream: int) -> int:
    """Return the number of the last record that is older than the retention time, stored or not."""
    return last_before(transaction, stream, transaction.now - RETENTION_SECONDS)


def last_before(transaction: Transaction, stream: int, moment: float) -> int:
    """Return the number of the last record before a moment."""
    return numbered_log.last_before(transaction, f"s{stream}", moment)


def sequence_number(number: int) -> str:
    """Return a record's number as the API shows it: 21 digits, so that numbers also sort as text."""
    return str(_FIRST_SEQUENCE + number)


def number_of(sequence: str) -> int:
    """Return the record's number from a sequence number; negative if it was never assigned."""
    return int(sequence) - _FIRST_SEQUENCE


def append(
    transaction: Transaction,
    table: Table,
    old: Item | None,
    new: Item | None,
    user_identity: dict[str, str] | None,
) -> None:
    """Write the record of a change to an item."""
    image = new if new is not None else old
    assert image is not None
    keys = {name: image[name] for name in table.schema.names}
    change: dict[str, object] = {"ApproximateCreationDateTime": float(int(transaction.now)), "Keys": keys}
    size = item_size(keys)
    view = table.view
    if new is not None and view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
        change["NewImage"] = new
        size += item_size(new)
    if old is not None and view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
        change["OldImage"] = old
        size += item_size(old)
    change["SizeBytes"] = size
    change["StreamViewType"] = view
    record: dict[str, object] = {
        "eventID": uuid4().hex,
        "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": table.arn.split(":")[3],
        "dynamodb": change,
    }
    if user_identity is not None:
        record["userIdentity"] = user_identity
    stream = cast(int, table.stream)
    number: int = transaction.sql(
        f"INSERT INTO s{stream}(at, record) VALUES (?, ?) RETURNING number", (transaction.now, orjson.dumps(record))
    ).get
    if number % TRIM_EVERY == 0:
        _trim_records(transaction, stream)
