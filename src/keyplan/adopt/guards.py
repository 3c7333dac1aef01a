"""Guard items, which keep values unique: recognized by the items whose values and keys they repeat.

A guard has the unique value in its key, and otherwise at most what the key of the item needs that has the value. So
for each of them there is an item with these values, and no item is needed twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from keyplan.adopt.formats import Times, formats_for
from keyplan.adopt.matching import Sources, parts_of
from keyplan.adopt.model import FoundEntity, FoundGuard, FoundTable, Parts, Slot
from keyplan.adopt.names import field_name, free, singular, words
from keyplan.adopt.shapes import Kind, text_of
from keyplan.data import AttributeValue
from keyplan.design import Table

_ENOUGH = 0.9
_ENOUGH_OF_SAMPLE = 0.3
_MOST_CARRIED = 3


@dataclass
class GuardDraft:
    """Items that may be guards: their keys are values that no attribute has."""

    kind: Kind
    table: FoundTable
    sources: Sources
    templates: dict[str, Parts] = field(default_factory=dict)

    @property
    def variables(self) -> list[str]:
        found = [part.source for parts in self.templates.values() for part in parts if isinstance(part, Slot)]
        return list(dict.fromkeys(found))


def may_guard(kind: Kind, table: Table) -> bool:
    """Whether items have nothing but a key of text, and at most a reference."""
    names = {name for record in kind.records for name in record.item}
    if kind.type is not None or any(type_ != "S" for _, type_ in table.key_types):
        return False
    indexed = {a.name for index in table.by_name.values() for a in index.attributes} - {*table.key_names}
    alike = all(len(record.item) == len(names) for record in kind.records)
    return alike and not names & indexed and len(names) - len(table.key_names) <= _MOST_CARRIED


def guard_draft(kind: Kind, table: FoundTable, separator: str, times: Times) -> GuardDraft | None:
    """What the keys of these items are made of; None if an attribute of theirs is in the key, as in other items."""
    attributes = list(dict.fromkeys(name for record in kind.records for name in record.values))
    values = {name: [record.values.get(name) for record in kind.records] for name in attributes}
    draft = GuardDraft(kind, table, Sources(kind.records, separator, times, {}))
    matched = Sources(kind.records, separator, times, values)
    numbers = range(len(kind.records))
    for (name, _), form in zip(table.table.key_types, kind.forms, strict=True):
        texts = [record.item[name]["S"] for record in kind.records]
        draft.templates[name] = parts_of(draft.sources, numbers, texts, form, name)
        parts_of(matched, numbers, texts, form, name)
    draft.sources.values = values
    with_values = len(matched.variables) < len(draft.sources.variables)
    return None if with_values or not draft.variables else draft


def bind(draft: GuardDraft, tables: Sequence[FoundTable]) -> bool:
    """Declare the rule of uniqueness that these guards keep; False if there is none."""
    best: tuple[float, FoundEntity, _Binding] | None = None
    for table in tables:
        for entity in table.entities:
            for binding in _bindings(draft, entity, complete=table.complete and draft.table.complete):
                if best is None or binding.score > best[0]:
                    best = (binding.score, entity, binding)
    if best is None:
        return False
    _, entity, binding = best
    _declare(draft, entity, binding)
    return True


@dataclass(frozen=True)
class _Option:
    """A field that may be in a guard's key, with its values as they are written there."""

    slot: Slot
    column: Sequence[str | None]


@dataclass(frozen=True)
class _Binding:
    """The entity's values that a guard's key and attributes are made of."""

    slots: Mapping[str, Slot]
    carries: tuple[str, ...]
    score: float
    when: str | None


