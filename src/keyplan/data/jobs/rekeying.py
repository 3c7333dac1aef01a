"""Index keys after a change of their templates: all items of an entity get those that the design gives them now."""

from typing import Any

from keyplan.data.codec.addresses import address
from keyplan.data.codec.entities import DELETING, codec_of, stored_item
from keyplan.data.errors import ItemChanged, NotFound
from keyplan.data.reads.reader import Reader
from keyplan.data.steps import ATTEMPTS, Steps, Wait, pause
from keyplan.data.writes.baseline import Baseline
from keyplan.data.writes.locking import unchanged_since_read
from keyplan.data.writes.operations import Context, Update
from keyplan.data.writes.plan import Plan
from keyplan.data.writes.transactions import send_plan
from keyplan.design import Entity
from keyplan.design.operations.queries import Query, Scan
from keyplan.design.operations.reading import PAGE


def rekey_all(source: Scan[Any] | Query[Any], reader: Reader, context: Context) -> Steps[int]:
    """Write the index keys of all items whose keys differ; returns how many. After an interruption, start again."""
    changed, start = 0, None
    while True:
        found, start = yield from reader.lists.read(source, start, PAGE)
        for entity in found:
            changed += yield from _rekey(entity, reader, context)
            context = context.alone() if changed else context
        if start is None:
            return changed


def _rekey(entity: Entity, reader: Reader, context: Context) -> Steps[bool]:
    """Write the index keys of an item if they differ; returns whether they did."""
    codec = codec_of(type(entity))
    spec, table = codec.spec, codec.spec.table
    for attempt in range(ATTEMPTS):
        stored = stored_item(entity) or {}
        sets, removes = Baseline(codec, stored, entity).changes(entity.__dict__, set())
        if not sets and not removes:
            return False
        plan = Plan()
        unchanged = unchanged_since_read(spec, stored, sets.keys() | removes, Update(entity).refusal)
        plan.change(address(table, stored), sets, removes, *unchanged)
        try:
            yield from send_plan(plan, context)
            return True
        except NotFound:
            return False
        except ItemChanged:
            if attempt == ATTEMPTS - 1:
                raise
        yield Wait(pause(attempt))
        now = yield from reader.stored_at(table, {name: stored[name] for name in table.key_names})
        if now is None or DELETING in now or not codec.recognizes(now):
            return False
        entity = codec.decode(now)
    raise AssertionError  # the last attempt returns or raises
