"""The members of requests on items, by AWS's names.

There is one type for all operations on one table: a name means the same in all of them, and the service model decides
which operation has which members.
"""

from typing import TypedDict

from keyplan.engine.expressions.legacy import AttributeUpdate, ExpectedValue, LegacyCondition
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
    AttributesToGet: list[str]
    AttributeUpdates: dict[str, AttributeUpdate]
    Expected: dict[str, ExpectedValue]
    KeyConditions: dict[str, LegacyCondition]
    QueryFilter: dict[str, LegacyCondition]
    ScanFilter: dict[str, LegacyCondition]
    ConditionalOperator: str
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
    """The part of a BatchGetItem request for one table."""

    Keys: list[Item]
    AttributesToGet: list[str]
    ProjectionExpression: str
    ExpressionAttributeNames: dict[str, str]
    ConsistentRead: bool


class BatchGetRequest(TypedDict, total=False):
    RequestItems: dict[str, KeysRequest]
    ReturnConsumedCapacity: str


class WriteRequest(TypedDict, total=False):
    """One write of a batch; it has exactly one of these members."""

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


class StatementRequest(TypedDict, total=False):
    """A PartiQL statement: a request of ExecuteStatement, or one statement of a batch or transaction."""

    Statement: str
    Parameters: list[AttributeValue]
    ConsistentRead: bool
    NextToken: str
    Limit: int
    ReturnConsumedCapacity: str
    ReturnValuesOnConditionCheckFailure: str


class StatementsRequest(TypedDict, total=False):
    """Several PartiQL statements: a batch has `Statements`, a transaction `TransactStatements`."""

    Statements: list[StatementRequest]
    TransactStatements: list[StatementRequest]
    ClientRequestToken: str
    ReturnConsumedCapacity: str


class TransactGetRequest(TypedDict, total=False):
    TransactItems: list[dict[str, ItemRequest]]
    ReturnConsumedCapacity: str
