"""DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling."""

from copy import deepcopy
from typing import TypedDict

from keyplan.engine.errors import not_found, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables.auto_scaling import (
    Capacity,
    ScalingTarget,
    ScalingUpdate,
    change_scaling,
    scaling_of,
)
from keyplan.engine.operations.tables.definitions import global_index
from keyplan.engine.operations.tables.replication import region_of
from keyplan.engine.operations.tables.throughput import billing_of
from keyplan.engine.storage.catalog import Definition, Table
from keyplan.engine.storage.transaction import Transaction


class IndexUpdate(TypedDict, total=False):
    """New settings of an index: for write capacity everywhere, or for read capacity in one region."""

    IndexName: str
    ProvisionedWriteCapacityAutoScalingUpdate: ScalingUpdate
    ProvisionedReadCapacityAutoScalingUpdate: ScalingUpdate


class ReplicaUpdate(TypedDict, total=False):
    RegionName: str
    ReplicaGlobalSecondaryIndexUpdates: list[IndexUpdate]
    ReplicaProvisionedReadCapacityAutoScalingUpdate: ScalingUpdate


class AutoScalingRequest(TypedDict, total=False):
    """The members of both requests."""

    TableName: str
    GlobalSecondaryIndexUpdates: list[IndexUpdate]
    ProvisionedWriteCapacityAutoScalingUpdate: ScalingUpdate
    ReplicaUpdates: list[ReplicaUpdate]


def describe_table_replica_auto_scaling(transaction: Transaction, request: AutoScalingRequest) -> Answer:
    table = transaction.catalog.table_for_administration(request["TableName"])
    return _description(table.definition, table.description["TableStatus"])


def update_table_replica_auto_scaling(transaction: Transaction, request: AutoScalingRequest) -> Answer:
    table = transaction.catalog.table_to_change(request["TableName"])
    definition = deepcopy(table.definition)
    if billing_of(definition["description"]) == "PAY_PER_REQUEST":
        raise validation_error("Auto scaling is not available for tables with BillingMode PAY_PER_REQUEST")
    if "ProvisionedWriteCapacityAutoScalingUpdate" in request:
        change_scaling(definition, ScalingTarget("Write"), request["ProvisionedWriteCapacityAutoScalingUpdate"])
    for index in request.get("GlobalSecondaryIndexUpdates", []):
        _check_index(definition, index)
        if "ProvisionedWriteCapacityAutoScalingUpdate" in index:
            target = ScalingTarget("Write", index_name=index["IndexName"])
            change_scaling(definition, target, index["ProvisionedWriteCapacityAutoScalingUpdate"])
    for replica in request.get("ReplicaUpdates", []):
        _change_replica(definition, replica)
    transaction.save(Table(table.number, definition))
    return _description(definition, "UPDATING")


def _change_replica(definition: Definition, update: ReplicaUpdate) -> None:
    region = update["RegionName"]
    if region not in _regions(definition):
        raise not_found(f"Requested resource not found: The table has no replica in the Region {region}")
    if "ReplicaProvisionedReadCapacityAutoScalingUpdate" in update:
        scaling = update["ReplicaProvisionedReadCapacityAutoScalingUpdate"]
        change_scaling(definition, ScalingTarget("Read", region), scaling)
    for index in update.get("ReplicaGlobalSecondaryIndexUpdates", []):
        _check_index(definition, index)
        if "ProvisionedReadCapacityAutoScalingUpdate" in index:
            target = ScalingTarget("Read", region, index["IndexName"])
            change_scaling(definition, target, index["ProvisionedReadCapacityAutoScalingUpdate"])


def _check_index(definition: Definition, index: IndexUpdate) -> None:
    global_index(definition["description"], index.get("IndexName", ""))


def _regions(definition: Definition) -> list[str]:
    """The regions of a table: its own and those of its replicas."""
    replicas = definition["replication"]["replicas"] if "replication" in definition else {}
    return sorted({region_of(definition["description"]["TableArn"]), *replicas})


def _description(definition: Definition, status: str) -> Answer:
    description = definition["description"]

    def settings(capacity: Capacity, region: str, index: str = "") -> object:
        return scaling_of(definition, ScalingTarget(capacity, region if capacity == "Read" else "", index))

    replicas = [
        {
            "RegionName": region,
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": index["IndexName"],
                    "IndexStatus": index["IndexStatus"],
                    "ProvisionedReadCapacityAutoScalingSettings": settings("Read", region, index["IndexName"]),
                    "ProvisionedWriteCapacityAutoScalingSettings": settings("Write", region, index["IndexName"]),
                }
                for index in description.get("GlobalSecondaryIndexes", [])
            ],
            "ReplicaProvisionedReadCapacityAutoScalingSettings": settings("Read", region),
            "ReplicaProvisionedWriteCapacityAutoScalingSettings": settings("Write", region),
            "ReplicaStatus": status,
        }
        for region in _regions(definition)
    ]
    return {
        "TableAutoScalingDescription": {
            "TableName": description["TableName"],
            "TableStatus": status,
            "Replicas": replicas,
        }
    }
