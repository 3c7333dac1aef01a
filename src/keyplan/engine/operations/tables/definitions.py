"""Checks and builds the definition of a table: attributes, keys, indexes, settings."""

from collections.abc import Iterable
from uuid import NAMESPACE_DNS, uuid5

from keyplan.engine.errors import invalid_parameter, not_found, validation_error
from keyplan.engine.operations.tables.replicas import ReplicasRequest
from keyplan.engine.operations.tables.replication import SETTINGS_MODE
from keyplan.engine.operations.tables.throughput import (
    Figures,
    change_on_demand,
    check_on_demand,
    check_units,
    provisioned,
    set_warm_throughput,
    units_missing,
    units_not_allowed,
)
from keyplan.engine.operations.tables.vector_indexes import (
    VectorIndexRequest,
    check_vector_indexes,
    projected_count,
    search_attributes,
)
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.descriptions import IndexDescription, KeySchemaElements, Projection, TableDescription

MAXIMUM_LOCAL_INDEXES = 5
MAXIMUM_GLOBAL_INDEXES = 20
MAXIMUM_PROJECTED = 100
MAXIMUM_ATTRIBUTES_OF_A_KIND = 4
DEFAULT_BUCKETS = 16
"""The default size of a hash set in Java."""

_MANAGED_KEY = f"key/{uuid5(NAMESPACE_DNS, 'dynamodb.amazonaws.com')}"
"""The account's key for DynamoDB that AWS manages."""


class IndexRequest(Figures, total=False):
    """An index in a request of CreateTable or UpdateTable."""

    IndexName: str
    KeySchema: KeySchemaElements
    Projection: Projection


class TableRequest(Figures, ReplicasRequest, total=False):
    """The members of CreateTable and UpdateTable."""

    TableName: str
    AttributeDefinitions: list[dict[str, str]]
    KeySchema: KeySchemaElements
    LocalSecondaryIndexes: list[IndexRequest]
    GlobalSecondaryIndexes: list[IndexRequest]
    GlobalSecondaryIndexUpdates: list[dict[str, IndexRequest]]
    VectorIndexes: list[VectorIndexRequest]
    VectorIndexUpdates: list[dict[str, VectorIndexRequest]]
    BillingMode: str
    StreamSpecification: dict[str, object]
    SSESpecification: dict[str, object]
    TableClass: str
    DeletionProtectionEnabled: bool
    Tags: list[dict[str, str]]
    ResourcePolicy: str
    GlobalTableSourceArn: str
    GlobalTableSettingsReplicationMode: str


