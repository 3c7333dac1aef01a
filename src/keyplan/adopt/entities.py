"""The entity of items of one kind: its fields, and its keys in the table and the indexes."""

from collections.abc import Sequence

from keyplan.adopt.drafts import Draft
from keyplan.adopt.envelopes import order_of
from keyplan.adopt.formats import Times
from keyplan.adopt.homes import settle
from keyplan.adopt.matching import Sources, likeness, parts_of
from keyplan.adopt.model import Doubt, FoundEntity, FoundKey, Record, Slot
from keyplan.adopt.names import entity_name, is_generic, key_name
from keyplan.adopt.shapes import VALUE, Form, Kind, forms_of
from keyplan.design import Table

_SURE = 5
"""How many different values have to agree on a format for it to be no guess."""


def entity_of(
    kind: Kind, table: Table, separator: str, times: Times, type_attribute: str | None, taken: set[str], named: str
) -> tuple[FoundEntity, list[Doubt]]:
    """The entity of items of one kind, and what isn't sure about it. `named` is the table's name."""
    indexed = [
        name
        for name, index in table.by_name.items()
        if any(all(a.name in record.item for a in index.attributes) for record in kind.records)
    ]
    key_attributes = {*table.key_names, *(a.name for name in indexed for a in table.by_name[name].attributes)}
    attributes = _attributes(kind.records, key_attributes | ({type_attribute} if type_attribute else set()))
    values = {name: [record.values.get(name) for record in kind.records] for name in attributes}
    sources = Sources(kind.records, separator, times, values)
    draft = Draft(kind, table, separator, sources, placed=indexed)
    _find_primary(draft)
    for name in indexed:
        _find_placement(draft, name, type_attribute)
    literals = [[part for part in form if part != VALUE] for form in kind.forms]
    entity = FoundEntity(entity_name(kind.type, literals or [[]], named, taken), kind.records, kind.type)
    taken.add(entity.name)
    settle(draft, entity, taken)
    _add_keys(draft, entity)
    _doubt(draft, entity)
    return entity, draft.doubts


def _attributes(records: Sequence[Record], without: set[str]) -> list[str]:
    """All attributes that aren't keys, in the order of the items; members of envelopes in theirs."""
    inside = order_of(records) or []
    names = dict.fromkeys(name for record in records for name in record.values)
    return [*(name for name in names if name not in without and name not in inside), *inside]


def _find_primary(draft: Draft) -> None:
    everywhere = range(len(draft.records))
    forms = iter(draft.kind.forms)
    for name, type_ in draft.table.key_types:
        if type_ == "S":
            _find_template(draft, name, everywhere, next(forms))
        else:
            _find_native(draft, name)


def _find_template(draft: Draft, name: str, numbers: Sequence[int], form: Form) -> None:
    texts = [draft.records[number].item[name]["S"] for number in numbers]
    draft.templates[name] = parts_of(draft.sources, numbers, texts, form, name)


def _find_native(draft: Draft, name: str) -> None:
    """Find the attribute that has the same value as a key attribute of type N or B; otherwise it is a field itself."""
    own = [record.item.get(name) for record in draft.records]
    equal = [
        source
        for source, values in draft.sources.values.items()
        if likeness(source, "", name) and all(a is None or a == b for a, b in zip(own, values, strict=True))
    ]
    if equal:
        draft.native[name] = max(equal, key=lambda source: likeness(source, "", name))
        return
    draft.sources.variables[name] = own
    draft.native[name] = name


def _find_placement(draft: Draft, index_name: str, type_attribute: str | None) -> None:
    index = draft.table.by_name[index_name]
    numbers = draft.holding(each.name for each in index.attributes)
    for attribute in index.attributes:
        name = attribute.name
        if name in draft.templates or name in draft.native:
            continue
        if name == type_attribute and draft.kind.type is not None:
            draft.templates[name] = (draft.kind.type,)
        elif attribute.type != "S":
            _find_native(draft, name)
        else:
            having = draft.holding([name])
            _find_template(draft, name, having, _form_in_index(draft, name, having))
    _explain_absence(draft, index_name, set(numbers), type_attribute)


def _form_in_index(draft: Draft, name: str, numbers: Sequence[int]) -> Form:
    """The form of an index key. If items have several, it is one value."""
    records = [draft.records[number] for number in numbers]
    forms = {*forms_of(records, name, draft.separator)}
    if len(forms) > 1:
        return (VALUE,)
    (form,) = forms
    plain = not is_generic(name) and len(form) == 1 and not form[0].isupper()
    return (VALUE,) if plain else form


