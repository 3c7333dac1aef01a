"""The definition of a restored table: that of its source, with the overrides of the request."""

from typing import Literal, TypedDict, cast

from keyplan.engine.errors import invalid_parameter
from keyplan.engine.operations.tables.create_table import new_definition
from keyplan.engine.operations.tables.definitions import (
    IndexRequest,
    TableRequest,
    check_billing,
    check_definition,
    check_encryption,
)
from keyplan.engine.operations.tables.throughput import billing_of
from keyplan.engine.operations.tables.vector_indexes import VectorIndexRequest, search_attributes
from keyplan.engine.storage.catalog import Definition, IndexKind
from keyplan.engine.storage.descriptions import IndexDescription, TableDescription, VectorIndexDescription
from keyplan.engine.storage.scopes import Scope


class Overrides(TypedDict, total=False):
    """The members that both restores share."""

    BillingModeOverride: str
    GlobalSecondaryIndexOverride: list[IndexRequest]
    LocalSecondaryIndexOverride: list[IndexRequest]
    ProvisionedThroughputOverride: dict[str, int]
    OnDemandThroughputOverride: dict[str, int]
    SSESpecificationOverride: dict[str, object]
    VectorIndexOverride: list[VectorIndexRequest]


def restored_definition(
    source: TableDescription, overrides: Overrides, scope: Scope, name: str, now: float
) -> Definition:
    """Return the definition of the new table; refuse overrides that don't fit the source."""
    billing = overrides.get("BillingModeOverride", billing_of(source))
    request: TableRequest = {"TableName": name, "KeySchema": source["KeySchema"], "BillingMode": billing}
    _set_throughput(request, source, overrides)
    lsis = _indexes("LocalSecondaryIndexes", source, overrides.get("LocalSecondaryIndexOverride"))
    gsis = _indexes("GlobalSecondaryIndexes", source, overrides.get("GlobalSecondaryIndexOverride"))
    if lsis:
        request["LocalSecondaryIndexes"] = lsis
    if gsis:
        request["GlobalSecondaryIndexes"] = [_with_throughput(index, source, billing) for index in gsis]
    vectors = _vector_indexes(source, overrides.get("VectorIndexOverride"))
    if vectors:
        request["VectorIndexes"] = vectors
    request["AttributeDefinitions"] = _definitions(source, [request, *lsis, *gsis], vectors)
    if "SSESpecificationOverride" in overrides:
        request["SSESpecification"] = overrides["SSESpecificationOverride"]
    elif "SSEDescription" in source:
        key = source["SSEDescription"]["KMSMasterKeyArn"]
        request["SSESpecification"] = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
    if "TableClassSummary" in source:
        request["TableClass"] = cast(str, source["TableClassSummary"]["TableClass"])
    check_billing(request)
    check_definition(request)
    check_encryption(request)
    return new_definition(request, scope, name, now)


def _set_throughput(request: TableRequest, source: TableDescription, overrides: Overrides) -> None:
    billing, same = request["BillingMode"], request["BillingMode"] == billing_of(source)
    if "ProvisionedThroughputOverride" in overrides:
        request["ProvisionedThroughput"] = overrides["ProvisionedThroughputOverride"]
    elif billing == "PROVISIONED" and same:
        request["ProvisionedThroughput"] = _units(source)
    if "OnDemandThroughputOverride" in overrides:
        request["OnDemandThroughput"] = overrides["OnDemandThroughputOverride"]
    elif billing == "PAY_PER_REQUEST" and "OnDemandThroughput" in source:
        request["OnDemandThroughput"] = cast("dict[str, int]", source["OnDemandThroughput"])


def _indexes(kind: IndexKind, source: TableDescription, override: list[IndexRequest] | None) -> list[IndexRequest]:
    """Return the indexes to restore: all of the source, or those of the override, which must be among them."""
    existing = {index["IndexName"]: index for index in source.get(kind, [])}
    if override is None:
        return [_as_request(index) for index in existing.values()]
    for index in override:
        same = existing.get(index["IndexName"])
        if same is None or any(index[member] != same[member] for member in _COMPARED):
            raise invalid_parameter(
                f"{kind} of the restored table must match those of its source: {index['IndexName']}"
            )
    return override


_COMPARED: tuple[Literal["KeySchema", "Projection"], ...] = ("KeySchema", "Projection")


def _as_request(index: IndexDescription) -> IndexRequest:
    return {"IndexName": index["IndexName"], "KeySchema": index["KeySchema"], "Projection": index["Projection"]}


def _with_throughput(index: IndexRequest, source: TableDescription, billing: str) -> IndexRequest:
    """Return a global index with the throughput of the source where the request doesn't give its own."""
    made: IndexRequest = {**index}
    before = next(each for each in source["GlobalSecondaryIndexes"] if each["IndexName"] == index["IndexName"])
    if billing == "PROVISIONED" and "ProvisionedThroughput" not in made and billing == billing_of(source):
        made["ProvisionedThroughput"] = _units(before)
    if billing == "PAY_PER_REQUEST" and "OnDemandThroughput" not in made and "OnDemandThroughput" in before:
        made["OnDemandThroughput"] = cast("dict[str, int]", before["OnDemandThroughput"])
    return made


def _vector_indexes(source: TableDescription, override: list[VectorIndexRequest] | None) -> list[VectorIndexRequest]:
    """The same for vector indexes."""
    existing = {index["IndexName"]: _as_vector_request(index) for index in source.get("VectorIndexes", [])}
    if override is None:
        return list(existing.values())
    for index in override:
        if index != existing.get(index["IndexName"]):
            raise invalid_parameter(
                f"VectorIndexes of the restored table must match those of its source: {index['IndexName']}"
            )
    return override


def _as_vector_request(index: VectorIndexDescription) -> VectorIndexRequest:
    request: VectorIndexRequest = {
        "IndexName": index["IndexName"],
        "VectorAttribute": index["VectorAttribute"],
        "Dimensions": index["Dimensions"],
        "DistanceFunction": index["DistanceFunction"],
        "Projection": index["Projection"],
    }
    if "SearchSchema" in index:
        request["SearchSchema"] = index["SearchSchema"]
    return request


def _definitions(
    source: TableDescription, keyed: list[TableRequest | IndexRequest], vectors: list[VectorIndexRequest]
) -> list[dict[str, str]]:
    """Return the attribute definitions that the restored keys and search schemas use."""
    used = {element["AttributeName"] for each in keyed for element in each["KeySchema"]}
    used |= {name for index in vectors for name in search_attributes(index)}
    return [each for each in source["AttributeDefinitions"] if each["AttributeName"] in used]


def _units(described: TableDescription | IndexDescription) -> dict[str, int]:
    units = described["ProvisionedThroughput"]
    return {name: cast(int, units[name]) for name in ("ReadCapacityUnits", "WriteCapacityUnits")}
