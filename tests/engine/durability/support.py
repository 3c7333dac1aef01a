"""Shared by the tests of durability: a small database with everything in it, and reads of all its content."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import orjson

from keyplan.engine.database import Database
from keyplan.engine.executor import Answer, Request

TABLE = "Things"
GSI = "by-colour"
LSI = "by-weight"
COMMAND = [sys.executable, "-m", "keyplan.cli", "dynamodb"]


def definition(name: str = TABLE, *, stream: bool = True) -> Request:
    """A table with a stream and an index of each kind."""
    types = {"pk": "S", "sk": "N", "colour": "S", "weight": "N"}
    made: Request = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": kind} for key, kind in types.items()],
        "KeySchema": key_schema("pk", "sk"),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": GSI,
                "KeySchema": key_schema("colour", "weight"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": LSI,
                "KeySchema": key_schema("pk", "weight"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    }
    if stream:
        made["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    return made


def key_schema(hash_name: str, range_name: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": hash_name, "KeyType": "HASH"},
        {"AttributeName": range_name, "KeyType": "RANGE"},
    ]


def put(database: Database, pk: str, sk: int, *, colour: str = "red", weight: int = 1, body: str = "") -> None:
    item = {
        "pk": {"S": pk},
        "sk": {"N": str(sk)},
        "colour": {"S": colour},
        "weight": {"N": str(weight)},
        "body": {"S": body},
    }
    database.execute("PutItem", {"TableName": TABLE, "Item": item})


def query(database: Database, name: str, value: str, **more: object) -> Answer:
    return database.execute(
        "Query",
        {
            "TableName": TABLE,
            "KeyConditionExpression": "#n = :v",
            "ExpressionAttributeNames": {"#n": name},
            "ExpressionAttributeValues": {":v": {"S": value}},
            **more,
        },
    )


def records(database: Database) -> list[object]:
    """All records of the only stream."""
    arn = database.execute("ListStreams", {})["Streams"][0]["StreamArn"]  # type: ignore[index]
    description = database.execute("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    shard = description["Shards"][0]["ShardId"]  # type: ignore[index]
    position = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = database.execute("GetShardIterator", position)["ShardIterator"]
    found: list[object] = []
    while iterator:
        answer = database.execute("GetRecords", {"ShardIterator": iterator})
        page = cast(list[object], answer["Records"])
        if not page:
            break
        found += page
        iterator = answer.get("NextShardIterator")
    return found


def everything(database: Database, keys: list[tuple[str, int]], colours: list[str]) -> list[bytes]:
    """The answers to one read of every kind for everything that was written."""
    answers: list[object] = [database.execute("DescribeTable", {"TableName": TABLE})]
    answers.append(database.execute("Scan", {"TableName": TABLE}))
    for pk, sk in keys:
        key = {"pk": {"S": pk}, "sk": {"N": str(sk)}}
        answers.append(database.execute("GetItem", {"TableName": TABLE, "Key": key}))
        answers.append(query(database, "pk", pk))
        answers.append(query(database, "pk", pk, IndexName=LSI, ConsistentRead=True))
    answers += [query(database, "colour", colour, IndexName=GSI) for colour in colours]
    answers.append(records(database))
    return [orjson.dumps(answer) for answer in answers]


class Server:
    """`keyplan dynamodb` on a file, as a process that says where it listens."""

    def __init__(self, path: Path, *arguments: str, command: list[str] = COMMAND) -> None:
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--path", str(path), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://[\d.]+:(\d+)", line)
        if found is None:
            raise AssertionError(line + self.process.communicate()[1])
        self.url = found.group()
        self.port = int(found.group(1))

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def server(path: Path, *arguments: str) -> Iterator[Server]:
    running = Server(path, *arguments)
    try:
        yield running
    finally:
        running.kill()
