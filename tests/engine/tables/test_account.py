"""Tags, limits and endpoints."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from tests.engine.support import make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"


def tags(client: "DynamoDBClient", table: str) -> dict[str, str]:
    pages = client.get_paginator("list_tags_of_resource").paginate(ResourceArn=ARN + table)
    return {tag["Key"]: tag["Value"] for page in pages for tag in page["Tags"]}


def test_tags_are_set_replaced_and_removed(client: "DynamoDBClient") -> None:
    table = make_table(client, Tags=[{"Key": "a", "Value": "1"}])
    client.tag_resource(ResourceArn=ARN + table, Tags=[{"Key": "a", "Value": "2"}, {"Key": "b", "Value": ""}])
    assert tags(client, table) == {"a": "2", "b": ""}
    client.untag_resource(ResourceArn=ARN + table, TagKeys=["a", "missing"])
    assert tags(client, table) == {"b": ""}
    client.untag_resource(ResourceArn=ARN + table, TagKeys=["b"])
    assert client.list_tags_of_resource(ResourceArn=ARN + table)["Tags"] == []


def test_all_tags_come_at_once(client: "DynamoDBClient") -> None:
    table = make_table(client, Tags=[{"Key": f"key{n:02}", "Value": str(n)} for n in range(50)])
    answer = client.list_tags_of_resource(ResourceArn=ARN + table)
    assert len(answer["Tags"]) == 50
    assert "NextToken" not in answer
    assert tags(client, table) == {f"key{n:02}": str(n) for n in range(50)}


def test_what_tags_are_refused(client: "DynamoDBClient") -> None:
    table = make_table(client, Tags=[{"Key": f"key{n}", "Value": ""} for n in range(50)])
    with refused("Number of Tags exceed the current limit for the provided ResourceArn"):
        client.tag_resource(ResourceArn=ARN + table, Tags=[{"Key": "more", "Value": ""}])
    client.tag_resource(ResourceArn=ARN + table, Tags=[{"Key": "key0", "Value": "other"}])
    with refused("Atleast one Tag needs to be provided as Input."):
        client.tag_resource(ResourceArn=ARN + table, Tags=[])
    with refused("Atleast one Tag Key needs to be provided as Input."):
        client.untag_resource(ResourceArn=ARN + table, TagKeys=[])
    with refused(
        "One or more parameter values were invalid: Tag keys that begin with aws: are reserved for system use"
    ):
        make_table(client, Tags=[{"Key": "aws:mine", "Value": ""}])


def test_characters_in_tags(client: "DynamoDBClient") -> None:
    table = make_table(client)
    wanted = {"Größe + - = . _ : / @ 1": "новый год 2", "team": ""}
    client.tag_resource(ResourceArn=ARN + table, Tags=[{"Key": key, "Value": wanted[key]} for key in wanted])
    assert tags(client, table) == wanted
    with refused("The Tag Key provided is invalid string"):
        client.tag_resource(ResourceArn=ARN + table, Tags=[{"Key": "a;b", "Value": "ok"}])
    with refused("The Tag Value provided is invalid string"):
        client.tag_resource(ResourceArn=ARN + table, Tags=[{"Key": "ok", "Value": "#!%"}])
    with refused("The Tag Value provided is invalid string"):
        make_table(client, Tags=[{"Key": "ok", "Value": "<>"}])
    assert tags(client, table) == wanted


def test_tags_of_what_is_not_there(client: "DynamoDBClient") -> None:
    missing = ARN + "missing"
    calls: list[Callable[..., Any]] = [
        lambda arn: client.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": ""}]),
        lambda arn: client.untag_resource(ResourceArn=arn, TagKeys=["a"]),
        lambda arn: client.list_tags_of_resource(ResourceArn=arn),
    ]
    for call in calls:
        with refused(f"Requested resource not found: ResourcArn: {missing} not found", "ResourceNotFoundException"):
            call(missing)
        for wrong in (ARN + "ab", ARN + "missing/index/gsi", ARN + "what?"):
            with refused(f"Invalid TableArn: Invalid ResourceArn provided as input {wrong}"):
                call(wrong)


@pytest.mark.parametrize(
    "arn",
    [
        "abc",
        "arn:aws:s3:::bucket",
        "arn:aws:dynamodb:us-east-1:000000000000:backup/x",
        "arn:aws:dynamodb:eu-west-1:000000000000:table/mine",
        "arn:aws:dynamodb:us-east-1:123456789012:table/mine",
    ],
)
def test_nobody_may_tag_what_is_no_table_of_this_account_and_region(client: "DynamoDBClient", arn: str) -> None:
    """The form of the message: https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html."""
    make_table(client, name="mine")
    calls: dict[str, Callable[[], object]] = {
        "TagResource": lambda: client.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": ""}]),
        "UntagResource": lambda: client.untag_resource(ResourceArn=arn, TagKeys=["a"]),
        "ListTagsOfResource": lambda: client.list_tags_of_resource(ResourceArn=arn),
    }
    for operation, call in calls.items():
        with refused(
            f"User: arn:aws:iam::000000000000:root is not authorized to perform: dynamodb:{operation} "
            f"on resource: {arn}",
            "AccessDeniedException",
        ):
            call()


def test_limits(client: "DynamoDBClient") -> None:
    answer = client.describe_limits()
    assert {name: value for name, value in answer.items() if name != "ResponseMetadata"} == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def test_endpoints(engine: Engine) -> None:
    assert engine.describe_endpoints()["Endpoints"] == [
        {"Address": "dynamodb.us-east-1.amazonaws.com", "CachePeriodInMinutes": 1440}
    ]


def test_the_engine_has_all_methods_of_both_clients(engine: Engine) -> None:
    for method in ("list_streams", "describe_stream", "get_shard_iterator", "get_records"):
        assert callable(getattr(engine, method))
