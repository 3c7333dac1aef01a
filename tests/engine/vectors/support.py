"""Helpers for the tests of vector indexes: indexes and vectors in one line, and what a search finds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client
else:
    Client = object

INVALID = "One or more parameter values were invalid: "


def vector_index(
    name: str = "ByVector",
    attribute: str = "v",
    dimensions: int = 3,
    distance: str = "EUCLIDEAN",
    *,
    partition: str | None = None,
    filters: Sequence[str] = (),
    projection: str | Sequence[str] = "ALL",
) -> dict[str, Any]:
    """A vector index; a projection that is a list of names means INCLUDE."""
    if isinstance(projection, str):
        projected: dict[str, Any] = {"ProjectionType": projection}
    else:
        projected = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)}
    elements = [(partition, "HASH")] if partition else []
    elements += [(each, "INLINE_FILTER") for each in filters]
    schema = [{"AttributeName": each, "SearchSchemaElementType": kind} for each, kind in elements]
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": attribute},
        "Dimensions": dimensions,
        "DistanceFunction": distance,
        "Projection": projected,
        **({"SearchSchema": schema} if schema else {}),
    }


def create(client: Client, *indexes: dict[str, Any], name: str = "Things", **settings: Any) -> str:
    """Create a table with the key `pk` and these vector indexes, whose other attributes are strings."""
    named = {each["AttributeName"] for made in indexes for each in made.get("SearchSchema", [])} - {"pk"}
    definitions = [{"AttributeName": each, "AttributeType": "S"} for each in ("pk", *sorted(named))]
    request: dict[str, Any] = {
        "TableName": name,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": definitions,
        "BillingMode": "PAY_PER_REQUEST",
        **({"VectorIndexes": list(indexes)} if indexes else {}),
        **settings,
    }
    client.create_table(**request)
    return name


def numbers(*values: float | str) -> list[dict[str, str]]:
    """A vector as `SearchVector` takes it."""
    return [{"N": str(value)} for value in values]


def vector(*values: float | str) -> dict[str, Any]:
    """A vector as an item holds it."""
    return {"L": numbers(*values)}


def put(client: Client, pk: str, *values: float | str, table: str = "Things", **attributes: str) -> None:
    """Put an item with a vector and texts."""
    item: dict[str, Any] = {"pk": {"S": pk}, "v": vector(*values)}
    item |= {name: {"S": text} for name, text in attributes.items()}
    client.put_item(TableName=table, Item=item)


def search(client: Client, *values: float | str, **more: Any) -> dict[str, Any]:
    """The answer to a search; equal=... are the values that the condition asks for."""
    request: dict[str, Any] = {"TableName": "Things", "IndexName": "ByVector", "TopK": 10}
    equal = more.pop("equal", None)
    if equal is not None:
        request["SearchConditionExpression"] = " AND ".join(f"{name} = :{name}" for name in equal)
        request["ExpressionAttributeValues"] = {f":{name}": {"S": text} for name, text in equal.items()}
    return cast(dict[str, Any], client.search_vectors(**{**request, "SearchVector": numbers(*values), **more}))


def scored(client: Client, *values: float | str, **more: Any) -> list[tuple[str, float]]:
    """The keys and scores that a search finds."""
    results = search(client, *values, **more)["SearchResults"]
    return [(each["Item"]["pk"]["S"], each["Score"]) for each in results]


def found(client: Client, *values: float | str, **more: Any) -> list[str]:
    """The keys that a search finds."""
    return [pk for pk, _ in scored(client, *values, **more)]
