"""Which items are of one kind: by the attribute with their type, and by the forms of their keys.

A form is what the keys of many items have in common: `USER#*`, literals and values. A part of a key is taken for a
literal if it looks like one (a word in capitals, a word that many items share) and isn't the value of an attribute.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keyplan.adopt.model import Record
from keyplan.adopt.names import is_generic
from keyplan.design import Table

VALUE = "*"
Form = tuple[str, ...]
"""Literals, and `VALUE` for everything between them."""

_SEPARATORS = ("#", "|", "::", ":", "/", "~")
_TYPE_NAMES = frozenset(
    "type entitytype entity kind itemtype et typename edbe recordtype objecttype doctype documenttype model".split()
)
_SURE_TYPE_NAMES = frozenset("entitytype et typename edbe itemtype recordtype objecttype".split())
_LITERAL = re.compile(r"[$@A-Za-z_][$@A-Za-z0-9_.\-]*")
_FEW = 3
_MOST_TYPES = 200
_RARE = 0.02
_ENOUGH, _ENOUGH_EACH = 12, 8
"""Of how many items a word at the end of a key must be to be a literal, in all and for each such word."""


def text_of(value: Mapping[str, object] | None) -> str | None:
    """A value as text, as it could be in a key; None for what can't be."""
    if value is None:
        return None
    content = value.get("S", value.get("N"))
    return content if isinstance(content, str) and content else None


def separator_of(records: Sequence[Record], table: Table) -> str:
    """What separates the parts of keys: in most tables `#`."""
    names = [name for name, type_ in table.key_types if type_ == "S"]
    texts = [text for record in records for name in names if (text := text_of(record.item.get(name)))]
    for separator in _SEPARATORS:
        # A separator follows a word that several items share; a colon in a time does not.
        begins = Counter(text.partition(separator)[0] for text in texts if separator in text)
        if any(count > 1 and _LITERAL.fullmatch(word) for word, count in begins.items()):
            return separator
    return "#"


