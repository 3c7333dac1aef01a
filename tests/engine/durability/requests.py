"""A valid request for every operation, for tests that make it invalid."""

from typing import Any

from keyplan.engine.database import Database
from tests.engine.durability.administration_requests import ADMINISTRATION, ARN
from tests.engine.durability.support import GSI, LSI, TABLE, definition

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
ITEM: dict[str, Any] = {
    **KEY,
    "colour": {"S": "red"},
    "weight": {"N": "1.5"},
    "data": {"B": "AAEC"},
    "tags": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "blobs": {"BS": ["AAEC"]},
    "doc": {"M": {"list": {"L": [{"S": "x"}, {"N": "1"}, {"NULL": True}]}, "flag": {"BOOL": False}}},
}
NAMES = {"#d": "doc", "#l": "list"}


def expressions(**more: Any) -> dict[str, Any]:
    return {"TableName": TABLE, "Key": KEY, **more}


CONDITION: dict[str, Any] = {
    "ConditionExpression": "attribute_not_exists(x) OR (size(tags) > :n AND contains(#d.#l, :s))",
    "ExpressionAttributeNames": NAMES,
    "ExpressionAttributeValues": {":n": {"N": "0"}, ":s": {"S": "x"}},
}
UPDATE: dict[str, Any] = {
    "UpdateExpression": "SET #d.#l[0] = :s, weight = weight + :n REMOVE blobs ADD numbers :ns DELETE tags :ss",
    "ExpressionAttributeNames": NAMES,
    "ExpressionAttributeValues": {":n": {"N": "1"}, ":s": {"S": "y"}, ":ns": {"NS": ["3"]}, ":ss": {"SS": ["b"]}},
}


def comparing(operator: str, *values: Any) -> dict[str, Any]:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


