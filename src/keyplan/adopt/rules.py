"""What fields look like that items can't say for sure: rules that the code may keep, for the report."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from keyplan.adopt.model import Found, FoundEntity, FoundField, FoundTable, Slot

_FEW = 6
_MANY = 20
_SECRET = ("password", "secret", "token", "hash", "credential")
_EXPIRY = ("ttl", "expires", "expiry", "expires_at", "expire_at", "expiration", "expiration_time", "time_to_live")


class Rule(NamedTuple):
    """What a field or an entity looks like, and the word of the design language for it. There are no values in it."""

    place: str
    what: str
    word: str


def rules_of(found: Found) -> list[Rule]:
    """All rules that the code may keep, in the order of the entities."""
    rules = []
    for table in found.tables:
        for entity in table.entities:
            for field in entity.fields:
                rule = _of_field(field, entity, table, found.entities)
                if rule is not None:
                    rules.append(Rule(f"{entity.name}.{field.name}", *rule))
    return [*rules, *_copies(found.entities)]


def _of_field(
    field: FoundField, entity: FoundEntity, table: FoundTable, others: Sequence[FoundEntity]
) -> tuple[str, str] | None:
    name = field.name
    if field.type == "datetime" and name in ("created_at", "created"):
        return "the time of creation", "`Created`"
    if field.type == "datetime" and name in ("updated_at", "updated", "modified_at"):
        return "the time of the last change", "`Updated`"
    if field.type == "int" and name == "version":
        return "a version for optimistic locking", "`Version`"
    if field.type == "int" and name.endswith("_count"):
        return "a number of other items", "`Count`"
    if field.type == "int" and name in _EXPIRY and table.table.ttl is None:
        return "when items expire, but the table has no time to live", "`Ttl`"
    if field.type in ("str", "Id"):
        return _of_text(field, entity, others)
    return None


def _of_text(field: FoundField, entity: FoundEntity, others: Sequence[FoundEntity]) -> tuple[str, str] | None:
    if field.type == "str" and any(word in field.name for word in _SECRET):
        return "a secret", "`Secret[str]`"
    texts = _texts(entity, field.name)
    for other in others:
        if other is not entity and len({*texts}) > 1 and {*texts} <= _identities(other):
            return f"the key of an item of {other.name}, in every item", "`belongs_to`"
    if texts and all(map(_is_json, texts)):
        return "JSON as text", "`envelope`, if it has the fields of the items, and is written without spaces"
    if texts and all(map(_is_time, texts)):
        return "times in several forms, so its type is text", "`datetime`, once all are written alike"
    if len(texts) >= _MANY and 1 < len({*texts}) <= _FEW:
        return f"one of {len({*texts})} values", "`Literal`"
    return None


def _texts(entity: FoundEntity, field: str) -> list[str]:
    """The values of a field that are texts."""
    source = next(source for source, own in entity.names.items() if own == field)
    return [value["S"] for value in entity.values[source] if value is not None and "S" in value]


def _identities(entity: FoundEntity) -> set[str]:
    """The values of the field that a primary key is made of, as they are in keys, if it is made of one."""
    slots = {
        part for parts in (*entity.primary.hash, *entity.primary.range) for part in parts if isinstance(part, Slot)
    }
    if len(slots) != 1:
        return set()
    (slot,) = slots
    if slot.format not in ("", ".lower"):
        return set()
    texts = _texts(entity, entity.names[slot.source])
    return {text.lower() if slot.format else text for text in texts}


def _is_json(text: str) -> bool:
    if text[:1] not in "{[":
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_time(text: str) -> bool:
    if len(text) < len("2026-01-01T00:00"):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _copies(entities: Sequence[FoundEntity]) -> Iterator[Rule]:
    """Entities with the same fields under different keys: one may be the copy of the other."""
    forms = [(entity, frozenset(field.attribute for field in entity.fields)) for entity in entities]
    for number, (entity, own) in enumerate(forms):
        for other, theirs in forms[:number]:
            if len(own) > 1 and (own <= theirs or theirs <= own) and len(own & theirs) * 2 > len(own | theirs):
                yield Rule(
                    entity.name, f"a copy of {other.name} under another key, or the other way round", "`@mirror`"
                )
