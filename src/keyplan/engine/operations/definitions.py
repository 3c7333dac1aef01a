"""Checking and making the definition of a table: keys, indexes, throughput, streams."""

from typing import TypedDict, cast

from keyplan.engine.catalog import (
    IndexDescription,
    KeySchemaElements,
    Projection,
    TableDescription,
)
from keyplan.engine.errors import invalid_parameter, validation_error

MAXIMUM_LOCAL_INDEXES = 5
MAXIMUM_GLOBAL_INDEXES = 20
MAXIMUM_PROJECTED = 100
MAXIMUM_ATTRIBUTES_OF_A_KIND = 4


class IndexRequest(TypedDict, total=False):
    """An index as CreateTable and UpdateTable are given it."""

    IndexName: str
    KeySchema: KeySchemaElements
    Projection: Projection
    ProvisionedThroughput: dict[str, int]
    OnDemandThroughput: dict[str, int]
    WarmThroughput: dict[str, int]


class TableRequest(TypedDict, total=False):
    """The members of CreateTable and UpdateTable."""

    TableName: str
    AttributeDefinitions: list[dict[str, str]]
    KeySchema: KeySchemaElements
    LocalSecondaryIndexes: list[IndexRequest]
    GlobalSecondaryIndexes: list[IndexRequest]
    GlobalSecondaryIndexUpdates: list[dict[str, IndexRequest]]
    BillingMode: str
    ProvisionedThroughput: dict[str, int]
    OnDemandThroughput: dict[str, int]
    StreamSpecification: dict[str, object]
    SSESpecification: dict[str, object]
    TableClass: str
    DeletionProtectionEnabled: bool
    Tags: list[dict[str, str]]


