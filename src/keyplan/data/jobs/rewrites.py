"""Rewrites: changing all items of a query, with a first and a last step.

The first step is one transaction with the journal. Then the items of the query are changed until it finds none, and the
last step and the removal of the journal are one transaction. Parts beside the rewrite are written with the first
transaction only.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.entities import DELETING, codec_of, stored_item
from keyplan.data.codec.values import Item, decode_untyped, encode_untyped
from keyplan.data.errors import DataError, InUse, ItemChanged, NotFound
from keyplan.data.expressions.expiry import is_expired
from keyplan.data.jobs.cascades import TOGETHER, Cascades
from keyplan.data.jobs.journals import begin, end, journal
from keyplan.data.jobs.rekeying import rekey_all
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.key_operations import PARTS
from keyplan.data.writes.large import with_large_values
from keyplan.data.writes.operations import Context, Delete, Planned, Update, Write
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.preparing import prepare_parts
from keyplan.data.writes.transactions import send_plan
from keyplan.design import Entity, InvalidValue
from keyplan.design.operations.rewrites import FinalChange, Rewrite


class Rewrites:
    """Carries out the rewrites of one design."""

    def __init__(self, reader: Reader, cascades: Cascades) -> None:
        self._reader = reader
        self._cascades = cascades

    def run(self, work: Rewrite[Any], context: Context) -> Steps[int]:
        """Change all items of a query; returns how many."""
        begun = yield from self.begin(work, context)
        joined = bool(work.name or work.opening)
        return (yield from self._finish(work, context.alone() if joined else context, begun))

    def begin(self, work: Rewrite[Any], context: Context) -> Steps[Item | None]:
        """Carry out the first step and write the journal; returns the journal, if the rewrite is a job with a name."""
        begun = journal(context, "rewrite", work.name, {"arguments": _journalled(work)}) if work.name else None
        wrong = [part for part in work.opening if not isinstance(part, PARTS)]
        if wrong:
            raise TypeError(f"{wrong[0]!r} can't be the first step of a rewrite")
        parts: list[Planned] = yield from prepare_parts(work.opening, self._reader, context)
        plan = Plan()
        settle = [part.add_to(plan, context) for part in (yield from with_large_values(parts, context))]
        if begun is not None:
            begin(plan, begun)
        yield from send_plan(plan, context)
        for done in settle:
            done()
        return begun

    def resume(self, begun: Item, context: Context) -> Steps[None]:
        """Finish the job of a journal."""
        name = begun["name"]["S"]
        if not hasattr(context.design, name):
            raise DataError(f"the job {name} was not finished, and the design no longer has this job")
        arguments = {each: decode_untyped(value) for each, value in begun["arguments"]["M"].items()}
        work: Rewrite[Any] = getattr(context.design, name)(**arguments)
        yield from self._finish(work, context, begun)

    def _finish(self, work: Rewrite[Any], context: Context, begun: Item | None) -> Steps[int]:
        changed = 0
        for attempt in range(ATTEMPTS):
            changed += yield from self._change_all(work, context)
            context = context.alone() if changed else context
            try:
                yield from self._end(work.final, context, begun)
                return changed
            except (NotFound, ItemChanged, InUse):
                # Somebody changed the last item, or new items refer to it: those have to be changed first.
                if attempt == ATTEMPTS - 1:
                    raise
                yield Wait(pause(attempt))
        raise AssertionError  # the last attempt returns or raises

    def _change_all(self, work: Rewrite[Any], context: Context) -> Steps[int]:
        if work.change is None:
            return (yield from rekey_all(work.source, self._reader, context))
        changed: set[Address] = set()
        attempt, now = 0, context.now

        def clock() -> datetime:
            return now

        while True:
            page = yield from self._reader.run(work.source.limit(TOGETHER), clock)
            before = len(changed)
            for entity in page.items:
                if (yield from self._change(work.change, entity, changed, context)):
                    context = context.alone()
            if not page.items and page.next is None:
                return len(changed)
            if len(changed) == before:
                # Others changed these items, or the index still shows their old state.
                yield Wait(pause(min(attempt, 5)))
                attempt += 1

    def _change(
        self, change: Callable[[Any], object], entity: Entity, changed: set[Address], context: Context
    ) -> Steps[bool]:
        """Change one item; returns whether it was changed. The change is made in the entity, or returned as writes."""
        where = address(entity.spec.table, stored_item(entity) or {})
        parts = yield from with_large_values(_writes(change(entity), entity), context)
        plan = Plan()
        settle = [part.add_to(plan, context) for part in parts]
        if not plan.actions:
            raise DataError(f"the rewrite doesn't change an item, so it would never end: {entity.spec.name} {where}")
        try:
            yield from send_plan(plan, context)
        except (NotFound, ItemChanged):
            return False
        for done in settle:
            done()
        if where in changed:
            raise DataError(f"the rewrite leaves an item in its query, so it would never end: {entity.spec.name}")
        changed.add(where)
        return True

    def _end(self, final: FinalChange[Any] | None, context: Context, begun: Item | None) -> Steps[None]:
        """Carry out the last step and remove the journal: in one transaction, unless the last step cascades."""
        plan = Plan()
        item = None if final is None else (yield from self._reader.stored(final.target))
        if final is not None and item is not None and DELETING not in item and not _expired(final, item, context):
            entity = codec_of(final.target.entity).decode(item)
            result = final.change(entity)
            write = result if isinstance(result, Write) else Update(entity)
            if isinstance(write, Delete) and context.relations.cascading(final.target.entity):
                yield from self._cascades.delete(write, context)
            else:
                (part,) = yield from with_large_values([write], context)
                part.add_to(plan, context)
        if begun is not None:
            end(plan, begun)
        yield from send_plan(plan, context)


def _writes(result: object, entity: Entity) -> Sequence[Planned]:
    """What the change of an item is written as."""
    if not isinstance(result, tuple | list) or not result:
        return [result if isinstance(result, Write) else Update(entity)]
    wrong = [part for part in result if not isinstance(part, Write)]
    if wrong:
        raise TypeError(f"{wrong[0]!r} can't be a write of a rewrite. It takes create, update, move and delete")
    return result


def _expired(final: FinalChange[Any], item: Item, context: Context) -> bool:
    return is_expired(codec_of(final.target.entity).ttl, item, context.now)


def _journalled(work: Rewrite[Any]) -> Mapping[str, Any]:
    for name, value in work.arguments.items():
        if not isinstance(value, str | int | Decimal | None):
            raise InvalidValue(
                "job-argument",
                f"{work.name}.{name}",
                "The arguments of a job must be texts, whole numbers or decimals.",
                field=name,
            )
    return {"M": {name: encode_untyped(value) for name, value in work.arguments.items()}}
