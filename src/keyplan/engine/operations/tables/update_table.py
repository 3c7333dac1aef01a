"""UpdateTable."""

from copy import deepcopy
from typing import cast

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables import auto_scaling, replicas
from keyplan.engine.operations.tables.definitions import (
    IndexRequest,
    TableRequest,
    apply_settings,
    attributes_in_use,
    check_definitions,
    check_encryption,
    check_global_count,
    check_global_schema,
    check_index_defined,
    check_projected,
    check_projection,
    check_settings_replication,
    check_stream,
    describe_global,
    global_index,
    projected_counts,
    redefinition,
)
from keyplan.engine.operations.tables.describe_table import describe
from keyplan.engine.operations.tables.index_backfill import backfill
from keyplan.engine.operations.tables.throughput import (
    billing_of,
    change_on_demand,
    change_provisioned,
    check_on_demand,
    check_units,
    check_units_change,
    remove_provisioned_units,
    set_warm_throughput,
    units_missing,
    units_not_allowed,
)
from keyplan.engine.operations.tables.update_kinds import kind_of
from keyplan.engine.operations.tables.vector_index_updates import (
    check_vector_updates,
    describe_vector_updates,
    update_vector_indexes,
)
from keyplan.engine.operations.tables.vector_indexes import (
    check_another_index,
    check_vector_billing,
    one_index_at_a_time,
)
from keyplan.engine.storage import stream_log
from keyplan.engine.storage.catalog import Definition, Table
from keyplan.engine.storage.descriptions import IndexDescription, KeySchemaElements, TableDescription
from keyplan.engine.storage.transaction import Transaction

_CHANGES = (
    "BillingMode",
    "ProvisionedThroughput",
    "OnDemandThroughput",
    "WarmThroughput",
    "StreamSpecification",
    "SSESpecification",
    "TableClass",
    "DeletionProtectionEnabled",
    "GlobalSecondaryIndexUpdates",
    "VectorIndexUpdates",
    "GlobalTableSettingsReplicationMode",
    *replicas.MEMBERS,
)
_KINDS = ("Update", "Create", "Delete")


def update_table(transaction: Transaction, request: TableRequest) -> Answer:
    _check_request(request)
    table = transaction.catalog.table_to_change(request["TableName"])
    described = describe(transaction, table)
    definition = deepcopy(table.definition)
    description = definition["description"]
    before = billing_of(description)
    _change_billing(description, request, transaction.now)
    for update in request.get("GlobalSecondaryIndexUpdates", []):
        ((kind, index),) = update.items()
        if kind == "Create":
            _create_index(transaction, table, definition, request, index)
        elif kind == "Delete":
            _delete_index(transaction, table, definition, index["IndexName"])
        else:
            _change_throughput(
                global_index(description, index["IndexName"]), index, before, description, transaction.now
            )
    update_vector_indexes(transaction, table, definition, request)
    apply_settings(description, request)
    _change_settings_replication(definition, request)
    changing = replicas.update_replicas(transaction, table, definition, request)
    transaction.save(Table(table.number, definition))
    _change_stream(transaction, table.name, request)
    table = transaction.catalog.tables[table.name]
    answer = _updating_description(describe(transaction, table), described, request)
    if changing:
        answer["Replicas"] = changing
    if "GlobalTableWitnessUpdates" in request:
        answer["GlobalTableWitnesses"] = replicas.changing_witnesses(request)
    # An index of a small table is filled now; for a large table, maintenance continues between requests.
    backfill(transaction, table.name)
    return {"TableDescription": answer}


def _updating_description(after: TableDescription, before: TableDescription, request: TableRequest) -> TableDescription:
    """The table in the answer to an update: as on AWS, while the update is in progress."""
    answer: TableDescription = {**after, "TableStatus": "UPDATING"}
    if billing_of(after) == billing_of(before):
        answer["ProvisionedThroughput"] = before["ProvisionedThroughput"]
    if "OnDemandThroughput" in request:
        # Limits that are removed are shown too, as -1.
        answer["OnDemandThroughput"] = {**answer.get("OnDemandThroughput", {}), **request["OnDemandThroughput"]}
    if "SSESpecification" in request:
        answer["SSEDescription"] = {"Status": "UPDATING"}
    for update in request.get("GlobalSecondaryIndexUpdates", []):
        ((kind, index),) = update.items()
        if kind == "Create":
            # AWS allocates resources before it fills the index.
            global_index(answer, index["IndexName"])["Backfilling"] = False
        elif kind == "Delete":
            leaving: IndexDescription = {**global_index(before, index["IndexName"]), "IndexStatus": "DELETING"}
            del leaving["Projection"]
            answer.setdefault("GlobalSecondaryIndexes", []).append(leaving)
        elif "ProvisionedThroughput" in index:
            changing = global_index(answer, index["IndexName"])
            changing["IndexStatus"] = "UPDATING"
            if billing_of(after) == billing_of(before):
                unchanged = global_index(before, index["IndexName"])
                changing["ProvisionedThroughput"] = unchanged["ProvisionedThroughput"]
    describe_vector_updates(answer, before, request)
    return answer


