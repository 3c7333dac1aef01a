"""Rewrites: a change of all items of a query, with what begins it and what ends it.

A journal goes with the writes that begin a rewrite. The items of the query are changed until there is none, then the
last step and the end of the journal are one transaction. What is written beside a rewrite goes with its first
transaction, and with no other.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from keyplan.data.codec.addresses import Address, address
from keyplan.data.codec.entities import DELETING, codec_of, stored_item
from keyplan.data.codec.values import Item, decode_untyped, encode_untyped
from keyplan.data.errors import DataError, InUse, NotFound, StaleVersion
from keyplan.data.jobs.cascades import TOGETHER, Cascades
from keyplan.data.jobs.journals import begin, end, journal
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.operations import PARTS, Context, Delete, Planned, Update, Write
from keyplan.data.writes.patches import prepare_parts
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.transactions import send_plan
from keyplan.design import Entity, InvalidValue
from keyplan.design.rewrites import Final, Rewrite


class Rewrites:
    """Works out the rewrites of one design."""

    def __init__(self, reader: Reader, cascades: Cascades) -> None:
        self._reader = reader
        self._cascades = cascades

    def run(self, work: Rewrite[Any], context: Context) -> Steps[int]:
        """Change all items of a query; how many it were."""
        begun = yield from self.begin(work, context)
        joined = bool(work.name or work.opening)
        return (yield from self._finish(work, context.alone() if joined else context, begun))

    def begin(self, work: Rewrite[Any], context: Context) -> Steps[Item | None]:
        """Do what comes first, together with the journal, which is the result where there is one."""
        begun = journal(context, "rewrite", work.name, {"arguments": _journalled(work)}) if work.name else None
        wrong = [part for part in work.opening if not isinstance(part, PARTS)]
        if wrong:
            raise TypeError(f"{wrong[0]!r} is nothing that a rewrite can begin with")
        parts: list[Planned] = yield from prepare_parts(work.opening, self._reader, context)  # type: ignore[arg-type]  # parts
        plan = Plan()
        settle = [part.add_to(plan, context) for part in parts]
        if begun is not None:
            begin(plan, begun)
        yield from send_plan(plan, context)
        for done in settle:
            done()
        return begun

    def resume(self, begun: Item, context: Context) -> Steps[None]:
        """Finish what a journal says."""
        name = begun["name"]["S"]
        if not hasattr(context.design, name):
            raise DataError(f"the job {name} was begun and not finished, and there is no such job any more")
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
            except (NotFound, StaleVersion, InUse):
                # Somebody changed the last item, or something came that keeps it: then that is to be changed, too.
                if attempt == ATTEMPTS - 1:
                    raise
                yield Wait(pause(attempt))
        raise AssertionError  # the last attempt returns or raises

    def _change_all(self, work: Rewrite[Any], context: Context) -> Steps[int]:
        changed: set[Address] = set()
        attempt = 0
        while True:
            page = yield from self._reader.run(work.source.limit(TOGETHER))
            before = len(changed)
            for entity in page.items:
                if (yield from self._change(work, entity, changed, context)):
                    context = context.alone()
            if not page.items and page.next is None:
                return len(changed)
            if len(changed) == before:
                # Only items that others changed, or that an index still shows as they were.
                yield Wait(pause(min(attempt, 5)))
                attempt += 1

    def _change(self, work: Rewrite[Any], entity: Entity, changed: set[Address], context: Context) -> Steps[bool]:
        """One item; whether it was changed. The change is made in the entity, or is a write of it that is returned."""
        where = address(entity.spec.table, stored_item(entity) or {})
        result = work.change(entity)
        plan = Plan()
        settle = (result if isinstance(result, Write) else Update(entity)).add_to(plan, context)
        if not plan.actions:
            raise DataError(f"the rewrite leaves an item as it is, and so would never end: {entity.spec.name} {where}")
        try:
            yield from send_plan(plan, context)
        except (NotFound, StaleVersion):
            return False
        settle()
        if where in changed:
            raise DataError(f"the rewrite leaves an item in its query, and so would never end: {entity.spec.name}")
        changed.add(where)
        return True

    def _end(self, final: Final[Any] | None, context: Context, begun: Item | None) -> Steps[None]:
        """The last step and the end of the journal; one transaction, unless the last step is a cascade."""
        plan = Plan()
        item = None if final is None else (yield from self._reader.stored(final.target))
        if final is not None and item is not None and DELETING not in item:
            entity = codec_of(final.target.entity).decode(item)
            result = final.change(entity)
            write = result if isinstance(result, Write) else Update(entity)
            if isinstance(write, Delete) and context.relations.cascading(final.target.entity):
                yield from self._cascades.delete(write, context)
            else:
                write.add_to(plan, context)
        if begun is not None:
            end(plan, begun)
        yield from send_plan(plan, context)


def _journalled(work: Rewrite[Any]) -> Mapping[str, Any]:
    for name, value in work.arguments.items():
        if not isinstance(value, str | int | Decimal | None):
            raise InvalidValue("job-argument", f"{work.name}.{name}", "a job takes texts and whole numbers", field=name)
    return {"M": {name: encode_untyped(value) for name, value in work.arguments.items()}}
