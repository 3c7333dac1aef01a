"""Replicas of a table in other regions: the part of UpdateTable that creates, changes and deletes them.

A replica shares the items, the stream and the settings of its table, so it is never behind. What a replica has of its
own are its overrides, which are checked, stored and described.
"""

from collections.abc import Iterator
from typing import TypedDict, cast

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.operations.jobs import has_writer
from keyplan.engine.operations.tables.auto_scaling import ScalingTarget, is_scaled
from keyplan.engine.operations.tables.replication import EVENTUAL, STRONG, check_region, describe_replica, region_of
from keyplan.engine.operations.tables.throughput import billing_of, check_on_demand
from keyplan.engine.operations.tables.update_kinds import kind_of
from keyplan.engine.storage.catalog import Definition, Table, in_use
from keyplan.engine.storage.descriptions import ReplicaDescription
from keyplan.engine.storage.regional_tables import definition_in
from keyplan.engine.storage.table_settings import Replication
from keyplan.engine.storage.transaction import Transaction

REGION_SETS = (
    frozenset({"us-east-1", "us-east-2", "us-west-2"}),
    frozenset({"eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1"}),
    frozenset({"ap-northeast-1", "ap-northeast-2", "ap-northeast-3"}),
)
"""The regions between which reads can be strongly consistent."""
STRONG_REGIONS = 3
"""How many regions such a table has, as replicas or as one witness."""
STREAM_VIEW = "NEW_AND_OLD_IMAGES"
ACTIONS = ("Create", "Update", "Delete", "Disassociate")
MEMBERS = ("ReplicaUpdates", "GlobalTableWitnessUpdates", "DisassociationProtectionEnabled")
"""The members of UpdateTable that change replicas."""

_OVERRIDES = ("KMSMasterKeyId", "ProvisionedThroughputOverride", "OnDemandThroughputOverride", "GlobalSecondaryIndexes")


class ReplicaAction(TypedDict, total=False):
    """The members of all actions on a replica or a witness."""

    RegionName: str
    KMSMasterKeyId: str
    ProvisionedThroughputOverride: dict[str, int]
    OnDemandThroughputOverride: dict[str, int]
    GlobalSecondaryIndexes: list[dict[str, object]]
    TableClassOverride: str
    DisassociationMode: str


class ReplicasRequest(TypedDict, total=False):
    """The members of UpdateTable for global tables."""

    ReplicaUpdates: list[dict[str, ReplicaAction]]
    MultiRegionConsistency: str
    GlobalTableWitnessUpdates: list[dict[str, ReplicaAction]]
    DisassociationProtectionEnabled: bool


def check_replica_updates(request: ReplicasRequest) -> None:
    """Make all checks of a request that don't need the table."""
    updates = request.get("ReplicaUpdates", [])
    regions: list[str] = []
    for kind, update in _actions("ReplicationGroupUpdate", ACTIONS, updates):
        regions.append(update["RegionName"])
        if kind == "Disassociate" and (len(updates) > 1 or request.keys() - {"TableName", "ReplicaUpdates"}):
            raise invalid_parameter("Disassociate must be the only replica update in the request")
        if kind == "Update" and not any(member in update for member in (*_OVERRIDES, "TableClassOverride")):
            raise invalid_parameter("KMSMasterKeyId must be specified for each replica.")
    if len(set(regions)) < len(regions):
        raise invalid_parameter("Only one replica update per Region is allowed in a request")
    created = any("Create" in update for update in updates)
    if "MultiRegionConsistency" in request and not created:
        raise invalid_parameter("MultiRegionConsistency can be specified only when a replica is created")
    witnesses = request.get("GlobalTableWitnessUpdates", [])
    for kind, _ in _actions("GlobalTableWitnessGroupUpdate", ("Create", "Delete"), witnesses):
        if kind == "Create" and not (created and request.get("MultiRegionConsistency") == STRONG):
            raise invalid_parameter("A witness can be created only together with a replica and STRONG consistency")
    if "DisassociationProtectionEnabled" in request and len(request.keys() - {"TableName"}) > 1:
        raise invalid_parameter("DisassociationProtectionEnabled must be the only change in the request")


def _actions(
    name: str, kinds: tuple[str, ...], updates: list[dict[str, ReplicaAction]]
) -> Iterator[tuple[str, ReplicaAction]]:
    """The updates as pairs of kind and action; each must have exactly one."""
    for update in updates:
        kind = kind_of(update, name, kinds)
        action = update[kind]
        check_region(action["RegionName"])
        yield kind, action


