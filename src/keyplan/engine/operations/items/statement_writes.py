"""INSERT, UPDATE, DELETE and EXISTS: statements as prepared writes."""

from collections.abc import Callable
from dataclasses import dataclass

import orjson

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.expressions import Condition
from keyplan.engine.operations.items.delete_item import decide_delete
from keyplan.engine.operations.items.item_changes import Change, Decide
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.put_item import prepare_put
from keyplan.engine.operations.items.update_item import decide_update, returned_attributes
from keyplan.engine.partiql import Delete, Exists, Insert, Parameters, Update, Where, exact_key
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.normal_form import normalize_item


@dataclass(slots=True)
class Write:
    """A prepared write of one item. `returned` gives the item that a RETURNING clause asks for, or None."""

    table_name: str
    decide: Decide
    item: Callable[[Table], Item]
    """Returns the item of an INSERT, and the key of any other statement."""
    returned: Callable[[Change], object]
    puts: bool = False
    applies: bool = True
    """Whether it changes anything; EXISTS only checks."""


def prepare_write(
    statement: Insert | Update | Delete | Exists, parameters: Parameters, return_on_failure: str | None
) -> Write:
    """Return the write that a statement describes; everything that needs the table is decided later.

    `return_on_failure` is the ReturnValuesOnConditionCheckFailure of the request.
    """
    request: ItemRequest = {"TableName": statement.table}
    if return_on_failure is not None:
        request["ReturnValuesOnConditionCheckFailure"] = return_on_failure
    if isinstance(statement, Insert):
        return _insert(statement, parameters)
    if isinstance(statement, Update):
        return _update(statement, parameters, request)
    return _delete(statement, parameters, request)


def _insert(statement: Insert, parameters: Parameters) -> Write:
    item = statement.item(parameters)
    put = prepare_put({"TableName": statement.table, "Item": item})

    def decide(transaction: Transaction) -> Change:
        change = put(transaction)
        if change.row is not None:
            raise DynamoError("DuplicateItemException", "Duplicate primary key exists in table")
        return change

    return Write(statement.table, decide, lambda table: normalize_item(item), lambda change: None, puts=True)


def _update(statement: Update, parameters: Parameters, request: ItemRequest) -> Write:
    bound = statement.assignments.bound(parameters)

    def decide(transaction: Transaction) -> Change:
        key, condition = named(transaction.catalog.table(statement.table))
        return decide_update(request, key, bound, _if_exists(condition))(transaction)

    named = _names_item(statement.where, parameters)
    return Write(
        statement.table,
        decide,
        lambda table: named(table)[0],
        lambda change: returned_attributes(statement.returning, change, bound),
    )


def _delete(statement: Delete | Exists, parameters: Parameters, request: ItemRequest) -> Write:
    deletes = isinstance(statement, Delete)

    def decide(transaction: Transaction) -> Change:
        key, condition = named(transaction.catalog.table(statement.table))
        met = _unless_absent(condition) if deletes else _if_exists(condition)
        return decide_delete(request, key, met, deletes=deletes)(transaction)

    def returned(change: Change) -> object:
        wanted = isinstance(statement, Delete) and statement.returning == "ALL_OLD"
        return orjson.Fragment(change.row.stored) if wanted and change.row is not None else None

    named = _names_item(statement.where, parameters)
    return Write(statement.table, decide, lambda table: named(table)[0], returned, applies=deletes)


def _names_item(where: Where | None, parameters: Parameters) -> Callable[[Table], tuple[Item, Condition | None]]:
    """A function from a table to the key that a WHERE clause names, and the rest of the clause."""

    def named(table: Table) -> tuple[Item, Condition | None]:
        found = None if where is None else exact_key(where, table.schema.names)
        if where is None or found is None:
            raise validation_error("Where clause does not contain a mandatory equality on all key attributes")
        values = where.placeholders.values(parameters)
        return found.key(values), where.bound(found.condition, values)

    return named


def _if_exists(condition: Condition | None) -> Condition:
    """The condition of an UPDATE or EXISTS, which no item that doesn't exist meets."""
    if condition is None:
        return Condition(bool, frozenset())
    return Condition(lambda item: bool(item) and condition.matches(item), condition.attributes)


def _unless_absent(condition: Condition | None) -> Condition | None:
    """The condition of a DELETE, which doesn't matter if there is nothing to delete."""
    if condition is None:
        return None
    return Condition(lambda item: not item or condition.matches(item), condition.attributes)
