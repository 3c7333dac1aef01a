"""Items by their keys: what is read of them, and what is returned."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.values import Item
from keyplan.data.errors import StoredDataError
from keyplan.data.expressions.expiry import is_expired
from keyplan.data.expressions.texts import Expression
from keyplan.data.reads.batch_get import batch_get
from keyplan.data.reads.list_requests import Clock, needed, projection
from keyplan.data.reads.taking import partial_codec
from keyplan.data.steps import Steps, call
from keyplan.design import BatchGet, Design, Entity, Get
from keyplan.design.operations.reading import OnUnreadable, Unreadable
from keyplan.design.operations.selections import Selection


class Wanted(NamedTuple):
    """An item that is asked for by its key."""

    entity: type[Entity]
    values: Mapping[str, object]
    selection: Selection | None = None
    expired: bool = False
    unreadable: OnUnreadable = "raise"

    @property
    def key(self) -> Item:
        return codec_of(self.entity).key(self.values)

    @property
    def attributes(self) -> tuple[str, ...] | None:
        """The attributes to read; None for all."""
        if self.selection is None:
            return None
        fields = partial_codec(self.entity, self.selection.fields).attributes
        return None if fields is None else (*needed(self.entity), *sorted(fields))

    def result(self, item: Item | None, clock: Clock) -> object:
        """What is returned for an item; None if it doesn't exist, is being deleted or has expired."""
        codec = codec_of(self.entity)
        if item is None or DELETING in item or not codec.recognizes(item):
            return None
        if codec.ttl is not None and not self.expired and is_expired(codec.ttl, item, clock()):
            return None
        try:
            if self.selection is None:
                return codec.decode(item)
            return self.selection.make(partial_codec(self.entity, self.selection.fields).values(item))
        except StoredDataError as error:
            if self.unreadable == "raise":
                raise
            return Unreadable(item, error)


def wanted_by(op: BatchGet[Any]) -> list[Wanted]:
    """The items of a batch get."""
    assert isinstance(op.keys, Iterable)
    fields = op.entity.spec.primary.fields
    values = [each if isinstance(each, Mapping) else {fields[0]: each} for each in op.keys]
    return [Wanted(op.entity, each, op.selection, op.expired, op.unreadable) for each in values]


def fetch(design: Design, wanted: Sequence[Wanted], clock: Clock, consistent: Collection[str] = ()) -> Steps[list[Any]]:
    """What is returned for each item, by batch gets."""
    keys = [(design.table_name(each.entity.spec.table), each.key) for each in wanted]
    if any(each.selection is not None for each in wanted):
        projections = _projections(zip((table for table, _ in keys), wanted, strict=True))
        items = yield from batch_get(keys, consistent=consistent, projections=projections)
    else:
        items = yield from batch_get(keys, consistent=consistent)
    return [each.result(item, clock) for each, item in zip(wanted, items, strict=True)]


def _projections(wanted: Iterable[tuple[str, Wanted]]) -> dict[str, dict[str, Any]]:
    """The projection of each table: all that is read of any of its items."""
    attributes: dict[str, set[str] | None] = {}
    for table, each in wanted:
        known, more = attributes.get(table, set()), each.attributes
        attributes[table] = None if known is None or more is None else known.union(more)
    return {table: projected(sorted(names)) for table, names in attributes.items() if names is not None}


def projected(attributes: Sequence[str]) -> dict[str, Any]:
    """The members of a request that reads only these attributes."""
    expression = Expression()
    text = projection(expression, tuple(attributes))
    return {"ProjectionExpression": text, **expression.parameters()}


def transact_get(design: Design, gets: Sequence[Get[Any]], clock: Clock) -> Steps[tuple[Any, ...]]:
    """What is returned for each item, by one transaction."""
    wanted = [Wanted(each.entity, each.values, each.selection, each.expired) for each in gets]
    places = [(design.table_name(each.entity.spec.table), each.key) for each in wanted]
    members: dict[str, dict[str, Any]] = {}
    for (table, key), each in zip(places, wanted, strict=True):
        name = repr((table, key))
        attributes = each.attributes
        more = {} if attributes is None or name in members else projected(dict_once(attributes))
        # DynamoDB reads an item once, so one that is asked for twice is read whole.
        members[name] = {"TableName": table, "Key": key, **more}
    request = {"TransactItems": [{"Get": each} for each in members.values()]}
    answer = yield from call("transact_get_items", request)
    items: dict[str, Item | None] = {
        name: response.get("Item") for name, response in zip(members, answer["Responses"], strict=True)
    }
    return tuple(each.result(items[repr(place)], clock) for place, each in zip(places, wanted, strict=True))


def dict_once(names: Iterable[str]) -> list[str]:
    """The names, each once."""
    return list(dict.fromkeys(names))
