"""The tables and streams that requests name by ARN."""

import re

from keyplan.engine.errors import DynamoError, not_found, validation_error
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.stream_log import streams_of
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.validation.extras import TABLE_NAME_LENGTHS, TABLE_NAME_PATTERN

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
    scope = transaction.catalog.scope
    own_tables = scope.arn("table/")
    if not table_part.startswith(own_tables):
        raise DynamoError(
            "AccessDeniedException",
            f"User: arn:aws:iam::{scope.account}:root is not authorized to perform: dynamodb:{operation} "
            f"on resource: {arn}",
        )
    name, (shortest, longest) = table_part.removeprefix(own_tables), TABLE_NAME_LENGTHS
    if not shortest <= len(name) <= longest or not re.fullmatch(TABLE_NAME_PATTERN, name):
        raise validation_error(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    table = transaction.catalog.tables.get(name)
    if table is None:
        raise _missing(arn)
    return table


def _stream_labels(transaction: Transaction, table: Table) -> set[str]:
    return {stream.description["StreamLabel"] for stream in streams_of(transaction, table.name)}


def _missing(arn: str) -> DynamoError:
    return not_found(f"Requested resource not found: ResourcArn: {arn} not found")
