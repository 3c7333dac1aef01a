"""CreateGlobalTable, UpdateGlobalTable, DescribeGlobalTable and ListGlobalTables: version 2017.11.29 of global tables.

Such a global table connects tables of the same name in several regions. Here they are one table, so that a replica is
never behind.
"""

from copy import deepcopy
from typing import TypedDict, cast

from keyplan.engine.errors import DynamoError, invalid_parameter, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables.replicas import STREAM_VIEW
from keyplan.engine.operations.tables.replication import check_region
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.records import Record, delete_record, get_record, list_records, put_record
from keyplan.engine.storage.transaction import Transaction

VERSION = "2017.11.29"
MAXIMUM_LISTED = 100

_KIND = "global_table"


class Region(TypedDict):
    RegionName: str


class GlobalTableRequest(TypedDict, total=False):
    """The members of all four requests."""

    GlobalTableName: str
    ReplicationGroup: list[Region]
    ReplicaUpdates: list[dict[str, Region]]
    ExclusiveStartGlobalTableName: str
    Limit: int
    RegionName: str


class ReplicaSettings(TypedDict, total=False):
    """What a replica in another region than the table's own has of its own."""

    ReadCapacityUnits: int
    IndexReadCapacityUnits: dict[str, int]
    TableClass: str


class GlobalTable(TypedDict):
    """A stored global table, under its name."""

    regions: list[str]
    created: float
    settings: dict[str, ReplicaSettings]
    """The settings of replicas, by region."""


def create_global_table(transaction: Transaction, request: GlobalTableRequest) -> Answer:
    name = request["GlobalTableName"]
    if transaction.catalog.separate:
        # Tables of separate regions are different tables, and nothing copies items from one to the other.
        raise validation_error(
            "Global tables with version 2017.11.29 aren't available where this endpoint keeps regions separate. "
            "Create replicas with UpdateTable instead."
        )
    group = request["ReplicationGroup"]
    if not all("RegionName" in replica for replica in group):  # the model doesn't require it
        raise invalid_parameter("Each replica in ReplicationGroup must have a RegionName")
    regions = [replica["RegionName"] for replica in group]
    for region in regions:
        check_region(region)
    if not regions or len(set(regions)) < len(regions):
        raise invalid_parameter("ReplicationGroup must contain at least one Region, and each Region only once")
    if get_record(transaction, _KIND, _record(transaction, name)) is not None:
        raise DynamoError("GlobalTableAlreadyExistsException", f"Global table with name: '{name}' already exists.")
    _check_table(transaction, name)
    made: GlobalTable = {"regions": regions, "created": transaction.now, "settings": {}}
    save_global_table(transaction, name, made)
    _mark(transaction, name, VERSION)
    return _description(transaction, name, made, "CREATING")


def update_global_table(transaction: Transaction, request: GlobalTableRequest) -> Answer:
    name = request["GlobalTableName"]
    found = global_table(transaction, name)
    for update in request["ReplicaUpdates"]:
        if len(update) != 1:
            raise invalid_parameter("A replica update must have either Create or Delete")
        ((kind, replica),) = update.items()
        check_region(replica["RegionName"])
        _update(found, name, kind, replica["RegionName"])
    _check_table(transaction, name, empty=False)
    if found["regions"]:
        save_global_table(transaction, name, found)
    else:
        delete_record(transaction, _KIND, _record(transaction, name))
        _mark(transaction, name, None)
    return _description(transaction, name, found, "ACTIVE")


def _update(found: GlobalTable, name: str, kind: str, region: str) -> None:
    if kind == "Create":
        if region in found["regions"]:
            raise DynamoError(
                "ReplicaAlreadyExistsException", f"Global table '{name}' already has a replica in the Region {region}."
            )
        found["regions"].insert(0, region)
    else:
        if region not in found["regions"]:
            raise replica_not_found(name, region)
        found["regions"].remove(region)
        found["settings"].pop(region, None)


def describe_global_table(transaction: Transaction, request: GlobalTableRequest) -> Answer:
    name = request["GlobalTableName"]
    return _description(transaction, name, global_table(transaction, name), "ACTIVE")


def list_global_tables(transaction: Transaction, request: GlobalTableRequest) -> Answer:
    limit, region = request.get("Limit", MAXIMUM_LISTED), request.get("RegionName")
    own = _record(transaction, "")
    records = list_records(transaction, _KIND, prefix=own, after=own + request.get("ExclusiveStartGlobalTableName", ""))
    tables = [(name.removeprefix(own), cast(GlobalTable, body)["regions"]) for name, body in records]
    found = [(name, regions) for name, regions in tables if region is None or region in regions]
    answer: Answer = {
        "GlobalTables": [
            {"GlobalTableName": name, "ReplicationGroup": _group(regions)} for name, regions in found[:limit]
        ]
    }
    if len(found) > limit:
        answer["LastEvaluatedGlobalTableName"] = found[limit - 1][0]
    return answer


def global_table(transaction: Transaction, name: str) -> GlobalTable:
    """Return the global table with this name; raise AWS's error if there is none."""
    found = get_record(transaction, _KIND, _record(transaction, name))
    if found is None:
        raise DynamoError("GlobalTableNotFoundException", f"Global table with name: '{name}' does not exist.")
    return cast(GlobalTable, found)


def save_global_table(transaction: Transaction, name: str, changed: GlobalTable) -> None:
    put_record(transaction, _KIND, _record(transaction, name), cast(Record, changed))


def forget_global_table(transaction: Transaction, table: Table) -> None:
    """Delete the global table of a table that is deleted."""
    delete_record(transaction, _KIND, _record(transaction, table.name))


def _record(transaction: Transaction, name: str) -> str:
    """The name of the record of a global table, which belongs to an account."""
    return f"{transaction.catalog.scope.account}/{name}"


def replica_not_found(name: str, region: str) -> DynamoError:
    return DynamoError("ReplicaNotFoundException", f"Global table '{name}' has no replica in the Region {region}.")


def _check_table(transaction: Transaction, name: str, *, empty: bool = True) -> None:
    """Refuse a table that can't be a replica."""
    table = transaction.catalog.tables.get(name)
    if table is None:
        raise DynamoError("TableNotFoundException", f"Table not found: {name}")
    if table.stream is None or table.view != STREAM_VIEW:
        raise invalid_parameter(f"The table must have a stream with the view type {STREAM_VIEW} to be a replica")
    if "replication" in table.definition:
        raise invalid_parameter("The table is a replica of a global table with version 2019.11.21")
    if empty and transaction.measure(table)[0]:
        raise invalid_parameter("The table must be empty to become a replica")


def _mark(transaction: Transaction, name: str, version: str | None) -> None:
    """Set the version of global tables that the table's description shows."""
    table = transaction.catalog.tables[name]
    definition = deepcopy(table.definition)
    if version is None:
        definition["description"].pop("GlobalTableVersion", None)
    else:
        definition["description"]["GlobalTableVersion"] = version
    transaction.save(Table(table.number, definition))


def _description(transaction: Transaction, name: str, found: GlobalTable, status: str) -> Answer:
    return {
        "GlobalTableDescription": {
            "ReplicationGroup": _group(found["regions"]),
            "GlobalTableArn": f"arn:aws:dynamodb::{transaction.catalog.scope.account}:global-table/{name}",
            "CreationDateTime": found["created"],
            "GlobalTableStatus": status,
            "GlobalTableName": name,
        }
    }


def _group(regions: list[str]) -> list[Region]:
    return [{"RegionName": region} for region in regions]
