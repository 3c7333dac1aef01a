"""DescribeLimits and DescribeEndpoints, whose answers are constant."""

from collections.abc import Mapping

from keyplan.engine.executor import Answer
from keyplan.engine.storage.transaction import Transaction


def describe_limits(transaction: Transaction, request: Mapping[str, object]) -> Answer:
    return {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def describe_endpoints(transaction: Transaction, request: Mapping[str, object]) -> Answer:
    """Return the address that was called; in this process, AWS's address of the region."""
    address = transaction.address or f"dynamodb.{transaction.catalog.scope.region}.amazonaws.com"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": 1440}]}
