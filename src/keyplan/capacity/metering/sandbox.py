"""The tables of a design with example items, in which patterns and writes are metered."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol, cast

from pydantic import ValidationError

from keyplan.capacity.consumed import TableOrIndex
from keyplan.capacity.metering.altered import UNALTERED, Altered
from keyplan.capacity.metering.client import Item, MeteredClient, padded
from keyplan.capacity.metering.model import Metered, StoredPart
from keyplan.capacity.naming import named_design
from keyplan.data import DataError, Store, codec_of, create, item_size
from keyplan.design import HOUSEKEEPING, Design, DesignError, Entity, InvalidValue, Table, get
from keyplan.design.examples import example_item, example_items, example_of
from keyplan.design.tables.vector_indexes import VectorIndex

NUMBER = 2
"""The number of the examples that are metered. Those with the number 1 are there before them, so that what the first
item of its kind makes (a group, a counter's item) isn't part of what the others cost."""

_LARGEST = 390_000
"""The most bytes that an item is made large: DynamoDB takes 400 KB."""
_NEAR = 0.02
"""An item whose size differs by less has the size that it should have."""
_NOW = datetime(2026, 2, 1, tzinfo=UTC)
"""Always the same time, after that of all examples, so that the same design always has the same figures."""


class Client(Protocol):
    """What metering itself needs of a client in boto3's shape. Everything else is called by the store."""

    def put_item(self, *, TableName: str, Item: Mapping[str, Any]) -> object: ...  # noqa: N803 - boto3's names
    def get_item(self, *, TableName: str, Key: Mapping[str, Any]) -> Mapping[str, Any]: ...  # noqa: N803
    def delete_item(self, *, TableName: str, Key: Mapping[str, Any]) -> object: ...  # noqa: N803


class _Memory:
    """Object storage in memory, for large values."""

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    def put(self, name: str, content: bytes, /) -> None:
        self._objects[name] = content

    def get(self, name: str, /) -> bytes | None:
        return self._objects.get(name)

    def delete(self, name: str, /) -> None:
        self._objects.pop(name, None)

    def names(self, prefix: str, /) -> list[str]:
        return [name for name in self._objects if name.startswith(prefix)]


class Sandbox:
    """The tables of a design on a client, with two examples of each entity.

    Creating them is metered: `created` has what creating an item of each entity consumed, and `failures` why an example
    couldn't be created. `stored` is what an item takes with everything that came into being with it.
    """

    def __init__(
        self,
        design: type[Design],
        client: object,
        sizes: Mapping[type[Entity], int],
        altered: Altered = UNALTERED,
        counts: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.altered = altered
        self.counts = counts
        """How many items of each entity there are, if that is known: what a scan reads depends on it."""
        self.design = named_design(design)
        self.sizes = dict(sizes)
        self.tables = {self.design.table_name(table): table for table in self.design.all_tables}
        self.plain = cast(Client, client)
        keys = {name: table.key_names for name, table in self.tables.items()}
        self.client = MeteredClient(client, keys, altered)
        self.store = Store(
            self.design, self.client, clock=lambda: _NOW, secret=b"metered", timeout=60, objects=_Memory()
        )
        self.order: list[Entity] = []
        """The examples that were created, each after those that it refers to."""
        self.created: dict[str, Metered] = {}
        self.stored: dict[str, dict[TableOrIndex, StoredPart]] = {}
        self.failures: dict[str, str] = {}
        self._items: dict[tuple[str, tuple[str, ...]], Item] = {}
        self._bases: dict[type[Entity], Entity] = {}
        self._paddings: dict[type[Entity], int] = {}
        self.store.create_tables()
        self._populate()
        if self._resized(sizes):
            self._clear()
            self._populate()
        if self._pad(sizes):
            self._clear()
            self._populate()

    def base(self, entity: type[Entity]) -> Entity:
        """The example of an entity that is metered."""
        if entity not in self._bases:
            self._bases[entity] = example_of(type(self.design), entity, NUMBER, self.sizes.get(entity))
        return self._bases[entity].model_copy()

    def another(self, entity: type[Entity], number: int) -> Entity:
        """Another example of an entity, as large as the first."""
        return example_item(entity, number, self.sizes.get(entity))

    def size(self, entity: type[Entity]) -> int:
        """The size of an entity's example as it is stored, in bytes."""
        encoded = codec_of(entity).encode(self.base(entity))
        name = self.design.table_name(entity.spec.table)
        return item_size(self._items.get((name, self.client.key(name, encoded)), encoded))

    def read(self, item: Entity) -> Entity | None:
        """An item as it is stored, which can be changed and written."""
        key: dict[str, Any] = item.key_values
        found: Entity | None = self.store.run(get(type(item), expired=True, **key))
        return found

    def place(self, items: Iterable[Entity]) -> None:
        """Put items into their tables as they are, without anything that follows from them, until `restore`."""
        for each in items:
            table = self.design.table_name(each.spec.table)
            item = padded(codec_of(type(each)).encode(each), self._paddings.get(type(each), 0))
            self.client.touch(table, item)
            self.plain.put_item(TableName=table, Item=item)

    def restore(self) -> None:
        """Make all items as they were."""
        for (table, key), item in self.client.touched.items():
            if (old := self._items.get((table, key))) is not None:
                self.plain.put_item(TableName=table, Item=old)
            else:
                self.plain.delete_item(TableName=table, Key={name: item[name] for name in self.tables[table].key_names})
        self.client.touched = {}

    def _resized(self, wanted: Mapping[type[Entity], int]) -> bool:
        """Whether examples have another size than they should, as stored; the next ones come nearer."""
        off = {entity: size - self.size(entity) for entity, size in wanted.items()}
        self.sizes = {entity: max(1, self.sizes[entity] + off[entity]) for entity in wanted}
        return any(off.values())

    def _pad(self, wanted: Mapping[type[Entity], int]) -> bool:
        """Whether examples are still too small, because no text of theirs can be as long; the next ones aren't."""
        for entity, size in wanted.items():
            lacking = min(size, _LARGEST) - self.size(entity)
            if lacking > size * _NEAR:
                self._paddings[entity] = lacking
                name = self.design.table_name(entity.spec.table)
                for number in (1, NUMBER):
                    example = example_of(type(self.design), entity, number, self.sizes.get(entity))
                    self.client.paddings[name, self.client.key(name, codec_of(entity).encode(example))] = lacking
        return bool(self._paddings)

    def _clear(self) -> None:
        """Delete all items."""
        for (table, _), item in self._items.items():
            key = {name: item[name] for name in self.tables[table].key_names}
            self.plain.delete_item(TableName=table, Key=key)
        self.order, self.created, self.stored, self.failures = [], {}, {}, {}
        self._items, self._bases = {}, {}

    def _populate(self) -> None:
        for item in example_items(type(self.design), (1, NUMBER), self.sizes):
            name = type(item).__name__
            self.client.begin()
            try:
                self.store.run(create(item))
            except (DataError, DesignError, InvalidValue, ValidationError) as error:
                self.failures[f"{name}.create"] = str(error)
                continue
            self.order.append(item)
            self.created[name] = self.client.metered()
            self.stored[name] = self._remember()

    def _remember(self) -> dict[TableOrIndex, StoredPart]:
        """Keep what was written, also in `restore`; returns what the new items take."""
        parts: dict[TableOrIndex, StoredPart] = {}
        for where, written in self.client.touched.items():
            table = self.tables[where[0]]
            key = {name: written[name] for name in table.key_names}
            item: Item | None = self.plain.get_item(TableName=where[0], Key=key).get("Item")
            if item is None:
                self._items.pop(where, None)
                continue
            if where not in self._items and table is not HOUSEKEEPING:
                for place, size in self._entries(where[0], table, item):
                    part = parts.get(place, StoredPart(0, 0))
                    parts[place] = StoredPart(part.items + 1, part.size + size)
            self._items[where] = item
        self.client.touched = {}
        return parts

    def _entries(self, name: str, table: Table, item: Item) -> Iterator[tuple[TableOrIndex, int]]:
        """What an item takes in its table and in each index that it is in, in bytes."""
        yield TableOrIndex(name), item_size(item)
        for index in table.by_name.values():
            place = TableOrIndex(name, index.name)
            if place not in self.altered.dropped and all(each.name in item for each in index.attributes):
                altered = self.altered.projections.get(place)
                projection = index.projection if altered is None else altered.projection
                held = {*table.key_names, *(each.name for each in index.attributes), *projection.attributes}
                whole = projection.type == "ALL"
                yield place, item_size({each: value for each, value in item.items() if whole or each in held})
        for vectors in table.vectors_by_name.values():
            if all(each in item for each in (vectors.attribute, *(each.name for each in vectors.elements))):
                yield TableOrIndex(name, vectors.name), _vector_entry(table, vectors, item)


def _vector_entry(table: Table, vectors: VectorIndex, item: Item) -> int:
    """What an item takes in a vector index: its vector as 32-bit floats, and its other attributes."""
    held = {*table.key_names, *(each.name for each in vectors.elements), *vectors.projection.attributes}
    whole = vectors.projection.type == "ALL"
    rest = {name: value for name, value in item.items() if whole or name in held}
    rest.pop(vectors.attribute, None)
    return 4 * vectors.dimensions + item_size(rest)
