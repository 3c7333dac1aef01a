"""Where the values of an entity are stored, and the fields that hold them.

A value that no attribute has is read back from a key attribute. The design language lets each key attribute hold one
such field, whose value its template always contains. Where an item's keys need more, a key keeps its first literal, and
the rest of it is one value.
"""

from collections.abc import Iterator, Sequence

from keyplan.adopt.drafts import Draft
from keyplan.adopt.model import Doubt, FoundEntity, FoundField, Slot
from keyplan.adopt.names import field_name, is_generic, words
from keyplan.adopt.types import Types
from keyplan.data import AttributeValue

_LONGEST_ID = 128


class NotAnEnvelopeError(Exception):
    """An attribute beside an envelope can't be declared, so the envelope is a text like others."""


def settle(draft: Draft, entity: FoundEntity, taken: set[str]) -> None:
    """Decide where the values are stored, and make the fields."""
    homes = _homes(draft)
    used = {part.source for parts in draft.in_every_key().values() for part in parts if isinstance(part, Slot)}
    names: dict[str, str] = {}
    for source in (*(name for name in draft.sources.variables if name in used), *draft.sources.values):
        names[source] = field_name(_wanted_name(draft, source, homes.get(source)), names.values())
    entity.names, entity.values = names, dict(draft.sources.all())
    types = Types(draft.sources.times, taken)
    for source in names:
        entity.fields.append(_field(draft, entity, types, source, homes.get(source)))
    entity.models = types.models
    draft.doubts += [Doubt(place, "values of several types, so its type is Any") for place in types.mixed]


def _wanted_name(draft: Draft, source: str, home: str | None) -> str:
    """What a value is called: what the attribute is called that it is stored in, if that is about this value."""
    if home is None or is_generic(home):
        return source
    whole = draft.in_every_key()[home] == (Slot(source),)
    return home if whole or {*words(home)} & {*words(source)} else source


def _homes(draft: Draft) -> dict[str, str]:
    """The key attribute in which each value that no attribute has is stored."""
    while True:
        homes: dict[str, str] = {}
        homeless: list[str] = []
        for source in _variables_in_keys(draft):
            home = next((each for each in _possible_homes(draft, source) if each not in homes.values()), None)
            if home is None:
                homeless.append(source)
            else:
                homes[source] = home
        if not homeless:
            return homes
        _collapse(draft, homeless[-1])


def _variables_in_keys(draft: Draft) -> list[str]:
    found = [part.source for parts in draft.in_every_key().values() for part in parts if isinstance(part, Slot)]
    return [source for source in dict.fromkeys(found) if source in draft.sources.variables]


def _possible_homes(draft: Draft, source: str) -> list[str]:
    """The key attributes from which a value can be read back, the best first."""
    mine = draft.sources.variables[source]
    needed = [number for number, value in enumerate(mine) if value is not None]
    found = []
    for attribute, parts in draft.in_every_key().items():
        slots = [part for part in parts if isinstance(part, Slot)]
        readable = any(
            slot.source == source and slot.format[:1] in ("", ":") and "%" not in slot.format for slot in slots
        )
        others = [slot for slot in slots if slot.source != source and not slot.absent]
        if (
            readable
            and not any(_is_optional(draft, slot.source) for slot in others)
            and not any(index in draft.whens for index in _indexes_with(draft, attribute))
            and all(attribute in draft.records[number].item for number in needed)
        ):
            found.append(attribute)
    return sorted(found, key=lambda each: (each != source, is_generic(each), each not in draft.table.key_names))


def _indexes_with(draft: Draft, attribute: str) -> Iterator[str]:
    for name in draft.placed:
        if attribute in {each.name for each in draft.table.by_name[name].attributes}:
            yield name


def _is_optional(draft: Draft, source: str) -> bool:
    return any(value is None or value == {"NULL": True} for value in draft.sources.all()[source])


