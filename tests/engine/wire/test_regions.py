"""Separate regions: each account has its own tables in each region, and replicas connect them."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import boto3
import pytest
from botocore.config import Config

from keyplan.engine import Database, Engine
from keyplan.engine.wire import serve_in_thread
from tests.engine.support import Clock, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

Connect = Callable[..., "DynamoDBClient"]

FIRST, SECOND = "111122223333", "444455556666"
ACCOUNTS = {"AKIDFIRST": FIRST}


@pytest.fixture(params=["engine", "wire"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes clients with a region and an access key: of sessions of an engine, and over the wire."""
    with Engine(regions="separate", accounts=ACCOUNTS) as engine:
        if request.param == "engine":

            def session(region: str = "us-east-1", key: str = "any", service: str = "dynamodb") -> Any:
                made = engine.boto3_session(region)
                return made.client(service, aws_access_key_id=key, aws_secret_access_key="any")  # type: ignore[call-overload]

            yield session
            return
        with serve_in_thread(engine.database, names_callers=True) as url:

            def client(region: str = "us-east-1", key: str = "any", service: str = "dynamodb") -> Any:
                return boto3.client(  # type: ignore[call-overload]
                    service,
                    endpoint_url=url,
                    region_name=region,
                    aws_access_key_id=key,
                    aws_secret_access_key="any",
                    config=Config(retries={"max_attempts": 0}),
                )

            yield client


def names(client: "DynamoDBClient") -> list[str]:
    return client.list_tables()["TableNames"]


def put(client: "DynamoDBClient", table: str, value: str) -> None:
    client.put_item(TableName=table, Item={"pk": {"S": "key"}, "value": {"S": value}})


def got(client: "DynamoDBClient", table: str) -> str | None:
    item = client.get_item(TableName=table, Key={"pk": {"S": "key"}}).get("Item")
    return item["value"]["S"] if item else None


def arn(client: "DynamoDBClient", table: str) -> str:
    return client.describe_table(TableName=table)["Table"]["TableArn"]


def test_each_region_has_its_own_tables(connect: Connect) -> None:
    here, there = connect("us-east-1"), connect("eu-west-1")
    make_table(here, name="notes")
    assert names(there) == []
    with refused("Requested resource not found", "ResourceNotFoundException"):
        put(there, "notes", "b")
    make_table(there, name="notes")
    put(here, "notes", "a")
    put(there, "notes", "b")
    assert (got(here, "notes"), got(there, "notes")) == ("a", "b")
    assert arn(there, "notes") == "arn:aws:dynamodb:eu-west-1:000000000000:table/notes"
    there.delete_table(TableName="notes")
    assert (names(here), names(there), got(here, "notes")) == (["notes"], [], "a")


def test_each_account_has_its_own_tables(connect: Connect) -> None:
    mapped, numbered, other = connect(key="AKIDFIRST"), connect(key=SECOND), connect()
    for client in (mapped, numbered, other):
        assert names(client) == []
        make_table(client, name="notes")
    assert arn(mapped, "notes") == f"arn:aws:dynamodb:us-east-1:{FIRST}:table/notes"
    assert arn(numbered, "notes") == f"arn:aws:dynamodb:us-east-1:{SECOND}:table/notes"
    assert arn(other, "notes") == "arn:aws:dynamodb:us-east-1:000000000000:table/notes"
    # A number that is an access key, and the same account by the map.
    assert names(connect(key=FIRST)) == ["notes"]
    with refused(
        f"User: arn:aws:iam::{SECOND}:root is not authorized to perform: dynamodb:ListTagsOfResource on resource: "
        f"{arn(mapped, 'notes')}",
        "AccessDeniedException",
    ):
        numbered.list_tags_of_resource(ResourceArn=arn(mapped, "notes"))
    assert numbered.list_tags_of_resource(ResourceArn=arn(numbered, "notes"))["Tags"] == []


