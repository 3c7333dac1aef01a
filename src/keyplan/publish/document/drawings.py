"""What the diagrams of a design show: entities, tables and indexes with example items, and the largest write."""

import re
from collections.abc import Iterator, Mapping, Sequence

from keyplan.design import Design, Entity, Table
from keyplan.design.entities.specs import KeySpec
from keyplan.design.entities.standins import read_refs
from keyplan.design.tables.tables import Index
from keyplan.publish.diagrams import Action, Actions, Collections, Drawing, Edge, ItemGroup, Node, Relations, Row, draw
from keyplan.publish.document.examples import Examples, order_of
from keyplan.publish.document.items import address_in, names_by_address
from keyplan.publish.document.model import Item, ItemType, Together, WriteText
from keyplan.publish.document.requests import shown

_UNSAFE = re.compile(r"[^a-z0-9]+")
_LONGEST = 40


def drawings_of(
    design: Design, examples: Examples, items: Sequence[ItemType], together: Sequence[Together]
) -> Iterator[Drawing]:
    """The drawings of a design."""
    relations = relations_of(design)
    if relations.nodes:
        names = ", ".join(node.name for node in relations.nodes)
        yield draw("entities", "", "Entities and their relations", f"The entities {names}.", relations)
    whats = names_by_address(examples)
    for table in design.all_tables:
        stored = [item for item in examples.stored.get(table.name, ()) if address_in(table, item) in whats]
        if stored:
            yield from _tables(design, table, stored, whats)
    largest = _largest(together)
    if largest is not None:
        yield _write(largest)


def slug(text: str) -> str:
    """A name for files and links: `Table WavyBlog` becomes `table-wavyblog`."""
    return _UNSAFE.sub("-", text.lower()).strip("-")


# Entities


def relations_of(design: Design) -> Relations:
    """The entities of a design with their keys, and how they depend on each other."""
    edges: dict[tuple[str, str, str], Edge] = {}
    for entity in design.entities:
        for edge in _edges(entity):
            edges.setdefault((edge.source, edge.target, edge.kind), edge)
    names = {entity.__name__ for entity in design.entities}
    return Relations(
        [Node(entity.__name__, list(_lines(entity))) for entity in design.entities],
        [edge for edge in edges.values() if edge.source in names and edge.target in names],
    )


def _lines(entity: type[Entity]) -> Iterator[tuple[str, str]]:
    spec = entity.spec
    for key in spec.keys:
        yield from _key_lines(key)
    for unique in spec.uniques:
        yield "unique", unique.hash.text if unique.range is None else f"{unique.hash.text} / {unique.range.text}"


def _key_lines(key: KeySpec) -> Iterator[tuple[str, str]]:
    name = key.index.name if key.index is not None else "key"
    text = " / ".join(dict.fromkeys(part.source for part in key.parts))
    yield name, text


def _edges(entity: type[Entity]) -> Iterator[Edge]:
    spec = entity.spec
    parents = set()
    for parent in spec.parents:
        if parent.entity is not None:
            parents.add(parent.entity)
            yield Edge(spec.name, parent.entity.__name__, parent.on_delete, parent.name)
    for derived in spec.derived:
        for kind in derived.entities:
            yield Edge(kind.__name__, spec.name, "copy", derived.name)
    for counter in spec.counters:
        for target in dict.fromkeys(ref.entity for ref in read_refs(spec, counter.target)):
            if target not in parents:
                yield Edge(spec.name, target.__name__, "count", counter.name)


# Tables and indexes


def _tables(
    design: Design, table: Table, stored: Sequence[Item], whats: Mapping[tuple[str, ...], str]
) -> Iterator[Drawing]:
    actual = design.table_name(table)
    subject = _collections(table, table.key_names[0], table.key_names[1:], stored, whats)
    text = f"Example items of the table {actual} by partition key, in the order of the sort key."
    yield draw(slug(f"table {actual}"), actual, f"Table {actual}", text, subject)
    for index in table.by_name.values():
        names = [each.name for each in index.attributes]
        placed = [_projected(table, index, item) for item in stored if all(name in item for name in names)]
        if placed:
            sort = [each.name for each in index.range]
            ordered = sorted(placed, key=lambda item: [order_of(item[name]) for name in names])
            subject = _collections(table, names[0], sort, ordered, whats, len(index.hash))
            title = f"Index {index.name} of {actual}"
            text = f"Example items in the index {index.name} of {actual} by partition key."
            yield draw(slug(f"index {actual} {index.name}"), f"{actual}.{index.name}", title, text, subject)


def _projected(table: Table, index: Index, item: Item) -> Item:
    """An item as an index has it."""
    if index.projection.type == "ALL":
        return item
    names = {*table.key_names, *(each.name for each in index.attributes), *index.projection.attributes}
    return {name: value for name, value in item.items() if name in names}


def _collections(
    table: Table,
    partition: str,
    sort: Sequence[str],
    items: Sequence[Item],
    whats: Mapping[tuple[str, ...], str],
    hash_parts: int = 1,
) -> Collections:
    groups: dict[str, list[Row]] = {}
    shown_in_keys = {partition, *sort}
    for item in items:
        rest = [(name, shown(value, _LONGEST)) for name, value in item.items() if name not in shown_in_keys]
        row = Row(", ".join(_plain(item, name) for name in sort), whats[address_in(table, item)], rest)
        groups.setdefault(_plain(item, partition), []).append(row)
    return Collections(partition, ", ".join(sort), [ItemGroup(name, rows) for name, rows in groups.items()])


def _plain(item: Item, name: str) -> str:
    """A value of a key without quotes."""
    return shown(item[name], 200).strip('"')


# Writes


def _largest(together: Sequence[Together]) -> WriteText | None:
    """The write that touches most items, if there is one that touches several."""
    writes = [write for each in together for write in each.writes if len(write.requests) == 1]
    largest = max(writes, key=lambda write: len(write.touched), default=None)
    return largest if largest is not None and len(largest.touched) > 1 else None


def _write(write: WriteText) -> Drawing:
    actions = [Action(t.action, t.table, t.key, t.what, t.change, t.condition) for t in write.touched]
    subject = Actions(write.name, write.requests[0].action, actions)
    text = f"{write.name} touches {len(actions)} items in one transaction."
    return draw("write", write.name, f"One write: {write.name}", text, subject)
