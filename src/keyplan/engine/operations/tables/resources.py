"""The tables and streams that requests name by ARN."""

import re
from typing import cast

import orjson

from keyplan.engine.errors import DynamoError, not_found, validation_error
from keyplan.engine.storage.catalog import ACCOUNT, Table, table_arn
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.validation.extras import TABLE_NAME_LENGTHS, TABLE_NAME_PATTERN

_OWN_TABLES = table_arn("")
_STREAM = "/stream/"


def table_with_arn(transaction: Transaction, operation: str, arn: str) -> Table:
    """Return the table with this ARN. Nobody may name what isn't a table of this account and region."""
    return _table(transaction, operation, arn, arn)


def resource_with_arn(transaction: Transaction, operation: str, arn: str) -> str:
    """Return the ARN of a table or of one of its streams, if there is such a table or stream."""
    table_part, slash, label = arn.partition(_STREAM)
    table = _table(transaction, operation, table_part if slash else arn, arn)
    if slash and label not in _stream_labels(transaction, table):
        raise _missing(arn)
    return arn


def _table(transaction: Transaction, operation: str, table_part: str, arn: str) -> Table:
    if not table_part.startswith(_OWN_TABLES):
        raise DynamoError(
            "AccessDeniedException",
            f"User: arn:aws:iam::{ACCOUNT}:root is not authorized to perform: dynamodb:{operation} on resource: {arn}",
        )
    name, (shortest, longest) = table_part.removeprefix(_OWN_TABLES), TABLE_NAME_LENGTHS
    if not shortest <= len(name) <= longest or not re.fullmatch(TABLE_NAME_PATTERN, name):
        raise validation_error(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    table = transaction.catalog.tables.get(name)
    if table is None:
        raise _missing(arn)
    return table


def _stream_labels(transaction: Transaction, table: Table) -> set[str]:
    rows = transaction.sql("SELECT description FROM streams WHERE table_name = ?", (table.name,)).fetchall()
    return {orjson.loads(stored)["StreamLabel"] for (stored,) in cast(list[tuple[bytes]], rows)}


def _missing(arn: str) -> DynamoError:
    return not_found(f"Requested resource not found: ResourcArn: {arn} not found")
