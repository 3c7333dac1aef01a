"""Carrying out writes: a plan, its one request, and what a refusal means."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from keyplan.data.errors import DataError
from keyplan.data.plan import Action, Plan
from keyplan.data.steps import ClientFailure, Steps, call, given_up
from keyplan.data.writes import Context, Part


def carry_out(parts: Sequence[Part], context: Context) -> Steps[None]:
    """Write all of the parts in one request, or nothing; the entities show it afterwards."""
    plan = Plan()
    settle = [part.add_to(plan, context) for part in parts]
    yield from send(plan, context)
    for done in settle:
        done()


def send(plan: Plan, context: Context) -> Steps[None]:
    """Carry out a plan, in one request or none."""
    design = context.design
    names = {table.name: design.table_name(table) for table in (*design.tables, design.housekeeping)}
    for operation, request in plan.requests(names.__getitem__, uuid4().hex):
        try:
            yield from call(operation, request, again=operation == "transact_write_items")
        except ClientFailure as failure:
            raise _explained(operation, plan.sent(), failure) from failure


def _explained(operation: str, actions: list[Action], failure: ClientFailure) -> DataError:
    """The error that says what the design has to say about a refusal."""
    if failure.code == "ConditionalCheckFailedException":
        return actions[0].explain(failure.response.get("Item"))
    if failure.code == "TransactionCanceledException":
        reasons: list[dict[str, Any]] = failure.response.get("CancellationReasons", [])
        for action, reason in zip(actions, reasons, strict=True):
            if reason.get("Code") == "ConditionalCheckFailed":
                return action.explain(reason.get("Item"))
    return given_up(operation, failure)