def update_replicas(
    transaction: Transaction,
    table: Table,
    definition: Definition,
    request: ReplicasRequest,
) -> list[ReplicaDescription]:
    """Change the replication in a definition; return the replicas as the answer shows them while they change."""
    if "DisassociationProtectionEnabled" in request:
        _eventual(definition)["protected"] = request["DisassociationProtectionEnabled"]
    home = region_of(definition["description"]["TableArn"])
    before = definition["replication"]["replicas"] if "replication" in definition else {}
    shown, status = dict(before), dict[str, str]()
    for kind, update in _updates(request.get("ReplicaUpdates", [])):
        region = update["RegionName"]
        if kind == "Disassociate":
            _disassociate(transaction, definition, region)
            return []
        if region == home:
            raise validation_error(
                "Cannot add, delete, or update the local region through ReplicaUpdates. Use CreateTable, DeleteTable, "
                "or UpdateTable as required."
            )
        if kind == "Create":
            _create(transaction, definition, update, request)
        else:
            _existing(definition, region)
        if kind == "Delete":
            del definition["replication"]["replicas"][region]
        else:
            _override(definition, update)
            shown[region] = definition["replication"]["replicas"][region]
        status[region] = {"Create": "CREATING", "Update": "UPDATING", "Delete": "DELETING"}[kind]
    _change_witness(definition, request)
    _check_group(transaction, table, definition, created="CREATING" in status.values())
    if "replication" in definition and not definition["replication"]["replicas"]:
        del definition["replication"]
    arn = definition["description"]["TableArn"]
    return [describe_replica(shown[region], region, arn, status.get(region, "ACTIVE")) for region in sorted(shown)]


def _updates(given: list[dict[str, ReplicaAction]]) -> list[tuple[str, ReplicaAction]]:
    """The updates of a request that was checked, as pairs of kind and action."""
    return [pair for update in given for pair in update.items()]


def changing_witnesses(request: ReplicasRequest) -> list[dict[str, str]]:
    """Return the witnesses as the answer shows them while they change."""
    status = {"Create": "CREATING", "Delete": "DELETING"}
    return [
        {"RegionName": update["RegionName"], "WitnessStatus": status[kind]}
        for kind, update in _updates(request.get("GlobalTableWitnessUpdates", []))
    ]


def _new(request: ReplicasRequest) -> Replication:
    consistency = request.get("MultiRegionConsistency", EVENTUAL)
    return {"replicas": {}, "consistency": consistency, "witness": None, "protected": True, "overrides": {}}


def _create(transaction: Transaction, definition: Definition, update: ReplicaAction, request: ReplicasRequest) -> None:
    description, region = definition["description"], update["RegionName"]
    replication = definition.setdefault("replication", _new(request))
    if replication["consistency"] != request.get("MultiRegionConsistency", replication["consistency"]):
        raise invalid_parameter("The consistency mode of a global table can't be changed")
    if has_writer(transaction, transaction.catalog.tables[description["TableName"]]):
        raise in_use(
            "Attempt to change a resource which is still in use: A bulk operation puts items into the table: "
            + description["TableName"]
        )
    if (
        region in replication["replicas"]
        or region == replication["witness"]
        or (description["TableName"] in transaction.catalog.in_region(region).tables)
    ):
        raise validation_error(
            f"Failed to create a the new replica of table with name: '{description['TableName']}' because one or more "
            "replicas already existed as tables."
        )
    replication["replicas"][region] = {}
    stream = description.get("StreamSpecification")
    if replication["consistency"] == EVENTUAL and stream is not None and stream["StreamViewType"] != STREAM_VIEW:
        raise invalid_parameter(f"The stream of a Global Table replica must have the view type {STREAM_VIEW}")


def check_write_scaling(definition: Definition) -> None:
    """Refuse a global table whose write capacity could differ between regions."""
    if "replication" not in definition or billing_of(definition["description"]) == "PAY_PER_REQUEST":
        return
    if not is_scaled(definition, ScalingTarget("Write")):
        raise validation_error("Table write capacity should either be Pay-Per-Request or AutoScaled.")
    for index in definition["description"].get("GlobalSecondaryIndexes", []):
        if not is_scaled(definition, ScalingTarget("Write", index_name=index["IndexName"])):
            raise validation_error(
                f"Write capacity of index {index['IndexName']} should either be Pay-Per-Request or AutoScaled."
            )


def check_stream_change(definition: Definition) -> None:
    """Refuse to disable the stream from which a global table is replicated."""
    replication = definition.get("replication")
    if replication is not None and replication["consistency"] == EVENTUAL:
        raise invalid_parameter("Disabling Stream is not allowed for a Global Table replica.")


def needs_stream(table: Table) -> bool:
    """Whether a table became a global table and has no stream yet."""
    replication = table.definition.get("replication")
    return replication is not None and replication["consistency"] == EVENTUAL and table.stream is None


def forget_index(definition: Definition, index: str) -> None:
    """Remove the overrides of an index that is deleted."""
    for replica in definition.get("replication", _new({}))["replicas"].values():
        kept = [each for each in replica.get("GlobalSecondaryIndexes", []) if each["IndexName"] != index]
        if kept:
            replica["GlobalSecondaryIndexes"] = kept
        else:
            replica.pop("GlobalSecondaryIndexes", None)


