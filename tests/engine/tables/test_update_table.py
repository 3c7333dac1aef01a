"""UpdateTable: billing, throughput, settings, and the rules about changing indexes."""

from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from tests.engine.support import Clock, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

INVALID = "One or more parameter values were invalid: "
REDEFINED = (
    INVALID + "Attributes cannot be redefined. "
    "Please check that your attribute has the same type as previously defined. "
)
NOT_WITH_REQUESTS = (
    INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
)


def units(read: int, write: int) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def create(name: str, attribute: str = "group", **more: Any) -> Any:
    """The update that adds an index."""
    made = {
        "IndexName": name,
        "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        **more,
    }
    return {"Create": made}


GROUP: Any = [{"AttributeName": "group", "AttributeType": "S"}]


def test_something_must_be_changed(client: "DynamoDBClient") -> None:
    table = make_table(client)
    message = (
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or "
        "SSESpecification or ReplicaUpdates is required"
    )
    with refused(message):
        client.update_table(TableName=table)
    with refused(message):
        client.update_table(TableName=table, GlobalSecondaryIndexUpdates=[])
    with refused(message):
        client.update_table(TableName="missing")


def test_the_answer_says_updating(client: "DynamoDBClient") -> None:
    table = make_table(client)
    changed = client.update_table(TableName=table, TableClass="STANDARD_INFREQUENT_ACCESS")["TableDescription"]
    assert changed["TableStatus"] == "UPDATING"
    described = client.describe_table(TableName=table)["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}


def test_throughput(client: "DynamoDBClient") -> None:
    gsi = {**index("gsi", "group"), "ProvisionedThroughput": units(1, 1)}
    table = make_table(client, gsis=[gsi], BillingMode="PROVISIONED", ProvisionedThroughput=units(5, 5))
    answered = client.update_table(
        TableName=table,
        ProvisionedThroughput={"ReadCapacityUnits": 6, "WriteCapacityUnits": 5},
        GlobalSecondaryIndexUpdates=[
            {"Update": {"IndexName": "gsi", "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}}}
        ],
    )["TableDescription"]
    # The answer shows what the table has until the change is made.
    assert answered["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert answered["GlobalSecondaryIndexes"][0]["IndexStatus"] == "UPDATING"
    assert answered["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["WriteCapacityUnits"] == 1
    described = client.describe_table(TableName=table)["Table"]
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 6
    assert described["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["WriteCapacityUnits"] == 2
    with refused(
        "The provisioned throughput for the table will not change. The requested value equals the current value. "
        "Current ReadCapacityUnits provisioned for the table: 6. Requested ReadCapacityUnits: 6. "
        "Current WriteCapacityUnits provisioned for the table: 5. Requested WriteCapacityUnits: 5. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    ):
        client.update_table(TableName=table, ProvisionedThroughput={"ReadCapacityUnits": 6, "WriteCapacityUnits": 5})
    with refused(
        "The provisioned throughput for the index gsi will not change. The requested value equals the current value. "
        "Current ReadCapacityUnits provisioned for the index: 1. Requested ReadCapacityUnits: 1. "
        "Current WriteCapacityUnits provisioned for the index: 2. Requested WriteCapacityUnits: 2. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    ):
        client.update_table(
            TableName=table,
            GlobalSecondaryIndexUpdates=[
                {
                    "Update": {
                        "IndexName": "gsi",
                        "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
                    }
                }
            ],
        )


def test_the_times_of_increases_and_decreases() -> None:
    clock = Clock()
    with Engine(clock=clock) as engine:
        table = make_table(engine, BillingMode="PROVISIONED", ProvisionedThroughput=units(5, 5))

        def change(read: int, write: int) -> dict[str, Any]:
            clock.now += 3600
            engine.update_table(
                TableName=table, ProvisionedThroughput={"ReadCapacityUnits": read, "WriteCapacityUnits": write}
            )
            return dict(engine.describe_table(TableName=table)["Table"]["ProvisionedThroughput"])

        first = change(6, 5)
        assert first["LastIncreaseDateTime"].timestamp() == clock.now
        assert "LastDecreaseDateTime" not in first
        assert change(5, 6)["NumberOfDecreasesToday"] == 1
        last = change(5, 1)
        assert last["NumberOfDecreasesToday"] == 2
        assert last["LastDecreaseDateTime"].timestamp() == clock.now
        clock.now += 86_400
        assert change(4, 1)["NumberOfDecreasesToday"] == 1


def test_between_the_billing_modes(client: "DynamoDBClient") -> None:
    gsi = {**index("gsi", "group"), "ProvisionedThroughput": units(1, 1)}
    table = make_table(client, gsis=[gsi], BillingMode="PROVISIONED", ProvisionedThroughput=units(5, 5))
    with refused(NOT_WITH_REQUESTS):
        client.update_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            ProvisionedThroughput={"ReadCapacityUnits": 6, "WriteCapacityUnits": 5},
        )
    client.update_table(TableName=table, BillingMode="PAY_PER_REQUEST", OnDemandThroughput={"MaxReadRequestUnits": 10})
    by_request = client.describe_table(TableName=table)["Table"]
    assert by_request["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert by_request["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert by_request["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    with refused(NOT_WITH_REQUESTS):
        client.update_table(TableName=table, ProvisionedThroughput={"ReadCapacityUnits": 6, "WriteCapacityUnits": 5})
    with refused(
        INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
    ):
        client.update_table(TableName=table, BillingMode="PROVISIONED")
    with refused(INVALID + "ProvisionedThroughput must be specified for index: gsi"):
        client.update_table(
            TableName=table,
            BillingMode="PROVISIONED",
            ProvisionedThroughput={"ReadCapacityUnits": 6, "WriteCapacityUnits": 5},
        )
    client.update_table(
        TableName=table,
        BillingMode="PROVISIONED",
        ProvisionedThroughput={"ReadCapacityUnits": 6, "WriteCapacityUnits": 5},
        GlobalSecondaryIndexUpdates=[
            {"Update": {"IndexName": "gsi", "ProvisionedThroughput": {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}}}
        ],
    )
    provisioned = client.describe_table(TableName=table)["Table"]
    assert provisioned["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    assert provisioned["ProvisionedThroughput"]["ReadCapacityUnits"] == 6
    assert provisioned["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["WriteCapacityUnits"] == 8
    assert "OnDemandThroughput" not in provisioned


def test_ceilings_are_merged_and_taken_away(client: "DynamoDBClient") -> None:
    table = make_table(client, OnDemandThroughput={"MaxReadRequestUnits": 20, "MaxWriteRequestUnits": 15})
    client.update_table(TableName=table, OnDemandThroughput={"MaxReadRequestUnits": 40})
    assert client.describe_table(TableName=table)["Table"]["OnDemandThroughput"] == {
        "MaxReadRequestUnits": 40,
        "MaxWriteRequestUnits": 15,
    }
    changed = client.update_table(TableName=table, OnDemandThroughput={"MaxReadRequestUnits": -1})["TableDescription"]
    assert changed["OnDemandThroughput"] == {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 15}
    assert client.describe_table(TableName=table)["Table"]["OnDemandThroughput"] == {"MaxWriteRequestUnits": 15}
    with refused(INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"):
        client.update_table(TableName=table, OnDemandThroughput={"MaxReadRequestUnits": 0})


def test_no_ceilings_where_throughput_is_provisioned(engine: Engine) -> None:
    table = make_table(engine, BillingMode="PROVISIONED", ProvisionedThroughput=units(5, 5))
    with refused(
        INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is "
        "PROVISIONED"
    ):
        engine.update_table(TableName=table, OnDemandThroughput={"MaxReadRequestUnits": 1})


def test_warm_throughput_only_grows(engine: Engine) -> None:
    table = make_table(engine)
    engine.update_table(TableName=table, WarmThroughput={"ReadUnitsPerSecond": 13_000})
    warm = engine.describe_table(TableName=table)["Table"]["WarmThroughput"]
    assert (warm["ReadUnitsPerSecond"], warm["WriteUnitsPerSecond"]) == (13_000, 4_000)
    with refused(
        INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, "
        "decreasing WarmThroughput is not supported"
    ):
        engine.update_table(TableName=table, WarmThroughput={"ReadUnitsPerSecond": 12_000})


def test_encryption_on_and_off(engine: Engine) -> None:
    table = make_table(engine)
    answered = engine.update_table(TableName=table, SSESpecification={"Enabled": True})["TableDescription"]
    assert answered["SSEDescription"] == {"Status": "UPDATING"}
    described = engine.describe_table(TableName=table)["Table"]["SSEDescription"]
    assert (described["Status"], described["SSEType"]) == ("ENABLED", "KMS")
    assert described["KMSMasterKeyArn"].startswith("arn:aws:kms:us-east-1:000000000000:key/")
    engine.update_table(TableName=table, SSESpecification={"Enabled": False})
    assert "SSEDescription" not in engine.describe_table(TableName=table)["Table"]


def test_an_index_is_added_and_removed(client: "DynamoDBClient") -> None:
    table = make_table(client)
    for number in range(3):
        client.put_item(TableName=table, Item={"pk": {"S": str(number)}, "group": {"S": "g"}})
    added = client.update_table(
        TableName=table, AttributeDefinitions=GROUP, GlobalSecondaryIndexUpdates=[create("gsi")]
    )["TableDescription"]
    (answered,) = added["GlobalSecondaryIndexes"]
    assert (answered["IndexStatus"], answered["Backfilling"]) == ("CREATING", False)
    described = client.describe_table(TableName=table)["Table"]
    assert {given["AttributeName"] for given in described["AttributeDefinitions"]} == {"pk", "group"}
    assert described["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    assert "Backfilling" not in described["GlobalSecondaryIndexes"][0]
    found = client.query(
        TableName=table,
        IndexName="gsi",
        KeyConditionExpression="#g = :g",
        ExpressionAttributeNames={"#g": "group"},
        ExpressionAttributeValues={":g": {"S": "g"}},
    )
    assert found["Count"] == 3
    removed = client.update_table(TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "gsi"}}])
    (leaving,) = removed["TableDescription"]["GlobalSecondaryIndexes"]
    assert (leaving["IndexName"], leaving["IndexStatus"], leaving["ItemCount"]) == ("gsi", "DELETING", 3)
    assert "Projection" not in leaving
    described = client.describe_table(TableName=table)["Table"]
    assert "GlobalSecondaryIndexes" not in described
    assert described["AttributeDefinitions"] == [{"AttributeName": "pk", "AttributeType": "S"}]
    with refused("The table does not have the specified index: gsi"):
        client.scan(TableName=table, IndexName="gsi")


def test_an_index_with_several_attributes_in_its_keys_is_added(engine: Engine) -> None:
    table = make_table(engine)
    for number in range(4):
        item: Any = {"pk": {"S": str(number)}, "x": {"S": "x"}, "y": {"N": str(number % 2)}, "z": {"S": "z"}}
        engine.put_item(TableName=table, Item=item)
    engine.put_item(TableName=table, Item={"pk": {"S": "no y"}, "x": {"S": "x"}, "z": {"S": "z"}})
    made: Any = index("wide", ["x", "y:N"], ["z", "pk"])
    del made["attributes"]
    engine.update_table(
        TableName=table,
        AttributeDefinitions=[
            {"AttributeName": "x", "AttributeType": "S"},
            {"AttributeName": "y", "AttributeType": "N"},
            {"AttributeName": "z", "AttributeType": "S"},
            {"AttributeName": "pk", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexUpdates=[{"Create": made}],
    )
    found = engine.query(
        TableName=table,
        IndexName="wide",
        KeyConditionExpression="x = :x AND y = :y AND z = :z",
        ExpressionAttributeValues={":x": {"S": "x"}, ":y": {"N": "1"}, ":z": {"S": "z"}},
    )
    assert [item["pk"]["S"] for item in found["Items"]] == ["1", "3"]


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        {"GlobalSecondaryIndexUpdates": [{}]},
        "ValidationException",
        INVALID + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
        "GlobalSecondaryIndexUpdate.Delete must not be null",
    ),
    (
        {"GlobalSecondaryIndexUpdates": [{**create("new"), "Delete": {"IndexName": "new"}}]},
        "ValidationException",
        INVALID + "Only one of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
        "GlobalSecondaryIndexUpdate.Delete may be specified",
    ),
    (
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "gsi"}}, create("gsi")]},
        "ValidationException",
        INVALID + "Only one global secondary index update per index is allowed simultaneously. Index: gsi",
    ),
    (
        {"GlobalSecondaryIndexUpdates": [create("new"), create("other")], "AttributeDefinitions": GROUP},
        "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
    ),
    (
        {"GlobalSecondaryIndexUpdates": [create("gsi")], "AttributeDefinitions": GROUP},
        "ValidationException",
        "Attempting to create an index which already exists",
    ),
    (
        {"GlobalSecondaryIndexUpdates": [create("lsi")], "AttributeDefinitions": GROUP},
        "ValidationException",
        "Attempting to create an index which already exists",
    ),
    (
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "missing"}}]},
        "ResourceNotFoundException",
        "Requested resource not found",
    ),
    (
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "lsi"}}]},
        "ResourceNotFoundException",
        "Requested resource not found",
    ),
    (
        # The table knows the attribute, but the request must define it nevertheless.
        {"GlobalSecondaryIndexUpdates": [create("new")]},
        "ValidationException",
        INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: [group], "
        "AttributeDefinitions: []",
    ),
    (
        {"GlobalSecondaryIndexUpdates": [create("new", "other")], "AttributeDefinitions": GROUP},
        "ValidationException",
        INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: [other], "
        "AttributeDefinitions: [group]",
    ),
    (
        {
            "GlobalSecondaryIndexUpdates": [
                create("new", KeySchema=[{"AttributeName": "group", "KeyType": kind} for kind in ("HASH", "RANGE")])
            ],
            "AttributeDefinitions": GROUP,
        },
        "ValidationException",
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
    ),
    (
        {
            "GlobalSecondaryIndexUpdates": [create("new")],
            "AttributeDefinitions": [{"AttributeName": "group", "AttributeType": "N"}],
        },
        "ValidationException",
        REDEFINED + "Existing schema: Schema:[SchemaElement: key{group:S:HASH}] "
        "New schema: Schema:[SchemaElement: key{group:N:HASH}]",
    ),
    (
        {
            "GlobalSecondaryIndexUpdates": [create("new", "sk")],
            "AttributeDefinitions": [{"AttributeName": "sk", "AttributeType": "B"}],
        },
        "ValidationException",
        REDEFINED + "Existing schema: Schema:[SchemaElement: key{pk:S:HASH}, SchemaElement: key{sk:S:RANGE}] "
        "New schema: Schema:[SchemaElement: key{sk:B:HASH}]",
    ),
    (
        {
            "GlobalSecondaryIndexUpdates": [create("new", Projection={"ProjectionType": "INCLUDE"})],
            "AttributeDefinitions": GROUP,
        },
        "ValidationException",
        INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
    ),
    (
        {
            "GlobalSecondaryIndexUpdates": [create("new", ProvisionedThroughput=units(1, 1))],
            "AttributeDefinitions": GROUP,
        },
        "ValidationException",
        INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new when BillingMode "
        "is PAY_PER_REQUEST",
    ),
    (
        {"StreamSpecification": {"StreamEnabled": False}},
        "ValidationException",
        "Table has no stream to disable: TableName: abc",
    ),
    (
        {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},
        "ValidationException",
        INVALID + "If stream is being disabled, then UpdateViewType must not be specified",
    ),
    (
        {"StreamSpecification": {"StreamEnabled": True}},
        "ValidationException",
        INVALID + "If stream is being enabled, then UpdateViewType must be specified",
    ),
    (
        {"TableClass": "STANDARD_INFREQUENT_ACCESS", "DeletionProtectionEnabled": True},
        "ValidationException",
        INVALID + "TableClass modification must be the only operation in the request",
    ),
    (
        {
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
            "ProvisionedThroughput": units(1, 1),
        },
        "ValidationException",
        INVALID + "You cannot modify stream status while updating table IOPS",
    ),
]