def _check_request(request: TableRequest) -> None:
    """Make all checks that don't need the table."""
    if all(request.get(name) in (None, [], {}) for name in _CHANGES):
        raise validation_error(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or "
            "SSESpecification or ReplicaUpdates is required"
        )
    _check_exclusive_changes(request)
    check_units(request)
    check_stream(
        request,
        no_view="If stream is being enabled, then UpdateViewType must be specified",
        view="If stream is being disabled, then UpdateViewType must not be specified",
    )
    check_encryption(request)
    replicas.check_replica_updates(request)
    online = _check_index_updates(request.get("GlobalSecondaryIndexUpdates", []))
    check_vector_updates(request.get("VectorIndexUpdates", []), online)


def _check_exclusive_changes(request: TableRequest) -> None:
    """Refuse changes that can't be combined."""
    if "TableClass" in request and any(name in request for name in _CHANGES if name != "TableClass"):
        raise invalid_parameter("TableClass modification must be the only operation in the request")
    if "StreamSpecification" in request and "ProvisionedThroughput" in request:
        raise invalid_parameter("You cannot modify stream status while updating table IOPS")


def _check_index_updates(updates: list[dict[str, IndexRequest]]) -> int:
    """Refuse updates that can't be combined; return how many indexes they create or delete."""
    names: set[str] = set()
    for update in updates:
        index = update[kind_of(update, "GlobalSecondaryIndexUpdate", _KINDS)]
        check_units(index, index["IndexName"])
        if index["IndexName"] in names:
            raise invalid_parameter(
                "Only one global secondary index update per index is allowed simultaneously. "
                f"Index: {index['IndexName']}"
            )
        names.add(index["IndexName"])
    online = sum("Update" not in update for update in updates)
    if online > 1:
        raise one_index_at_a_time()
    return online


def _change_billing(description: TableDescription, request: TableRequest, now: float) -> None:
    before = billing_of(description)
    billing, wanted = request.get("BillingMode", before), request.get("ProvisionedThroughput")
    if description.get("VectorIndexes"):
        check_vector_billing(billing)
    indexes = description.get("GlobalSecondaryIndexes", [])
    if billing == "PAY_PER_REQUEST" and wanted is not None:
        raise units_not_allowed()
    if billing == "PROVISIONED" and before == "PAY_PER_REQUEST":
        _check_all_provisioned(indexes, request)
    elif wanted is not None:
        check_units_change(description["ProvisionedThroughput"], wanted, "table", description["TableName"])
    check_on_demand(request, billing, create=False)
    if billing != before:
        everything: list[TableDescription | IndexDescription] = [description, *indexes]
        for described in everything:
            if billing == "PAY_PER_REQUEST":
                remove_provisioned_units(described)
                set_warm_throughput(described, {}, billing)
            else:
                described.pop("OnDemandThroughput", None)
        summary = description.setdefault("BillingModeSummary", {})
        summary["BillingMode"] = billing
        if billing == "PAY_PER_REQUEST":
            summary["LastUpdateToPayPerRequestDateTime"] = now
    if wanted is not None:
        change_provisioned(description, wanted, now)
    change_on_demand(description, request)
    set_warm_throughput(description, request, billing)


def _check_all_provisioned(indexes: list[IndexDescription], request: TableRequest) -> None:
    """Refuse a change from on-demand to provisioned that doesn't give units for the table and each index."""
    if "ProvisionedThroughput" not in request:
        raise units_missing()
    given = {
        index["IndexName"]
        for update in request.get("GlobalSecondaryIndexUpdates", [])
        for kind, index in update.items()
        if kind == "Delete" or "ProvisionedThroughput" in index
    }
    missing = [index["IndexName"] for index in indexes if index["IndexName"] not in given]
    if missing:
        raise invalid_parameter(f"ProvisionedThroughput must be specified for index: {','.join(missing)}")


def _change_throughput(
    described: IndexDescription, index: IndexRequest, before: str, description: TableDescription, now: float
) -> None:
    name, billing = index["IndexName"], billing_of(description)
    wanted = index.get("ProvisionedThroughput")
    if wanted is not None:
        if billing == "PAY_PER_REQUEST":
            raise units_not_allowed(name)
        if before == "PROVISIONED":
            check_units_change(described["ProvisionedThroughput"], wanted, "index", name)
        change_provisioned(described, wanted, now)
    check_on_demand(index, billing, index=name, create=False)
    change_on_demand(described, index)
    set_warm_throughput(described, index, billing, name)


