"""Addresses: the table and key of an item, to compare and look up."""

from typing import Any, NamedTuple

from keyplan.data.codec.entities import codec_of
from keyplan.data.codec.values import Item
from keyplan.design import Ref, Table


class Address(NamedTuple):
    """An item's table, by its declared name, and its key; can be compared and hashed."""

    table: str
    key: tuple[tuple[str, str, str | bytes], ...]

    @property
    def item(self) -> Item:
        return {name: {tag: content} for name, tag, content in self.key}


def address(table: Table, item: Item) -> Address:
    """The address of an item; its key attributes are enough."""
    return Address(table.name, tuple([(name, tag, item[name][tag]) for name, tag in table.key_types]))


def address_of(named: Ref[Any]) -> Address:
    """The address of the item that a reference points to."""
    return address(named.entity.spec.table, codec_of(named.entity).key(named.values))
