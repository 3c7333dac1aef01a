"""DescribeGlobalTableSettings and UpdateGlobalTableSettings, for version 2017.11.29 of global tables."""

from copy import deepcopy
from typing import TypedDict, cast

from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables.auto_scaling import ScalingTarget, ScalingUpdate, change_scaling, scaling_of
from keyplan.engine.operations.tables.definitions import IndexRequest, TableRequest
from keyplan.engine.operations.tables.global_tables import (
    GlobalTable,
    ReplicaSettings,
    global_table,
    replica_not_found,
    save_global_table,
)
from keyplan.engine.operations.tables.replication import region_of
from keyplan.engine.operations.tables.throughput import billing_of, units_missing, units_not_allowed
from keyplan.engine.operations.tables.update_table import update_table
from keyplan.engine.storage.catalog import Definition, Table
from keyplan.engine.storage.descriptions import IndexDescription, TableDescription
from keyplan.engine.storage.transaction import Transaction


class WriteSettings(TypedDict, total=False):
    """New write capacity of an index, in all regions."""

    IndexName: str
    ProvisionedWriteCapacityUnits: int
    ProvisionedWriteCapacityAutoScalingSettingsUpdate: ScalingUpdate


class ReadSettings(TypedDict, total=False):
    """New read capacity of an index, in one region."""

    IndexName: str
    ProvisionedReadCapacityUnits: int
    ProvisionedReadCapacityAutoScalingSettingsUpdate: ScalingUpdate


class RegionSettings(TypedDict, total=False):
    RegionName: str
    ReplicaProvisionedReadCapacityUnits: int
    ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate: ScalingUpdate
    ReplicaGlobalSecondaryIndexSettingsUpdate: list[ReadSettings]
    ReplicaTableClass: str


class SettingsRequest(TypedDict, total=False):
    """The members of both requests."""

    GlobalTableName: str
    GlobalTableBillingMode: str
    GlobalTableProvisionedWriteCapacityUnits: int
    GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate: ScalingUpdate
    GlobalTableGlobalSecondaryIndexSettingsUpdate: list[WriteSettings]
    ReplicaSettingsUpdate: list[RegionSettings]


def describe_global_table_settings(transaction: Transaction, request: SettingsRequest) -> Answer:
    name = request["GlobalTableName"]
    return _description(transaction, name, global_table(transaction, name), "ACTIVE")


def update_global_table_settings(transaction: Transaction, request: SettingsRequest) -> Answer:
    name = request["GlobalTableName"]
    found = global_table(transaction, name)
    table = transaction.catalog.tables[name]
    for index in request.get("GlobalTableGlobalSecondaryIndexSettingsUpdate", []):
        _check_index(table, index["IndexName"])
    home = region_of(table.arn)
    own: RegionSettings = {}
    on_demand = request.get("GlobalTableBillingMode", billing_of(table.description)) == "PAY_PER_REQUEST"
    if on_demand:
        _forget_units(found)
    for replica in request.get("ReplicaSettingsUpdate", []):
        if replica["RegionName"] not in found["regions"]:
            raise replica_not_found(name, replica["RegionName"])
        for read in replica.get("ReplicaGlobalSecondaryIndexSettingsUpdate", []):
            _check_index(table, read["IndexName"])
        if replica["RegionName"] == home:
            own = replica
        else:
            if on_demand and _gives_units(replica):
                raise units_not_allowed()
            _change_replica(found["settings"].setdefault(replica["RegionName"], {}), replica)
    _change_table(transaction, table, request, own)
    _change_scaling(transaction, name, request)
    save_global_table(transaction, name, found)
    return _description(transaction, name, found, "UPDATING")


def _check_index(table: Table, name: str) -> None:
    if not any(index.name == name and index.is_global for index in table.indexes):
        raise DynamoError("IndexNotFoundException", f"Index not found: {name}")


def _forget_units(found: GlobalTable) -> None:
    """Remove the read capacity of all replicas of an on-demand table."""
    for settings in found["settings"].values():
        settings.pop("ReadCapacityUnits", None)
        settings.pop("IndexReadCapacityUnits", None)


def _gives_units(replica: RegionSettings) -> bool:
    indexes = replica.get("ReplicaGlobalSecondaryIndexSettingsUpdate", [])
    return "ReplicaProvisionedReadCapacityUnits" in replica or any(
        "ProvisionedReadCapacityUnits" in index for index in indexes
    )


def _change_replica(settings: ReplicaSettings, update: RegionSettings) -> None:
    if "ReplicaProvisionedReadCapacityUnits" in update:
        settings["ReadCapacityUnits"] = update["ReplicaProvisionedReadCapacityUnits"]
    if "ReplicaTableClass" in update:
        settings["TableClass"] = update["ReplicaTableClass"]
    units = settings.setdefault("IndexReadCapacityUnits", {})
    for index in update.get("ReplicaGlobalSecondaryIndexSettingsUpdate", []):
        if "ProvisionedReadCapacityUnits" in index:
            units[index["IndexName"]] = index["ProvisionedReadCapacityUnits"]


