"""SearchVectors."""

from collections.abc import Callable
from typing import TypedDict, cast

import orjson

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import Placeholders, Projection, SearchCondition, projection, search_condition
from keyplan.engine.operations.items.consumed_capacity import search_bytes
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.parameters import check_placeholders
from keyplan.engine.storage.catalog import Table, VectorIndex
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values import numbers
from keyplan.engine.values.attribute_values import AttributeValue, Item, item_size
from keyplan.engine.values.normal_form import normalize
from keyplan.engine.vectors.entries import NotAFloat, pack
from keyplan.engine.vectors.extra import require_numpy
from keyplan.engine.vectors.memory import VectorMemory
from keyplan.engine.vectors.queries import Found, Query
from keyplan.engine.vectors.source import Reads, Source

MAXIMUM_RESULTS = 100
MAXIMUM_BYTES = 16 * 1_048_576

_CONDITION = "SearchConditionExpression"


class SearchRequest(TypedDict, total=False):
    """A request of SearchVectors."""

    TableName: str
    IndexName: str
    SearchVector: list[AttributeValue]
    TopK: int
    SearchConditionExpression: str
    ProjectionExpression: str
    ExpressionAttributeNames: dict[str, str]
    ExpressionAttributeValues: dict[str, AttributeValue]
    ReturnConsumedCapacity: str


def search_vectors(reads: Reads, memory: VectorMemory, request: SearchRequest) -> Answer:
    """Return the items whose vectors are nearest, as they are now. It reads several times, and computes in between."""
    require_numpy()
    check_placeholders(
        cast(ItemRequest, request), with_names=(_CONDITION, "ProjectionExpression"), with_values=(_CONDITION,)
    )
    count = request["TopK"]
    if count > MAXIMUM_RESULTS:
        raise validation_error(
            f"Provided TopK value '{count}' is out of valid range. "
            f"The value must be between 1 and {MAXIMUM_RESULTS} inclusive"
        )
    vector = _normal(request["SearchVector"])
    placeholders = Placeholders(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))
    text = request.get("SearchConditionExpression")
    condition = None if text is None else search_condition(text, placeholders)
    text = request.get("ProjectionExpression")
    projected = None if text is None else projection(text, placeholders)
    placeholders.finish()
    source = Source(reads, _index_named(request["TableName"], request["IndexName"]))
    index = source.index
    query = _query(index, _packed(index, vector), count, condition)
    result = memory.search(source, query)
    return _answer(index, result.found, result.entries, projected, request.get("ReturnConsumedCapacity"))


def _normal(vector: list[AttributeValue]) -> list[AttributeValue]:
    """The elements of a search vector in normal form. Nearly all are numbers that have it already."""
    if all(len(each) == 1 and "N" in each and numbers.normal_size(each["N"]) for each in vector):
        return vector
    return normalize({"L": vector})["L"]


def _index_named(table_name: str, name: str) -> Callable[[Transaction], tuple[Table, VectorIndex]]:
    """A function that returns the index, or raises AWS's error if it can't be searched."""

    def find(transaction: Transaction) -> tuple[Table, VectorIndex]:
        table = transaction.catalog.table(table_name)
        index = table.vector_index(name)
        if index is None:
            if any(other.name == name for other in table.indexes):
                raise validation_error("SearchVectors operation not supported on this index type.")
            raise validation_error(f"The table does not have the specified index: {name}")
        if index.status == "CREATING":
            raise validation_error(f"Cannot search backfilling vector index: {name}")
        return table, index

    return find


def _packed(index: VectorIndex, vector: list[AttributeValue]) -> bytes:
    """The search vector as 32-bit floats."""
    if len(vector) != index.dimensions:
        raise validation_error(
            f"Input search vector dimension {len(vector)} does not match vector index dimension {index.dimensions}"
        )
    try:
        return pack(vector)
    except NotAFloat as problem:
        raise invalid_parameter(problem.message("SearchVector", f"IndexName: {index.name}")) from None


def _query(index: VectorIndex, vector: bytes, count: int, condition: SearchCondition | None) -> Query:
    """The search for a vector and a condition, which must fit the search schema."""
    condition = condition or {}
    places = {name: (place, kind) for place, (name, kind) in enumerate(index.schema)}
    equal = []
    for name, value in condition.items():
        if name not in places:
            raise validation_error(f"Invalid {_CONDITION}: Attribute {name} is not in the SearchSchema of the index")
        place, kind = places[name]
        if kind not in value:
            raise invalid_parameter("Condition parameter type does not match schema type")
        equal.append((place, orjson.dumps(value)))
    if index.partition is None:
        return Query(vector, count, tuple(equal))
    if index.partition[0] not in condition:
        raise validation_error(f"{_CONDITION} must be provided when SearchSchema has a HASH key")
    prefix = b"[" + orjson.dumps(condition[index.partition[0]])
    return Query(vector, count, tuple(equal), prefix)


def _answer(
    index: VectorIndex, found: list[Found], entries: int, projected: Projection | None, wanted: str | None
) -> Answer:
    results: list[dict[str, object]] = []
    size = 0
    for row, score in found:
        item = _selected(index, row.item, projected)
        size += item_size(item)
        # Dot products are searched for as their negatives, of which the smallest is the best.
        results.append({"Item": item, "Score": 0.0 - score if index.distance == "DOT_PRODUCT" else score})
    if size > MAXIMUM_BYTES:
        raise validation_error(
            "The results of SearchVectors exceed the limit of 16 MB. Use a smaller TopK or a narrower projection"
        )
    answer: Answer = {"SearchResults": results}
    if wanted is not None and wanted != "NONE":
        answer["ConsumedCapacity"] = {"VectorSearchRequestBytes": search_bytes(index, entries, len(found), size)}
    return answer


def _selected(index: VectorIndex, item: Item, projected: Projection | None) -> Item:
    """The attributes to return: the vector only if it is asked for, and never what the index doesn't hold."""
    held = index.project(item)
    if projected is not None:
        return projected.apply(held)
    return {name: value for name, value in held.items() if name != index.attribute}
