"""The AWS CLI against the endpoint, as a command, without a change."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.engine.database import Database
from keyplan.engine.wire import serve_in_thread

Aws = Callable[..., Any]


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    """Runs an AWS CLI command; gives its JSON, or the error that it ends with."""
    command = Path(sys.executable).with_name("aws")
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_PAGER": "",
    }
    database = Database()
    with serve_in_thread(database) as url:

        def run(service: str, operation: str, *arguments: str) -> Any:
            done = subprocess.run(
                [command, service, operation, "--endpoint-url", url, "--output", "json", *arguments],
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
            )
            return json.loads(done.stdout or "null") if done.returncode == 0 else done.stderr.strip()

        yield run
    database.close()


def test_a_table_from_making_it_to_reading_its_stream(aws: Aws) -> None:
    table = ("--table-name", "Music")
    made = aws(
        "dynamodb",
        "create-table",
        *table,
        "--attribute-definitions",
        "AttributeName=Artist,AttributeType=S",
        "AttributeName=Song,AttributeType=S",
        "--key-schema",
        "AttributeName=Artist,KeyType=HASH",
        "AttributeName=Song,KeyType=RANGE",
        "--billing-mode",
        "PAY_PER_REQUEST",
        "--stream-specification",
        "StreamEnabled=true,StreamViewType=NEW_IMAGE",
    )
    assert made["TableDescription"]["TableStatus"] == "CREATING"
    item = {"Artist": {"S": "No One You Know"}, "Song": {"S": "Call Me Today"}, "Rating": {"N": "4.50"}}
    assert aws("dynamodb", "put-item", *table, "--item", json.dumps(item)) is None
    found = aws(
        "dynamodb",
        "query",
        *table,
        "--key-condition-expression",
        "Artist = :a AND begins_with(Song, :s)",
        "--expression-attribute-values",
        '{":a": {"S": "No One You Know"}, ":s": {"S": "Call"}}',
        "--return-consumed-capacity",
        "TOTAL",
    )
    assert found["Items"] == [{**item, "Rating": {"N": "4.5"}}]
    assert found["ConsumedCapacity"]["CapacityUnits"] == 0.5
    streams = aws("dynamodbstreams", "list-streams", *table)
    assert [stream["TableName"] for stream in streams["Streams"]] == ["Music"]


def test_statements(aws: Aws) -> None:
    key = (
        "--attribute-definitions",
        "AttributeName=pk,AttributeType=S",
        "--key-schema",
        "AttributeName=pk,KeyType=HASH",
    )
    aws("dynamodb", "create-table", "--table-name", "Films", *key, "--billing-mode", "PAY_PER_REQUEST")
    insert = "INSERT INTO Films VALUE {'pk': 'a', 'tags': <<'x', 'y'>>, 'rating': 4.50}"
    assert aws("dynamodb", "execute-statement", "--statement", insert) == {"Items": []}
    select = ("--statement", "SELECT rating, tags FROM Films WHERE pk = ?", "--parameters", '[{"S": "a"}]')
    assert aws("dynamodb", "execute-statement", *select, "--return-consumed-capacity", "TOTAL") == {
        "Items": [{"rating": {"N": "4.5"}, "tags": {"SS": ["x", "y"]}}],
        "ConsumedCapacity": {"TableName": "Films", "CapacityUnits": 0.5},
    }
    batch = json.dumps([{"Statement": "DELETE FROM Films WHERE pk = 'a'"}, {"Statement": "DELETE FROM Films"}])
    missing = "Where clause does not contain a mandatory equality on all key attributes"
    assert aws("dynamodb", "batch-execute-statement", "--statements", batch) == {
        "Responses": [{"TableName": "Films"}, {"Error": {"Code": "ValidationError", "Message": missing}}]
    }
    check = json.dumps([{"Statement": "EXISTS(SELECT * FROM Films WHERE pk = 'b')"}, {"Statement": insert}])
    assert aws("dynamodb", "execute-transaction", "--transact-statements", check).endswith(
        "An error occurred (TransactionCanceledException) when calling the ExecuteTransaction operation: "
        "Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed, None]"
    )


def test_errors_are_told_in_the_words_of_aws(aws: Aws) -> None:
    assert aws("dynamodb", "describe-table", "--table-name", "missing").endswith(
        "An error occurred (ResourceNotFoundException) when calling the DescribeTable operation: "
        "Requested resource not found: Table: missing not found"
    )
