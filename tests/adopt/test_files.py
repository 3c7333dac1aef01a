"""Tables in files: templates, models, descriptions and exports."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from keyplan.adopt import AdoptError, SampledTable, tables_in
from keyplan.engine import Engine

TEMPLATE = """\
Parameters:
  Stage: {Type: String}
Resources:
  Shop:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${Stage}-shop"
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: S}
        - {AttributeName: at, AttributeType: N}
      KeySchema:
        - {AttributeName: PK, KeyType: HASH}
        - {AttributeName: SK, KeyType: RANGE}
      GlobalSecondaryIndexes:
        - IndexName: ByTime
          KeySchema: [{AttributeName: SK, KeyType: HASH}, {AttributeName: at, KeyType: RANGE}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [name]}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
  Small:
    Type: AWS::Serverless::SimpleTable
    Properties: {PrimaryKey: {Name: code, Type: Number}}
  Queue:
    Type: AWS::SQS::Queue
"""
WORKBENCH: dict[str, Any] = {
    "ModelName": "Shop",
    "DataModel": [
        {
            "TableName": "Orders",
            "KeyAttributes": {
                "PartitionKey": {"AttributeName": "PK", "AttributeType": "S"},
                "SortKey": {"AttributeName": "SK", "AttributeType": "S"},
            },
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "Inverted",
                    "KeyAttributes": {
                        "PartitionKey": {"AttributeName": "SK", "AttributeType": "S"},
                        "SortKey": {"AttributeName": "PK", "AttributeType": "S"},
                    },
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
            "TableData": [
                {"PK": {"S": "USER#1"}, "SK": {"S": "ORDER#1"}, "paid": {"BOOL": True}},
                {"PK": {"S": "USER#1"}, "SK": {"S": "ORDER#2"}, "paid": {"BOOL": False}},
            ],
        }
    ],
}
ITEMS = [{"PK": {"S": f"USER#{number}"}, "SK": {"S": "PROFILE"}} for number in range(3)]


def written(folder: Path, name: str, content: object) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def one(*paths: Path, wanted: tuple[str, ...] = (), keys: str | None = None) -> SampledTable:
    (table,) = tables_in(paths, wanted, keys, 100)
    return table


def lines(items: list[dict[str, Any]]) -> str:
    return "".join(json.dumps({"Item": item}) + "\n" for item in items)


def test_a_template_has_tables(tmp_path: Path) -> None:
    shop, small = (each.table for each in tables_in([written(tmp_path, "t.yaml", TEMPLATE)], (), None, 100))
    assert (shop.name, shop.key_names, shop.ttl) == ("Shop", ("PK", "SK"), "expires")
    assert shop.by_name["ByTime"].projection.attributes == ("name",)
    assert dict(shop.key_types)["PK"] == "S"
    assert (small.name, small.key_names) == ("Small", ("code",))


def test_parameters_of_a_template_have_their_defaults(tmp_path: Path) -> None:
    properties = {
        "TableName": {"Fn::Sub": "${Stage}-orders"},
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": {"Ref": "Writes"}},
    }
    template = {
        "Parameters": {"Stage": {"Type": "String", "Default": "dev"}, "Writes": {"Type": "Number", "Default": 7}},
        "Resources": {"Orders": {"Type": "AWS::DynamoDB::Table", "Properties": properties}},
    }
    found = one(written(tmp_path, "t.json", template)).table
    assert (found.name, found.billing, found.capacity) == ("dev-orders", "PROVISIONED", (5, 7))
    with pytest.raises(AdoptError, match="the template doesn't say its capacity in numbers"):
        one(written(tmp_path, "t.json", {**template, "Parameters": {}}))


def test_a_model_of_nosql_workbench_has_tables_and_items(tmp_path: Path) -> None:
    found = one(written(tmp_path, "model.json", WORKBENCH))
    assert (found.table.name, found.table.key_names) == ("Orders", ("PK", "SK"))
    assert found.table.by_name["Inverted"].projection.type == "KEYS_ONLY"
    assert [item["paid"] for item in found.items] == [{"BOOL": True}, {"BOOL": False}]


def test_an_export_is_read_beside_the_description_of_its_table(tmp_path: Path) -> None:
    (tmp_path / "s3" / "exports").mkdir(parents=True)
    with Engine(s3=str(tmp_path / "s3")) as engine:
        engine.create_table(
            TableName="Users",
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("PK", "SK")],
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for item in ITEMS:
            engine.put_item(TableName="Users", Item=item)
        engine.update_continuous_backups(
            TableName="Users", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        arn = engine.describe_table(TableName="Users")["Table"]["TableArn"]
        export = engine.export_table_to_point_in_time(TableArn=arn, S3Bucket="exports")["ExportDescription"]
        status = "IN_PROGRESS"
        while status == "IN_PROGRESS":
            time.sleep(0.01)
            status = engine.describe_export(ExportArn=export["ExportArn"])["ExportDescription"]["ExportStatus"]
        assert status == "COMPLETED"
        described = engine.describe_table(TableName="Users")
    description = written(tmp_path, "users.json", json.dumps(described, default=str))
    found = one(tmp_path / "s3", description)
    assert found.table.name == "Users"
    assert sorted(item["PK"]["S"] for item in found.items) == ["USER#0", "USER#1", "USER#2"]
    assert one(tmp_path / "s3", keys="PK,SK").table.key_names == ("PK", "SK")
    with pytest.raises(AdoptError, match=r"--key PK,SK"):
        one(tmp_path / "s3")


def test_items_alone_get_the_name_that_is_given(tmp_path: Path) -> None:
    file = written(tmp_path, "x.json", '{"Item": {"PK": {"S": "USER#1"}}}\n')
    (found,) = tables_in([file], ["Users"], "PK", 10)
    assert (found.table.name, len(found.items)) == ("Users", 1)


def test_items_are_of_the_table_that_is_named(tmp_path: Path) -> None:
    template, file = written(tmp_path, "t.yaml", TEMPLATE), written(tmp_path, "x.jsonl", lines(ITEMS))
    (found,) = tables_in([file, template], ["Shop"], None, 10)
    assert (found.table.name, found.table.key_names, len(found.items)) == ("Shop", ("PK", "SK"), 3)
    with pytest.raises(AdoptError, match=r"x: .* Name the table to adopt\. The descriptions are of Shop, Small\."):
        tables_in([file, template], [], None, 10)


def test_lines_of_items_may_be_packed(tmp_path: Path) -> None:
    file = tmp_path / "Users.jsonl.gz"
    file.write_bytes(gzip.compress(lines(ITEMS).encode()))
    assert len(one(file, keys="PK,SK").items) == 3


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.yaml", "Resources: {Queue: {Type: 'AWS::SQS::Queue'}}", "the template has no DynamoDB table"),
        ("broken.yaml", "Resources:\n  - : [", "broken.yaml, line 2"),
        ("broken.json", '{"Resources": \n,', "broken.json, line 2: it isn't JSON"),
        ("other.json", '{"name": "package"}', "it is neither a template"),
        ("model.json", '{"DataModel": [{"TableName": "A"}]}', "table 1: it isn't a table of NoSQL Workbench"),
        ("items.jsonl", '{"Item": {"PK": {"S": 1}}}\n', "items.jsonl, line 1"),
        ("items.jsonl", lines(ITEMS) + "{}\n", "line 4: it can't be read: it isn't an object with \"Item\""),
        ("items.jsonl", '{"Keys": {}, "NewImage": {}}\n', "a full export is needed"),
        ("items.jsonl", lines([{"PK": {"S": "a"}}]), "item 1 has no SK"),
    ],
)
def test_files_that_cannot_be_read_are_named_with_the_line(tmp_path: Path, name: str, content: str, said: str) -> None:
    with pytest.raises(AdoptError) as caught:
        one(written(tmp_path, name, content), keys="PK,SK")
    assert said in str(caught.value)


def test_unknown_tables_and_missing_files_are_named(tmp_path: Path) -> None:
    file = written(tmp_path, "t.yaml", TEMPLATE)
    with pytest.raises(AdoptError, match=r"Their tables are: Shop, Small"):
        tables_in([file], ["Shops"], None, 100)
    with pytest.raises(AdoptError, match="no such file"):
        tables_in([tmp_path / "absent"], [], None, 100)