def _explain_absence(draft: Draft, index_name: str, present: set[int], type_attribute: str | None) -> None:
    """Find out why some items aren't in an index: a value of the key is missing, or a field says so."""
    index = draft.table.by_name[index_name]
    expected = {n for n in range(len(draft.records)) if all(_complete(draft, a.name, n) for a in index.attributes)}
    if expected == present:
        return
    if present < expected:
        source = _condition(draft, present, expected)
        if source is not None:
            draft.whens[index_name] = source
            return
    draft.doubts.append(
        Doubt(
            f"{index_name}",
            "it isn't clear when items are in this index, so its key attributes are fields of their own",
            len(expected ^ present),
        )
    )
    for attribute in index.attributes:
        name = attribute.name
        if name not in draft.table.key_names and name != type_attribute and attribute.type == "S":
            values = [record.item.get(name) for record in draft.records]
            draft.sources.variables[name] = values
            draft.templates[name] = (Slot(name),)


def _complete(draft: Draft, attribute: str, number: int) -> bool:
    """Whether an item has all values that a key attribute is made of."""
    values = draft.sources.all()
    slots = [part for part in draft.parts(attribute) if isinstance(part, Slot)]
    return all(slot.absent or _there(values[slot.source][number]) for slot in slots)


def _there(value: object) -> bool:
    return value is not None and value != {"NULL": True}


def _condition(draft: Draft, present: set[int], expected: set[int]) -> str | None:
    """The field that is true for the items that are in an index, and for no others."""
    best: str | None = None
    for name, values in draft.sources.values.items():
        true = {number for number in expected if _is_true(values[number])}
        if true == present:
            if any(value is not None and "BOOL" in value for value in values):
                return name
            best = best or name
    return best


def _is_true(value: object) -> bool:
    """Whether the data layer would take a stored value for true."""
    match value:
        case None | {"NULL": True} | {"BOOL": False} | {"S": ""} | {"N": "0"} | {"L": []} | {"M": {}}:
            return False
    return True


def _add_keys(draft: Draft, entity: FoundEntity) -> None:
    table = draft.table
    hash_, *range_ = [draft.parts(name) for name in table.key_names]
    entity.keys.append(FoundKey("primary", None, (hash_,), tuple(range_)))
    taken = {field.name for field in entity.fields} | {"primary"}
    for index_name in draft.placed:
        index = table.by_name[index_name]
        hashes = tuple(draft.parts(a.name) for a in index.hash)
        ranges = () if {a.name for a in index.range} <= {*table.key_names} else index.range
        name = key_name(
            index_name,
            entity.name,
            [part for parts in hashes for part in parts if isinstance(part, str)],
            [entity.names[part.source] for parts in hashes for part in parts if isinstance(part, Slot)],
            taken,
        )
        taken.add(name)
        when = draft.whens.get(index_name)
        entity.keys.append(
            FoundKey(
                name,
                index_name,
                hashes,
                tuple(draft.parts(a.name) for a in ranges),
                None if when is None else entity.names[when],
            )
        )


def _doubt(draft: Draft, entity: FoundEntity) -> None:
    """Report which attributes had the same values as the ones that were taken for parts of keys."""
    used = {part.source for parts in draft.in_every_key().values() for part in parts if isinstance(part, Slot)}
    for source, twins in draft.sources.twins.items():
        if source in used:
            others = ", ".join(entity.names.get(twin, twin) for twin in twins)
            draft.doubts.append(
                Doubt(
                    entity.names[source],
                    f"keys could also be made of {others}, equal in every item",
                    len(draft.records),
                )
            )
    _doubt_formats(draft, entity)
    draft.doubts = [Doubt(f"{entity.name}.{each.place}", each.problem, each.items) for each in draft.doubts]


def _doubt_formats(draft: Draft, entity: FoundEntity) -> None:
    """Report the formats that few values agree on: they may be equal by chance."""
    slots = {part for parts in draft.in_every_key().values() for part in parts if isinstance(part, Slot)}
    for slot in sorted(slots, key=lambda each: (each.source, each.format)):
        different = {str(value) for value in draft.sources.all()[slot.source] if value is not None}
        if slot.format and len(different) < _SURE:
            count = "one value says" if len(different) == 1 else f"{len(different)} values say"
            problem = f"`{slot.text(entity.names)}` in keys is a guess: only {count} so"
            draft.doubts.append(Doubt(entity.names[slot.source], problem, len(draft.records)))