EXPECTED: dict[str, Any] = {
    "colour": {"Value": {"S": "red"}, "Exists": True},
    "tags": comparing("NOT_CONTAINS", {"S": "z"}),
    "absent": {"ComparisonOperator": "NULL"},
    "weight": comparing("BETWEEN", {"N": "-1"}, {"N": "1e2"}),
}
UPDATES: dict[str, Any] = {
    "colour": {"Value": {"S": "blue"}},
    "weight": {"Action": "ADD", "Value": {"N": "1"}},
    "tags": {"Action": "DELETE", "Value": {"SS": ["a"]}},
    "blobs": {"Action": "DELETE"},
    "list": {"Action": "ADD", "Value": {"L": [{"NULL": True}]}},
}
QUERY: dict[str, Any] = {
    "TableName": TABLE,
    "KeyConditionExpression": "pk = :p AND sk BETWEEN :a AND :b",
    "FilterExpression": "colour IN (:c, :p) AND NOT begins_with(colour, :p)",
    "ProjectionExpression": "pk, #d.#l[1], colour",
    "ExpressionAttributeNames": NAMES,
    "ExpressionAttributeValues": {":p": {"S": "a"}, ":a": {"N": "0"}, ":b": {"N": "9"}, ":c": {"S": "red"}},
    "ScanIndexForward": False,
    "Limit": 5,
    "ReturnConsumedCapacity": "INDEXES",
}
CREATE_INDEX: dict[str, Any] = {
    "IndexName": "extra",
    "KeySchema": [{"AttributeName": "data", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["tags"]},
}

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("PutItem", {"TableName": TABLE, "Item": ITEM, **CONDITION, "ReturnValues": "ALL_OLD"}),
    ("GetItem", expressions(ProjectionExpression="#d.#l[0], pk", ExpressionAttributeNames=NAMES, ConsistentRead=True)),
    ("UpdateItem", expressions(**UPDATE, ReturnValues="UPDATED_NEW", ReturnItemCollectionMetrics="SIZE")),
    ("DeleteItem", expressions(**CONDITION, ReturnValuesOnConditionCheckFailure="ALL_OLD")),
    ("PutItem", {"TableName": TABLE, "Item": ITEM, "Expected": EXPECTED, "ConditionalOperator": "OR"}),
    ("GetItem", expressions(AttributesToGet=["pk", "doc"])),
    ("UpdateItem", expressions(AttributeUpdates=UPDATES, Expected=EXPECTED, ReturnValues="UPDATED_OLD")),
    ("DeleteItem", expressions(Expected={"colour": {"Exists": False}})),
    (
        "Query",
        {
            "TableName": TABLE,
            "KeyConditions": {
                "pk": comparing("EQ", {"S": "a"}),
                "sk": comparing("BETWEEN", {"N": "0"}, {"N": "9"}),
            },
            "QueryFilter": {"tags": comparing("CONTAINS", {"S": "a"}), "colour": comparing("IN", {"S": "red"})},
            "ConditionalOperator": "AND",
            "AttributesToGet": ["pk", "colour"],
        },
    ),
    ("Scan", {"TableName": TABLE, "ScanFilter": {"weight": comparing("GT", {"N": "1"})}, "AttributesToGet": ["doc"]}),
    ("BatchGetItem", {"RequestItems": {TABLE: {"Keys": [KEY], "AttributesToGet": ["pk", "sk"]}}}),
    ("Query", {**QUERY, "ExclusiveStartKey": KEY}),
    (
        "Query",
        {
            "TableName": TABLE,
            "IndexName": GSI,
            "KeyConditionExpression": "colour = :c AND weight > :w",
            "ExpressionAttributeValues": {":c": {"S": "red"}, ":w": {"N": "0"}},
            "ExclusiveStartKey": {**KEY, "colour": {"S": "red"}, "weight": {"N": "1"}},
            "Select": "COUNT",
        },
    ),
    ("Scan", {"TableName": TABLE, "IndexName": LSI, "Segment": 1, "TotalSegments": 3, "Select": "ALL_ATTRIBUTES"}),
    (
        "BatchGetItem",
        {"RequestItems": {TABLE: {"Keys": [KEY, {**KEY, "sk": {"N": "2"}}], "ProjectionExpression": "pk, sk"}}},
    ),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                TABLE: [{"PutRequest": {"Item": ITEM}}, {"DeleteRequest": {"Key": {**KEY, "sk": {"N": "7"}}}}]
            }
        },
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": TABLE, "Item": ITEM, **CONDITION}},
                {"Update": {**expressions(**UPDATE), "Key": {**KEY, "sk": {"N": "2"}}}},
                {"Delete": {"TableName": TABLE, "Key": {**KEY, "sk": {"N": "3"}}}},
                {"ConditionCheck": {"TableName": TABLE, **CONDITION, "Key": {**KEY, "sk": {"N": "4"}}}},
            ],
            "ClientRequestToken": "token",
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": TABLE, "Key": KEY, "ProjectionExpression": "pk"}}]}),
    (
        "ExecuteStatement",
        {
            "Statement": f"SELECT pk FROM \"{TABLE}\" WHERE pk = ? AND sk > 0 AND NOT colour IN [?, 'blue']",
            "Parameters": [{"S": "a"}, {"S": "green"}],
            "ConsistentRead": True,
            "Limit": 3,
            "ReturnConsumedCapacity": "INDEXES",
        },
    ),
    (
        "ExecuteStatement",
        {
            "Statement": f"UPDATE \"{TABLE}\" SET weight = weight + ? REMOVE doc.flag WHERE pk = 'a' AND sk = 1",
            "Parameters": [{"N": "1"}],
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
    ),
    (
        "BatchExecuteStatement",
        {
            "Statements": [
                {"Statement": f'INSERT INTO "{TABLE}" VALUE ?', "Parameters": [{"M": ITEM}]},
                {"Statement": f"DELETE FROM \"{TABLE}\" WHERE pk = 'a' AND sk = 7 RETURNING ALL OLD *"},
            ],
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    (
        "ExecuteTransaction",
        {
            "TransactStatements": [
                {"Statement": f"EXISTS(SELECT * FROM \"{TABLE}\" WHERE pk = 'a' AND sk = 1 AND colour = 'red')"},
                {
                    "Statement": f'DELETE FROM "{TABLE}" WHERE pk = ? AND sk = ?',
                    "Parameters": [{"S": "a"}, {"N": "7"}],
                },
            ],
            "ClientRequestToken": "statements",
        },
    ),
    ("CreateTable", definition("Other")),
    ("DeleteTable", {"TableName": "Other"}),
    (
        "UpdateTable",
        {
            "TableName": TABLE,
            "AttributeDefinitions": [{"AttributeName": "data", "AttributeType": "B"}],
            "GlobalSecondaryIndexUpdates": [{"Create": CREATE_INDEX}],
        },
    ),
    ("UpdateTable", {"TableName": TABLE, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "extra"}}]}),
    ("UpdateTable", {"TableName": TABLE, "StreamSpecification": {"StreamEnabled": False}}),
    ("DescribeTable", {"TableName": ARN}),
    ("ListTables", {"ExclusiveStartTableName": "Oth", "Limit": 10}),
    ("DescribeLimits", {}),
    ("DescribeEndpoints", {}),
    ("DescribeContinuousBackups", {"TableName": TABLE}),
    ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "k", "Value": "v"}]}),
    ("UntagResource", {"ResourceArn": ARN, "TagKeys": ["k"]}),
    ("ListTagsOfResource", {"ResourceArn": ARN, "NextToken": "x"}),
    ("DescribeTimeToLive", {"TableName": TABLE}),
    ("UpdateTimeToLive", {"TableName": TABLE, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "weight"}}),
    ("ListStreams", {"TableName": TABLE, "Limit": 3, "ExclusiveStartStreamArn": ARN + "/stream/x"}),
    ("DescribeStream", {"StreamArn": ARN + "/stream/x", "Limit": 3, "ExclusiveStartShardId": "shardId-" + "0" * 20}),
    (
        "GetShardIterator",
        {
            "StreamArn": ARN + "/stream/x",
            "ShardId": "shardId-" + "0" * 20,
            "ShardIteratorType": "AT_SEQUENCE_NUMBER",
            "SequenceNumber": "1" * 21,
        },
    ),
    ("GetRecords", {"ShardIterator": ARN + "/stream/x|1|" + "a" * 20, "Limit": 10}),
    *ADMINISTRATION,
]


def prepare(database: Database) -> None:
    """Restore the table, whatever a request has done to it."""
    if TABLE not in database.execute("ListTables", {})["TableNames"]:  # type: ignore[operator]
        database.execute("CreateTable", definition())
    database.execute("PutItem", {"TableName": TABLE, "Item": ITEM})


def with_stream(database: Database, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """The requests on streams, with names that exist in place of those that do not."""
    if operation not in ("DescribeStream", "GetShardIterator", "GetRecords"):
        return request
    found: Any = database.execute("ListStreams", {"TableName": TABLE})["Streams"]
    if not found:
        return request
    arn = found[-1]["StreamArn"]
    described: Any = database.execute("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    shard = described["Shards"][0]["ShardId"]
    if operation == "GetRecords":
        where = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        return {**request, "ShardIterator": database.execute("GetShardIterator", where)["ShardIterator"]}
    return {**request, "StreamArn": arn, **({"ShardId": shard} if "ShardId" in request else {})}
