"""What an operation returns of the items that were read: entities, chosen fields, or items that can't be read."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

from keyplan.data.codec.entities import DELETING, EntityCodec, codec_of, stored_item
from keyplan.data.codec.partial import PartialCodec, build_restorer
from keyplan.data.codec.values import Item
from keyplan.data.errors import StoredDataError
from keyplan.design import Entity
from keyplan.design.operations.reading import OnUnreadable, Unreadable
from keyplan.design.operations.selections import Selection
from keyplan.design.tables.tables import Index


class Taken:
    """What was made of an item, where that isn't an entity. It remembers the item, as an entity does."""

    __slots__ = ("item", "value")

    def __init__(self, value: object, item: Item) -> None:
        self.value = value
        self.item = item


def item_of(found: Entity | Taken) -> Item:
    """The item that something was just read from."""
    item = found.item if type(found) is Taken else stored_item(cast(Entity, found))
    assert item is not None
    return item


@cache
def partial_codec(entity: type[Entity], fields: tuple[str, ...], index: Index | None = None) -> PartialCodec:
    """The codec of some fields of an entity."""
    return PartialCodec(codec_of(entity), fields, index)


@cache
def restorer(entity: type[Entity], index: Index) -> Callable[[Item], Item] | None:
    """The function that completes an item of an index; None if a read of the table is needed for that."""
    return build_restorer(codec_of(entity), index)


def take_entities(
    codecs: Sequence[EntityCodec[Any]], items: Sequence[Item], left_out: Callable[[Item], bool] | None, most: int
) -> list[Any]:
    """The first entities among the items, at most `most`."""
    if len(codecs) == 1 and left_out is None and len(items) <= most:
        entities = codecs[0].decode_all(items)
        if entities is not None:
            return entities
    found: list[Any] = []
    for item in items:
        if DELETING in item or (left_out and left_out(item)):
            continue
        for codec in codecs:
            if codec.recognizes(item):
                found.append(codec.decode(item))
                break
        if len(found) == most:
            break
    return found


class Taker:
    """Makes of items what a list returns, where that is more than entities."""

    def __init__(
        self,
        codecs: Sequence[EntityCodec[Any]],
        left_out: Callable[[Item], bool] | None,
        selection: Selection | None = None,
        index: Index | None = None,
        unreadable: OnUnreadable = "raise",
        skipped: list[Unreadable] | None = None,
    ) -> None:
        self._codecs = codecs
        self._left_out = left_out
        self._selection = selection
        self._partial = None if selection is None else partial_codec(selection.entity, selection.fields, index)
        self._unreadable = unreadable
        self._skipped = skipped

    def take(self, items: Sequence[Item], most: int) -> list[Taken]:
        """What is made of the first items, at most `most`."""
        found: list[Taken] = []
        for item in items:
            if DELETING in item or (self._left_out and self._left_out(item)):
                continue
            codec = self._recognized(item)
            if codec is not None:
                self._add(found, codec, item)
            if len(found) == most:
                break
        return found

    def _recognized(self, item: Item) -> EntityCodec[Any] | None:
        if self._partial is not None:
            return self._codecs[0] if self._partial.recognizes(item) else None
        return next((codec for codec in self._codecs if codec.recognizes(item)), None)

    def _add(self, found: list[Taken], codec: EntityCodec[Any], item: Item) -> None:
        try:
            found.append(Taken(self._made(codec, item), item))
        except StoredDataError as error:
            if self._unreadable == "raise":
                raise
            if self._unreadable == "raw":
                found.append(Taken(Unreadable(item, error), item))
            elif self._skipped is not None:
                self._skipped.append(Unreadable(item, error))

    def _made(self, codec: EntityCodec[Any], item: Item) -> object:
        if self._selection is None or self._partial is None:
            return codec.decode(item)
        return self._selection.make(self._partial.values(item))


def values_of(found: Sequence[Any]) -> list[Any]:
    """What the caller gets."""
    return [each.value if type(each) is Taken else each for each in found]
