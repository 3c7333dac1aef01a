"""Work larger than one transaction: deletes that cascade, and rewrites. Journalled, so that it can be finished.

The journal is an item in the design's housekeeping table. A cascade marks the parent first, in the transaction that
writes the journal: from then on nothing can be created under it and reads do not find it. Then the children go, each
with what follows from it, and at last the parent together with the journal. Whoever finds a journal can finish it;
two that do so at once get in each other's way but do no harm.
"""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from keyplan.data.codec import Item, plain
from keyplan.data.consequences import address, address_of
from keyplan.data.difference import DELETING, no_children
from keyplan.data.errors import NotFound, StaleVersion
from keyplan.data.items import codec_of, remember, stored_of
from keyplan.data.plan import Plan
from keyplan.data.reads import Reader
from keyplan.data.steps import Steps, call
from keyplan.data.transactions import send
from keyplan.data.writes import Context, Delete, Update, unchanged
from keyplan.design import Design, Entity, Ref
from keyplan.design.effects import BelongsTo
from keyplan.design.operations import Query, Rewrite

JOURNALS = "JOB"
_TOGETHER = 25


def children_of(design: Design, entity: type[Entity]) -> Iterator[tuple[type[Entity], BelongsTo[Any]]]:
    """The entities whose items go when an item of this one is deleted, with how they belong to it."""
    for other in design.entities:
        for parent in other.spec.parents:
            if parent.entity is entity and parent.on_delete == "cascade":
                yield other, parent


class Jobs:
    """Works out the jobs of one design."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def delete(self, write: Delete[Any], context: Context) -> Steps[None]:
        """Delete an item and all that belongs to it."""
        entity = write.entity
        journal = self._journal(context, "cascade", entity.spec.name, entity.key_values)
        yield from self._mark(write, context, journal)
        yield from self._finish_cascade(Ref(type(entity), entity.key_values), context, journal)
        remember(entity, None)

    def rewrite(self, work: Rewrite[Any], context: Context) -> Steps[int]:
        """Change all items of a query; how many it were."""
        journal = self._journal(context, "rewrite", work.name, dict(work.arguments))
        if work.name:
            yield from call("put_item", {"TableName": self._table(context), "Item": journal})
        return (yield from self._finish_rewrite(work, context, journal))

    def resume(self, context: Context) -> Steps[int]:
        """Finish every job that was begun and not finished; how many it were."""
        request: dict[str, Any] = {
            "TableName": self._table(context),
            "KeyConditionExpression": "pk = :jobs",
            "ExpressionAttributeValues": {":jobs": {"S": JOURNALS}},
            "ConsistentRead": True,
        }
        finished = 0
        while True:
            answer = yield from call("query", dict(request))
            for journal in answer["Items"]:
                yield from self._resume(journal, context)
                finished += 1
            if "LastEvaluatedKey" not in answer:
                return finished
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _resume(self, journal: Item, context: Context) -> Steps[None]:
        name, values = journal["name"]["S"], json.loads(journal["values"]["S"])
        if journal["kind"]["S"] == "cascade":
            yield from self._finish_cascade(Ref(context.design.entity(name), values), context, journal)
        else:
            work: Rewrite[Any] = getattr(context.design, name)(**values)
            yield from self._finish_rewrite(work, context, journal)

    def _table(self, context: Context) -> str:
        return context.design.table_name(context.design.housekeeping)

    def _journal(self, context: Context, kind: str, name: str, values: dict[str, object]) -> Item:
        return {
            "pk": {"S": JOURNALS},
            "sk": {"S": uuid4().hex},
            "kind": {"S": kind},
            "name": {"S": name},
            "values": {"S": json.dumps(values, default=str)},
            "startedAt": {"S": context.now.isoformat()},
        }

    def _mark(self, write: Delete[Any], context: Context, journal: Item) -> Steps[None]:
        """In one transaction: nothing refuses the delete, the parent is marked, the journal says so."""
        entity = write.entity
        codec = codec_of(type(entity))
        stored = stored_of(entity) or codec.encode(entity)
        plan = Plan()
        where = address(entity.spec.table, codec.key(entity.__dict__))
        requirements = [*unchanged(write, stored, set()), *no_children(context.design, entity)]
        action = plan.change(where, {DELETING: journal["startedAt"]}, set(), *requirements)
        write.add_where(action)
        housekeeping = context.design.housekeeping
        plan.put(address(housekeeping, {"pk": journal["pk"], "sk": journal["sk"]}), journal)
        yield from send(plan, context)

    def _finish_cascade(self, named: Ref[Any], context: Context, journal: Item) -> Steps[None]:
        item = yield from self._reader.stored(named)
        if item is not None:
            parent = codec_of(named.entity).decode(item)
            for child, relation in children_of(context.design, named.entity):
                yield from self._delete_children(parent, child, relation, context)
        plan = Plan()
        if item is not None:
            item = yield from self._reader.stored(named)
            if item is not None:
                last = Delete(codec_of(named.entity).decode(item))
                last.add_to(plan, context)
                plan.actions[address_of(named)].requirements = []
        housekeeping = context.design.housekeeping
        plan.remove(address(housekeeping, {"pk": journal["pk"], "sk": journal["sk"]}))
        yield from send(plan, context)

    def _delete_children(
        self, parent: Entity, child: type[Entity], relation: BelongsTo[Any], context: Context
    ) -> Steps[None]:
        spec = child.spec
        key = spec.primary if relation.via == "primary" else spec.placements[relation.via]
        values = {mine: getattr(parent, theirs) for theirs, mine in relation.fields.items()}
        needed = {name: values[name] for part in key.hash for name in part.fields}
        deeper = any(children_of(context.design, child))
        while True:
            source: Query[Any] = Query((child,), key, needed, size=_TOGETHER, consistent=key.index is None)
            page = yield from self._reader.run(source)
            for each in page.items:
                yield from self._delete_one(each, deeper, context)
            if not page.items and page.next is None:
                return

    def _delete_one(self, entity: Entity, deeper: bool, context: Context) -> Steps[None]:
        write = Delete(entity)
        try:
            if deeper:
                yield from self.delete(write, context)
            else:
                plan = Plan()
                write.add_to(plan, context)
                yield from send(plan, context)
        except (NotFound, StaleVersion):
            # Somebody else deleted or changed it; it is looked at again where it is still there.
            return

    def _finish_rewrite(self, work: Rewrite[Any], context: Context, journal: Item) -> Steps[int]:
        done = 0
        while True:
            page = yield from self._reader.run(work.source.limit(_TOGETHER))
            for entity in page.items:
                work.change(entity)
                try:
                    plan = Plan()
                    settle = Update(entity).add_to(plan, context)
                    yield from send(plan, context)
                    settle()
                    done += 1
                except (NotFound, StaleVersion):
                    continue
            if not page.items and page.next is None:
                break
        if work.name:
            key = {"pk": journal["pk"], "sk": journal["sk"]}
            yield from call("delete_item", {"TableName": self._table(context), "Key": key})
        return done


def journal_values(journal: Item) -> dict[str, object]:
    """A journal as plain values, to show."""
    return {name: plain(value) for name, value in journal.items()}
