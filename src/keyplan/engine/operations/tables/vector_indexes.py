"""The rules of vector indexes, and how they are described. `vector_index_updates` adds and removes them."""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from keyplan.engine.errors import DynamoError, invalid_parameter, not_found, validation_error
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.descriptions import (
    Distance,
    KeySchemaElements,
    Projection,
    TableDescription,
    VectorIndexDescription,
)
from keyplan.engine.vectors.extra import require_numpy

MAXIMUM_VECTOR_INDEXES = 5
MAXIMUM_DIMENSIONS = 4096
MAXIMUM_FILTERS = 18


class VectorIndexRequest(TypedDict, total=False):
    """A vector index in a request."""

    IndexName: str
    VectorAttribute: dict[str, str]
    Dimensions: int
    DistanceFunction: Distance
    SearchSchema: list[dict[str, str]]
    Projection: Projection


VectorIndexLike = VectorIndexRequest | VectorIndexDescription


def check_vector_indexes(
    indexes: Sequence[VectorIndexRequest],
    others: Sequence[VectorIndexLike],
    *,
    key: KeySchemaElements,
    defined: set[str],
    billing: str,
) -> None:
    """Refuse new vector indexes of a table that break one of AWS's rules.

    `others` are the vector indexes that the table has already, `key` is its key, `defined` are the attributes with a
    definition, and `billing` is the table's billing mode.
    """
    if not indexes:
        raise invalid_parameter("List of VectorIndexes is empty")
    require_numpy()
    check_vector_billing(billing)
    for index in indexes:
        _check_index(index, key, defined)
    count = len(indexes) + len(others)
    if count > MAXIMUM_VECTOR_INDEXES:
        raise invalid_parameter(f"VectorIndex count exceeds the per-table limit of {MAXIMUM_VECTOR_INDEXES}")
    _check_same_dimensions([*others, *indexes])


def check_vector_billing(billing: str) -> None:
    """Refuse vector indexes of a table that isn't on-demand."""
    if billing != "PAY_PER_REQUEST":
        raise invalid_parameter("Vector indexes are only supported when BillingMode is PAY_PER_REQUEST")


def _check_index(index: VectorIndexRequest, key: KeySchemaElements, defined: set[str]) -> None:
    name, attribute = index["IndexName"], index["VectorAttribute"]["AttributeName"]
    if index["Dimensions"] > MAXIMUM_DIMENSIONS:
        raise invalid_parameter(
            f"Dimensions of vector index {name} must be between 1 and {MAXIMUM_DIMENSIONS}: {index['Dimensions']}"
        )
    elements = search_attributes(index)
    if not defined.issuperset(elements):
        raise invalid_parameter("One element in SearchSchema is not defined in attribute definitions")
    kinds = [element["SearchSchemaElementType"] for element in index.get("SearchSchema", [])]
    if len(set(elements)) != len(elements):
        raise invalid_parameter(f"SearchSchema of vector index {name} has two elements with the same name")
    if kinds.count("HASH") > 1:
        raise invalid_parameter(f"SearchSchema of vector index {name} exceeds the limit of 1 HASH element")
    if kinds.count("INLINE_FILTER") > MAXIMUM_FILTERS:
        raise invalid_parameter(
            f"SearchSchema of vector index {name} exceeds the limit of {MAXIMUM_FILTERS} INLINE_FILTER elements"
        )
    if attribute in (*defined, *(element["AttributeName"] for element in key)):
        raise invalid_parameter(
            f"VectorAttribute {attribute} of vector index {name} can't be a key attribute: its type is a list"
        )


def _check_same_dimensions(indexes: Iterable[VectorIndexLike]) -> None:
    dimensions: dict[str, int] = {}
    for index in indexes:
        attribute = index["VectorAttribute"]["AttributeName"]
        if dimensions.setdefault(attribute, index["Dimensions"]) != index["Dimensions"]:
            raise invalid_parameter(
                f"All vector indexes on attribute {attribute} must have the same Dimensions: "
                f"{dimensions[attribute]} and {index['Dimensions']}"
            )


def search_attributes(index: VectorIndexLike) -> list[str]:
    """Return the attributes of a search schema."""
    return [element["AttributeName"] for element in index.get("SearchSchema", [])]


def projected_count(index: VectorIndexLike) -> int:
    """Return how many projected attributes an index counts for: with its vector and its filters, without its HASH."""
    kinds = [element["SearchSchemaElementType"] for element in index.get("SearchSchema", [])]
    return 1 + kinds.count("INLINE_FILTER") + len(index["Projection"].get("NonKeyAttributes", []))


def describe_vector(index: VectorIndexRequest, table_arn: str, status: str = "ACTIVE") -> VectorIndexDescription:
    """Return the stored description of a new vector index."""
    description: VectorIndexDescription = {
        "IndexName": index["IndexName"],
        "Projection": index["Projection"],
        "VectorAttribute": index["VectorAttribute"],
        "Dimensions": index["Dimensions"],
        "DistanceFunction": index["DistanceFunction"],
        "IndexStatus": status,
        "IndexArn": f"{table_arn}/index/{index['IndexName']}",
    }
    if "SearchSchema" in index:
        description["SearchSchema"] = index["SearchSchema"]
    return description


def vector_index(description: TableDescription, name: str) -> VectorIndexDescription:
    """Return the description of the vector index with this name."""
    for index in description.get("VectorIndexes", []):
        if index["IndexName"] == name:
            return index
    raise not_found("Requested resource not found")


def one_index_at_a_time() -> DynamoError:
    """AWS's error for an index that is created or deleted while another one is."""
    return DynamoError(
        "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
    )


def check_another_index(table: Table, name: str) -> None:
    """Refuse an index that the table has already, and a second one while another is being filled."""
    if any(other.name == name for other in table.all_indexes):
        raise validation_error("Attempting to create an index which already exists")
    if any(other.status == "CREATING" for other in table.all_indexes):
        raise one_index_at_a_time()
