"""Meters the access patterns of a design: each runs once, on as many items as it is said to find."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from pydantic import ValidationError

from keyplan.capacity.changes import choices_of
from keyplan.capacity.metering.altered import eventual
from keyplan.capacity.metering.model import Metered
from keyplan.capacity.metering.sandbox import NUMBER, Sandbox
from keyplan.data import DataError
from keyplan.design import DesignError, Entity, InvalidValue, Op, Page, Parameter, Pattern
from keyplan.design.examples import example_arguments
from keyplan.design.examples.uses import queries_in, uses_of
from keyplan.design.operations.conditions import FieldPath, Node
from keyplan.design.operations.item_collections import Aggregate, Aggregated, parts_of
from keyplan.design.operations.queries import Follow, ItemCount, Merge, Query, Scan
from keyplan.design.operations.reading import ListOp

MOST = 100
"""The number of items up to which a pattern is run on that many. Above, the figures grow as they do up to there:
DynamoDB adds up the sizes of what a Query reads."""

_FIRST = NUMBER + 1
"""The number of the first example that is added. The times of examples are minutes apart, and some keys have days."""
_MOST_BESIDE = 1000
"""The most items of another entity that a scan is run on: a page reads about as many at most."""
_NOBODY = 5000
"""The number of examples that don't exist."""


