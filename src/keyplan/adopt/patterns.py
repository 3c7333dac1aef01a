"""The access patterns that keys can answer: one item by its key, and lists by the hash keys of indexes and tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keyplan.adopt.model import Found, FoundEntity, FoundKey, Parts, Slot
from keyplan.adopt.names import free, words

_OPTIONS = frozenset("self newest_first filter consistent expired".split())
"""Parameters of queries, which can't be fields at the same time."""
_TEXTS = ("Id", "str")


@dataclass(frozen=True)
class FoundPattern:
    """An access pattern: its method, and the operation that it returns."""

    name: str
    wording: str
    parameters: Sequence[tuple[str, str]]
    result: str
    call: str
    arguments: Sequence[str]


def patterns_of(found: Found) -> list[FoundPattern]:
    """All questions that the keys of a design can answer with one request."""
    patterns: list[FoundPattern] = []
    for entity in found.entities:
        for each in _of_entity(entity, {pattern.name for pattern in patterns}):
            patterns += [] if {name for name, _ in each.parameters} & _OPTIONS else [each]
    return patterns


def _of_entity(entity: FoundEntity, taken: set[str]) -> Iterator[FoundPattern]:
    one = "_".join(words(entity.name))
    many = _plural(one)
    fields = {field.name: field.type for field in entity.fields}

    def made(name: str, wording: str, names: Sequence[str], result: str, call: str, first: str) -> FoundPattern:
        chosen = free(name, taken)
        taken.add(chosen)
        parameters = [(each, "str" if fields[each] in _TEXTS else fields[each]) for each in names]
        return FoundPattern(chosen, wording, parameters, result, call, [first, *(f"{each}={each}" for each in names)])

    key = _names(entity, (*entity.primary.hash, *entity.primary.range))
    shown = one.replace("_", " ")
    yield made(one, f"Get {shown}", key, f"Get[{entity.name}]", "get(", entity.name)
    for listed in entity.keys:
        asked = _asked(entity, listed)
        if asked is None or (listed.index is None and not _lists(listed)):
            continue
        by = f" by {' and '.join(each.replace('_', ' ') for each in asked)}" if asked else ""
        where = f" ({listed.name.replace('_', ' ')})" if not asked and listed.name not in ("all", "primary") else ""
        name = f"{many}{''.join(f'_by_{each}' for each in asked[:1])}" if asked else many
        if name in taken and listed.index is not None:  # another index answers the same in another order
            name, where = f"{many}_{listed.name}", f" ({listed.name.replace('_', ' ')})"
        wording = f"List {many.replace('_', ' ')}{by}{where}"
        yield made(name, wording, asked, f"Query[{entity.name}]", "query(", f"{entity.name}.{listed.name}")
    for guard in entity.guards:
        asked = _names(entity, (guard.hash, *([guard.range] if guard.range else [])))
        by = " and ".join(each.replace("_", " ") for each in asked)
        found = {*asked, *guard.carries} >= {*key} and bool(guard.carries)
        result, call = (f"Lookup[{entity.name}]", "lookup(") if found else ("GuardTaken", "taken(")
        wording = f"Get {shown} by {by}" if found else f"Check whether a {shown} has this {by}"
        name = f"{one}_by_{asked[-1]}" if found else f"{asked[-1]}_taken"
        yield made(name, wording, asked, result, call, f"{entity.name}.{guard.name}")


def _asked(entity: FoundEntity, key: FoundKey) -> list[str] | None:
    """What a query of this key needs; None if it has buckets of times, which a query needs a range of."""
    if any("%" in slot.format for slot in key.slots):
        return None
    return _names(entity, key.hash)


def _lists(key: FoundKey) -> bool:
    """Whether a partition has several items of the entity."""
    hashes = {part.source for parts in key.hash for part in parts if isinstance(part, Slot)}
    return bool({slot.source for slot in key.slots} - hashes)


def _names(entity: FoundEntity, templates: Sequence[Parts]) -> list[str]:
    slots = [part for parts in templates for part in parts if isinstance(part, Slot)]
    return list(dict.fromkeys(entity.names[slot.source] for slot in slots))


def _plural(word: str) -> str:
    if word.endswith(("s", "media", "data")):
        return word if word.endswith(("ss", "news", "series", "media", "data", "s")) else f"{word}s"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("x", "ch", "sh")) else f"{word}s"
