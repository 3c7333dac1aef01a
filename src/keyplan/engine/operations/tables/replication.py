"""How the replicas of a global table (version 2019.11.21) are described, as a part of the table's description."""

import re

from keyplan.engine.errors import validation_error
from keyplan.engine.storage.catalog import Definition
from keyplan.engine.storage.descriptions import ReplicaDescription, TableDescription
from keyplan.engine.storage.scopes import arn_in

VERSION = "2019.11.21"
SETTINGS_MODE = "ENABLED_WITH_OVERRIDES"
"""How settings are replicated in a global table of a single account."""
EVENTUAL, STRONG = "EVENTUAL", "STRONG"

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d{1,2}")


def region_of(arn: str) -> str:
    """Return the region in an ARN."""
    return arn.split(":")[3]


def check_region(name: str) -> None:
    """Refuse what can't be the name of a region."""
    if not _REGION.fullmatch(name):
        raise validation_error(f"1 validation error detected: Invalid AWS region in '{name}'")


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
