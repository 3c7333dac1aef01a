"""Items whose fields are JSON text in one attribute: whether a design can write them exactly as they are."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

from keyplan.adopt.model import Json, Record
from keyplan.data import AttributeValue, Item
from keyplan.design import Table

_MOST_OF = 0.5


def envelope_of(items: Sequence[Item], table: Table) -> str | None:
    """The attribute with the fields of most items as JSON text, as compact as the data layer writes it."""
    counts = Counter(
        name
        for item in items
        for name, value in item.items()
        if name not in table.key_names and str(value.get("S", "")).startswith("{") and unpacked(value) is not None
    )
    for name, count in counts.most_common(1):
        if count > len(items) * _MOST_OF and count == sum(name in item for item in items):
            return name
    return None


def unpacked(value: Mapping[str, Json]) -> dict[str, Json] | None:
    """The members of an envelope; None if it isn't one that would be written again as the same text."""
    try:
        members = json.loads(value["S"], parse_float=Decimal)
    except (ValueError, KeyError, RecursionError):
        return None
    if not isinstance(members, dict) or None in members.values():
        return None
    try:
        same = json.dumps(members, ensure_ascii=False, separators=(",", ":"), default=_number)
    except (TypeError, ValueError):
        return None
    return members if same == value["S"] else None


def _number(value: object) -> float:
    """A fraction as it is written; raises `ValueError` for one that a float can't hold."""
    if not isinstance(value, Decimal):
        raise TypeError
    if value == value.to_integral_value() or Decimal(repr(float(value))) != value:
        raise ValueError("written in another form")
    return float(value)


def record_of(item: Item, table: Table, envelope: str | None) -> Record:
    """An item with its values, those in the envelope included."""
    keys = {*table.key_names}
    beside = {name: value for name, value in item.items() if name not in keys and name != envelope}
    members = unpacked(item[envelope]) if envelope is not None and envelope in item else None
    if members is None:
        return Record(item, {name: value for name, value in item.items() if name not in keys})
    inside = {name: stored(value) for name, value in members.items()}
    return Record(item, {**beside, **inside}, frozenset(beside), tuple(inside))


def stored(value: Json) -> AttributeValue:
    """A value of JSON as DynamoDB would store it."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case list():
            return {"L": [stored(each) for each in value]}
        case dict():
            return {"M": {name: stored(each) for name, each in value.items()}}
    return {"N": str(value)}


def order_of(records: Sequence[Record]) -> list[str] | None:
    """An order of all members that agrees with each envelope; None if there is none."""
    after: dict[str, set[str]] = {}
    for record in {record.inside: record for record in records}.values():
        for number, name in enumerate(record.inside):
            after.setdefault(name, set()).update(record.inside[number + 1 :])
    order: list[str] = []
    left = dict(after)
    while left:
        first = next((name for name in left if not any(name in left[other] for other in left if other != name)), None)
        if first is None:
            return None
        order.append(first)
        del left[first]
    return order
