"""ExecuteStatement: one PartiQL statement."""

from keyplan.engine.errors import validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.items.consumed_capacity import describe_consumed
from keyplan.engine.operations.items.item_changes import apply, consumption
from keyplan.engine.operations.items.item_requests import StatementRequest
from keyplan.engine.operations.items.statement_reads import select_page
from keyplan.engine.operations.items.statement_writes import prepare_write
from keyplan.engine.partiql import Exists, Select, statement
from keyplan.engine.storage.transaction import Transaction


def execute_statement(transaction: Transaction, request: StatementRequest) -> Answer:
    parsed, parameters = statement(request["Statement"], request.get("Parameters"))
    if isinstance(parsed, Select):
        return select_page(transaction, parsed, parameters, request)
    if isinstance(parsed, Exists):
        raise validation_error("EXISTS is only supported in ExecuteTransaction")
    write = prepare_write(parsed, parameters, request.get("ReturnValuesOnConditionCheckFailure"))
    change = write.decide(transaction)
    apply(transaction, change)
    item = write.returned(change)
    answer: Answer = {"Items": [] if item is None else [item]}
    wanted = request.get("ReturnConsumedCapacity")
    if wanted is not None and wanted != "NONE":
        answer["ConsumedCapacity"] = describe_consumed(wanted, change.table, consumption(change), name=write.table_name)
    return answer
