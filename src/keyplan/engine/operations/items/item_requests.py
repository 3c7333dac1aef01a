"""The members of the requests on items, by AWS's names.

One type for all of them: a name means the same in every operation, and which operation has which members is the
business of the service model.
"""

from typing import TypedDict

from keyplan.engine.values.attribute_values import AttributeValue, Item


class ItemRequest(TypedDict, total=False):
    """A request on the items of one table."""

    TableName: str
    IndexName: str
    Key: Item
    Item: Item
    ConditionExpression: str
    UpdateExpression: str
    KeyConditionExpression: str
    FilterExpression: str
    ProjectionExpression: str
    ExpressionAttributeNames: dict[str, str]
    ExpressionAttributeValues: dict[str, AttributeValue]
    ConsistentRead: bool
    ReturnValues: str
    ReturnValuesOnConditionCheckFailure: str
    ReturnConsumedCapacity: str
    ReturnItemCollectionMetrics: str
    Select: str
    Limit: int
    ScanIndexForward: bool
    ExclusiveStartKey: Item
    Segment: int
    TotalSegments: int


class KeysRequest(TypedDict, total=False):
    """What BatchGetItem asks of one table."""

    Keys: list[Item]
    ProjectionExpression: str
    ExpressionAttributeNames: dict[str, str]
    ConsistentRead: bool


class BatchGetRequest(TypedDict, total=False):
    RequestItems: dict[str, KeysRequest]
    ReturnConsumedCapacity: str


class WriteRequest(TypedDict, total=False):
    """One of the writes of a batch: exactly one member."""

    PutRequest: ItemRequest
    DeleteRequest: ItemRequest


class BatchWriteRequest(TypedDict, total=False):
    RequestItems: dict[str, list[WriteRequest]]
    ReturnConsumedCapacity: str
    ReturnItemCollectionMetrics: str


class TransactWriteRequest(TypedDict, total=False):
    TransactItems: list[dict[str, ItemRequest]]
    ClientRequestToken: str
    ReturnConsumedCapacity: str
    ReturnItemCollectionMetrics: str


class TransactGetRequest(TypedDict, total=False):
    TransactItems: list[dict[str, ItemRequest]]
    ReturnConsumedCapacity: str
