"""Names in Python for tables, entities, fields and keys, made of those in DynamoDB."""

import keyword
import re
from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias

from keyplan.design import Entity

Case: TypeAlias = Literal["as is", "camel", "pascal"]

_WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+[a-z]*")
_PLAIN = ("METADATA", "META", "INFO", "DETAILS", "DETAIL", "DATA", "ROOT", "HEAD", "MAIN", "ITEM", "A")
"""What sort keys of a partition's main item are called."""
_ALIKE = ("ss", "us", "is", "news", "series", "data", "media")
_RESERVED = frozenset("primary bool int str list dict set frozenset bytes key unique table stored datetime".split())
_GENERIC = re.compile(r"_*(hash|range|(g|l)si[-_]?\d*[-_]?(hash|range)?[-_]?(key)?\d*|data\d*)_*", re.IGNORECASE)


def words(name: str) -> list[str]:
    """The words of a name, in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


def is_generic(name: str) -> bool:
    """Whether the name of a key attribute or an index says nothing about the values."""
    found = words(name)
    return not found or re.fullmatch(r"[gl]?\d*[ps]k\d*", found[-1]) is not None or _GENERIC.fullmatch(name) is not None


def singular(word: str) -> str:
    """The singular of an English noun, as far as its form shows it."""
    if word.endswith(_ALIKE) or len(word) < 4:
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word.removesuffix("s")


def field_name(attribute: str, taken: Collection[str] = ()) -> str:
    """The name of a field for an attribute: in snake case, a valid name, and not one that entities have already."""
    name = "_".join(words(attribute)) or "value"
    if name[0].isdigit():
        name = f"n{name}"
    if keyword.iskeyword(name) or name in _RESERVED or hasattr(Entity, name):
        name = f"{name}_"
    return free(name, taken)


def free(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    number = 2
    chosen = name
    while chosen in taken:
        chosen, number = f"{name}{'_' if name[-1].isdigit() else ''}{number}", number + 1
    return chosen


def class_name(text: str, taken: Collection[str] = ()) -> str:
    """The name of a class."""
    found = words(text)
    name = "".join(word.capitalize() for word in (*found[:-1], *map(singular, found[-1:]))) or "Item"
    if name[0].isdigit():
        name = f"N{name}"
    return free(name, {*taken, *_IMPORTED})


_IMPORTED = frozenset(
    (
        "Any Annotated BaseModel Count Created Decimal Design Entity Get GuardTaken Id Lookup Query Table Ttl Updated "
        "Version None True False"
    ).split()
)


def entity_name(type_name: str | None, literals: Iterable[Iterable[str]], table: str, taken: Collection[str]) -> str:
    """The name of an entity: its type, or what its keys begin with, or else the name of its table."""
    if type_name is not None:
        return class_name(type_name, taken)
    hash_words, *rest = [[each for each in part if words(each)] for part in literals]
    range_words = [each for each in (rest[0] if rest else ()) if each.upper() not in _PLAIN and each not in hash_words]
    whole = "_".join((*hash_words, *range_words))
    candidates = ["_".join(range_words), whole] if range_words else ["_".join(hash_words), table]
    for candidate in filter(None, candidates):
        if class_name(candidate, ()) not in taken:
            return class_name(candidate, ())
    return class_name(whole or table, taken)


def key_name(index: str, entity: str, literals: Iterable[str], fields: Iterable[str], taken: Collection[str]) -> str:
    """The name of a key in an index: the index's own, or by what it is queried with."""
    own = "_".join(words(index))
    queried = [re.sub(r"_id$", "", each) for each in fields]
    if not is_generic(index):
        shortened = re.sub(r"^(gsi|lsi|idx|index)\d*_|_(gsi|lsi|index|idx)$", "", own)
        name = shortened if shortened.startswith("by_") else f"by_{shortened}"
    elif queried:
        name = f"by_{'_and_'.join(queried)}"
    else:
        known = {"entity", "type", "all", *map(singular, words(entity))}
        plain = [word for text in literals for word in words(text)]
        name = "_".join(plain) if {*map(singular, plain)} - known else "all"
    return free(field_name(name), taken)


def stored_as(name: str, case: Case) -> str:
    """The attribute of a field with this name, by a table's rule; see `Table.case`."""
    if case == "as is":
        return name
    camel = re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)
    return camel[0].upper() + camel[1:] if case == "pascal" else camel