def _collapse(draft: Draft, source: str) -> None:
    """Make one value of what follows the first literal of a key that has a value which nothing else holds."""
    places = [name for name, parts in draft.templates.items() if any(_is_of(part, source) for part in parts)]
    attribute = places[0]
    parts = draft.templates[attribute]
    literal = parts[0] if isinstance(parts[0], str) else ""
    texts = [record.item.get(attribute, {}).get("S") for record in draft.records]
    values: list[AttributeValue | None] = [None if text is None else {"S": text[len(literal) :]} for text in texts]
    draft.sources.variables[attribute] = values
    draft.templates[attribute] = (literal, Slot(attribute)) if literal else (Slot(attribute),)
    for index in [name for name in _indexes_with(draft, attribute) if name in draft.whens]:
        del draft.whens[index]
    draft.doubts.append(
        Doubt(attribute, "no attribute has the values in this key, so the key's text is a field", len(draft.records))
    )


def _is_of(part: str | Slot, source: str) -> bool:
    return isinstance(part, Slot) and part.source == source


def _field(draft: Draft, entity: FoundEntity, types: Types, source: str, home: str | None) -> FoundField:
    values = draft.sources.all()[source]
    name = entity.names[source]
    present = [value for value in values if value is not None and value != {"NULL": True}]
    optional = len(present) < len(values)
    nulls = sum(value == {"NULL": True} for value in values)
    if nulls:
        problem = "NULL is read as a missing attribute, so it isn't written again"
        draft.doubts.append(Doubt(name, problem, nulls))
    attribute = home or source
    kind = _type(draft, types, source, present)
    marks: tuple[str, ...] = ()
    if attribute == draft.table.ttl:
        kind = "Ttl"
    elif _is_beside_only(draft, source):
        kind = _managed(source, kind, entity.fields)
    elif _is_beside(draft, source):
        marks = ("on_top()",)
    is_set = kind.startswith("frozenset")
    return FoundField(
        name=name,
        attribute=attribute,
        type=kind,
        optional=optional and not is_set and kind not in ("Count", "Version"),
        marks=marks,
        default="frozenset()" if is_set and optional else None,
    )


def _type(draft: Draft, types: Types, source: str, present: Sequence[AttributeValue]) -> str:
    if not present:
        return "Any"
    kind = types.of(present, source)
    formats = {
        part.format
        for parts in draft.in_every_key().values()
        for part in parts
        if isinstance(part, Slot) and part.source == source
    }
    if kind == "int" and any("." in each and not each.startswith(".") for each in formats):
        return "Decimal"
    texts = [str(value.get("S", "")) for value in present]
    fits = all(text and "#" not in text and "\n" not in text and len(text) <= _LONGEST_ID for text in texts)
    return "Id" if kind == "str" and fits and _is_in_key(draft, source) else kind


def _is_in_key(draft: Draft, source: str) -> bool:
    """Whether a value is in the primary key, or together with others in a key of an index."""
    for attribute, parts in draft.templates.items():
        if any(_is_of(part, source) for part in parts) and (attribute in draft.table.key_names or len(parts) > 1):
            return True
    return False


def _is_beside(draft: Draft, source: str) -> bool:
    return any(record.inside and source in record.beside for record in draft.records)


def _is_beside_only(draft: Draft, source: str) -> bool:
    """Whether an attribute is beside an envelope only; raises `NotAnEnvelopeError` if it sometimes is."""
    having = [record for record in draft.records if source in record.values]
    beside = [source in record.beside for record in having]
    inside = [source in record.inside for record in having]
    if not any(record.inside for record in draft.records) or not any(beside):
        return False
    if any(inside) and not (all(inside) and all(beside)):
        raise NotAnEnvelopeError
    return not any(inside)


def _managed(source: str, kind: str, others: Sequence[FoundField]) -> str:
    """The type of an attribute beside an envelope: only what the store manages is there alone."""
    managed = {field.type for field in others}
    if kind == "datetime":
        for word, stamp in (("created", "Created"), ("updated", "Updated"), ("modified", "Updated")):
            if word in source.lower() and stamp not in managed:
                return stamp
    if kind == "int":
        return "Version" if source.lower() == "version" and "Version" not in managed else "Count"
    raise NotAnEnvelopeError