@pytest.mark.parametrize(("changes", "code", "message"), REFUSED)
def test_refused(engine: Engine, changes: dict[str, Any], code: str, message: str) -> None:
    make_table(engine, "pk", "sk", name="abc", gsis=[index("gsi", "group")], lsis=[index("lsi", "pk", "other")])
    before = engine.describe_table(TableName="abc")["Table"]
    with refused(message, code):
        engine.update_table(TableName="abc", **changes)
    assert engine.describe_table(TableName="abc")["Table"] == before


def test_definitions_that_no_new_index_needs_are_ignored(client: "DynamoDBClient") -> None:
    """The type that is stored wins, as on AWS."""
    table = make_table(client)
    contradicting: Any = [{"AttributeName": "pk", "AttributeType": "N"}, {"AttributeName": "x", "AttributeType": "S"}]
    client.update_table(
        TableName=table, AttributeDefinitions=[*GROUP, *contradicting], GlobalSecondaryIndexUpdates=[create("new")]
    )
    described = client.describe_table(TableName=table)["Table"]["AttributeDefinitions"]
    assert described == [{"AttributeName": "pk", "AttributeType": "S"}, *GROUP]


def test_a_new_index_of_a_provisioned_table_needs_throughput(client: "DynamoDBClient") -> None:
    table = make_table(client, BillingMode="PROVISIONED", ProvisionedThroughput=units(5, 5))
    with refused(INVALID + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: gsi"):
        client.update_table(TableName=table, AttributeDefinitions=GROUP, GlobalSecondaryIndexUpdates=[create("gsi")])


def test_no_more_than_20_global_indexes(engine: Engine) -> None:
    table = make_table(engine, gsis=[index(f"gsi-{n}", "group") for n in range(20)])
    with refused(INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20"):
        engine.update_table(TableName=table, AttributeDefinitions=GROUP, GlobalSecondaryIndexUpdates=[create("more")])
