"""CreateTable."""

from uuid import uuid4

from keyplan.engine.errors import invalid_parameter, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables.definitions import (
    TableRequest,
    apply_settings,
    check_billing,
    check_definition,
    check_encryption,
    check_settings_replication,
    check_stream,
    describe_global,
    describe_index,
)
from keyplan.engine.operations.tables.describe_table import describe
from keyplan.engine.operations.tables.policy_documents import check_document
from keyplan.engine.operations.tables.resource_policies import attach
from keyplan.engine.operations.tables.tags import check_tags
from keyplan.engine.operations.tables.throughput import change_on_demand, provisioned, set_warm_throughput
from keyplan.engine.operations.tables.vector_indexes import describe_vector
from keyplan.engine.storage import stream_log
from keyplan.engine.storage.catalog import Definition, in_use
from keyplan.engine.storage.descriptions import TableDescription
from keyplan.engine.storage.scopes import Scope
from keyplan.engine.storage.transaction import Transaction


def create_table(transaction: Transaction, request: TableRequest) -> Answer:
    if "GlobalTableSourceArn" in request:
        # A global table with several accounts: the replica's account is never the one of its source.
        raise invalid_parameter(
            "GlobalTableSourceArn must be the ARN of a table in another account, and this endpoint has one account"
        )
    _check_present(request)
    check_billing(request)
    check_definition(request)
    check_stream(
        request,
        no_view="Table is being created with a stream enabled, UpdateViewType should be specified",
        view="Table is being created with a stream disabled, UpdateViewType should not be specified",
    )
    check_encryption(request)
    check_settings_replication(request)
    check_tags(request.get("Tags", []))
    name = transaction.catalog.name_of(request["TableName"])
    if ":" in name:
        raise validation_error(f"A table can only be created in the caller's own account and region: {name}")
    if "ResourcePolicy" in request:
        check_document(request["ResourcePolicy"], transaction.catalog.scope.arn(f"table/{name}"))
    if name in transaction.catalog.tables:
        raise in_use(f"Table already exists: {name}")
    table = transaction.create_table(new_definition(request, transaction.catalog.scope, name, transaction.now))
    if request.get("StreamSpecification", {}).get("StreamEnabled"):
        stream_log.enable(transaction, table, str(request["StreamSpecification"]["StreamViewType"]))
        table = transaction.catalog.tables[name]
    if "ResourcePolicy" in request:
        attach(transaction, table.arn, request["ResourcePolicy"])
    return {"TableDescription": _creating_description(describe(transaction, table))}


def _creating_description(made: TableDescription) -> TableDescription:
    """The table in the answer: as on AWS, while it is being created. It can be used at once all the same."""
    made["TableStatus"] = "CREATING"
    for index in (*made.get("GlobalSecondaryIndexes", ()), *made.get("VectorIndexes", ())):
        index["IndexStatus"] = "CREATING"
    return made


def _check_present(request: TableRequest) -> None:
    """Refuse a request without these two members, which are optional only for global tables."""
    missing = [
        f"Value null at '{place}' failed to satisfy constraint: Member must not be null"
        for member, place in (("AttributeDefinitions", "attributeDefinitions"), ("KeySchema", "keySchema"))
        if member not in request
    ]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        raise validation_error(f"{len(missing)} validation error{plural} detected: {'; '.join(missing)}")


def new_definition(request: TableRequest, scope: Scope, name: str, now: float) -> Definition:
    """Return the definition of a new table."""
    arn, billing = scope.arn(f"table/{name}"), request.get("BillingMode", "PROVISIONED")
    description: TableDescription = {
        "AttributeDefinitions": request["AttributeDefinitions"],
        "TableName": name,
        "KeySchema": request["KeySchema"],
        "TableStatus": "ACTIVE",
        "CreationDateTime": now,
        "ProvisionedThroughput": provisioned(request.get("ProvisionedThroughput")),
        "TableArn": arn,
        "TableId": str(uuid4()),
        "DeletionProtectionEnabled": False,
    }
    if billing == "PAY_PER_REQUEST":
        description["BillingModeSummary"] = {"BillingMode": billing, "LastUpdateToPayPerRequestDateTime": now}
    if "GlobalTableSettingsReplicationMode" in request:
        description["GlobalTableSettingsReplicationMode"] = request["GlobalTableSettingsReplicationMode"]
    change_on_demand(description, request)
    set_warm_throughput(description, request, billing)
    apply_settings(description, request)
    lsis, gsis = request.get("LocalSecondaryIndexes", []), request.get("GlobalSecondaryIndexes", [])
    if lsis:
        description["LocalSecondaryIndexes"] = [describe_index(index, arn) for index in lsis]
    if gsis:
        description["GlobalSecondaryIndexes"] = [describe_global(index, arn, billing) for index in gsis]
    vectors = request.get("VectorIndexes", [])
    if vectors:
        description["VectorIndexes"] = [describe_vector(index, arn) for index in vectors]
    names = [*(index["IndexName"] for index in (*lsis, *gsis)), *(index["IndexName"] for index in vectors)]
    numbers = {name: number for number, name in enumerate(names, start=1)}
    return {
        "description": description,
        "tags": {tag["Key"]: tag["Value"] for tag in request.get("Tags", [])},
        "ttl": None,
        "index_numbers": numbers,
        "next_index": len(numbers) + 1,
        "stream": None,
    }
