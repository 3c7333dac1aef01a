"""Sending plans, and explaining refusals."""

from collections.abc import Sequence
from typing import Any

from keyplan.data.codec.large import takes_long
from keyplan.data.errors import DataError, Refused
from keyplan.data.steps import ClientFailure, Steps, call, computed, given_up
from keyplan.data.writes.actions import Action
from keyplan.data.writes.large import with_large_values
from keyplan.data.writes.moves import MOVING, complete_move
from keyplan.data.writes.operations import AlreadyWritten, Context, Planned
from keyplan.data.writes.plan import Plan
from keyplan.design import InvalidValue


def write_parts(parts: Sequence[Planned], context: Context) -> Steps[tuple[Any, ...]]:
    """Write all parts in one request, or nothing, and update the entities. Returns the result of each part."""
    for part in parts:
        if type(part) in MOVING:
            yield from complete_move(part, context)
    plan = Plan()
    large = [each for part in parts if (each := getattr(part, "entity", None)) is not None and each.spec.large]
    if large:
        ready = yield from with_large_values(parts, context)
        long = any(takes_long(each.spec, each.__dict__) for each in large)
        settle = yield from computed(lambda: [part.add_to(plan, context) for part in ready], long=long)
    else:
        settle = [part.add_to(plan, context) for part in parts]
    yield from send_plan(plan, context)
    return tuple([done() for done in settle])


def send_plan(plan: Plan, context: Context) -> Steps[None]:
    """Send a plan with the parts beside it, in one request or none."""
    if not plan.actions:
        return
    try:
        settle = [part.add_to(plan, context) for part in context.beside(plan)]
    except AlreadyWritten:
        return
    while (planned := plan.request(context.design.table_names, context.token)) is not None:
        operation, request = planned
        try:
            plan.answer = yield from call(operation, request)
            break
        except ClientFailure as failure:
            if _was_carried_out(plan.sent(), failure):
                break
            if not _without_lost_counts(plan, failure):
                raise _explained(plan.sent(), failure) from failure
    for done in settle:
        done()


def _was_carried_out(actions: list[Action], failure: ClientFailure) -> bool:
    """Whether a write was refused only because the client repeated it after it had been carried out.

    The item is then exactly what the write leaves: the answer to the first attempt was lost.
    """
    if failure.code != "ConditionalCheckFailedException" or not failure.repeated:
        return False
    (action,) = actions
    return action.is_carried_out_on(failure.response.get("Item"))


def _without_lost_counts(plan: Plan, failure: ClientFailure) -> bool:
    """Remove actions that only take back counts of items that no longer exist; returns whether there were any."""
    lost = [
        action
        for action, reason in zip(plan.sent(), failure.response.get("CancellationReasons", []), strict=False)
        if reason.get("Code") == "ConditionalCheckFailed" and "Item" not in reason and action.only_counts_less
    ]
    for action in lost:
        del plan.actions[action.address]
    return bool(lost)


def _explained(actions: list[Action], failure: ClientFailure) -> DataError | InvalidValue:
    """The error of the rule that refused a request."""
    if failure.code == "ConditionalCheckFailedException":
        return actions[0].explain(failure.response.get("Item"))
    if failure.code == "ValidationException" and len(actions) == 1:
        return _unstorable(actions[0], failure.message) or given_up(failure)
    if failure.code == "TransactionCanceledException":
        reasons: list[dict[str, Any]] = failure.response.get("CancellationReasons", [])
        for action, reason in zip(actions, reasons, strict=False):
            if reason.get("Code") == "ConditionalCheckFailed":
                return action.explain(reason.get("Item"))
            error = _unstorable(action, reason.get("Message", "")) if reason.get("Code") == "ValidationError" else None
            if error is not None:
                return error
    return given_up(failure)


def _unstorable(action: Action, message: str) -> Refused | InvalidValue | None:
    """The error for a result that DynamoDB computed and can't store; None for other messages."""
    return None if action.unstorable is None else action.unstorable(message)
