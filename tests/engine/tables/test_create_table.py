"""CreateTable: what it stores, and every combination of parameters that it refuses."""

from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from tests.engine.support import index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 3}
ALL = {"ProjectionType": "ALL"}


def attributes(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name[0], "AttributeType": name[2:] or "S"} for name in names]


def schema(*keys: str) -> list[dict[str, str]]:
    """("a", "b") for hash a and range b; "H:a" and "R:a" where the order is unusual."""
    kinds = {"H": "HASH", "R": "RANGE"}
    return [
        {"AttributeName": key[-1], "KeyType": kinds[key[0]] if ":" in key else ("HASH", "RANGE")[position]}
        for position, key in enumerate(keys)
    ]


def gsi(name: str, *keys: str, **more: Any) -> dict[str, Any]:
    return {"IndexName": name, "KeySchema": schema(*keys), "Projection": ALL, **more}


def request(**changes: Any) -> dict[str, Any]:
    """A request that is valid except for the changes."""
    made: dict[str, Any] = {
        "TableName": "abc",
        "AttributeDefinitions": attributes("a", "b"),
        "KeySchema": schema("a", "b"),
        "BillingMode": "PAY_PER_REQUEST",
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


def test_the_answer_describes_the_table(client: "DynamoDBClient") -> None:
    made = client.create_table(
        TableName="Music",
        AttributeDefinitions=[
            {"AttributeName": "artist", "AttributeType": "S"},
            {"AttributeName": "year", "AttributeType": "N"},
            {"AttributeName": "cover", "AttributeType": "B"},
        ],
        KeySchema=[{"AttributeName": "artist", "KeyType": "HASH"}, {"AttributeName": "year", "KeyType": "RANGE"}],
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 3},
        LocalSecondaryIndexes=[
            {
                "IndexName": "byCover",
                "KeySchema": [
                    {"AttributeName": "artist", "KeyType": "HASH"},
                    {"AttributeName": "cover", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "byYear",
                "KeySchema": [{"AttributeName": "year", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]},
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
            }
        ],
        TableClass="STANDARD_INFREQUENT_ACCESS",
        DeletionProtectionEnabled=True,
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"},
        Tags=[{"Key": "stage", "Value": "test"}],
    )["TableDescription"]
    described = client.describe_table(TableName="Music")["Table"]
    # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html: "DynamoDB immediately returns
    # a response with a TableStatus of CREATING."
    indexes = [{**index, "IndexStatus": "CREATING"} for index in described["GlobalSecondaryIndexes"]]
    assert made == {**described, "TableStatus": "CREATING", "GlobalSecondaryIndexes": indexes}
    assert described["TableArn"] == "arn:aws:dynamodb:us-east-1:000000000000:table/Music"
    assert described["TableStatus"] == "ACTIVE"
    assert (described["ItemCount"], described["TableSizeBytes"]) == (0, 0)
    assert described["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 5,
        "WriteCapacityUnits": 3,
    }
    assert "BillingModeSummary" not in described
    assert described["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert described["DeletionProtectionEnabled"] is True
    assert described["SSEDescription"] == {
        "Status": "ENABLED",
        "SSEType": "KMS",
        "KMSMasterKeyArn": "arn:aws:kms:us-east-1:000000000000:alias/mine",
    }
    assert described["WarmThroughput"] == {"ReadUnitsPerSecond": 5, "WriteUnitsPerSecond": 3, "Status": "ACTIVE"}
    assert described["LocalSecondaryIndexes"] == [
        {
            "IndexName": "byCover",
            "KeySchema": [
                {"AttributeName": "artist", "KeyType": "HASH"},
                {"AttributeName": "cover", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
            "IndexArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Music/index/byCover",
            "IndexSizeBytes": 0,
            "ItemCount": 0,
        }
    ]
    (worldwide,) = described["GlobalSecondaryIndexes"]
    assert worldwide["IndexStatus"] == "ACTIVE"
    assert worldwide["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]}
    assert worldwide["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 1,
        "WriteCapacityUnits": 2,
    }
    tags = client.list_tags_of_resource(ResourceArn=described["TableArn"])["Tags"]
    assert tags == [{"Key": "stage", "Value": "test"}]


def test_a_table_that_is_paid_by_request(client: "DynamoDBClient") -> None:
    made = client.create_table(**request(OnDemandThroughput={"MaxReadRequestUnits": 40}))["TableDescription"]
    assert made["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert made["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 0,
        "WriteCapacityUnits": 0,
    }
    assert made["OnDemandThroughput"] == {"MaxReadRequestUnits": 40}
    assert made["WarmThroughput"] == {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"}


def test_a_table_can_be_named_by_its_arn(engine: Engine) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/abc"
    made = engine.create_table(**request(TableName=arn))["TableDescription"]
    assert (made["TableName"], made["TableArn"]) == ("abc", arn)
    engine.put_item(TableName=arn, Item={"a": {"S": "1"}, "b": {"S": "2"}})
    assert engine.describe_table(TableName=arn)["Table"]["ItemCount"] == 1
    assert engine.describe_table(TableName="abc")["Table"]["ItemCount"] == 1


def test_a_name_is_taken_once(client: "DynamoDBClient") -> None:
    client.create_table(**request())
    with refused("Table already exists: abc", "ResourceInUseException"):
        client.create_table(**request())


def test_the_largest_table(client: "DynamoDBClient") -> None:
    """20 global indexes, one of them with four hash and four range attributes, and 5 local ones."""
    wide = index("wide", [f"h{n}" for n in range(4)], ["r0:N", "r1", "r2:B", "r3"])
    make_table(
        client,
        "pk",
        "sk",
        name="large",
        gsis=[wide, *(index(f"gsi-{n}", f"g{n}") for n in range(19))],
        lsis=[index(f"lsi-{n}", "pk", f"l{n}:N") for n in range(5)],
    )
    made = client.describe_table(TableName="large")["Table"]
    assert (len(made["GlobalSecondaryIndexes"]), len(made["LocalSecondaryIndexes"])) == (20, 5)
    assert len(made["GlobalSecondaryIndexes"][0]["KeySchema"]) == 8


ONE_KEY = {"AttributeDefinitions": attributes("a"), "KeySchema": schema("a")}
THREE = attributes("a", "b", "c")

REFUSED: list[tuple[dict[str, Any], str]] = [
    # Provisioned capacity must be given with provisioned billing, and only then.
    (
        {"BillingMode": None},
        INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
    ),
    (
        {"ProvisionedThroughput": UNITS},
        INVALID
        + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
    ),
    (
        {"BillingMode": None, "ProvisionedThroughput": {"ReadCapacityUnits": 10**12 + 1, "WriteCapacityUnits": 1}},
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
    ),
    (
        {"BillingMode": None, "ProvisionedThroughput": UNITS, "GlobalSecondaryIndexes": [gsi("gsi", "a")]},
        INVALID + "ProvisionedThroughput is not specified for index: gsi",
    ),
    (
        {"GlobalSecondaryIndexes": [gsi("gsi", "a", ProvisionedThroughput=UNITS)]},
        INVALID + "ProvisionedThroughput should not be specified for index: gsi when BillingMode is PAY_PER_REQUEST",
    ),
    (
        {
            "BillingMode": None,
            "ProvisionedThroughput": UNITS,
            "GlobalSecondaryIndexes": [
                gsi("gsi", "a", ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 10**13})
            ],
        },
        "Given value 10000000000000 for WriteCapacityUnits is out of bounds for index gsi",
    ),
    (
        {
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": UNITS,
            "OnDemandThroughput": {"MaxReadRequestUnits": 1},
        },
        INVALID
        + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.",
    ),
    (
        {"OnDemandThroughput": {"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 0}},
        INVALID + "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range",
    ),
    (
        {"WarmThroughput": {"ReadUnitsPerSecond": 11_999}},
        INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, "
        "decreasing WarmThroughput is not supported",
    ),
    # Keys and attribute definitions.
    (
        {"AttributeDefinitions": None, "KeySchema": None},
        (
            "2 validation errors detected: Value null at 'attributeDefinitions' failed to satisfy constraint: "
            "Member must not be null; Value null at 'keySchema' failed to satisfy constraint: Member must not be null"
        ),
    ),
    ({"AttributeDefinitions": attributes("a")}, "Invalid KeySchema: Some index key attribute have no definition"),
    ({"KeySchema": schema("R:a", "R:b")}, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
    ({"KeySchema": schema("H:a", "H:b")}, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"),
    (
        # A deployment with CDK of 2025-12-27 failed on AWS with this sentence, which is all of the message.
        {"KeySchema": schema("a", "a")},
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
    ),
    (
        {"KeySchema": schema("a")},
        INVALID
        + "Number of attributes in KeySchema does not exactly match number of attributes defined in "
        + "AttributeDefinitions",
    ),
    (
        {"AttributeDefinitions": THREE, "GlobalSecondaryIndexes": [gsi("gsi", "b")]},
        INVALID + "Some AttributeDefinitions are not used. AttributeDefinitions: [a, b, c], keys used: [a, b]",
    ),
    # Indexes.
    ({"LocalSecondaryIndexes": []}, INVALID + "List of LocalSecondaryIndexes is empty"),
    ({"GlobalSecondaryIndexes": []}, INVALID + "List of GlobalSecondaryIndexes is empty"),
    (
        {"GlobalSecondaryIndexes": [gsi("gsi", "c", "d")]},
        INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: [c, d], "
        "AttributeDefinitions: [a, b]",
    ),
    (
        {"GlobalSecondaryIndexes": [gsi("gsi", "R:b")]},
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
    ),
    (
        {"AttributeDefinitions": THREE, "GlobalSecondaryIndexes": [gsi("gsi", "H:a", "R:b", "H:c")]},
        "Invalid KeySchema: All HASH key attributes must precede RANGE key attributes in the KeySchema",
    ),
    (
        {
            "AttributeDefinitions": attributes(*"abcde"),
            "GlobalSecondaryIndexes": [gsi("gsi", *(f"H:{name}" for name in "abcde"))],
        },
        "Invalid KeySchema: The KeySchema exceeds the maximum allowed number of HASH key attributes",
    ),
    (
        {
            "AttributeDefinitions": attributes(*"abcdef"),
            "GlobalSecondaryIndexes": [gsi("gsi", "H:a", *(f"R:{name}" for name in "bcdef"))],
        },
        "Invalid KeySchema: The KeySchema exceeds the maximum allowed number of RANGE key attributes",
    ),
    (
        {**ONE_KEY, "AttributeDefinitions": attributes("a", "b"), "LocalSecondaryIndexes": [gsi("lsi", "a", "b")]},
        INVALID + "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
    ),
    (
        {"LocalSecondaryIndexes": [gsi("lsi", "a")]},
        INVALID + "Index KeySchema does not have a range key for index: lsi",
    ),
    (
        {"LocalSecondaryIndexes": [gsi("lsi", "b", "a")]},
        INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema for index: lsi. "
        "index hash key: b, table hash key: a",
    ),
    (
        {"LocalSecondaryIndexes": [gsi("same", "a", "b")], "GlobalSecondaryIndexes": [gsi("same", "b")]},
        INVALID + "Duplicate index name: same",
    ),
    (
        {"LocalSecondaryIndexes": [gsi(f"lsi-{n}", "a", "b") for n in range(6)]},
        INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
    ),
    (
        {"GlobalSecondaryIndexes": [gsi(f"gsi-{n}", "b") for n in range(21)]},
        INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
    ),
    # Projections.
    ({"GlobalSecondaryIndexes": [gsi("gsi", "b", Projection={})]}, INVALID + "Unknown ProjectionType: null"),
    (
        {"GlobalSecondaryIndexes": [gsi("gsi", "b", Projection={"ProjectionType": "INCLUDE"})]},
        INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
    ),
    (
        {
            "GlobalSecondaryIndexes": [
                gsi("gsi", "b", Projection={"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["x"]})
            ]
        },
        INVALID + "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
    ),
    # https://github.com/guregu/dynamo/issues/88
    (
        {
            "GlobalSecondaryIndexes": [
                gsi("gsi", "b", Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y", "x"]})
            ]
        },
        "Cannot have two attributes with the same name",
    ),
    # Streams and encryption.
    (
        {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},
        INVALID + "Table is being created with a stream disabled, UpdateViewType should not be specified",
    ),
    (
        {"StreamSpecification": {"StreamEnabled": True}},
        INVALID + "Table is being created with a stream enabled, UpdateViewType should be specified",
    ),
    (
        {"SSESpecification": {"Enabled": True, "KMSMasterKeyId": "k"}},
        INVALID + "SSEType KMS is required if KMSMasterKeyId is specified",
    ),
    (
        {"SSESpecification": {"Enabled": True, "SSEType": "AES256"}},
        INVALID + "The only valid SSEType is KMS",
    ),
    # The wire's constraints, from the service model.
    (
        {"KeySchema": schema("a", "b", "R:c")},
        (
            "1 validation error detected: Value '[KeySchemaElement(attributeName=a, keyType=HASH), "
            "KeySchemaElement(attributeName=b, keyType=RANGE), KeySchemaElement(attributeName=c, keyType=RANGE)]' at "
            "'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2"
        ),
    ),
    (
        {"AttributeDefinitions": attributes("a", "b:M")},
        (
            "1 validation error detected: Value 'M' at 'attributeDefinitions.2.member.attributeType' failed to "
            "satisfy constraint: Member must satisfy enum value set: [B, N, S]"
        ),
    ),
    (
        {"ResourcePolicy": "{}"},
        "One or more parameter values were invalid: Invalid policy document: The policy has no Statement",
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message[-60:] for _, message in REFUSED])
def test_refused(engine: Engine, changes: dict[str, Any], message: str) -> None:
    with refused(message):
        engine.create_table(**request(**changes))
    assert engine.list_tables()["TableNames"] == []


def test_a_refusal_over_the_wire(client: "DynamoDBClient") -> None:
    with refused(INVALID + "List of GlobalSecondaryIndexes is empty"):
        client.create_table(**request(GlobalSecondaryIndexes=[]))


def test_a_hundred_projected_attributes_in_all(engine: Engine) -> None:
    def indexes(count: int) -> list[dict[str, Any]]:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": [f"x{n}" for n in range(20)]}
        return [gsi(f"gsi-{n}", "b", Projection=projection) for n in range(count)]

    engine.create_table(**request(GlobalSecondaryIndexes=indexes(5)))
    with refused(INVALID + "The total number of projected attributes exceeds the limit of 100"):
        engine.create_table(**request(TableName="other", GlobalSecondaryIndexes=indexes(6)))


def test_duplicate_definitions(engine: Engine) -> None:
    with refused("Attribute Name is duplicated: a"):
        engine.create_table(**request(AttributeDefinitions=attributes("a", "b", "a:N")))


def defined(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def index_on(name: str, *keys: str) -> dict[str, Any]:
    kinds = ("HASH", "RANGE")
    elements = [{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, kinds, strict=False)]
    return {"IndexName": name, "KeySchema": elements, "Projection": ALL}


def test_unused_definitions_are_listed_in_the_order_of_java(client: "DynamoDBClient") -> None:
    """As a hash table gives them: first what is defined, then what is used, each in a table of its own size."""
    with refused(
        INVALID + "Some AttributeDefinitions are not used. "
        "AttributeDefinitions: [ProductId, CreatedTime, ProductDescription, ProductName], "
        "keys used: [CreatedTime, ProductName, ProductId]"
    ):
        client.create_table(
            **request(
                AttributeDefinitions=defined("ProductId", "ProductName", "CreatedTime", "ProductDescription"),
                KeySchema=index_on("table", "ProductId", "ProductName")["KeySchema"],
                GlobalSecondaryIndexes=[index_on("byTime", "ProductId", "CreatedTime")],
            )
        )


def test_all_keys_of_an_index_are_listed_when_one_has_no_definition(engine: Engine) -> None:
    names = (
        "id name description metadata type size linked_to access_count status status_message created_at updated_at "
        "external_id"
    )
    with refused(
        INVALID + "Some index key attributes are not defined in AttributeDefinitions. Keys: [user_id, created_at], "
        "AttributeDefinitions: [status_message, metadata, description, created_at, access_count, external_id, type, "
        "size, updated_at, name, id, linked_to, status]"
    ):
        engine.create_table(
            **request(
                AttributeDefinitions=defined(*names.split()),
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                GlobalSecondaryIndexes=[index_on("byUser", "user_id", "created_at")],
            )
        )
