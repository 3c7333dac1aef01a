"""Helpers for tests that read many items: short ways to write values, to fill a table and to read all pages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

    Client: TypeAlias = DynamoDBClient
else:
    Client = object

Item = dict[str, dict[str, Any]]
Scalar = str | int | bytes


def value(content: Scalar) -> dict[str, Any]:
    """An attribute value of the type that goes with the Python type."""
    if isinstance(content, str):
        return {"S": content}
    return {"B": content} if isinstance(content, bytes) else {"N": str(content)}


def item(**attributes: Scalar) -> Item:
    return {name: value(content) for name, content in attributes.items()}


def values(**contents: Scalar) -> Item:
    """ExpressionAttributeValues: `values(p="a")` is `{":p": {"S": "a"}}`."""
    return {f":{name}": value(content) for name, content in contents.items()}


def fill(client: Client, table: str, items: Sequence[Mapping[str, Any]]) -> None:
    """Put the items, 25 at a time."""
    for start in range(0, len(items), 25):
        client.batch_write_item(
            RequestItems={table: [{"PutRequest": {"Item": made}} for made in items[start : start + 25]]}
        )


def pages(client: Client, operation: str, **request: Any) -> Iterator[dict[str, Any]]:
    """The answers to a query or scan, each beginning where the one before ended."""
    start: dict[str, Any] = {}
    while True:
        answer = cast(dict[str, Any], getattr(client, operation)(**request, **start))
        yield answer
        if "LastEvaluatedKey" not in answer:
            return
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def everything(client: Client, operation: str, **request: Any) -> list[Item]:
    """The items of all pages."""
    return [found for page in pages(client, operation, **request) for found in page["Items"]]


def contents(items: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """One attribute of each item, without its type."""
    return [next(iter(found[name].values())) for found in items]
