"""TagResource, UntagResource and ListTagsOfResource."""

import re
from collections.abc import Iterable
from copy import deepcopy
from typing import TypedDict

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.executor import NOTHING, Answer
from keyplan.engine.operations.tables.resources import table_with_arn
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.transaction import Transaction

MAXIMUM_TAGS = 50
RESERVED_PREFIX = "aws:"

_TAG = re.compile(r"[\w\s+\-=.:/@]*")


class TagsRequest(TypedDict, total=False):
    ResourceArn: str
    Tags: list[dict[str, str]]
    TagKeys: list[str]


def tag_resource(transaction: Transaction, request: TagsRequest) -> Answer:
    if not request["Tags"]:
        raise validation_error("Atleast one Tag needs to be provided as Input.")
    table = table_with_arn(transaction, "TagResource", request["ResourceArn"])
    definition = deepcopy(table.definition)
    check_tags(request["Tags"], definition["tags"])
    definition["tags"].update({tag["Key"]: tag["Value"] for tag in request["Tags"]})
    transaction.save(Table(table.number, definition))
    return NOTHING


def untag_resource(transaction: Transaction, request: TagsRequest) -> Answer:
    if not request["TagKeys"]:
        raise validation_error("Atleast one Tag Key needs to be provided as Input.")
    table = table_with_arn(transaction, "UntagResource", request["ResourceArn"])
    definition = deepcopy(table.definition)
    for key in request["TagKeys"]:
        definition["tags"].pop(key, None)
    transaction.save(Table(table.number, definition))
    return NOTHING


def list_tags_of_resource(transaction: Transaction, request: TagsRequest) -> Answer:
    """Return all tags at once: a resource has so few that the service never returns a NextToken."""
    table = table_with_arn(transaction, "ListTagsOfResource", request["ResourceArn"])
    return {"Tags": [{"Key": key, "Value": value} for key, value in sorted(table.definition["tags"].items())]}


def check_tags(tags: list[dict[str, str]], present: Iterable[str] = ()) -> None:
    """Refuse illegal or reserved tags, and too many tags together with the keys that are present."""
    for member in ("Key", "Value"):
        if not all(_TAG.fullmatch(tag[member]) for tag in tags):
            raise validation_error(f"The Tag {member} provided is invalid string")
    if any(tag["Key"].startswith(RESERVED_PREFIX) for tag in tags):
        raise invalid_parameter(f"Tag keys that begin with {RESERVED_PREFIX} are reserved for system use")
    if len({*present, *(tag["Key"] for tag in tags)}) > MAXIMUM_TAGS:
        raise validation_error("Number of Tags exceed the current limit for the provided ResourceArn")
