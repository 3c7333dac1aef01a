"""How the replicas of a global table (version 2019.11.21) are described, as a part of the table's description."""

from keyplan.engine.storage.catalog import Definition
from keyplan.engine.storage.descriptions import ReplicaDescription, TableDescription
from keyplan.engine.storage.scopes import arn_in

VERSION = "2019.11.21"
SETTINGS_MODE = "ENABLED_WITH_OVERRIDES"
"""How settings are replicated in a global table of a single account."""
EVENTUAL, STRONG = "EVENTUAL", "STRONG"


def region_of(arn: str) -> str:
    """Return the region in an ARN."""
    return arn.split(":")[3]


def replication_of(definition: Definition) -> TableDescription:
    """Return what the description of a table says about its replicas; nothing if it has none."""
    replication = definition.get("replication")
    if replication is None:
        return {}
    arn, consistency = definition["description"]["TableArn"], replication["consistency"]
    described: TableDescription = {
        "GlobalTableVersion": VERSION,
        "Replicas": [
            describe_replica(replica, region, arn) for region, replica in sorted(replication["replicas"].items())
        ],
        "GlobalTableSettingsReplicationMode": SETTINGS_MODE,
        "MultiRegionConsistency": consistency,
    }
    if consistency == EVENTUAL:
        described["DisassociationProtectionEnabled"] = replication["protected"]
    if replication["witness"] is not None:
        described["GlobalTableWitnesses"] = [{"RegionName": replication["witness"], "WitnessStatus": "ACTIVE"}]
    return described


def describe_replica(
    replica: ReplicaDescription, region: str, table_arn: str, status: str = "ACTIVE"
) -> ReplicaDescription:
    """Return the description of the replica in a region."""
    return {
        **replica,
        "RegionName": region,
        "ReplicaStatus": status,
        "ReplicaArn": arn_in(table_arn, region),
        "GlobalTableSettingsReplicationMode": SETTINGS_MODE,
    }