def _change_table(transaction: Transaction, table: Table, request: SettingsRequest, own: RegionSettings) -> None:
    """Change the write capacity, and what is given for the table's own region, as UpdateTable does."""
    description = table.description
    wanted: TableRequest = {}
    if "GlobalTableBillingMode" in request and request["GlobalTableBillingMode"] != billing_of(description):
        wanted["BillingMode"] = request["GlobalTableBillingMode"]
    units = _units(
        description,
        own.get("ReplicaProvisionedReadCapacityUnits"),
        request.get("GlobalTableProvisionedWriteCapacityUnits"),
    )
    if units is not None:
        wanted["ProvisionedThroughput"] = units
    read = {
        index["IndexName"]: index.get("ProvisionedReadCapacityUnits")
        for index in own.get("ReplicaGlobalSecondaryIndexSettingsUpdate", [])
    }
    write = {
        index["IndexName"]: index.get("ProvisionedWriteCapacityUnits")
        for index in request.get("GlobalTableGlobalSecondaryIndexSettingsUpdate", [])
    }
    updates: list[dict[str, IndexRequest]] = []
    for index in description.get("GlobalSecondaryIndexes", []):
        name = index["IndexName"]
        units = _units(index, read.get(name), write.get(name))
        if units is not None:
            updates.append({"Update": {"IndexName": name, "ProvisionedThroughput": units}})
    if updates:
        wanted["GlobalSecondaryIndexUpdates"] = updates
    if wanted.get("BillingMode") == "PROVISIONED":  # where there were none before, both must be given
        changed = [wanted, *(index for update in updates for index in update.values())]
        if not all(all(figures.get("ProvisionedThroughput", {}).values()) for figures in changed):
            raise units_missing()
    if wanted:
        update_table(transaction, {"TableName": table.name, **wanted})
    if "ReplicaTableClass" in own:
        update_table(transaction, {"TableName": table.name, "TableClass": own["ReplicaTableClass"]})


def _units(
    described: TableDescription | IndexDescription, read: int | None, write: int | None
) -> dict[str, int] | None:
    """The provisioned throughput with new figures; None if nothing changes."""
    current = cast(dict[str, int], described["ProvisionedThroughput"])
    before = {unit: current[unit] for unit in ("ReadCapacityUnits", "WriteCapacityUnits")}
    after = dict(before)
    if read is not None:
        after["ReadCapacityUnits"] = read
    if write is not None:
        after["WriteCapacityUnits"] = write
    return None if after == before else after


def _change_scaling(transaction: Transaction, name: str, request: SettingsRequest) -> None:
    table = transaction.catalog.tables[name]
    definition = deepcopy(table.definition)
    if "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate" in request:
        scaling = request["GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate"]
        change_scaling(definition, ScalingTarget("Write"), scaling)
    for index in request.get("GlobalTableGlobalSecondaryIndexSettingsUpdate", []):
        if "ProvisionedWriteCapacityAutoScalingSettingsUpdate" in index:
            target = ScalingTarget("Write", index_name=index["IndexName"])
            change_scaling(definition, target, index["ProvisionedWriteCapacityAutoScalingSettingsUpdate"])
    for replica in request.get("ReplicaSettingsUpdate", []):
        region = replica["RegionName"]
        if "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate" in replica:
            scaling = replica["ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate"]
            change_scaling(definition, ScalingTarget("Read", region), scaling)
        for read in replica.get("ReplicaGlobalSecondaryIndexSettingsUpdate", []):
            if "ProvisionedReadCapacityAutoScalingSettingsUpdate" in read:
                target = ScalingTarget("Read", region, read["IndexName"])
                change_scaling(definition, target, read["ProvisionedReadCapacityAutoScalingSettingsUpdate"])
    transaction.save(Table(table.number, definition))


def _description(transaction: Transaction, name: str, found: GlobalTable, status: str) -> Answer:
    definition = transaction.catalog.tables[name].definition
    return {
        "GlobalTableName": name,
        "ReplicaSettings": [
            _replica(definition, region, found["settings"].get(region, {}), status) for region in found["regions"]
        ],
    }


def _replica(definition: Definition, region: str, settings: ReplicaSettings, status: str) -> dict[str, object]:
    description = definition["description"]
    units = description["ProvisionedThroughput"]
    described: dict[str, object] = {
        "RegionName": region,
        "ReplicaStatus": status,
        "ReplicaProvisionedReadCapacityUnits": settings.get("ReadCapacityUnits", units["ReadCapacityUnits"]),
        "ReplicaProvisionedReadCapacityAutoScalingSettings": scaling_of(definition, ScalingTarget("Read", region)),
        "ReplicaProvisionedWriteCapacityUnits": units["WriteCapacityUnits"],
        "ReplicaProvisionedWriteCapacityAutoScalingSettings": scaling_of(definition, ScalingTarget("Write")),
    }
    if "BillingModeSummary" in description:
        described["ReplicaBillingModeSummary"] = description["BillingModeSummary"]
    if "TableClass" in settings:
        described["ReplicaTableClassSummary"] = {"TableClass": settings["TableClass"]}
    elif "TableClassSummary" in description:
        described["ReplicaTableClassSummary"] = description["TableClassSummary"]
    if "GlobalSecondaryIndexes" in description:
        described["ReplicaGlobalSecondaryIndexSettings"] = [
            _index(definition, region, index, settings) for index in description["GlobalSecondaryIndexes"]
        ]
    return described


def _index(
    definition: Definition, region: str, index: IndexDescription, settings: ReplicaSettings
) -> dict[str, object]:
    name, units = index["IndexName"], index["ProvisionedThroughput"]
    read = settings.get("IndexReadCapacityUnits", {}).get(name, units["ReadCapacityUnits"])
    described: dict[str, object] = {
        "IndexName": name,
        "IndexStatus": index["IndexStatus"],
        "ProvisionedReadCapacityAutoScalingSettings": scaling_of(definition, ScalingTarget("Read", region, name)),
        "ProvisionedWriteCapacityAutoScalingSettings": scaling_of(definition, ScalingTarget("Write", index_name=name)),
    }
    if billing_of(definition["description"]) == "PROVISIONED":  # the model has no zeros here
        described["ProvisionedReadCapacityUnits"] = read
        described["ProvisionedWriteCapacityUnits"] = units["WriteCapacityUnits"]
    return described
