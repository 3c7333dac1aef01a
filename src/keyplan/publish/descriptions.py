"""Tables as DynamoDB's API and CloudFormation describe them, from shapes. Both use the same words for these parts."""

from collections.abc import Iterable
from typing import Any

from keyplan.design.tables.attributes import KeyAttribute, Projection
from keyplan.publish.shapes import Capacity, IndexShape, TableShape, VectorShape, elements_of

Description = dict[str, Any]


def attribute_definitions(attributes: Iterable[KeyAttribute]) -> list[Description]:
    return [{"AttributeName": each.name, "AttributeType": each.type} for each in dict.fromkeys(attributes)]


def key_schema(hash_: Iterable[KeyAttribute], range_: Iterable[KeyAttribute]) -> list[Description]:
    parts = ((hash_, "HASH"), (range_, "RANGE"))
    return [{"AttributeName": each.name, "KeyType": kind} for attributes, kind in parts for each in attributes]


def throughput(capacity: Capacity | None) -> Description:
    """The member with capacity units; nothing for tables that are paid per request."""
    if capacity is None:
        return {}
    read, write = capacity
    return {"ProvisionedThroughput": {"ReadCapacityUnits": read, "WriteCapacityUnits": write}}


def projection(given: Projection) -> Description:
    held = {"NonKeyAttributes": list(given.attributes)} if given.attributes else {}
    return {"ProjectionType": given.type, **held}


def secondary_index(index: IndexShape) -> Description:
    return {
        "IndexName": index.name,
        "KeySchema": key_schema(index.hash, index.range),
        "Projection": projection(index.projection),
        **throughput(index.capacity),
    }


def vector_index(index: VectorShape) -> Description:
    elements = [
        {
            "AttributeName": each.name,
            "SearchSchemaElementType": "HASH" if each == index.partition else "INLINE_FILTER",
        }
        for each in elements_of(index)
    ]
    return {
        "IndexName": index.name,
        "VectorAttribute": {"AttributeName": index.attribute},
        "Dimensions": index.dimensions,
        "DistanceFunction": index.distance,
        **({"SearchSchema": elements} if elements else {}),
        "Projection": projection(index.projection),
    }


def keys_and_indexes(table: TableShape) -> Description:
    """What a table is created with, in the words that CreateTable and CloudFormation share."""
    described: Description = {
        "TableName": table.name,
        "AttributeDefinitions": attribute_definitions(table.attributes),
        "KeySchema": key_schema(table.hash, table.range),
        "BillingMode": table.billing,
        **throughput(table.capacity),
    }
    for member, is_local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        indexes = [secondary_index(index) for index in table.indexes if index.local is is_local]
        if indexes:
            described[member] = indexes
    if table.vectors:
        described["VectorIndexes"] = [vector_index(index) for index in table.vectors]
    return described


def tags_of(table: TableShape) -> list[Description]:
    return [{"Key": key, "Value": value} for key, value in table.tags]