def type_attribute_of(records: Sequence[Record], table: Table, separator: str) -> str | None:
    """The attribute with the type of an item, if the table has one."""
    names = Counter(name for record in records for name in record.item)
    own = {name for name, _ in table.key_types}
    found = [name for name in names if _plain(name) in _TYPE_NAMES and name not in own]
    found.sort(key=lambda name: (_plain(name) not in _SURE_TYPE_NAMES, -names[name]))
    return next((name for name in found if _tells_types(name, records, table, separator)), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _tells_types(name: str, records: Sequence[Record], table: Table, separator: str) -> bool:
    """Whether an attribute tells items with different keys or different attributes apart, by each of its values."""
    kinds: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if name in record.item:
            value = record.item[name]
            if "S" not in value or not value["S"]:
                return False
            kinds[value["S"]].append(record)
    if len(kinds) > _MOST_TYPES:
        return False
    if len(kinds) == 1:
        return _plain(name) in _SURE_TYPE_NAMES
    forms = {kind: {_first_words(each, table, separator) for each in items} for kind, items in kinds.items()}
    if all(len(each) == 1 for each in forms.values()):
        apart = {next(iter(each)) for each in forms.values()}
        if len(apart) == len(kinds):
            return True
    always = {kind: frozenset.intersection(*(frozenset(each.item) for each in items)) for kind, items in kinds.items()}
    ever = {kind: frozenset().union(*(each.item for each in items)) for kind, items in kinds.items()}
    differ = [always[one] - ever[other] for one in kinds for other in kinds if one != other]
    return _plain(name) in _SURE_TYPE_NAMES or sum(map(bool, differ)) > len(differ) / 2


def _first_words(record: Record, table: Table, separator: str) -> tuple[str, ...]:
    """What the keys of an item begin with."""
    texts = [text_of(record.item.get(name)) or "" for name, kind in table.key_types if kind == "S"]
    return tuple(text.partition(separator)[0] if separator in text or text.isupper() else VALUE for text in texts)


@dataclass(frozen=True)
class Kind:
    """Items of one kind, with the forms of their primary keys."""

    type: str | None
    forms: tuple[Form, ...]
    records: list[Record]


def kinds_of(records: Sequence[Record], table: Table, separator: str, type_attribute: str | None) -> list[Kind]:
    """The items by kind, in the order in which the kinds appear."""
    by_type: dict[str | None, list[Record]] = defaultdict(list)
    for record in records:
        value = record.item.get(type_attribute or "", {})
        by_type[value.get("S")].append(record)
    kinds: list[Kind] = []
    for type_name, items in by_type.items():
        names = [name for name, kind in table.key_types if kind == "S"]
        forms = [forms_of(items, name, separator, without=type_attribute) for name in names]
        grouped: dict[tuple[Form, ...], list[Record]] = defaultdict(list)
        for number, record in enumerate(items):
            grouped[tuple(form[number] for form in forms)].append(record)
        kinds += [Kind(type_name, form, found) for form, found in grouped.items()]
    return kinds


def forms_of(records: Sequence[Record], attribute: str, separator: str, *, without: str | None = None) -> list[Form]:
    """The form of a key attribute's value, for each item that has it."""
    texts = [record.item[attribute]["S"].split(separator) for record in records]
    known = [
        {text for name, value in record.values.items() if name != without and (text := text_of(value))}
        for record in records
    ]
    forms: list[list[str]] = [[] for _ in records]
    generic = is_generic(attribute)
    pending = [(list(range(len(records))), 0)]
    while pending:
        numbers, position = pending.pop()
        going = [number for number in numbers if len(texts[number]) > position]
        counts = Counter(texts[number][position] for number in going)
        matched = Counter(texts[number][position] for number in going if texts[number][position] in known[number])
        ending = Counter(texts[number][position] for number in going if len(texts[number]) == position + 1)
        parts: dict[str, list[int]] = defaultdict(list)
        for number in going:
            token = texts[number][position]
            context = _Context(
                total=len(going),
                count=counts[token],
                distinct=len(counts),
                matched=matched[token] > counts[token] * 0.9,
                last=ending[token] > 0,
                after_value=position > 0 and forms[number][-1] == VALUE,
                first=position == 0,
                generic=generic,
            )
            parts[token if _is_literal(token, context) else VALUE].append(number)
        for part, members in parts.items():
            for number in members:
                if part != VALUE or forms[number][-1:] != [VALUE]:
                    forms[number].append(part)
            pending.append((members, position + 1))
    return [tuple(form) for form in forms]


@dataclass(frozen=True)
class _Context:
    """Where a part of a key was found."""

    total: int
    count: int
    distinct: int
    matched: bool
    """Whether it is the value of an attribute of the same item."""
    last: bool
    after_value: bool
    first: bool
    generic: bool
    """Whether the key attribute's name says nothing about its values."""


def _is_literal(token: str, at: _Context) -> bool:
    digits, letters = sum(map(str.isdigit, token)), sum(map(str.isalpha, token))
    if not _LITERAL.fullmatch(token) or letters < 1 or digits > 2 or digits > letters:
        return False
    capitals = token.upper() == token and letters > 1
    if at.first and capitals:
        many = at.distinct > max(_FEW, at.total / 2)
        return not at.last or not many or (at.generic and not at.matched and at.total <= _FEW)
    if at.matched or digits:
        return False
    if at.first:
        if not at.last:
            return at.distinct <= max(_FEW, at.total / 10)
        return at.generic and at.count > 1 and at.distinct <= max(2, at.total / 20)
    often = at.count >= max(2, at.total * _RARE) or at.total == 1
    if capitals:
        return often and (at.after_value or not at.last)
    shared = at.total >= max(_ENOUGH, _ENOUGH_EACH * at.distinct) if at.last else at.total > 1
    return often and at.after_value and at.distinct <= _FEW and shared
