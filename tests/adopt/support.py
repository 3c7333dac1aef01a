"""Shared by the tests of `keyplan adopt`: tables to adopt, and designs to compare."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin

from keyplan.adopt import Found, RoundTrip, SampledTable, check_items, design_source, find, loaded, table_of
from keyplan.data import codec_of
from keyplan.design import Design, Entity
from keyplan.engine import Engine


def sampled(engine: Engine, name: str) -> SampledTable:
    """All items of a table of an engine."""
    ttl = engine.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    table = table_of(engine.describe_table(TableName=name)["Table"], ttl.get("AttributeName"))
    return SampledTable(table, list(items_of(engine, name)))


def items_of(engine: Engine, table: str) -> Iterator[Any]:
    start: dict[str, Any] = {}
    while True:
        answer = engine.scan(TableName=table, **start)
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


@dataclass
class Adopted:
    """Tables that were adopted, and how their items came back."""

    found: Found
    source: str
    design: type[Design]
    checked: RoundTrip


def adopted(tables: list[SampledTable]) -> Adopted:
    found = find(tables)
    source = design_source(found)
    design = loaded(source)
    with Engine(ttl_interval=None) as engine:
        return Adopted(found, source, design, check_items(design, found, engine))


@dataclass
class Comparison:
    """What of a design was found again in its tables, and what was not."""

    entities: int = 0
    keys: int = 0
    different: dict[str, str] = field(default_factory=dict)
    """By entity, or entity and key: how it was declared, and how it was found."""
    without_items: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        return 1 - len(self.different) / (self.entities + self.keys)


def compare(real: Design, again: type[Design], tables: list[SampledTable]) -> Comparison:
    """Compare a design with the one that its tables were adopted as, entity by entity and key by key.

    An entity was found again if the same items are of it. A key was found again if its templates have the same
    literals, and values of the same stored attributes in the same formats.
    """
    comparison = Comparison()
    names = {table.name: real.table_name(table) for table in real.tables}
    for sample in tables:
        own = [each for each in real.entities if names.get(each.spec.table.name) == sample.table.name]
        theirs = [each for each in again.entities if each.spec.table.name == sample.table.name]
        for entity in own:
            mine = [n for n, item in enumerate(sample.items) if codec_of(entity).recognizes(item)]
            if not mine:
                comparison.without_items.append(entity.__name__)
                continue
            comparison.entities += 1
            match = [
                each
                for each in theirs
                if mine == [n for n, item in enumerate(sample.items) if codec_of(each).recognizes(item)]
            ]
            if len(match) != 1:
                comparison.different[entity.__name__] = f"found as {[each.__name__ for each in match]}"
                continue
            _compare_keys(entity, match[0], comparison)
    return comparison


def _compare_keys(entity: type[Entity], again: type[Entity], comparison: Comparison) -> None:
    mine, theirs = list(_keys(entity)), list(_keys(again))
    for name, key in mine:
        comparison.keys += 1
        if key not in [other for _, other in theirs]:
            near = [other for _, other in theirs if other[0] == key[0]]
            comparison.different[f"{entity.__name__}.{name}"] = f"{key} is {near}"
    invented = [name for name, key in theirs if key[0] not in {other[0] for _, other in mine}]
    for name in invented:
        comparison.different[f"{again.__name__}.{name}"] = "only found"


def _keys(entity: type[Entity]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """The keys and guards of an entity, in a form without the names of fields."""
    spec = entity.spec
    for key in spec.keys:
        parts = tuple(
            _shown(spec, part.template) if part.template else (spec.fields[part.field].stored,)  # type: ignore[index]
            for part in key.parts
        )
        index = key.index.name if key.index else "primary"
        yield key.name, (index, parts, key.when and spec.fields[key.when].stored)
    for guard in spec.uniques:
        templates = tuple(_shown(spec, each) for each in (guard.hash, guard.range) if each)
        yield guard.name, (f"guard {templates[-1][0]}", templates, tuple(spec.fields[n].stored for n in guard.carries))


def _shown(spec: Any, template: Any) -> tuple[object, ...]:
    """A template as literals, and stored attributes with formats. A field that has only one value is a literal."""

    def shown(part: Any) -> object:
        if isinstance(part, str):
            return part
        field = spec.fields[part.field]
        only = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        return only[0] if len(only) == 1 else (field.stored, part.fold, part.spec, part.absent)

    return tuple(map(shown, template.parts))
