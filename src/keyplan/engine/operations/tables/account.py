"""DescribeLimits, DescribeEndpoints and DescribeContinuousBackups, whose answers are constant."""

from collections.abc import Mapping

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables.describe_table import TableNamed
from keyplan.engine.storage.catalog import REGION, table_name
from keyplan.engine.storage.transaction import Transaction


def describe_limits(transaction: Transaction, request: Mapping[str, object]) -> Answer:
    return {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def describe_endpoints(transaction: Transaction, request: Mapping[str, object]) -> Answer:
    return {"Endpoints": [{"Address": f"dynamodb.{REGION}.amazonaws.com", "CachePeriodInMinutes": 1440}]}


def describe_continuous_backups(transaction: Transaction, request: TableNamed) -> Answer:
    """Return AWS's description of a table without point-in-time recovery; the engine makes no backups."""
    name = table_name(request["TableName"])
    if name not in transaction.catalog.tables:
        raise DynamoError("TableNotFoundException", f"Table not found: {name}")
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
        }
    }