def check_definition(request: TableRequest) -> None:
    """Refuse a table whose keys, indexes and attribute definitions do not fit together."""
    definitions = request["AttributeDefinitions"]
    _check_unique_definitions(definitions)
    schema = request["KeySchema"]
    check_table_schema(schema)
    defined = {definition["AttributeName"] for definition in definitions}
    if not names_in(schema) <= defined:
        raise validation_error("Invalid KeySchema: Some index key attribute have no definition")
    used = names_in(schema)
    local, worldwide = request.get("LocalSecondaryIndexes"), request.get("GlobalSecondaryIndexes")
    if not local and not worldwide and len(defined) != len(used):
        raise invalid_parameter(
            "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )
    for index in local or []:
        _check_local(schema, index)
    for index in worldwide or []:
        check_global_schema(index["KeySchema"])
    indexes = [*(local or []), *(worldwide or [])]
    for index in indexes:
        check_index(index, defined, definitions)
        used |= names_in(index["KeySchema"])
    _check_counts(local, worldwide, indexes)
    if used != defined:
        raise invalid_parameter(
            f"Some AttributeDefinitions are not used. AttributeDefinitions: [{', '.join(_names(definitions))}], "
            f"keys used: [{', '.join(sorted(used))}]"
        )


def _check_unique_definitions(definitions: list[dict[str, str]]) -> None:
    names = _names(definitions)
    if len(set(names)) != len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise invalid_parameter(f"Cannot have duplicate AttributeDefinitions: {duplicate}")


def _names(definitions: list[dict[str, str]]) -> list[str]:
    return [definition["AttributeName"] for definition in definitions]


def names_in(schema: KeySchemaElements) -> set[str]:
    return {element["AttributeName"] for element in schema}


def check_table_schema(schema: KeySchemaElements) -> None:
    """One hash attribute, then perhaps one range attribute."""
    if len(schema) > 2:
        raise validation_error(
            f"1 validation error detected: Value '[{_shown(schema)}]' at 'keySchema' failed to satisfy constraint: "
            "Member must have length less than or equal to 2"
        )
    _check_order(schema)
    if len(schema) == 2 and schema[0]["AttributeName"] == schema[1]["AttributeName"]:
        raise validation_error("Both the Hash Key and the Range Key element in the KeySchema have the same name")


def _shown(schema: KeySchemaElements) -> str:
    return ", ".join(
        f"KeySchemaElement(attributeName={element['AttributeName']}, keyType={element['KeyType']})"
        for element in schema
    )


def _check_order(schema: KeySchemaElements) -> None:
    if schema[0]["KeyType"] != "HASH":
        raise validation_error("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(schema) == 2 and schema[1]["KeyType"] != "RANGE":
        raise validation_error("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


def check_global_schema(schema: KeySchemaElements) -> None:
    """Up to four hash attributes, then up to four range attributes, all different."""
    kinds = [element["KeyType"] for element in schema]
    if kinds[0] != "HASH":
        raise validation_error("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if kinds != sorted(kinds):
        raise validation_error("Invalid KeySchema: All HASH key elements must come before the RANGE key elements")
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > MAXIMUM_ATTRIBUTES_OF_A_KIND:
            raise validation_error(
                f"Invalid KeySchema: The number of {kind} key elements exceeds the limit of "
                f"{MAXIMUM_ATTRIBUTES_OF_A_KIND}"
            )
    if len(names_in(schema)) != len(schema):
        raise validation_error("Both the Hash Key and the Range Key element in the KeySchema have the same name")


def _check_local(table_schema: KeySchemaElements, index: IndexRequest) -> None:
    name, schema = index["IndexName"], index["KeySchema"]
    check_table_schema(schema)
    if len(table_schema) < 2:
        raise invalid_parameter(
            "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
        )
    if len(schema) < 2:
        raise invalid_parameter(f"Index KeySchema does not have a range key for index: {name}")
    index_hash, table_hash = schema[0]["AttributeName"], table_schema[0]["AttributeName"]
    if index_hash != table_hash:
        raise invalid_parameter(
            f"Index KeySchema does not have the same leading hash key as table KeySchema for index: {name}. "
            f"index hash key: {index_hash}, table hash key: {table_hash}"
        )


def check_index(index: IndexRequest, defined: set[str], definitions: list[dict[str, str]]) -> None:
    """What holds for every index: its attributes are defined, its projection makes sense."""
    missing = [element["AttributeName"] for element in index["KeySchema"] if element["AttributeName"] not in defined]
    if missing:
        raise invalid_parameter(
            f"Some index key attributes are not defined in AttributeDefinitions. Keys: [{', '.join(missing)}], "
            f"AttributeDefinitions: [{', '.join(_names(definitions))}]"
        )
    projection = index.get("Projection", {})
    kind, included = projection.get("ProjectionType"), projection.get("NonKeyAttributes")
    if kind is None:
        raise invalid_parameter("Unknown ProjectionType: null")
    if kind == "INCLUDE" and not included:
        raise invalid_parameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if kind != "INCLUDE" and included is not None:
        raise invalid_parameter(f"ProjectionType is {kind}, but NonKeyAttributes is specified")


def _check_counts(
    local: list[IndexRequest] | None, worldwide: list[IndexRequest] | None, indexes: list[IndexRequest]
) -> None:
    if local is not None and not local:
        raise invalid_parameter("List of LocalSecondaryIndexes is empty")
    if worldwide is not None and not worldwide:
        raise invalid_parameter("List of GlobalSecondaryIndexes is empty")
    names = [index["IndexName"] for index in indexes]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise invalid_parameter(f"Duplicate index name: {name}")
    if local and len(local) > MAXIMUM_LOCAL_INDEXES:
        raise invalid_parameter("Number of LocalSecondaryIndexes exceeds per-table limit of 5")
    if worldwide and len(worldwide) > MAXIMUM_GLOBAL_INDEXES:
        raise invalid_parameter("GlobalSecondaryIndex count exceeds the per-table limit of 20")
    projected = [index["Projection"].get("NonKeyAttributes", []) for index in indexes]
    if sum(map(len, projected)) > MAXIMUM_PROJECTED:
        raise invalid_parameter("The total number of projected attributes exceeds the limit of 100")


def check_billing(request: TableRequest) -> None:
    """Throughput is given exactly where it is paid for in advance."""
    indexes = request.get("GlobalSecondaryIndexes") or []
    if request.get("BillingMode", "PROVISIONED") == "PAY_PER_REQUEST":
        if "ProvisionedThroughput" in request or any("ProvisionedThroughput" in index for index in indexes):
            raise invalid_parameter(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
            )
        return
    if "ProvisionedThroughput" not in request:
        raise invalid_parameter(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        )
    for index in indexes:
        check_index_throughput(index)


def check_index_throughput(index: IndexRequest) -> None:
    if "ProvisionedThroughput" not in index:
        raise invalid_parameter(f"ProvisionedThroughput must be specified for index: {index['IndexName']}")


def throughput(given: dict[str, int] | None) -> dict[str, object]:
    """Provisioned throughput as it is described; zeros where requests are paid one by one."""
    units = given or {}
    return {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": units.get("ReadCapacityUnits", 0),
        "WriteCapacityUnits": units.get("WriteCapacityUnits", 0),
    }


def describe_index(index: IndexRequest, table_arn: str, *, local: bool, status: str = "ACTIVE") -> IndexDescription:
    """The stored description of a new index."""
    description: IndexDescription = {
        "IndexName": index["IndexName"],
        "KeySchema": index["KeySchema"],
        "Projection": index["Projection"],
        "IndexArn": f"{table_arn}/index/{index['IndexName']}",
    }
    if not local:
        description["IndexStatus"] = status
        description["ProvisionedThroughput"] = throughput(index.get("ProvisionedThroughput"))
        if "OnDemandThroughput" in index:
            description["OnDemandThroughput"] = cast(dict[str, object], index["OnDemandThroughput"])
    return description


def apply_settings(description: TableDescription, request: TableRequest, now: float) -> None:
    """The settings that CreateTable and UpdateTable share."""
    billing = request.get("BillingMode")
    if billing == "PAY_PER_REQUEST":
        description["BillingModeSummary"] = {"BillingMode": billing, "LastUpdateToPayPerRequestDateTime": now}
        description["ProvisionedThroughput"] = throughput(None)
        for index in description.get("GlobalSecondaryIndexes", []):
            index["ProvisionedThroughput"] = throughput(None)
    elif "ProvisionedThroughput" in request:
        description["ProvisionedThroughput"] = throughput(request["ProvisionedThroughput"])
        if "BillingModeSummary" in description:
            description["BillingModeSummary"]["BillingMode"] = "PROVISIONED"
    if "OnDemandThroughput" in request:
        description["OnDemandThroughput"] = cast(dict[str, object], request["OnDemandThroughput"])
    if "TableClass" in request:
        description["TableClassSummary"] = {"TableClass": request["TableClass"]}
    if "DeletionProtectionEnabled" in request:
        description["DeletionProtectionEnabled"] = request["DeletionProtectionEnabled"]
    if request.get("SSESpecification", {}).get("Enabled"):
        description["SSEDescription"] = {"Status": "ENABLED", "SSEType": "KMS"}
    elif "SSESpecification" in request:
        description.pop("SSEDescription", None)
