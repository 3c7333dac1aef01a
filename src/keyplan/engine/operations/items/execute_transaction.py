"""ExecuteTransaction: PartiQL statements that all succeed or all fail."""

from typing import TypeAlias, cast

from keyplan.engine.errors import validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.items.item_requests import StatementRequest, StatementsRequest
from keyplan.engine.operations.items.statement_reads import prepare_get
from keyplan.engine.operations.items.statement_writes import Write, prepare_write
from keyplan.engine.operations.items.transactions import (
    Action,
    Token,
    capacity_of_reads,
    capacity_of_repetition,
    capacity_of_writes,
    check_size,
    check_tables,
    get_all,
    write_all,
)
from keyplan.engine.partiql import Delete, Exists, Insert, Parameters, Select, Statement, Update, statement
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import value_size

_Parsed: TypeAlias = list[tuple[Statement, Parameters]]


def execute_transaction(transaction: Transaction, request: StatementsRequest) -> Answer:
    given = request["TransactStatements"]
    parsed: _Parsed = [statement(one["Statement"], one.get("Parameters")) for one in given]
    if len({isinstance(chosen, Select) for chosen, _ in parsed}) > 1:
        raise validation_error("Read statements and write statements cannot be mixed in one transaction")
    check_tables(transaction, [chosen.table for chosen, _ in parsed])
    if isinstance(parsed[0][0], Select):
        return _read(transaction, request, parsed)
    return _write(transaction, request, parsed)


def _read(transaction: Transaction, request: StatementsRequest, parsed: _Parsed) -> Answer:
    gets = [
        prepare_get(transaction, cast(Select, chosen), parameters, "ExecuteTransaction")
        for chosen, parameters in parsed
    ]
    found = get_all(transaction, gets)
    answer: Answer = {"Responses": [got.response for got in found]}
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted != "NONE":
        answer["ConsumedCapacity"] = capacity_of_reads(wanted, found)
    return answer


def _write(transaction: Transaction, request: StatementsRequest, parsed: _Parsed) -> Answer:
    given = request["TransactStatements"]
    writes = [_prepare(chosen, parameters, one) for (chosen, parameters), one in zip(parsed, given, strict=True)]
    check_size(sum(len(one["Statement"]) for one in given) + sum(value_size(v) for _, values in parsed for v in values))
    for write in writes:  # before anything else: a statement must name its item
        write.item(transaction.catalog.table(write.table_name))
    actions = [Action(write.table_name, write.decide, write.item, write.puts, write.applies) for write in writes]
    content = [[one["Statement"], parameters] for (_, parameters), one in zip(parsed, given, strict=True)]
    token = Token("ExecuteTransaction", request.get("ClientRequestToken"), content)
    changes = write_all(transaction, actions, token)
    answer: Answer = {"Responses": [{} for _ in actions]}
    wanted = request.get("ReturnConsumedCapacity", "NONE")
    if wanted != "NONE" and changes is None:
        answer["ConsumedCapacity"] = capacity_of_repetition(transaction, wanted, actions, token)
    elif wanted != "NONE" and changes is not None:
        answer["ConsumedCapacity"] = capacity_of_writes(wanted, actions, changes)
    return answer


def _prepare(chosen: Statement, parameters: Parameters, given: StatementRequest) -> Write:
    if isinstance(chosen, Update | Delete) and chosen.returning != "NONE":
        raise validation_error("The RETURNING clause is not supported in ExecuteTransaction")
    assert isinstance(chosen, Insert | Update | Delete | Exists)  # reads and writes aren't mixed
    return prepare_write(chosen, parameters, given.get("ReturnValuesOnConditionCheckFailure"))
