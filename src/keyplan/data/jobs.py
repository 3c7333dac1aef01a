"""Work larger than one transaction: deletes that cascade, and rewrites. Journalled, so that it can be finished.

The journal is an item in the design's housekeeping table. A cascade marks the parent first, in the transaction that
writes the journal: from then on nothing can be created under it and reads do not find it. Then the children go, each
with what follows from it, and at last the parent together with the journal. Whoever finds a journal can finish it;
two that do so at once get in each other's way but do no harm.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import product
from typing import Any
from uuid import uuid4

from keyplan.data.changes import has_consequences, unchanged
from keyplan.data.codec import Item, dynamic, plain
from keyplan.data.consequences import Address, Consequences, address, address_of, consequences
from keyplan.data.difference import children_of, difference, no_children, unmarked
from keyplan.data.errors import DataError, NotFound, Refused, StaleVersion
from keyplan.data.items import codec_of, remember, stored_of
from keyplan.data.plan import DELETING, Plan
from keyplan.data.reads import Reader
from keyplan.data.steps import Steps, Wait, call, pause
from keyplan.data.transactions import send
from keyplan.data.writes import Context, Delete, Update, Write, key_address
from keyplan.design import Entity, InvalidValue
from keyplan.design.effects import BelongsTo, named_by
from keyplan.design.entity import KeySpec
from keyplan.design.operations import Query, Rewrite

JOURNALS = "JOB"
_TOGETHER = 25
_TRIES = 10


class Jobs:
    """Works out the jobs of one design."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def resume(self, context: Context) -> Steps[int]:
        """Finish every job that was begun and not finished; how many it were. A refused one stops no other."""
        request: dict[str, Any] = {
            "TableName": self._table(context),
            "KeyConditionExpression": "pk = :jobs",
            "ExpressionAttributeValues": {":jobs": {"S": JOURNALS}},
            "ConsistentRead": True,
        }
        finished = 0
        refusal: Refused | None = None
        while True:
            answer = yield from call("query", dict(request))
            for journal in answer["Items"]:
                try:
                    yield from self._resume(journal, context)
                    finished += 1
                except Refused as refused:
                    refusal = refusal or refused
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        if refusal is not None:
            raise refusal
        return finished

    def _resume(self, journal: Item, context: Context) -> Steps[None]:
        name = journal["name"]["S"]
        if journal["kind"]["S"] == "cascade":
            yield from self._finish_cascade(context.design.entity(name), journal["key"]["M"], context, journal)
        else:
            arguments = {each: plain(value) for each, value in journal["arguments"]["M"].items()}
            work: Rewrite[Any] = getattr(context.design, name)(**arguments)
            yield from self._finish_rewrite(work, context, journal)

    def _table(self, context: Context) -> str:
        return context.design.table_name(context.design.housekeeping)

    def _journal(self, context: Context, kind: str, name: str, subject: Item) -> Item:
        return {
            "pk": {"S": JOURNALS},
            "sk": {"S": uuid4().hex},
            "kind": {"S": kind},
            "name": {"S": name},
            "startedAt": {"S": context.now.isoformat()},
            **subject,
        }

    def _end(self, plan: Plan, context: Context, journal: Item) -> None:
        plan.remove(address(context.design.housekeeping, {"pk": journal["pk"], "sk": journal["sk"]}))

    # Cascades

    def delete(self, write: Delete[Any], context: Context) -> Steps[None]:
        """Delete an item and all that belongs to it."""
        entity = write.entity
        stored = stored_of(entity) or codec_of(type(entity)).encode(entity)
        where = key_address(entity.spec, stored)
        journal = self._journal(context, "cascade", entity.spec.name, {"key": {"M": where.item}})
        yield from self._mark(write, stored, where, context, journal)
        yield from self._finish_cascade(type(entity), where.item, context, journal)
        remember(entity, None)

    def _mark(self, write: Delete[Any], stored: Item, where: Address, context: Context, journal: Item) -> Steps[None]:
        """In one transaction: nothing refuses the delete, the parent is marked and no longer counts, and a journal."""
        entity, spec = write.entity, write.entity.spec
        requirements = [
            *unchanged(spec, stored, set(), write.refusal, whole=has_consequences(spec)),
            *unmarked(context.design, type(entity), entity.key_values),
            *no_children(context.design, entity),
        ]
        plan = Plan()
        action = plan.change(where, {DELETING: journal["startedAt"]}, set(), *requirements)
        write.add_where(action)
        follows = consequences(codec_of(type(entity)).decode(stored))
        difference(plan, spec, Consequences(shares=follows.shares), Consequences())
        housekeeping = context.design.housekeeping
        plan.put(address(housekeeping, {"pk": journal["pk"], "sk": journal["sk"]}), journal)
        yield from send(plan, context)

    def _finish_cascade(self, entity: type[Entity], key: Item, context: Context, journal: Item) -> Steps[None]:
        item = yield from self._reader.stored_at(entity.spec.table, key)
        if item is not None:
            parent = codec_of(entity).decode(item)
            for child, relation in children_of(context.design, entity):
                yield from self._delete_children(parent, child, relation, context)
        for attempt in range(_TRIES):
            item = yield from self._reader.stored_at(entity.spec.table, key)
            plan = Plan()
            if item is not None:
                self._add_last(plan, entity, item)
            self._end(plan, context, journal)
            try:
                yield from send(plan, context)
                return
            except (NotFound, StaleVersion):
                # Another runner was first, or somebody still changed the item.
                if attempt == _TRIES - 1:
                    raise
                yield Wait(pause(attempt))

    def _add_last(self, plan: Plan, entity: type[Entity], item: Item) -> None:
        """The parent goes. What would have refused that was asked when it was marked, and it does not count since."""
        spec = entity.spec
        last = codec_of(entity).decode(item)
        requirements = unchanged(spec, item, set(), Delete(last).refusal, whole=has_consequences(spec))
        plan.remove(key_address(spec, item), *requirements)
        difference(plan, spec, Consequences(items=consequences(last).items), Consequences())

    def _delete_children(
        self, parent: Entity, child: type[Entity], relation: BelongsTo[Any], context: Context
    ) -> Steps[None]:
        spec = child.spec
        key = spec.primary if relation.via == "primary" else spec.placements[relation.via]
        where = address(parent.spec.table, codec_of(type(parent)).key(parent.__dict__))
        deeper = any(children_of(context.design, child))
        for values in _known_values(parent, relation, key):
            source: Query[Any] = Query((child,), key, values, consistent=key.index is None)
            attempt = 0
            while (yield from self._delete_found(source, relation, where, deeper, context)):
                yield Wait(pause(min(attempt, 3)))
                attempt += 1

    def _delete_found(
        self, source: Query[Any], relation: BelongsTo[Any], parent: Address, deeper: bool, context: Context
    ) -> Steps[bool]:
        """Delete the children that a query finds; whether it must be asked again."""
        again = False
        start: Item | None = None
        while True:
            found, start = yield from self._reader.pages.read(source, start, _TOGETHER)
            for child, _ in found:
                if any(address_of(named) == parent for named in named_by(relation.parent(child))):
                    gone = yield from self._delete_one(child, deeper, context)
                    # An index may still miss what was written a moment ago, so it is asked until it has nothing.
                    again = again or not gone or source.key.index is not None
            if start is None:
                return again

    def _delete_one(self, entity: Entity, deeper: bool, context: Context) -> Steps[bool]:
        """Whether the item is gone; not where somebody changed it since it was read."""
        write = Delete(entity)
        try:
            if deeper:
                yield from self.delete(write, context)
            else:
                plan = Plan()
                write.add_to(plan, context)
                yield from send(plan, context)
        except NotFound:
            return True
        except StaleVersion:
            return False
        return True

    # Rewrites

    def rewrite(self, work: Rewrite[Any], context: Context) -> Steps[int]:
        """Change all items of a query; how many it were."""
        journal = self._journal(context, "rewrite", work.name, {"arguments": _journalled(work)})
        if work.name:
            yield from call("put_item", {"TableName": self._table(context), "Item": journal})
        return (yield from self._finish_rewrite(work, context, journal))

    def _finish_rewrite(self, work: Rewrite[Any], context: Context, journal: Item) -> Steps[int]:
        changed: set[Address] = set()
        attempt = 0
        while True:
            page = yield from self._reader.run(work.source.limit(_TOGETHER))
            before = len(changed)
            for entity in page.items:
                yield from self._change(work, entity, changed, context)
            if not page.items and page.next is None:
                break
            if len(changed) == before:
                # Only items that others changed, or that an index still shows as they were.
                yield Wait(pause(min(attempt, 5)))
                attempt += 1
        if work.name:
            plan = Plan()
            self._end(plan, context, journal)
            yield from send(plan, context)
        return len(changed)

    def _change(self, work: Rewrite[Any], entity: Entity, changed: set[Address], context: Context) -> Steps[None]:
        """One item. The change is made in the entity, or is a write of it that the change returns."""
        where = key_address(entity.spec, stored_of(entity) or {})
        result = work.change(entity)
        plan = Plan()
        settle = (result if isinstance(result, Write) else Update(entity)).add_to(plan, context)
        if not plan.actions:
            raise DataError(f"the rewrite leaves an item as it is, and so would never end: {entity.spec.name} {where}")
        try:
            yield from send(plan, context)
        except (NotFound, StaleVersion):
            return
        settle()
        if where in changed:
            raise DataError(f"the rewrite leaves an item in its query, and so would never end: {entity.spec.name}")
        changed.add(where)


def _known_values(parent: Entity, relation: BelongsTo[Any], key: KeySpec) -> Iterator[dict[str, object]]:
    """What is known of the children's key: all of the hash key, and the beginning of the sort key.

    What the parent does not know of it has a few values, and is asked for with each.
    """
    for choice in product(*relation.over.values()):
        values = {mine: getattr(parent, theirs) for theirs, mine in relation.fields.items()}
        values |= dict(zip(relation.over, choice, strict=True))
        known = {name: values[name] for part in key.hash for name in part.fields}
        for name in (name for part in key.range for name in part.fields):
            if name not in values:
                break
            known[name] = values[name]
        yield known


def _journalled(work: Rewrite[Any]) -> Mapping[str, Any]:
    for name, value in work.arguments.items():
        if not isinstance(value, str | int | Decimal | None):
            raise InvalidValue("job-argument", f"{work.name}.{name}", "a job takes texts and whole numbers", field=name)
    return {"M": {name: dynamic(value) for name, value in work.arguments.items()}}
