"""Many items by their keys: up to 100 per request, until DynamoDB has answered for all."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from keyplan.data.codec.values import Item
from keyplan.data.errors import Throttled
from keyplan.data.steps import RETRIES, Steps, Wait, call, pause

BATCH = 100


def batch_get(
    wanted: Sequence[tuple[str, Item]],
    *,
    consistent: Collection[str] = (),
    projections: Mapping[str, Mapping[str, Any]] | None = None,
) -> Steps[list[Item | None]]:
    """The items with these tables and keys, in this order; None for those that don't exist.

    `consistent` names the tables that are read consistently. `projections` has the members of a table's request that
    say which attributes are read; keys are among them.
    """
    found: dict[tuple[str, str], Item] = {}
    pending = list({_name(table, key): (table, key) for table, key in wanted}.values())
    names = {table: tuple(key) for table, key in pending}
    attempt = 0
    while pending:
        chunk, pending = pending[:BATCH], pending[BATCH:]
        answer = yield from call("batch_get_item", {"RequestItems": _by_table(chunk, consistent, projections or {})})
        for table, items in answer["Responses"].items():
            found |= {_name(table, {name: item[name] for name in names[table]}): item for item in items}
        left = [(table, key) for table, rest in answer.get("UnprocessedKeys", {}).items() for key in rest["Keys"]]
        pending += left
        attempt = 0 if len(left) < len(chunk) else attempt + 1
        if left:
            error = Throttled("batch_get_item", "UnprocessedKeys", f"{len(left)} keys are still unprocessed")
            if attempt > RETRIES:
                raise error
            yield Wait(pause(attempt), error, first=attempt <= 1)
    return [found.get(_name(table, key)) for table, key in wanted]


def _by_table(
    chunk: Sequence[tuple[str, Item]], consistent: Collection[str], projections: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    tables: dict[str, dict[str, Any]] = {}
    for table, key in chunk:
        read = {"ConsistentRead": True} if table in consistent else {}
        tables.setdefault(table, {"Keys": [], **read, **projections.get(table, {})})["Keys"].append(key)
    return tables


def _name(table: str, key: Item) -> tuple[str, str]:
    return table, repr(key)