def check_definition(request: TableRequest) -> None:
    """Refuse a table whose keys, indexes and attribute definitions don't match."""
    definitions, schema = request["AttributeDefinitions"], request["KeySchema"]
    check_definitions(definitions)
    defined = {definition["AttributeName"] for definition in definitions}
    check_defined(schema, defined)
    check_table_schema(schema)
    lsis, gsis = request.get("LocalSecondaryIndexes"), request.get("GlobalSecondaryIndexes")
    vectors = request.get("VectorIndexes")
    if lsis is None and gsis is None and vectors is None and len(defined) != len(schema):
        raise invalid_parameter(
            "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )
    names: set[str] = set()
    if lsis is not None:
        _check_list("LocalSecondaryIndexes", lsis, schema, definitions, names)
        if len(lsis) > MAXIMUM_LOCAL_INDEXES:
            raise invalid_parameter(
                f"Number of LocalSecondaryIndexes exceeds per-table limit of {MAXIMUM_LOCAL_INDEXES}"
            )
    if gsis is not None:
        _check_list("GlobalSecondaryIndexes", gsis, schema, definitions, names)
        check_global_count(len(gsis))
    if vectors is not None:
        _check_vectors(request, vectors, defined, names)
    indexes = [*(lsis or []), *(gsis or [])]
    check_projected(projected_counts(request))
    used = [
        element["AttributeName"] for keys in (schema, *(index["KeySchema"] for index in indexes)) for element in keys
    ]
    used += [name for index in vectors or [] for name in search_attributes(index)]
    if set(used) != defined:
        raise invalid_parameter(
            f"Some AttributeDefinitions are not used. AttributeDefinitions: [{_printed(definitions)}], "
            f"keys used: [{_hash_order(used, DEFAULT_BUCKETS)}]"
        )


def check_definitions(definitions: list[dict[str, str]]) -> None:
    names = [definition["AttributeName"] for definition in definitions]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise validation_error(f"Attribute Name is duplicated: {name}")


def _printed(definitions: list[dict[str, str]]) -> str:
    """The names in the definitions as the service prints them: from a Java hash set of sufficient size."""
    return _hash_order((definition["AttributeName"] for definition in definitions), int(len(definitions) / 0.75 + 1))


def _hash_order(names: Iterable[str], buckets: int) -> str:
    """The names in the order of a Java hash set, which is how the service prints them.

    The number of buckets is a power of two, and doubles when more than three quarters of them are used.
    """
    different = list(dict.fromkeys(names))
    size = 1
    while size < buckets or len(different) > size * 0.75:
        size *= 2
    return ", ".join(sorted(different, key=lambda name: _java_hash(name) % size))


def _java_hash(text: str) -> int:
    """A string's hash in Java, with the upper half mixed into the lower one as hash sets do."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + high * 256 + low) % 2**32
    return value ^ value >> 16


def _names_in(schema: KeySchemaElements) -> set[str]:
    return {element["AttributeName"] for element in schema}


def check_defined(schema: KeySchemaElements, defined: set[str]) -> None:
    """Refuse a table's key with an attribute that has no definition."""
    if not _names_in(schema) <= defined:
        raise validation_error("Invalid KeySchema: Some index key attribute have no definition")


def check_index_defined(schema: KeySchemaElements, definitions: list[dict[str, str]]) -> None:
    """The same for the key of an index; the message names all attributes of the key and all definitions."""
    keys = [element["AttributeName"] for element in schema]
    if not {definition["AttributeName"] for definition in definitions}.issuperset(keys):
        raise invalid_parameter(
            f"Some index key attributes are not defined in AttributeDefinitions. Keys: [{', '.join(keys)}], "
            f"AttributeDefinitions: [{_printed(definitions)}]"
        )


def check_table_schema(schema: KeySchemaElements) -> None:
    """Refuse anything but one hash attribute followed by at most one range attribute."""
    _check_first(schema)
    _check_different(schema)
    if len(schema) == 2 and schema[1]["KeyType"] != "RANGE":
        raise validation_error("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


def check_global_schema(schema: KeySchemaElements) -> None:
    """Refuse anything but up to four hash attributes followed by up to four range attributes, all different."""
    _check_first(schema)
    _check_different(schema)
    kinds = [element["KeyType"] for element in schema]
    if kinds != sorted(kinds):
        raise validation_error(
            "Invalid KeySchema: All HASH key attributes must precede RANGE key attributes in the KeySchema"
        )
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > MAXIMUM_ATTRIBUTES_OF_A_KIND:
            raise validation_error(
                f"Invalid KeySchema: The KeySchema exceeds the maximum allowed number of {kind} key attributes"
            )


def _check_first(schema: KeySchemaElements) -> None:
    if schema[0]["KeyType"] != "HASH":
        raise validation_error("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")


def _check_different(schema: KeySchemaElements) -> None:
    if len(_names_in(schema)) != len(schema):
        raise validation_error("Both the Hash Key and the Range Key element in the KeySchema have the same name")


def _check_list(
    member: str,
    indexes: list[IndexRequest],
    table_schema: KeySchemaElements,
    definitions: list[dict[str, str]],
    names: set[str],
) -> None:
    """Check the indexes of one kind; `names` are the index names so far."""
    if not indexes:
        raise invalid_parameter(f"List of {member} is empty")
    for index in indexes:
        check_index_defined(index["KeySchema"], definitions)
        if member == "LocalSecondaryIndexes":
            _check_local(table_schema, index)
        else:
            check_global_schema(index["KeySchema"])
        check_projection(index["Projection"])
        _add_name(index["IndexName"], names)


def _check_vectors(
    request: TableRequest, indexes: list[VectorIndexRequest], defined: set[str], names: set[str]
) -> None:
    """Check the vector indexes of a new table; `names` are the index names so far."""
    billing = request.get("BillingMode", "PROVISIONED")
    check_vector_indexes(indexes, [], key=request["KeySchema"], defined=defined, billing=billing)
    for index in indexes:
        check_projection(index["Projection"])
        _add_name(index["IndexName"], names)


def _add_name(name: str, names: set[str]) -> None:
    """Add the name of an index to those so far, which must be different."""
    if name in names:
        raise invalid_parameter(f"Duplicate index name: {name}")
    names.add(name)


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


def check_projection(projection: Projection) -> None:
    kind, included = projection.get("ProjectionType"), projection.get("NonKeyAttributes")
    if kind is None:
        raise invalid_parameter("Unknown ProjectionType: null")
    if kind == "INCLUDE" and not included:
        raise invalid_parameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if kind != "INCLUDE" and included is not None:
        raise invalid_parameter(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    if included is not None and len(set(included)) < len(included):
        raise validation_error("Cannot have two attributes with the same name")


def projected_counts(indexed: TableRequest | TableDescription) -> list[int]:
    """Return how many projected attributes each index of a table counts for."""
    keyed: list[IndexRequest | IndexDescription] = [
        *(indexed.get("LocalSecondaryIndexes") or []),
        *(indexed.get("GlobalSecondaryIndexes") or []),
    ]
    counts = [len(index["Projection"].get("NonKeyAttributes", [])) for index in keyed]
    return counts + [projected_count(index) for index in indexed.get("VectorIndexes") or []]


def check_projected(counts: list[int]) -> None:
    """Refuse too many projected attributes; an attribute counts once for each index that includes it."""
    if sum(counts) > MAXIMUM_PROJECTED:
        raise invalid_parameter(f"The total number of projected attributes exceeds the limit of {MAXIMUM_PROJECTED}")


def check_global_count(count: int) -> None:
    if count > MAXIMUM_GLOBAL_INDEXES:
        raise invalid_parameter(f"GlobalSecondaryIndex count exceeds the per-table limit of {MAXIMUM_GLOBAL_INDEXES}")


def check_billing(request: TableRequest) -> None:
    """Refuse a new table with throughput figures that don't match its billing mode."""
    billing = request.get("BillingMode", "PROVISIONED")
    check_units(request)
    if billing == "PAY_PER_REQUEST" and "ProvisionedThroughput" in request:
        raise units_not_allowed()
    if billing == "PROVISIONED" and "ProvisionedThroughput" not in request:
        raise units_missing()
    check_on_demand(request, billing, create=True)
    for index in request.get("GlobalSecondaryIndexes") or []:
        name, given = index["IndexName"], "ProvisionedThroughput" in index
        check_units(index, name)
        if billing == "PAY_PER_REQUEST" and given:
            raise invalid_parameter(
                f"ProvisionedThroughput should not be specified for index: {name} when BillingMode is PAY_PER_REQUEST"
            )
        if billing == "PROVISIONED" and not given:
            raise invalid_parameter(f"ProvisionedThroughput is not specified for index: {name}")
        check_on_demand(index, billing, index=name, create=True)


def check_stream(request: TableRequest, *, no_view: str, view: str) -> None:
    """Refuse an enabled stream without a view type (`no_view`), and a disabled one with a view type (`view`)."""
    wanted = request.get("StreamSpecification")
    if wanted is not None and bool(wanted["StreamEnabled"]) != ("StreamViewType" in wanted):
        raise invalid_parameter(no_view if wanted["StreamEnabled"] else view)


def check_encryption(request: TableRequest) -> None:
    wanted = request.get("SSESpecification", {})
    if wanted.get("SSEType", "KMS") != "KMS":
        raise invalid_parameter("The only valid SSEType is KMS")
    if "KMSMasterKeyId" in wanted and "SSEType" not in wanted:
        raise invalid_parameter("SSEType KMS is required if KMSMasterKeyId is specified")
    if not wanted.get("Enabled") and ("SSEType" in wanted or "KMSMasterKeyId" in wanted):
        raise invalid_parameter("SSEType and KMSMasterKeyId can be specified only if SSE is enabled")


def check_settings_replication(request: TableRequest) -> None:
    """Refuse a mode that only the service itself sets."""
    if request.get("GlobalTableSettingsReplicationMode") == SETTINGS_MODE:
        raise invalid_parameter("GlobalTableSettingsReplicationMode must be ENABLED or DISABLED")


def describe_index(index: IndexRequest, table_arn: str) -> IndexDescription:
    """Return the part of the stored description that local and global indexes share."""
    return {
        "IndexName": index["IndexName"],
        "KeySchema": index["KeySchema"],
        "Projection": index["Projection"],
        "IndexArn": f"{table_arn}/index/{index['IndexName']}",
    }


def describe_global(index: IndexRequest, table_arn: str, billing: str, status: str = "ACTIVE") -> IndexDescription:
    """Return the stored description of a new global index."""
    description = describe_index(index, table_arn)
    description["IndexStatus"] = status
    description["ProvisionedThroughput"] = provisioned(index.get("ProvisionedThroughput"))
    change_on_demand(description, index)
    set_warm_throughput(description, index, billing, index["IndexName"])
    return description


def apply_settings(description: TableDescription, request: TableRequest) -> None:
    """Apply the settings, other than throughput, that CreateTable and UpdateTable share."""
    if "TableClass" in request:
        description["TableClassSummary"] = {"TableClass": request["TableClass"]}
    if "DeletionProtectionEnabled" in request:
        description["DeletionProtectionEnabled"] = request["DeletionProtectionEnabled"]
    encryption = request.get("SSESpecification")
    if encryption is not None and encryption.get("Enabled"):
        key = str(encryption.get("KMSMasterKeyId", _MANAGED_KEY))
        if not key.startswith("arn:"):
            region, account = description["TableArn"].split(":")[3:5]
            key = f"arn:aws:kms:{region}:{account}:{key if '/' in key else f'key/{key}'}"
        description["SSEDescription"] = {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}
    elif encryption is not None:
        description.pop("SSEDescription", None)


def global_index(description: TableDescription, name: str) -> IndexDescription:
    """Return the description of the global index with this name."""
    for index in description.get("GlobalSecondaryIndexes", []):
        if index["IndexName"] == name:
            return index
    raise not_found("Requested resource not found")


def attributes_in_use(table: Table) -> list[dict[str, str]]:
    """Return the attribute definitions that the keys and search schemas of a table need."""
    used = set(table.schema.names)
    used |= {name for index in table.indexes for name in index.schema.names}
    used |= {name for index in table.vector_indexes for name, _ in index.schema}
    return [given for given in table.description["AttributeDefinitions"] if given["AttributeName"] in used]


def redefinition(known: list[dict[str, str]], given: list[dict[str, str]], names: Iterable[str]) -> str | None:
    """Return the first of these attributes that has another type in the new definitions than in those of the table."""
    types = {definition["AttributeName"]: definition["AttributeType"] for definition in known}
    wanted = {definition["AttributeName"]: definition["AttributeType"] for definition in given}
    return next((name for name in names if name in types and wanted.get(name, types[name]) != types[name]), None)
