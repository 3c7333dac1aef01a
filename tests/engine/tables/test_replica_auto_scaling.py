"""Auto scaling settings of tables and their replicas: stored and described; capacity doesn't change."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.support import index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

ROLE = (
    "arn:aws:iam::000000000000:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
DISABLED = {"AutoScalingDisabled": True, "ScalingPolicies": []}
INVALID = "One or more parameter values were invalid: "


def provisioned(client: "DynamoDBClient") -> str:
    by_name = {**index("by-name", "name"), "ProvisionedThroughput": UNITS}
    return make_table(client, gsis=[by_name], BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)


def described(client: "DynamoDBClient", table: str) -> Any:
    return client.describe_table_replica_auto_scaling(TableName=table)["TableAutoScalingDescription"]


def policy(target: float, **members: Any) -> Any:
    return {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": target}, **members}


def test_a_table_without_settings(client: "DynamoDBClient") -> None:
    table = provisioned(client)
    assert described(client, table) == {
        "TableName": table,
        "TableStatus": "ACTIVE",
        "Replicas": [
            {
                "RegionName": "us-east-1",
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "by-name",
                        "IndexStatus": "ACTIVE",
                        "ProvisionedReadCapacityAutoScalingSettings": DISABLED,
                        "ProvisionedWriteCapacityAutoScalingSettings": DISABLED,
                    }
                ],
                "ReplicaProvisionedReadCapacityAutoScalingSettings": DISABLED,
                "ReplicaProvisionedWriteCapacityAutoScalingSettings": DISABLED,
                "ReplicaStatus": "ACTIVE",
            }
        ],
    }


def test_settings_of_a_table_its_index_and_a_replica(client: "DynamoDBClient") -> None:
    table = provisioned(client)
    answer: Any = client.update_table_replica_auto_scaling(
        TableName=table,
        ProvisionedWriteCapacityAutoScalingUpdate={
            "MinimumUnits": 10,
            "MaximumUnits": 100,
            "AutoScalingDisabled": False,
            "ScalingPolicyUpdate": policy(80),
        },
        GlobalSecondaryIndexUpdates=[
            {
                "IndexName": "by-name",
                "ProvisionedWriteCapacityAutoScalingUpdate": {
                    "MinimumUnits": 1,
                    "MaximumUnits": 2,
                    "ScalingPolicyUpdate": policy(20.5, PolicyName="mine"),
                    "AutoScalingRoleArn": "arn:aws:iam::000000000000:role/mine",
                },
            }
        ],
    )
    assert answer["TableAutoScalingDescription"]["TableStatus"] == "UPDATING"
    client.update_table(TableName=table, ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    scaling: Any = {"MinimumUnits": 3, "MaximumUnits": 4, "ScalingPolicyUpdate": policy(70)}
    client.update_table_replica_auto_scaling(
        TableName=table,
        ReplicaUpdates=[
            {
                "RegionName": "eu-west-1",
                "ReplicaProvisionedReadCapacityAutoScalingUpdate": scaling,
                "ReplicaGlobalSecondaryIndexUpdates": [
                    {"IndexName": "by-name", "ProvisionedReadCapacityAutoScalingUpdate": scaling}
                ],
            }
        ],
    )
    replica, own = described(client, table)["Replicas"]
    assert (replica["RegionName"], own["RegionName"]) == ("eu-west-1", "us-east-1")
    assert own["ReplicaProvisionedWriteCapacityAutoScalingSettings"] == {
        "MinimumUnits": 10,
        "MaximumUnits": 100,
        "AutoScalingRoleArn": ROLE,
        "ScalingPolicies": [policy(80.0, PolicyName=f"DynamoDBWriteCapacityUtilization:table/{table}")],
    }
    # Write capacity is that of all replicas, read capacity that of each.
    assert (
        replica["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
        == own["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
    )
    assert own["ReplicaProvisionedReadCapacityAutoScalingSettings"] == DISABLED
    assert replica["ReplicaProvisionedReadCapacityAutoScalingSettings"]["ScalingPolicies"] == [
        policy(70.0, PolicyName=f"DynamoDBReadCapacityUtilization:table/{table}")
    ]
    (by_name,) = replica["GlobalSecondaryIndexes"]
    assert by_name["ProvisionedReadCapacityAutoScalingSettings"]["ScalingPolicies"] == [
        policy(70.0, PolicyName=f"DynamoDBReadCapacityUtilization:table/{table}/index/by-name")
    ]
    assert by_name["ProvisionedWriteCapacityAutoScalingSettings"] == {
        "MinimumUnits": 1,
        "MaximumUnits": 2,
        "AutoScalingRoleArn": "arn:aws:iam::000000000000:role/mine",
        "ScalingPolicies": [policy(20.5, PolicyName="mine")],
    }


def test_settings_are_changed_in_part_and_disabled(client: "DynamoDBClient") -> None:
    table = provisioned(client)

    def change(**members: Any) -> Any:
        client.update_table_replica_auto_scaling(
            TableName=table,
            ProvisionedWriteCapacityAutoScalingUpdate=members,  # type: ignore[arg-type]
        )
        return described(client, table)["Replicas"][0]["ReplicaProvisionedWriteCapacityAutoScalingSettings"]

    change(MinimumUnits=1, MaximumUnits=5, ScalingPolicyUpdate=policy(50))
    changed = change(MaximumUnits=9)
    assert (changed["MinimumUnits"], changed["MaximumUnits"], len(changed["ScalingPolicies"])) == (1, 9, 1)
    assert change(AutoScalingDisabled=True) == DISABLED


@pytest.mark.parametrize(
    ("scaling", "problem"),
    [
        ({"MinimumUnits": 1}, "MinimumUnits and MaximumUnits must be specified for auto scaling of the table"),
        (
            {"MinimumUnits": 2, "MaximumUnits": 1},
            "MinimumUnits 2 is greater than MaximumUnits 1 for auto scaling of the table",
        ),
        (
            {"MinimumUnits": 1, "MaximumUnits": 2, "ScalingPolicyUpdate": policy(91)},
            "TargetValue 91 is not between 20.0 and 90.0 for auto scaling of the table",
        ),
    ],
)
def test_which_settings_are_refused(client: "DynamoDBClient", scaling: Any, problem: str) -> None:
    table = provisioned(client)
    with refused(INVALID + problem):
        client.update_table_replica_auto_scaling(TableName=table, ProvisionedWriteCapacityAutoScalingUpdate=scaling)


def test_what_else_is_refused(client: "DynamoDBClient") -> None:
    table, scaling = provisioned(client), {"MinimumUnits": 1, "MaximumUnits": 2}
    with refused("Auto scaling is not available for tables with BillingMode PAY_PER_REQUEST"):
        client.update_table_replica_auto_scaling(
            TableName=make_table(client),
            ProvisionedWriteCapacityAutoScalingUpdate=scaling,  # type: ignore[arg-type]
        )
    with refused(
        "Requested resource not found: The table has no replica in the Region eu-west-1", "ResourceNotFoundException"
    ):
        client.update_table_replica_auto_scaling(TableName=table, ReplicaUpdates=[{"RegionName": "eu-west-1"}])
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.update_table_replica_auto_scaling(
            TableName=table, GlobalSecondaryIndexUpdates=[{"IndexName": "missing"}]
        )
    for call in (client.describe_table_replica_auto_scaling, client.update_table_replica_auto_scaling):
        with refused("Requested resource not found: Table: missing not found", "ResourceNotFoundException"):
            call(TableName="missing")