def test_streams_tags_policies_and_backups_belong_to_their_region(connect: Connect) -> None:
    here, there = connect("us-east-1"), connect("eu-west-1")
    stream: Any = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    for client in (here, there):
        make_table(client, name="notes", StreamSpecification=stream, Tags=[{"Key": "a", "Value": "b"}])
        put(client, "notes", "x")
        client.create_backup(TableName="notes", BackupName="first")
    streams = cast("DynamoDBStreamsClient", connect("eu-west-1", service="dynamodbstreams"))
    (found,) = streams.list_streams()["Streams"]
    assert found["StreamArn"].startswith(f"{arn(there, 'notes')}/stream/")
    described = streams.describe_stream(StreamArn=found["StreamArn"])["StreamDescription"]
    iterator = streams.get_shard_iterator(
        StreamArn=found["StreamArn"], ShardId=described["Shards"][0]["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    (record,) = streams.get_records(ShardIterator=iterator)["Records"]
    assert record["awsRegion"] == "eu-west-1"
    own = here.describe_table(TableName="notes")["Table"]["LatestStreamArn"]
    with refused(f"Requested resource not found: Stream: {own} not found", "ResourceNotFoundException"):
        streams.describe_stream(StreamArn=own)
    (backup,) = there.list_backups()["BackupSummaries"]
    assert backup["BackupArn"].startswith(f"{arn(there, 'notes')}/backup/")
    (foreign,) = here.list_backups(TableName="notes")["BackupSummaries"]
    with refused(f"Backup not found: {foreign['BackupArn']}", "BackupNotFoundException"):
        there.describe_backup(BackupArn=foreign["BackupArn"])
    there.restore_table_from_backup(TargetTableName="again", BackupArn=backup["BackupArn"])
    assert (names(there), names(here), got(there, "again")) == (["again", "notes"], ["notes"], "x")
    assert arn(there, "again").startswith("arn:aws:dynamodb:eu-west-1:")
    policy = (
        '{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": "*", "Action": "dynamodb:*", '
        '"Resource": "*"}}'
    )
    there.put_resource_policy(ResourceArn=arn(there, "notes"), Policy=policy)
    with refused(
        f"Resource-based policy not found for the provided ResourceArn: {arn(here, 'notes')}", "PolicyNotFoundException"
    ):
        here.get_resource_policy(ResourceArn=arn(here, "notes"))


def test_a_replica_is_a_table_of_its_region(connect: Connect) -> None:
    here, there, elsewhere = connect("us-east-1"), connect("eu-west-1"), connect("ap-south-1")
    make_table(here, name="notes", gsis=[index("by-value", "value")])
    here.update_table(TableName="notes", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    put(here, "notes", "a")
    assert got(there, "notes") == "a"
    put(there, "notes", "b")
    assert got(here, "notes") == "b"
    table = there.describe_table(TableName="notes")["Table"]
    assert table["TableArn"] == "arn:aws:dynamodb:eu-west-1:000000000000:table/notes"
    assert table["GlobalSecondaryIndexes"][0]["IndexArn"] == f"{table['TableArn']}/index/by-value"
    assert table["LatestStreamArn"].startswith(f"{table['TableArn']}/stream/")
    assert [replica["RegionName"] for replica in table["Replicas"]] == ["us-east-1"]
    streams = cast("DynamoDBStreamsClient", connect("eu-west-1", service="dynamodbstreams"))
    assert streams.describe_stream(StreamArn=table["LatestStreamArn"])["StreamDescription"]["TableName"] == "notes"
    # A replica can be changed in any region, and its overrides stay with it.
    there.update_table(
        TableName="notes",
        ReplicaUpdates=[{"Update": {"RegionName": "us-east-1", "KMSMasterKeyId": "mine"}}],
    )
    there.update_table(TableName="notes", ReplicaUpdates=[{"Create": {"RegionName": "ap-south-1"}}])
    seen: Any = elsewhere.describe_table(TableName="notes")["Table"]["Replicas"]
    assert [(replica["RegionName"], replica.get("KMSMasterKeyId")) for replica in seen] == [
        ("eu-west-1", None),
        ("us-east-1", "mine"),
    ]
    assert got(elsewhere, "notes") == "b"


def test_a_replica_is_deleted_and_the_others_stay(connect: Connect) -> None:
    here, there = connect("us-east-1"), connect("eu-west-1")
    make_table(here, name="notes")
    regions: Any = [{"Create": {"RegionName": region}} for region in ("eu-west-1", "ap-south-1")]
    here.update_table(TableName="notes", ReplicaUpdates=regions)
    put(here, "notes", "a")
    here.delete_table(TableName="notes")
    assert (names(here), names(there), got(there, "notes")) == ([], ["notes"], "a")
    left = there.describe_table(TableName="notes")["Table"]["Replicas"]
    assert [replica["RegionName"] for replica in left] == ["ap-south-1"]
    there.update_table(TableName="notes", ReplicaUpdates=[{"Delete": {"RegionName": "ap-south-1"}}])
    assert names(connect("ap-south-1")) == []
    assert "Replicas" not in there.describe_table(TableName="notes")["Table"]
    there.delete_table(TableName="notes")
    assert names(there) == []


def test_what_is_refused(connect: Connect) -> None:
    here, there = connect("us-east-1"), connect("eu-west-1")
    for client in (here, there):
        make_table(client, name="notes")
    with refused(
        "Failed to create a the new replica of table with name: 'notes' because one or more replicas already existed "
        "as tables."
    ):
        here.update_table(TableName="notes", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    with refused(
        "Cannot add, delete, or update the local region through ReplicaUpdates. Use CreateTable, DeleteTable, or "
        "UpdateTable as required."
    ):
        there.update_table(TableName="notes", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    with refused(
        "Global tables with version 2017.11.29 aren't available where this endpoint keeps regions separate. Create "
        "replicas with UpdateTable instead."
    ):
        here.create_global_table(GlobalTableName="notes", ReplicationGroup=[{"RegionName": "us-east-1"}])
    here.update_table(TableName="notes", ReplicaUpdates=[{"Create": {"RegionName": "ap-south-1"}}])
    with refused(
        "One or more parameter values were invalid: Replicas can't be disassociated where this endpoint keeps regions "
        "separate"
    ):
        here.update_table(
            TableName="notes",
            ReplicaUpdates=[
                {"Disassociate": {"RegionName": "us-east-1", "DisassociationMode": "WAIT_FOR_REPLICATION"}}
            ],
        )


def test_an_arn_of_another_region_or_account_is_not_the_table_of_this_one(connect: Connect) -> None:
    here, there = connect("us-east-1"), connect("eu-west-1")
    for client in (here, there):
        make_table(client, name="notes")
    theirs = arn(there, "notes")
    put(here, arn(here, "notes"), "own")
    key: Any = {"pk": {"S": "key"}}
    missing = ("Requested resource not found", "ResourceNotFoundException")
    with refused(*missing):
        here.get_item(TableName=theirs, Key=key)
    with refused(*missing):
        here.put_item(TableName=theirs, Item=key)
    with refused(*missing):
        here.batch_get_item(RequestItems={theirs: {"Keys": [key]}})
    with refused(*missing):
        here.transact_write_items(TransactItems=[{"Delete": {"TableName": theirs, "Key": key}}])
    with refused(f"Requested resource not found: Table: {theirs} not found", "ResourceNotFoundException"):
        here.delete_table(TableName=theirs)
    with refused(f"Table not found: {theirs}", "TableNotFoundException"):
        here.create_backup(TableName=theirs, BackupName="made")
    with refused(f"A table can only be created in the caller's own account and region: {theirs}x"):
        make_table(here, name=f"{theirs}x")
    assert (got(here, "notes"), got(there, "notes"), got(there, theirs)) == ("own", None, None)


def test_where_regions_are_not_separate_the_name_in_an_arn_is_enough(engine: Engine) -> None:
    make_table(engine, name="notes")
    put(engine, "arn:aws:dynamodb:eu-west-1:444455556666:table/notes", "own")
    assert got(engine, "notes") == "own"


def test_tokens_of_transactions_belong_to_their_region(connect: Connect) -> None:
    here, there = connect("us-east-1"), connect("eu-west-1")
    for client, value in ((here, "a"), (there, "b")):
        make_table(client, name="notes")
        item = {"pk": {"S": "key"}, "value": {"S": value}}
        client.transact_write_items(
            TransactItems=[{"Put": {"TableName": "notes", "Item": item}}], ClientRequestToken="the-same"
        )
    assert (got(here, "notes"), got(there, "notes")) == ("a", "b")


def test_maintenance_reaches_all_regions(clock: Clock) -> None:
    with Engine(regions="separate", clock=clock) as engine:
        clients = [engine.boto3_session(region).client("dynamodb") for region in ("us-east-1", "eu-west-1")]
        for client in clients:
            make_table(client, name="notes")
            client.update_time_to_live(
                TableName="notes", TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
            )
            client.put_item(TableName="notes", Item={"pk": {"S": "a"}, "expires": {"N": str(int(clock.now) - 10)}})
        assert engine.sweep_expired() == 2
        assert [client.scan(TableName="notes")["Count"] for client in clients] == [0, 0]


def test_an_index_is_filled_in_another_region(connect: Connect) -> None:
    there = connect("eu-west-1")
    make_table(there, name="notes")
    for start in range(0, 1500, 25):
        batch: Any = [
            {"PutRequest": {"Item": {"pk": {"S": str(number)}, "value": {"S": "x"}}}}
            for number in range(start, start + 25)
        ]
        there.batch_write_item(RequestItems={"notes": batch})
    by_value: Any = {**index("by-value", "value")}
    del by_value["attributes"]
    there.update_table(
        TableName="notes",
        AttributeDefinitions=[{"AttributeName": "value", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": by_value}],
    )
    for _ in range(200):
        found = there.describe_table(TableName="notes")["Table"]["GlobalSecondaryIndexes"][0]
        if found["IndexStatus"] == "ACTIVE":
            break
        time.sleep(0.02)
    count = there.query(
        TableName="notes",
        IndexName="by-value",
        KeyConditionExpression="#v = :x",
        ExpressionAttributeNames={"#v": "value"},
        ExpressionAttributeValues={":x": {"S": "x"}},
        Select="COUNT",
    )["Count"]
    assert count == 1500


def test_a_large_page_of_another_region_is_read_in_slices(connect: Connect) -> None:
    there = connect("eu-west-1")
    make_table(there, name="notes")
    for start in range(0, 500, 25):
        batch: Any = [
            {"PutRequest": {"Item": {"pk": {"S": str(number)}, "text": {"S": "x" * 1000}}}}
            for number in range(start, start + 25)
        ]
        there.batch_write_item(RequestItems={"notes": batch})
    assert there.scan(TableName="notes", FilterExpression="attribute_exists(absent)")["ScannedCount"] == 500


def test_the_file_keeps_regions_and_one_namespace_is_that_of_us_east_1(tmp_path: Path) -> None:
    path = str(tmp_path / "app.db")
    with Engine(path) as engine:
        make_table(engine, name="old")
    with Engine(path, regions="separate") as engine:
        assert engine.list_tables()["TableNames"] == ["old"]
        assert names(engine.boto3_session("us-east-1").client("dynamodb")) == ["old"]
        make_table(engine.boto3_session("eu-west-1").client("dynamodb"), name="new")
    with Engine(path, regions="separate") as engine:
        assert names(engine.boto3_session("eu-west-1").client("dynamodb")) == ["new"]
    with Engine(path) as engine:
        assert names(engine.boto3_session("eu-west-1").client("dynamodb")) == ["old"]


def test_endpoints_are_described_by_the_address_that_was_called() -> None:
    database = Database()
    with serve_in_thread(database) as url:
        client = boto3.client("dynamodb", endpoint_url=url, region_name="eu-west-1")
        (endpoint,) = client.describe_endpoints()["Endpoints"]
        assert endpoint == {"Address": url.removeprefix("http://"), "CachePeriodInMinutes": 1440}
    database.close()
    with Engine() as engine:
        (endpoint,) = engine.boto3_session("eu-west-1").client("dynamodb").describe_endpoints()["Endpoints"]
        assert endpoint["Address"] == "dynamodb.eu-west-1.amazonaws.com"
        assert engine.describe_endpoints()["Endpoints"][0]["Address"] == "dynamodb.us-east-1.amazonaws.com"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"regions": "two"}, 'regions must be "one" or "separate", not \'two\''),
        ({"accounts": ACCOUNTS}, 'accounts are used only with regions="separate"'),
        (
            {"regions": "separate", "accounts": {"AKID": "1"}},
            "The account of access key 'AKID' must be a number with 12 digits, not '1'",
        ),
    ],
)
def test_wrong_settings(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        Engine(**settings)
    assert str(caught.value) == problem