def meter_pattern(sandbox: Sandbox, pattern: Pattern[..., Any], items: int | None) -> Metered:
    """What a pattern consumes if it finds so many items; None: as many as the design says, or one."""
    wanted = items if items is not None else pattern.returns
    if wanted is None:
        return _run(sandbox, pattern, 1)
    if wanted == 0:
        return meter_missing(sandbox, pattern)
    if wanted <= MOST:
        return _run(sandbox, pattern, wanted)
    half, whole = _run(sandbox, pattern, MOST // 2), _run(sandbox, pattern, MOST)
    return _extended(half, whole, wanted)


def meter_missing(sandbox: Sandbox, pattern: Pattern[..., Any]) -> Metered:
    """What a pattern consumes if it finds nothing."""
    sandbox.client.begin()
    op = _bound(sandbox, pattern, example_arguments(pattern, _NOBODY, type(sandbox.design)))
    found = _found(sandbox.store.run(op))
    return sandbox.client.metered(found)


def _extended(half: Metered, whole: Metered, wanted: int) -> Metered:
    """What it is for more items, if it goes on as between the two."""
    if whole.items <= half.items:
        return whole
    factor = (wanted - whole.items) / (whole.items - half.items)
    units = {place: each + (each + half.units[place] * -1) * factor for place, each in whole.units.items()}
    requests = whole.requests + round((whole.requests - half.requests) * factor)
    return Metered(units, requests, wanted, whole.operations)


def _run(sandbox: Sandbox, pattern: Pattern[..., Any], wanted: int) -> Metered:
    arguments = example_arguments(pattern, NUMBER, type(sandbox.design))
    try:
        if wanted > 1:
            arguments |= _more_keys(sandbox, pattern, wanted) | _widened(sandbox, pattern, wanted)
            sandbox.place(_more(sandbox, _bound(sandbox, pattern, arguments), wanted))
        op = _bound(sandbox, pattern, arguments)
        if isinstance(op, ListOp):
            op = op.limit(wanted).on_unreadable("skip")
        sandbox.client.begin()
        found = _found(sandbox.store.run(op))
        return sandbox.client.metered(found)
    finally:
        sandbox.restore()


def _bound(sandbox: Sandbox, pattern: Pattern[..., Any], arguments: Mapping[str, object]) -> Op[object]:
    op: Op[object] = getattr(sandbox.design, pattern.name)(**arguments)
    return eventual(op) if pattern.name in sandbox.altered.eventual else op


def _found(result: object) -> int:
    """How many items were found."""
    match result:
        case None | False:
            return 0
        case Page(items=items):
            return len(items)
        case bool():
            return 1
        case int():
            return result
        case Aggregate():
            held = (vars(result)[part.name] for part in parts_of(type(result)))
            return sum(len(each) if isinstance(each, list) else each is not None for each in held)
        case list() | tuple():
            return sum(_found(each) for each in result)
    return 1


# More items for a pattern to find


def _more_keys(sandbox: Sandbox, pattern: Pattern[..., Any], wanted: int) -> dict[str, object]:
    """The arguments that are lists of keys, with so many keys."""
    uses = [use for use in uses_of(pattern.symbolic) if use.kind == "keys"]
    lists: dict[str, object] = {}
    for use in uses:
        items = [sandbox.base(use.entity), *_examples(sandbox, use.entity, wanted - 1)]
        sandbox.place(items[1:])
        lists[use.name] = [each for item in items for each in _keys(use.value(item))]
    return lists


def _keys(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def _examples(sandbox: Sandbox, entity: type[Entity], number: int) -> Iterator[Entity]:
    base = sandbox.base(entity)
    for each in range(_FIRST, _FIRST + number):
        values = sandbox.another(entity, each).key_values
        yield base.model_copy(update=dict(values))


def _more(sandbox: Sandbox, op: Op[object], wanted: int) -> Iterator[Entity]:
    """Items that a pattern finds beside the example."""
    match op:
        case ItemCount(source=source) | Aggregated(source=source):
            yield from _more(sandbox, source, wanted)
        case Merge(queries=queries):
            for query in queries:  # each may have all items of the page, so a store reads that many of each
                yield from _more(sandbox, query, wanted)
        case Follow(source=source, link=link):
            for item in _more(sandbox, source, wanted):
                yield item
                target = link(item)
                if target is not None:
                    yield sandbox.base(target.entity).model_copy(update=dict(target.values))
        case Query(entities=entities):
            others = cycle(entities[1:] or entities)
            for number, entity in enumerate(islice(others, wanted - 1)):
                yield _variant(sandbox, entity, op, _FIRST + number)
        case Scan(entity=entity):
            yield from _examples(sandbox, entity, wanted - 1)
            yield from _beside(sandbox, entity, wanted)


def _beside(sandbox: Sandbox, entity: type[Entity], wanted: int) -> Iterator[Entity]:
    """The items that a scan reads as well: those of other entities in the table, as many as there are of them."""
    own = sandbox.counts.get(entity.__name__, 0)
    for other in type(sandbox.design).entities:
        count = sandbox.counts.get(other.__name__, 0)
        if own and other is not entity and other.spec.table is entity.spec.table:
            yield from _examples(sandbox, other, min(_MOST_BESIDE, round(wanted * count / own)))


def _variant(sandbox: Sandbox, entity: type[Entity], query: Query[Any], number: int) -> Entity:
    """An item that a query finds, like the example but with another key."""
    spec = entity.spec
    key = next((each for each in spec.keys if each.index is query.key.index), spec.primary)
    asked = {*_whole(query), *filtered_fields(query.filter)}
    varied = {*spec.primary.fields, *key.range_fields, *key.computed} - asked
    if query.bound is not None and varied != {query.bound[0]}:
        varied -= {query.bound[0]}
    base, other = sandbox.base(entity), sandbox.another(entity, number)
    values = {name: _varied(base, other, name, number) for name in varied if getattr(other, name) is not None}
    if query.bound is not None and query.bound[0] in varied and query.bound[1].kind == "prefix":
        values[query.bound[0]] = f"{getattr(base, query.bound[0])}-{number}"
    return base.model_copy(update=values)


def _varied(base: Entity, other: Entity, name: str, number: int) -> object:
    """Another value of a field for each number, as far as there are so many."""
    choices = choices_of(type(base), name)
    if not choices:
        return getattr(other, name)
    return choices[(choices.index(getattr(base, name)) + number - NUMBER) % len(choices)]


def _whole(query: Query[Any]) -> Iterator[str]:
    """The fields that a query asks for with their whole value, not just the day or the shard that they are in."""
    yield from (name for name in query.values if name not in query.key.computed)


def _widened(sandbox: Sandbox, pattern: Pattern[..., Any], wanted: int) -> dict[str, object]:
    """The arguments that are the end of a range, so that so many values are in it."""
    ends = {}
    for query in queries_in(pattern.symbolic):
        high = query.bound[1].high if query.bound is not None and query.bound[1].kind == "between" else None
        if query.bound is not None and isinstance(high, Parameter) and high.name in pattern.parameters:
            ends[high.name] = getattr(sandbox.another(query.entities[0], NUMBER + wanted), query.bound[0])
    return ends


def filtered_fields(node: object) -> Iterator[str]:
    """The fields that a filter compares."""
    if isinstance(node, Node):
        for each in node.operands:
            if isinstance(each, FieldPath):
                yield str(each.names[0])
            yield from filtered_fields(each)


METERING_ERRORS = (DataError, DesignError, InvalidValue, ValidationError)
"""What can keep a pattern or a write from being metered."""
