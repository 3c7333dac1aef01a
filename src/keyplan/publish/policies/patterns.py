"""What an access pattern needs to be allowed, from the operation that it returns."""

from collections.abc import Iterator, Mapping
from typing import Any

from keyplan.design import HOUSEKEEPING, Design, Entity, Op, Table
from keyplan.design.entities.effects import Guard
from keyplan.design.entities.specs import KeySpec
from keyplan.design.operations.item_collections import Aggregated
from keyplan.design.operations.item_reads import BatchGet, Exists, Get, GuardTaken, Lookup, Together, TransactGet
from keyplan.design.operations.nearest import Nearest
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.publish.policies.leading_keys import leading_key, template_pattern
from keyplan.publish.policies.statements import Need, Policy, PolicyTarget, statements_for

CURSOR_SECRET = "SECRET"
"""The partition key of the secret that cursors are signed with."""

Values = Mapping[str, object]


def policy_of(design: type[Design] | Design, name: str) -> Policy:
    """The policy of an access pattern: what it takes to run it, and nothing else."""
    kind = design if isinstance(design, type) else type(design)
    return Policy(name, statements_for(needs_of(kind, kind.patterns[name].symbolic)))


def needs_of(design: type[Design], op: Op[Any]) -> Iterator[Need]:
    """What an operation needs to be allowed."""
    match op:
        case Get(entity=entity, values=values) | Exists(entity=entity, values=values):
            yield from _item(entity, values, whole=isinstance(op, Get) and op.selection is None)
        case Lookup():
            yield from _lookup(op)
        case GuardTaken(guard=guard, values=values):
            yield from _guard(guard, values)
            if "ttl" in guard.entity.spec.by_kind:  # the guard doesn't expire with its item, which is read
                yield from _item(guard.entity, values, whole=False)
        case BatchGet(entity=entity, keys=keys):
            yield from _batch(entity, keys)
        case Together(gets=parts) | TransactGet(gets=parts):
            for part in parts:
                yield from needs_of(design, part)
        case Nearest():
            yield from _nearest(op)
        case Scan() | Query():
            yield from _list(design, op)
            yield from _cursor()
        case Follow(source=source, target=target):
            yield from needs_of(design, source)
            yield from _batch(target, None)
        case Merge(queries=queries):
            for query in queries:
                yield from _list(design, query)
            yield from _cursor()
        case ItemCount(source=source) | Aggregated(source=source):
            yield from _list(design, source)
        case _:
            raise TypeError(f"it isn't known what {type(op).__name__} needs to be allowed")


def _item(entity: type[Entity], values: Values, *, whole: bool) -> Iterator[Need]:
    key = leading_key(entity.spec.primary.hash, values)
    yield Need("dynamodb:GetItem", table_target(entity.spec.table), key)
    if whole and entity.spec.large:  # its parts are in the same partition
        yield Need("dynamodb:BatchGetItem", table_target(entity.spec.table), key)


def _lookup(op: Lookup[Any]) -> Iterator[Need]:
    way: object = op.way
    if isinstance(way, Guard):
        yield from _guard(way, op.values)
    else:
        yield from _item(op.way.derived.entities[0], op.values, whole=False)  # type: ignore[union-attr]  # not a guard
    yield from _item(op.way.entity, op.values, whole=op.selection is None)


def _guard(guard: Guard[Any], values: Values) -> Iterator[Need]:
    yield Need("dynamodb:GetItem", table_target(guard.unique.table), template_pattern(guard.unique.hash, values))


def _batch(entity: type[Entity], keys: object) -> Iterator[Need]:
    target = table_target(entity.spec.table)
    given = keys if isinstance(keys, list | tuple) else [{}]
    for each in given:
        values = each if isinstance(each, Mapping) else dict.fromkeys(entity.spec.primary.fields[:1], each)
        yield Need("dynamodb:BatchGetItem", target, leading_key(entity.spec.primary.hash, values))


def _nearest(op: Nearest[Any]) -> Iterator[Need]:
    # AWS: "IAM policy to grant access to search a vector index": leading keys aren't supported.
    table, index = op.entity.spec.table, op.access.index
    yield Need("dynamodb:SearchVectors", PolicyTarget("index", table.name, index.name))
    if index.projection.type != "ALL":  # the rest of the items is read from the table
        yield from _batch(op.entity, None)


def _list(design: type[Design], op: Query[Any] | Scan[Any]) -> Iterator[Need]:
    if isinstance(op, Scan):
        # AWS: "Using IAM policy conditions for fine-grained access control": Scan returns items whatever their keys.
        yield Need("dynamodb:Scan", table_target(op.entity.spec.table))
        return
    for entity in op.entities:
        yield Need("dynamodb:Query", key_target(entity.spec.table, op.key), leading_key(op.key.hash, op.values))
        if _is_completed(design, entity, op):
            yield from _batch(entity, None)


def _is_completed(design: type[Design], entity: type[Entity], op: Query[Any]) -> bool:
    """Whether items of an index may be read from the table, too: for attributes that the index lacks.

    One of these is the mark of items that are being deleted, which only parents have.
    """
    index = op.key.index
    if index is None or index.projection.type == "ALL":
        return False
    lacking = entity.spec.not_in(index)
    if op.selection is not None:
        return any(entity.spec.fields[name].stored in lacking for name in op.selection.fields)
    parents = {parent.entity for each in design.entities for parent in each.spec.parents}
    return bool(lacking) or entity in parents


def _cursor() -> Iterator[Need]:
    """The secret that cursors are signed with, which the first process that needs it creates."""
    for action in ("dynamodb:GetItem", "dynamodb:PutItem"):
        yield Need(action, table_target(HOUSEKEEPING), CURSOR_SECRET)


def table_target(table: Table) -> PolicyTarget:
    return PolicyTarget("table", table.name)


def key_target(table: Table, key: KeySpec) -> PolicyTarget:
    """The table or index that a key is of."""
    return table_target(table) if key.index is None else PolicyTarget("index", table.name, key.index.name)
