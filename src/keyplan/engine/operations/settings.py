"""The small operations on tables and the account: time to live, tags, limits, endpoints, backups' state."""

import re
from collections.abc import Iterable
from copy import deepcopy
from typing import TypedDict

from keyplan.engine import expiry
from keyplan.engine.catalog import REGION, Table, table_name
from keyplan.engine.errors import DynamoError, invalid_parameter, not_found, validation_error
from keyplan.engine.operations.requests import Answer
from keyplan.engine.transaction import Transaction
from keyplan.engine.validation.extras import TABLE_NAME_LENGTHS, TABLE_NAME_PATTERN

MAXIMUM_TAGS = 50
RESERVED_PREFIX = "aws:"

_TAG = re.compile(r"[\w\s+\-=.:/@]*")
_TABLE_ARN = re.compile(r"arn:[\w-]+:dynamodb:[\w-]*:\d*:table/(.*)", re.DOTALL)


class SettingsRequest(TypedDict, total=False):
    TableName: str
    ResourceArn: str
    TimeToLiveSpecification: dict[str, object]
    Tags: list[dict[str, str]]
    TagKeys: list[str]


def describe_time_to_live(transaction: Transaction, request: SettingsRequest) -> Answer:
    attribute = transaction.catalog.described(request["TableName"]).definition["ttl"]
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}


def update_time_to_live(transaction: Transaction, request: SettingsRequest) -> Answer:
    table = transaction.catalog.described(request["TableName"])
    wanted = request["TimeToLiveSpecification"]
    attribute, current = str(wanted["AttributeName"]), table.definition["ttl"]
    if wanted["Enabled"]:
        if current == attribute:
            raise validation_error("TimeToLive is already enabled")
        if current is not None:
            raise validation_error(
                f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
            )
        expiry.enable(transaction, table, attribute)
    else:
        if current is None:
            raise validation_error("TimeToLive is already disabled")
        if current != attribute:
            raise validation_error(
                f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
            )
        expiry.disable(transaction, table)
    return {"TimeToLiveSpecification": wanted}


def check_tags(tags: list[dict[str, str]], present: Iterable[str] = ()) -> None:
    """Refuse tags that nobody may set, and too many of them together with the keys that are there."""
    for member in ("Key", "Value"):
        if not all(_TAG.fullmatch(tag[member]) for tag in tags):
            raise validation_error(f"The Tag {member} provided is invalid string")
    if any(tag["Key"].startswith(RESERVED_PREFIX) for tag in tags):
        raise invalid_parameter(f"Tag keys that begin with {RESERVED_PREFIX} are reserved for system use")
    if len({*present, *(tag["Key"] for tag in tags)}) > MAXIMUM_TAGS:
        raise validation_error("Number of Tags exceed the current limit for the provided ResourceArn")


def tag_resource(transaction: Transaction, request: SettingsRequest) -> Answer:
    if not request["Tags"]:
        raise validation_error("Atleast one Tag needs to be provided as Input.")
    table = _tagged(transaction, request["ResourceArn"])
    definition = deepcopy(table.definition)
    check_tags(request["Tags"], definition["tags"])
    definition["tags"].update({tag["Key"]: tag["Value"] for tag in request["Tags"]})
    transaction.save(Table(table.number, definition))
    return {}


def untag_resource(transaction: Transaction, request: SettingsRequest) -> Answer:
    if not request["TagKeys"]:
        raise validation_error("Atleast one Tag Key needs to be provided as Input.")
    table = _tagged(transaction, request["ResourceArn"])
    definition = deepcopy(table.definition)
    for key in request["TagKeys"]:
        definition["tags"].pop(key, None)
    transaction.save(Table(table.number, definition))
    return {}


def list_tags_of_resource(transaction: Transaction, request: SettingsRequest) -> Answer:
    """All of them at once: a resource has few enough, so that the service never gives a NextToken."""
    table = _tagged(transaction, request["ResourceArn"])
    return {"Tags": [{"Key": key, "Value": value} for key, value in sorted(table.definition["tags"].items())]}


def _tagged(transaction: Transaction, arn: str) -> Table:
    named = _TABLE_ARN.fullmatch(arn)
    name, (shortest, longest) = named[1] if named else "", TABLE_NAME_LENGTHS
    if not shortest <= len(name) <= longest or not re.fullmatch(TABLE_NAME_PATTERN, name):
        raise validation_error(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    table = transaction.catalog.tables.get(name)
    if table is None:
        raise not_found(f"Requested resource not found: ResourcArn: {arn} not found")
    return table


def describe_limits(transaction: Transaction, request: SettingsRequest) -> Answer:
    return {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def describe_endpoints(transaction: Transaction, request: SettingsRequest) -> Answer:
    return {"Endpoints": [{"Address": f"dynamodb.{REGION}.amazonaws.com", "CachePeriodInMinutes": 1440}]}


def describe_continuous_backups(transaction: Transaction, request: SettingsRequest) -> Answer:
    """Backups are not made; AWS says of every table that they could be."""
    name = table_name(request["TableName"])
    if name not in transaction.catalog.tables:
        raise DynamoError("TableNotFoundException", f"Table not found: {name}")
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
        }
    }