def _create_index(
    transaction: Transaction, table: Table, definition: Definition, request: TableRequest, index: IndexRequest
) -> None:
    description, name = definition["description"], index["IndexName"]
    check_another_index(table, name)
    billing = billing_of(description)
    if billing == "PAY_PER_REQUEST" and "ProvisionedThroughput" in index:
        raise units_not_allowed(name)
    if billing == "PROVISIONED" and "ProvisionedThroughput" not in index:
        raise invalid_parameter(f"Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {name}")
    check_on_demand(index, billing, index=name, create=True)
    _define_attributes(description, request.get("AttributeDefinitions", []), index)
    check_projection(index["Projection"])
    present = description.setdefault("GlobalSecondaryIndexes", [])
    check_global_count(len(present) + 1)
    present.append(describe_global(index, description["TableArn"], billing, status="CREATING"))
    check_projected(projected_counts(description))
    present[-1]["Backfilling"] = True
    definition["index_numbers"][name] = definition["next_index"]
    definition["next_index"] += 1
    made = Table(table.number, deepcopy(definition))
    transaction.create_index(next(created for created in made.indexes if created.name == name))


def _define_attributes(description: TableDescription, given: list[dict[str, str]], index: IndexRequest) -> None:
    """Add the types of the index's key attributes; the request must give all of them, even those of the table.

    Definitions of other attributes are ignored, even if they contradict those of the table.
    """
    schema = index["KeySchema"]
    check_definitions(given)
    check_index_defined(schema, given)
    check_global_schema(schema)
    types = {definition["AttributeName"]: definition["AttributeType"] for definition in given}
    known = {
        definition["AttributeName"]: definition["AttributeType"] for definition in description["AttributeDefinitions"]
    }
    names = [element["AttributeName"] for element in schema]
    redefined = redefinition(description["AttributeDefinitions"], given, names)
    if redefined is not None:
        raise invalid_parameter(
            "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
            f"Existing schema: {_printed_schema(_schema_with(description, redefined), known)} "
            f"New schema: {_printed_schema(schema, types)}"
        )
    description["AttributeDefinitions"] += [
        {"AttributeName": name, "AttributeType": types[name]} for name in names if name not in known
    ]


def _schema_with(description: TableDescription, attribute: str) -> KeySchemaElements:
    """The key of the table, or of the first index, that has the attribute."""
    indexes = [*description.get("LocalSecondaryIndexes", []), *description.get("GlobalSecondaryIndexes", [])]
    schemas = [description["KeySchema"], *(index["KeySchema"] for index in indexes)]
    return next(schema for schema in schemas if any(element["AttributeName"] == attribute for element in schema))


def _printed_schema(schema: KeySchemaElements, types: dict[str, str]) -> str:
    """A key schema as the service prints it."""
    elements = [(element["AttributeName"], element["KeyType"]) for element in schema]
    shown = ", ".join(f"SchemaElement: key{{{name}:{types[name]}:{kind}}}" for name, kind in elements)
    return f"Schema:[{shown}]"


def _delete_index(transaction: Transaction, table: Table, definition: Definition, name: str) -> None:
    description = definition["description"]
    global_index(description, name)
    if any(other.status == "CREATING" and other.name != name for other in table.all_indexes):
        raise one_index_at_a_time()
    transaction.drop_index(next(index for index in table.indexes if index.name == name))
    del definition["index_numbers"][name]
    definition.get("contributor_insights", {}).pop(name, None)
    auto_scaling.forget_index(definition, name)
    replicas.forget_index(definition, name)
    left = [index for index in description["GlobalSecondaryIndexes"] if index["IndexName"] != name]
    description["GlobalSecondaryIndexes"] = left
    if not left:
        del description["GlobalSecondaryIndexes"]
    description["AttributeDefinitions"] = attributes_in_use(Table(table.number, definition))


def _change_settings_replication(definition: Definition, request: TableRequest) -> None:
    """Set whether a table could become the source of a global table with several accounts."""
    mode = request.get("GlobalTableSettingsReplicationMode")
    if mode is None:
        return
    if "replication" in definition:
        raise invalid_parameter("GlobalTableSettingsReplicationMode can't be changed for a Global Table replica")
    check_settings_replication(request)
    definition["description"]["GlobalTableSettingsReplicationMode"] = mode


def _change_stream(transaction: Transaction, name: str, request: TableRequest) -> None:
    table, wanted = transaction.catalog.tables[name], request.get("StreamSpecification")
    if wanted is None:
        if replicas.needs_stream(table):
            stream_log.enable(transaction, table, replicas.STREAM_VIEW)
        return
    if wanted["StreamEnabled"]:
        if table.stream is not None:
            raise validation_error(f"Table already has an enabled stream: TableName: {name}")
        stream_log.enable(transaction, table, cast(str, wanted["StreamViewType"]))
    else:
        if table.stream is None:
            raise validation_error(f"Table has no stream to disable: TableName: {name}")
        replicas.check_stream_change(table.definition)
        stream_log.disable(transaction, table)
