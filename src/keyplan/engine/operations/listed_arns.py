"""Pages of exports, imports and bulk operations: newest first within a table, those of the last 90 days."""

import binascii
from collections.abc import Sequence

from keyplan.engine.errors import validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.storage.records import Record, delete_record, list_records
from keyplan.engine.storage.transaction import Transaction

SHOWN_SECONDS = 90 * 86_400.0
MOST = 25
_SHORTEST_TOKEN = 56
"""In bytes; a token is written in hexadecimal, in groups of 16 digits, and has at least 112 of them."""


def listed(
    transaction: Transaction,
    kind: str,
    name: str,
    members: Sequence[str],
    *,
    table_arn: str | None,
    token: str | None,
    limit: int,
) -> Answer:
    """Return one page of records in reverse order of their ARNs, each with these members, as the list `name`."""
    prefix = transaction.catalog.scope.arn("table/") if table_arn is None else f"{table_arn}/"
    before = None if token is None else _decoded(token)
    found = [
        (arn, record)
        for arn, record in reversed(list_records(transaction, kind, prefix=prefix))
        if (before is None or arn < before) and not _is_old(transaction, record)
    ]
    page = found[:limit]
    answer: Answer = {name: [{each: record[each] for each in members if each in record} for _, record in page]}
    if len(found) > limit:
        answer["NextToken"] = _encoded(page[-1][0])
    return answer


def remove_old(transaction: Transaction, kind: str) -> None:
    for arn, record in list_records(transaction, kind):
        if _is_old(transaction, record):
            delete_record(transaction, kind, arn)


def _is_old(transaction: Transaction, record: Record) -> bool:
    end = record.get("EndTime")
    return isinstance(end, float) and end < transaction.now - SHOWN_SECONDS


def _encoded(arn: str) -> str:
    text = arn.encode()
    size = max(len(text) + -len(text) % 8, _SHORTEST_TOKEN)
    return text.ljust(size).hex()


def _decoded(token: str) -> str:
    try:
        return bytes.fromhex(token).decode().rstrip()
    except (ValueError, binascii.Error):
        raise validation_error("Invalid NextToken") from None
