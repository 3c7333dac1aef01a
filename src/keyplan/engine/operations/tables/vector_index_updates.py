"""Adding a vector index to a table and removing one, for UpdateTable."""

from copy import deepcopy

from keyplan.engine.errors import invalid_parameter
from keyplan.engine.operations.tables.definitions import (
    TableRequest,
    attributes_in_use,
    check_definitions,
    check_projected,
    check_projection,
    projected_counts,
    redefinition,
)
from keyplan.engine.operations.tables.throughput import billing_of
from keyplan.engine.operations.tables.update_kinds import kind_of
from keyplan.engine.operations.tables.vector_indexes import (
    VectorIndexRequest,
    check_another_index,
    check_vector_indexes,
    describe_vector,
    one_index_at_a_time,
    search_attributes,
    vector_index,
)
from keyplan.engine.storage.catalog import Definition, Table
from keyplan.engine.storage.descriptions import TableDescription, VectorIndexDescription
from keyplan.engine.storage.transaction import Transaction

_KINDS = ("Create", "Delete")


def check_vector_updates(updates: list[dict[str, VectorIndexRequest]], others: int) -> None:
    """Refuse anything but one index to create or to delete; `others` are those of other kinds in the request."""
    for update in updates:
        kind_of(update, "VectorIndexUpdate", _KINDS)
    if updates and len(updates) + others > 1:
        raise one_index_at_a_time()


def update_vector_indexes(
    transaction: Transaction, table: Table, definition: Definition, request: TableRequest
) -> None:
    """Create or delete the index of a request that was checked."""
    for update in request.get("VectorIndexUpdates", []):
        ((kind, index),) = update.items()
        if kind == "Create":
            _create(transaction, table, definition, request, index)
        else:
            _delete(transaction, table, definition, index["IndexName"])


def _create(
    transaction: Transaction, table: Table, definition: Definition, request: TableRequest, index: VectorIndexRequest
) -> None:
    description, name = definition["description"], index["IndexName"]
    check_another_index(table, name)
    given = request.get("AttributeDefinitions", [])
    check_definitions(given)
    known = description["AttributeDefinitions"]
    check_projection(index["Projection"])
    check_vector_indexes(
        [index],
        description.get("VectorIndexes", []),
        key=description["KeySchema"],
        defined={each["AttributeName"] for each in (*known, *given)},
        billing=billing_of(description),
    )
    names = search_attributes(index)
    if redefinition(known, given, names) is not None:
        raise invalid_parameter(
            "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined."
        )
    present = {each["AttributeName"] for each in known}
    known += [each for each in given if each["AttributeName"] in names and each["AttributeName"] not in present]
    made = describe_vector(index, description["TableArn"], status="CREATING")
    made["Backfilling"] = True
    description.setdefault("VectorIndexes", []).append(made)
    check_projected(projected_counts(description))
    definition["index_numbers"][name] = definition["next_index"]
    definition["next_index"] += 1
    created = Table(table.number, deepcopy(definition)).vector_index(name)
    assert created is not None
    transaction.create_vector_index(created)


def _delete(transaction: Transaction, table: Table, definition: Definition, name: str) -> None:
    description = definition["description"]
    vector_index(description, name)
    if any(other.status == "CREATING" and other.name != name for other in table.all_indexes):
        raise one_index_at_a_time()
    index = table.vector_index(name)
    assert index is not None
    transaction.drop_vector_index(index)
    del definition["index_numbers"][name]
    left = [other for other in description["VectorIndexes"] if other["IndexName"] != name]
    description["VectorIndexes"] = left
    if not left:
        del description["VectorIndexes"]
    description["AttributeDefinitions"] = attributes_in_use(Table(table.number, definition))


def describe_vector_updates(answer: TableDescription, before: TableDescription, request: TableRequest) -> None:
    """Show the index that is being created or deleted in the answer to an update, as on AWS."""
    for update in request.get("VectorIndexUpdates", []):
        ((kind, index),) = update.items()
        if kind == "Create":
            # AWS allocates resources before it fills the index.
            vector_index(answer, index["IndexName"])["Backfilling"] = False
        else:
            leaving: VectorIndexDescription = {
                **vector_index(before, index["IndexName"]),
                "IndexStatus": "DELETING",
            }
            answer["VectorIndexes"] = [*answer.get("VectorIndexes", []), leaving]
