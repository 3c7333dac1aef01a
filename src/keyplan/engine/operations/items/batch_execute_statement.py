"""BatchExecuteStatement: several PartiQL statements, each with its own result."""

from typing import NamedTuple

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.items.consumed_capacity import Consumed, describe_consumed, read_units
from keyplan.engine.operations.items.item_changes import apply, consumption
from keyplan.engine.operations.items.item_requests import StatementRequest, StatementsRequest
from keyplan.engine.operations.items.statement_reads import prepare_get
from keyplan.engine.operations.items.statement_writes import prepare_write
from keyplan.engine.partiql import Exists, Parameters, Select, Statement, statement
from keyplan.engine.storage.transaction import Transaction

_CODES = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "DuplicateItemException": "DuplicateItem",
    "ResourceNotFoundException": "ResourceNotFound",
}
_ABOUT_ITEMS = frozenset({"ConditionalCheckFailed", "DuplicateItem"})
"""The errors of statements that reached their table."""


class _Parsed(NamedTuple):
    statement: Statement
    parameters: Parameters
    request: StatementRequest


def batch_execute_statement(transaction: Transaction, request: StatementsRequest) -> Answer:
    """Run the statements one after the other; one that fails doesn't affect the others."""
    parsed = [_parse(given) for given in request["Statements"]]
    kinds = {isinstance(one.statement, Select) for one in parsed if isinstance(one, _Parsed)}
    if len(kinds) > 1:
        raise validation_error("Read statements and write statements cannot be mixed in one batch")
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    capacities: list[object] = []
    responses = [_response(transaction, one, wanted, capacities) for one in parsed]
    answer: Answer = {"Responses": responses}
    if wanted != "NONE":
        answer["ConsumedCapacity"] = capacities
    return answer


def _parse(given: StatementRequest) -> _Parsed | DynamoError:
    try:
        return _Parsed(*statement(given["Statement"], given.get("Parameters")), given)
    except DynamoError as error:
        return error


def _response(
    transaction: Transaction, parsed: _Parsed | DynamoError, wanted: str, capacities: list[object]
) -> dict[str, object]:
    if isinstance(parsed, DynamoError):
        return {"Error": _error(parsed)}
    try:
        item, consumed = _run(transaction, parsed)
    except DynamoError as error:
        described = _error(error)
        table = {"TableName": parsed.statement.table} if described["Code"] in _ABOUT_ITEMS else {}
        return {"Error": described, **table}
    if wanted != "NONE":
        table_name = parsed.statement.table
        found = transaction.catalog.table(table_name)
        capacities.append(describe_consumed(wanted, found, consumed, name=table_name))
    response: dict[str, object] = {"TableName": parsed.statement.table}
    if item is not None:
        response["Item"] = item
    return response


def _run(transaction: Transaction, parsed: _Parsed) -> tuple[object, Consumed]:
    """The item that a statement returns, or None, and what it consumed."""
    chosen, parameters, request = parsed
    if isinstance(chosen, Select):
        got = prepare_get(transaction, chosen, parameters, "BatchExecuteStatement")(transaction)
        size = got.row.size if got.row else 0
        return got.item, Consumed(read_units(size, consistent=request.get("ConsistentRead", False)))
    if isinstance(chosen, Exists):
        raise validation_error("EXISTS is only supported in ExecuteTransaction")
    write = prepare_write(chosen, parameters, request.get("ReturnValuesOnConditionCheckFailure"))
    change = write.decide(transaction)
    apply(transaction, change)
    return write.returned(change), consumption(change)


def _error(error: DynamoError) -> dict[str, object]:
    return {"Code": _CODES.get(error.code, "ValidationError"), "Message": error.message, **error.extra}