def _existing(definition: Definition, region: str) -> ReplicaDescription:
    replicas = definition["replication"]["replicas"] if "replication" in definition else {}
    if region not in replicas:
        raise validation_error(
            "Replica specified in the Replica Update or Replica Delete action of the request was not found."
        )
    return replicas[region]


def _override(definition: Definition, update: ReplicaAction) -> None:
    """Check the overrides of a replica and store them."""
    description, replica = definition["description"], _existing(definition, update["RegionName"])
    _check_overrides(cast(dict[str, object], update), billing_of(description), None)
    for index in update.get("GlobalSecondaryIndexes", []):
        name = str(index["IndexName"])
        if not any(other["IndexName"] == name for other in description.get("GlobalSecondaryIndexes", [])):
            raise invalid_parameter(f"The table has no global secondary index {name}, which the replica overrides")
        _check_overrides(index, billing_of(description), name)
    given: dict[str, object] = {member: value for member, value in update.items() if member in _OVERRIDES}
    cast(dict[str, object], replica).update(given)
    if "TableClassOverride" in update:
        replica["ReplicaTableClassSummary"] = {"TableClass": update["TableClassOverride"]}


def _check_overrides(given: dict[str, object], billing: str, index: str | None) -> None:
    place = f" for index: {index}" if index else ""
    if "ProvisionedThroughputOverride" in given and billing == "PAY_PER_REQUEST":
        raise invalid_parameter(
            f"ProvisionedThroughputOverride can't be specified{place} when BillingMode is PAY_PER_REQUEST"
        )
    limits = cast(dict[str, int], given.get("OnDemandThroughputOverride", {}))
    check_on_demand({"OnDemandThroughput": limits}, billing, index=index, create=False)


def _change_witness(definition: Definition, request: ReplicasRequest) -> None:
    replication = definition.get("replication")
    for kind, update in _updates(request.get("GlobalTableWitnessUpdates", [])):
        region = update["RegionName"]
        if kind == "Create":
            assert replication is not None  # a witness is created only together with a replica
            if region in replication["replicas"] or region == region_of(definition["description"]["TableArn"]):
                raise invalid_parameter("The witness must be in a different Region than the replicas")
            replication["witness"] = region
        else:
            if replication is None or replication["witness"] != region:
                raise validation_error(f"The global table has no witness in the Region {region}")
            replication["witness"] = None


def _check_group(transaction: Transaction, table: Table, definition: Definition, *, created: bool) -> None:
    """Check the rules for all regions of a global table together."""
    check_write_scaling(definition)
    replication = definition.get("replication")
    if replication is None or replication["consistency"] != STRONG:
        return
    witness = [replication["witness"]] if replication["witness"] else []
    regions = {region_of(definition["description"]["TableArn"]), *replication["replicas"], *witness}
    if replication["replicas"]:
        if len(regions) != STRONG_REGIONS:
            raise invalid_parameter(
                "A global table with STRONG consistency must have three replicas, or two replicas and a witness"
            )
    elif witness:
        raise invalid_parameter("The witness must be deleted together with the last replica")
    if not any(regions <= allowed for allowed in REGION_SETS):
        raise invalid_parameter("All Regions of a global table with STRONG consistency must be in the same Region set")
    if created:
        _check_can_be_strong(transaction, table)


def _check_can_be_strong(transaction: Transaction, table: Table) -> None:
    problem = (
        "must be empty"
        if transaction.measure(table)[0]
        else "must not have a time to live"
        if table.definition["ttl"] is not None
        else "must not have local secondary indexes"
        if table.has_local_indexes
        else None
    )
    if problem is not None:
        raise invalid_parameter(f"A table {problem} to become a global table with STRONG consistency")


def leave_replication(transaction: Transaction, table: Table) -> None:
    """Delete a replica, in its own region: the table goes on in the other regions."""
    own = region_of(table.arn)
    region = min(table.definition["replication"]["replicas"])
    definition = definition_in(table.definition, region)
    del definition["replication"]["replicas"][own]
    if not definition["replication"]["replicas"]:
        del definition["replication"]
    transaction.save(Table(table.number, definition))


def _disassociate(transaction: Transaction, definition: Definition, region: str) -> None:
    replication = _eventual(definition)
    if transaction.catalog.separate:
        # The other replicas would need the items, which the replicas share.
        raise invalid_parameter("Replicas can't be disassociated where this endpoint keeps regions separate")
    if region != region_of(definition["description"]["TableArn"]):
        raise invalid_parameter("Only the local replica can be disassociated: send the request to its Region")
    if replication["protected"]:
        raise validation_error(
            "Replica cannot be disassociated as it is currently protected against disassociation. "
            "Disable disassociation protection first."
        )
    del definition["replication"]


def _eventual(definition: Definition) -> Replication:
    """The replication of a global table that can be disassociated; raises an error for any other table."""
    replication = definition.get("replication")
    if replication is None:
        raise invalid_parameter("The table is not a replica of a global table with version 2019.11.21")
    if replication["consistency"] != EVENTUAL:
        raise invalid_parameter("A replica of a global table with STRONG consistency can't be disassociated")
    return replication
