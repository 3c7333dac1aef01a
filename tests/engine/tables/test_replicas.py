"""Global tables, version 2019.11.21: replicas, witnesses, consistency, and protection against disassociation."""

from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.engine.support import index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}


def update(client: "DynamoDBClient", table: str, *updates: dict[str, Any], **members: Any) -> Any:
    if updates:
        members["ReplicaUpdates"] = list(updates)
    return client.update_table(TableName=table, **members)["TableDescription"]


def create(region: str, **members: Any) -> dict[str, Any]:
    return {"Create": {"RegionName": region, **members}}


def delete(region: str) -> dict[str, Any]:
    return {"Delete": {"RegionName": region}}


def described(client: "DynamoDBClient", table: str) -> Any:
    return client.describe_table(TableName=table)["Table"]


def regions(client: "DynamoDBClient", table: str) -> list[str]:
    return [replica["RegionName"] for replica in described(client, table).get("Replicas", [])]


def replica(table: str, region: str, **members: Any) -> dict[str, Any]:
    return {
        "RegionName": region,
        "ReplicaStatus": "ACTIVE",
        "ReplicaArn": f"arn:aws:dynamodb:{region}:000000000000:table/{table}",
        "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES",
        **members,
    }


def test_replicas_are_created_and_deleted(client: "DynamoDBClient") -> None:
    table = make_table(client)
    assert "GlobalTableVersion" not in described(client, table)
    answer = update(client, table, create("eu-west-1"))
    assert answer["TableStatus"] == "UPDATING"
    assert answer["Replicas"] == [replica(table, "eu-west-1", ReplicaStatus="CREATING")]
    client.get_waiter("table_exists").wait(TableName=table)
    found = described(client, table)
    assert found["Replicas"] == [replica(table, "eu-west-1")]
    assert (found["GlobalTableVersion"], found["MultiRegionConsistency"]) == ("2019.11.21", "EVENTUAL")
    assert found["GlobalTableSettingsReplicationMode"] == "ENABLED_WITH_OVERRIDES"
    assert found["DisassociationProtectionEnabled"] is True
    # AWS replicates from a stream, which it enables by itself.
    assert found["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    answer = update(client, table, create("ap-south-1"), delete("eu-west-1"))
    assert [(each["RegionName"], each["ReplicaStatus"]) for each in answer["Replicas"]] == [
        ("ap-south-1", "CREATING"),
        ("eu-west-1", "DELETING"),
    ]
    assert regions(client, table) == ["ap-south-1"]
    update(client, table, delete("ap-south-1"))
    found = described(client, table)
    assert {"Replicas", "GlobalTableVersion", "MultiRegionConsistency", "DisassociationProtectionEnabled"}.isdisjoint(
        found
    )


def test_overrides_of_a_replica(client: "DynamoDBClient") -> None:
    table = make_table(client, gsis=[index("by-name", "name")])
    overrides = {
        "KMSMasterKeyId": "alias/mine",
        "OnDemandThroughputOverride": {"MaxReadRequestUnits": 100},
        "GlobalSecondaryIndexes": [
            {"IndexName": "by-name", "OnDemandThroughputOverride": {"MaxReadRequestUnits": 50}},
        ],
    }
    update(client, table, create("eu-west-1", **overrides, TableClassOverride="STANDARD_INFREQUENT_ACCESS"))
    classes = {"ReplicaTableClassSummary": {"TableClass": "STANDARD_INFREQUENT_ACCESS"}}
    assert described(client, table)["Replicas"] == [replica(table, "eu-west-1", **overrides, **classes)]
    changed = {"RegionName": "eu-west-1", "OnDemandThroughputOverride": {"MaxReadRequestUnits": 200}}
    answer = update(client, table, {"Update": changed})
    assert answer["Replicas"][0]["ReplicaStatus"] == "UPDATING"
    found = described(client, table)["Replicas"][0]
    assert found["OnDemandThroughputOverride"] == {"MaxReadRequestUnits": 200}
    assert found["KMSMasterKeyId"] == "alias/mine"
    update(client, table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-name"}}])
    assert "GlobalSecondaryIndexes" not in described(client, table)["Replicas"][0]


def test_a_provisioned_table_needs_auto_scaling_for_writes(client: "DynamoDBClient") -> None:
    table = make_table(client, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    with refused("Table write capacity should either be Pay-Per-Request or AutoScaled."):
        update(client, table, create("eu-west-1"))
    client.update_table_replica_auto_scaling(
        TableName=table, ProvisionedWriteCapacityAutoScalingUpdate={"MinimumUnits": 1, "MaximumUnits": 10}
    )
    update(client, table, create("eu-west-1", ProvisionedThroughputOverride={"ReadCapacityUnits": 7}))
    found = described(client, table)["Replicas"][0]
    assert found["ProvisionedThroughputOverride"] == {"ReadCapacityUnits": 7}
    on_demand = make_table(client)
    update(client, on_demand, create("eu-west-1"))
    with refused("Table write capacity should either be Pay-Per-Request or AutoScaled."):
        update(client, on_demand, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)


def test_the_stream_of_a_replica_stays(client: "DynamoDBClient") -> None:
    table = make_table(client, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    with refused(INVALID + "The stream of a Global Table replica must have the view type NEW_AND_OLD_IMAGES"):
        update(client, table, create("eu-west-1"))
    update(client, table, StreamSpecification={"StreamEnabled": False})
    update(client, table, create("eu-west-1"))
    with refused(INVALID + "Disabling Stream is not allowed for a Global Table replica."):
        update(client, table, StreamSpecification={"StreamEnabled": False})
    update(client, table, delete("eu-west-1"))
    update(client, table, StreamSpecification={"StreamEnabled": False})


def test_strong_consistency_between_three_regions(client: "DynamoDBClient") -> None:
    table = make_table(client)
    update(client, table, create("us-east-2"), create("us-west-2"), MultiRegionConsistency="STRONG")
    found = described(client, table)
    assert (found["MultiRegionConsistency"], regions(client, table)) == ("STRONG", ["us-east-2", "us-west-2"])
    assert {"GlobalTableWitnesses", "DisassociationProtectionEnabled", "StreamSpecification"}.isdisjoint(found)
    item: Any = {"TableName": table, "Key": {"pk": {"S": "a"}}}
    check: Any = {**item, "ConditionExpression": "attribute_not_exists(pk)"}
    no_transactions = f"Transactions aren't supported for global tables with STRONG consistency: Table: {table}"
    with refused(no_transactions):
        client.transact_write_items(TransactItems=[{"ConditionCheck": check}])
    with refused(no_transactions):
        client.transact_get_items(TransactItems=[{"Get": item}])
    with refused(no_transactions):
        client.execute_transaction(TransactStatements=[{"Statement": f"SELECT * FROM \"{table}\" WHERE pk = 'a'"}])
    client.batch_execute_statement(Statements=[{"Statement": f"SELECT * FROM \"{table}\" WHERE pk = 'a'"}])
    with refused("TimeToLive can't be enabled on a global table with STRONG consistency"):
        client.update_time_to_live(
            TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
        )
    with refused(INVALID + "A replica of a global table with STRONG consistency can't be disassociated"):
        update(
            client, table, {"Disassociate": {"RegionName": "us-east-1", "DisassociationMode": "WAIT_FOR_REPLICATION"}}
        )
    with refused(
        "A replica of a global table with STRONG consistency can't be deleted. Delete the other replicas, and the "
        "witness if there is one, with UpdateTable first."
    ):
        client.delete_table(TableName=table)
    with refused(
        INVALID + "A global table with STRONG consistency must have three replicas, or two replicas and a witness"
    ):
        update(client, table, delete("us-west-2"))
    update(client, table, delete("us-west-2"), delete("us-east-2"))
    client.delete_table(TableName=table)


def test_a_witness(client: "DynamoDBClient") -> None:
    table = make_table(client)
    witness: Any = [{"Create": {"RegionName": "us-west-2"}}]
    with refused(INVALID + "A witness can be created only together with a replica and STRONG consistency"):
        update(client, table, create("us-east-2"), GlobalTableWitnessUpdates=witness)
    answer = update(
        client, table, create("us-east-2"), GlobalTableWitnessUpdates=witness, MultiRegionConsistency="STRONG"
    )
    assert answer["GlobalTableWitnesses"] == [{"RegionName": "us-west-2", "WitnessStatus": "CREATING"}]
    found = described(client, table)
    assert found["GlobalTableWitnesses"] == [{"RegionName": "us-west-2", "WitnessStatus": "ACTIVE"}]
    with refused(INVALID + "The witness must be deleted together with the last replica"):
        update(client, table, delete("us-east-2"))
    with refused("The global table has no witness in the Region us-east-2"):
        update(client, table, GlobalTableWitnessUpdates=[{"Delete": {"RegionName": "us-east-2"}}])
    gone: Any = [{"Delete": {"RegionName": "us-west-2"}}]
    with refused(
        INVALID + "A global table with STRONG consistency must have three replicas, or two replicas and a witness"
    ):
        update(client, table, GlobalTableWitnessUpdates=gone)
    answer = update(client, table, delete("us-east-2"), GlobalTableWitnessUpdates=gone)
    assert answer["GlobalTableWitnesses"] == [{"RegionName": "us-west-2", "WitnessStatus": "DELETING"}]
    assert {"GlobalTableWitnesses", "Replicas"}.isdisjoint(described(client, table))


def test_what_strong_consistency_needs(client: "DynamoDBClient") -> None:
    strong = {"MultiRegionConsistency": "STRONG"}
    both = (create("us-east-2"), create("us-west-2"))
    table = make_table(client)
    with refused(
        INVALID + "A global table with STRONG consistency must have three replicas, or two replicas and a witness"
    ):
        update(client, table, create("us-east-2"), **strong)
    with refused(INVALID + "All Regions of a global table with STRONG consistency must be in the same Region set"):
        update(client, table, create("us-east-2"), create("eu-west-1"), **strong)
    client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    with refused(INVALID + "A table must be empty to become a global table with STRONG consistency"):
        update(client, table, *both, **strong)
    other = make_table(client)
    client.update_time_to_live(TableName=other, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
    with refused(INVALID + "A table must not have a time to live to become a global table with STRONG consistency"):
        update(client, other, *both, **strong)
    indexed = make_table(client, range="sk", lsis=[index("by-at", "pk", "at")])
    with refused(
        INVALID + "A table must not have local secondary indexes to become a global table with STRONG consistency"
    ):
        update(client, indexed, *both, **strong)
    update(client, table, create("us-east-2"))
    with refused(INVALID + "The consistency mode of a global table can't be changed"):
        update(client, table, create("us-west-2"), **strong)


def test_the_local_replica_is_disassociated(client: "DynamoDBClient") -> None:
    table = make_table(client)
    alone: Any = {"Disassociate": {"RegionName": "us-east-1", "DisassociationMode": "WAIT_FOR_REPLICATION"}}
    other: Any = {"Disassociate": {"RegionName": "eu-west-1", "DisassociationMode": "WAIT_FOR_REPLICATION"}}
    not_global = INVALID + "The table is not a replica of a global table with version 2019.11.21"
    with refused(not_global):
        update(client, table, alone)
    with refused(not_global):
        update(client, table, DisassociationProtectionEnabled=False)
    update(client, table, create("eu-west-1"))
    with refused(
        "Replica cannot be disassociated as it is currently protected against disassociation. "
        "Disable disassociation protection first."
    ):
        update(client, table, alone)
    with refused(INVALID + "DisassociationProtectionEnabled must be the only change in the request"):
        update(client, table, DisassociationProtectionEnabled=False, DeletionProtectionEnabled=False)
    answer = update(client, table, DisassociationProtectionEnabled=False)
    assert answer["DisassociationProtectionEnabled"] is False
    with refused(INVALID + "Only the local replica can be disassociated: send the request to its Region"):
        update(client, table, other)
    with refused(INVALID + "Disassociate must be the only replica update in the request"):
        update(client, table, alone, create("ap-south-1"))
    client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    update(client, table, alone)
    found = described(client, table)
    assert (found["TableStatus"], found["ItemCount"]) == ("ACTIVE", 1)
    assert {"Replicas", "GlobalTableVersion"}.isdisjoint(found)


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        (
            {"ReplicaUpdates": [create("us-east-1")]},
            (
                "Cannot add, delete, or update the local region through ReplicaUpdates. Use CreateTable, DeleteTable, "
                "or UpdateTable as required."
            ),
        ),
        (
            {"ReplicaUpdates": [create("eu-west-1")]},
            (
                "Failed to create a the new replica of table with name: 'music' because one or more replicas already "
                "existed as tables."
            ),
        ),
        (
            {"ReplicaUpdates": [delete("eu-west-2")]},
            "Replica specified in the Replica Update or Replica Delete action of the request was not found.",
        ),
        (
            {"ReplicaUpdates": [{"Update": {"RegionName": "eu-west-2", "KMSMasterKeyId": "mine"}}]},
            "Replica specified in the Replica Update or Replica Delete action of the request was not found.",
        ),
        (
            {"ReplicaUpdates": [{"Update": {"RegionName": "eu-west-1"}}]},
            INVALID + "KMSMasterKeyId must be specified for each replica.",
        ),
        (
            {"ReplicaUpdates": [{}]},
            INVALID
            + "One of ReplicationGroupUpdate.Create, ReplicationGroupUpdate.Update, ReplicationGroupUpdate.Delete, "
            "ReplicationGroupUpdate.Disassociate must not be null",
        ),
        (
            {"ReplicaUpdates": [{**create("eu-west-2"), **delete("eu-west-1")}]},
            INVALID + "Only one of ReplicationGroupUpdate.Create, ReplicationGroupUpdate.Update, "
            "ReplicationGroupUpdate.Delete, ReplicationGroupUpdate.Disassociate may be specified",
        ),
        (
            {"ReplicaUpdates": [create("eu-west-2"), delete("eu-west-2")]},
            INVALID + "Only one replica update per Region is allowed in a request",
        ),
        ({"ReplicaUpdates": [create("mars")]}, "1 validation error detected: Invalid AWS region in 'mars'"),
        (
            {"ReplicaUpdates": [delete("eu-west-1")], "MultiRegionConsistency": "EVENTUAL"},
            INVALID + "MultiRegionConsistency can be specified only when a replica is created",
        ),
        (
            {"ReplicaUpdates": [create("eu-west-2", ProvisionedThroughputOverride={"ReadCapacityUnits": 1})]},
            INVALID + "ProvisionedThroughputOverride can't be specified when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"ReplicaUpdates": [create("eu-west-2", OnDemandThroughputOverride={"MaxReadRequestUnits": 0})]},
            INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range",
        ),
        (
            {"ReplicaUpdates": [create("eu-west-2", GlobalSecondaryIndexes=[{"IndexName": "missing"}])]},
            INVALID + "The table has no global secondary index missing, which the replica overrides",
        ),
        (
            {"GlobalTableSettingsReplicationMode": "ENABLED"},
            INVALID + "GlobalTableSettingsReplicationMode can't be changed for a Global Table replica",
        ),
    ],
)
def test_what_is_refused(client: "DynamoDBClient", members: dict[str, Any], problem: str) -> None:
    make_table(client, name="music")
    update(client, "music", create("eu-west-1"))
    before = described(client, "music")
    with refused(problem):
        update(client, "music", **members)
    assert described(client, "music") == before


def test_how_settings_of_a_regional_table_are_replicated(client: "DynamoDBClient") -> None:
    table = make_table(client, GlobalTableSettingsReplicationMode="ENABLED")
    assert described(client, table)["GlobalTableSettingsReplicationMode"] == "ENABLED"
    update(client, table, GlobalTableSettingsReplicationMode="DISABLED")
    assert described(client, table)["GlobalTableSettingsReplicationMode"] == "DISABLED"
    mode = cast(Any, {"GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES"})
    with refused(INVALID + "GlobalTableSettingsReplicationMode must be ENABLED or DISABLED"):
        update(client, table, **mode)
    with refused(INVALID + "GlobalTableSettingsReplicationMode must be ENABLED or DISABLED"):
        make_table(client, **mode)
    with refused(
        INVALID
        + "GlobalTableSourceArn must be the ARN of a table in another account, and this endpoint has one account"
    ):
        make_table(client, GlobalTableSourceArn=described(client, table)["TableArn"])