def _bindings(draft: GuardDraft, entity: FoundEntity, *, complete: bool) -> Iterator[_Binding]:
    """The ways in which an entity's items may be what these guards guard."""
    stored = {each.attribute: each.name for each in entity.fields}
    sources = {name: source for source, name in entity.names.items()}
    if not all(name in stored for name in draft.sources.values):
        return
    carries = [sources[stored[name]] for name in draft.sources.values]
    primary = {part.source for part in entity.primary.slots}
    if not {*carries} <= primary:
        return
    options = [_options(draft.sources.variables[name], entity.values, draft.sources.times) for name in draft.variables]
    columns = [draft.sources.variables[name] for name in draft.variables] + [*draft.sources.values.values()]
    ours = {*zip(*(map(text_of, column) for column in columns), strict=True)}
    carried = [[*map(text_of, entity.values[name])] for name in carries]
    for chosen in product(*options):
        used = {each.slot.source for each in chosen}
        if len(used) < len(chosen) or not primary <= used | {*carries}:
            continue
        if len(chosen) > 1 and primary <= used and not carries:
            continue  # an item with the same key in another order
        theirs = [*zip(*(each.column for each in chosen), *carried, strict=True)]
        share = len(ours & {*theirs}) / len(ours)
        if share < (_ENOUGH if complete else _ENOUGH_OF_SAMPLE):
            continue
        without = {number for number, row in enumerate(theirs) if row not in ours and None not in row}
        slots = dict(zip(draft.variables, (each.slot for each in chosen), strict=True))
        alike = sum(_alike(draft.templates, name, slot.source) for name, slot in slots.items())
        score = share + alike - len(without) / len(theirs)
        yield _Binding(slots, tuple(carries), score, _when(entity.values, without) if without else None)


def _options(
    guarded: Sequence[AttributeValue | None], values: Mapping[str, Sequence[AttributeValue | None]], times: Times
) -> list[_Option]:
    """The fields, with formats, whose values have those in a guard's key among them."""
    texts = {text for value in guarded if (text := text_of(value))}
    sample = next(iter(texts))  # of which only the width matters
    found = []
    for source, theirs in values.items():
        present = [value for value in theirs if text_of(value)]
        columns = [
            (
                Slot(source, chosen.suffix),
                [chosen.write(text) if (text := text_of(value)) else None for value in theirs],
            )
            for chosen in formats_for(present, [sample] * len(present), times)
        ]
        shares = [len(texts & {*column}) / len(texts) for _, column in columns]
        if shares and max(shares) >= _ENOUGH_OF_SAMPLE:
            found.append(_Option(*columns[shares.index(max(shares))]))
    return found


def _alike(templates: Mapping[str, Parts], name: str, source: str) -> float:
    """How alike a field's name is to the literals before its value, as a small number."""
    before = [
        str(parts[number - 1])
        for parts in templates.values()
        for number, part in enumerate(parts)
        if number and isinstance(part, Slot) and part.source == name
    ]
    own = {*map(singular, words(source))}
    return sum(word in own or word.endswith(tuple(own)) for text in before for word in words(text)) / 10


def _when(values: Mapping[str, Sequence[AttributeValue | None]], missing: set[int]) -> str | None:
    """The field that is true for the items that have a guard, and for no others."""
    for name, theirs in values.items():
        false = {number for number, value in enumerate(theirs) if value in (None, {"BOOL": False}, {"NULL": True})}
        if false == missing:
            return name
    return None


def _declare(draft: GuardDraft, entity: FoundEntity, binding: _Binding) -> None:
    templates = [
        tuple(part if isinstance(part, str) else binding.slots[part.source] for part in parts)
        for parts in draft.templates.values()
    ]
    hash_, range_ = templates[0], templates[1] if len(templates) > 1 and templates[1] != templates[0] else None
    own = [slot.source for slot in binding.slots.values()]
    taken = {
        *(each.name for each in entity.fields),
        *(each.name for each in entity.keys),
        *(g.name for g in entity.guards),
    }
    entity.guards.append(
        FoundGuard(
            free(f"{field_name(entity.names[own[-1]])}_guard", taken),
            hash_,
            range_,
            tuple(entity.names[each] for each in binding.carries),
            draft.table.variable,
            len(draft.kind.records),
            None if binding.when is None else entity.names[binding.when],
        )
    )
    draft.table.guards.append(draft.kind.records)
