"""How long texts and keys can be, as far as a value that the limits accept shows it.

Nothing is guessed from declarations: a value is made and given to the field's own limits. What they accept is possible
for sure; there may be longer values.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from keyplan.design import Entity, InvalidValue
from keyplan.design.keys.templates import Template

LARGEST_ITEM = 409_600
"""The bytes of the largest item (AWS, "Constraints in Amazon DynamoDB": 400 KB)."""
_MORE_BYTES, _ASCII = ("\U0001f600", "\u5b57", "\u00e9"), ("a", "A", "0")
"""Characters of four, three, two and one bytes, one of which nearly every limit accepts. Ids are taken to be ASCII,
since programs make most of them."""


@dataclass(frozen=True)
class Longest:
    """The longest text of a field that was found."""

    text: str | bytes | None = None
    size: int = 0
    """Its size in bytes."""
    is_limited: bool = True
    """Whether the field has a limit that refuses texts larger than an item."""


@cache
def longest_text(entity: type[Entity], name: str) -> Longest:
    """The longest text or bytes that a field's limits accept; nothing for fields of other types."""
    field = entity.spec.fields[name]
    kind = field.annotation
    if kind is not str and kind is not bytes:
        return Longest()
    characters = _ASCII if kind is bytes or field.no_separator else (*_MORE_BYTES, *_ASCII)
    if _accepts(entity, name, _repeated(kind, "a", LARGEST_ITEM + 1)):
        return Longest(is_limited=False)
    for length in _lengths(entity, name):
        for character in characters:
            text = _repeated(kind, character, length)
            if _accepts(entity, name, text):
                return Longest(text, len(text.encode() if isinstance(text, str) else text))
    return Longest()


def _lengths(entity: type[Entity], name: str) -> Iterator[int]:
    """The lengths to try: the largest that is declared, or those that a function may accept."""
    marks = entity.declared_fields[name].metadata
    declared = [length for mark in marks if isinstance(length := getattr(mark, "max_length", None), int)]
    if declared:
        yield min(declared)
    else:
        yield from (LARGEST_ITEM >> halvings for halvings in range(1, 15))


def _repeated(kind: object, character: str, length: int) -> str | bytes:
    return character * length if kind is str else character.encode() * length


def _accepts(entity: type[Entity], name: str, text: str | bytes) -> bool:
    return not any(True for _ in entity.spec.limits.broken({name: text}))


def unlimited_fields(entity: type[Entity], template: Template) -> list[str]:
    """The fields of a template without a limit of their length."""
    return [name for name in template.fields if not longest_text(entity, name).is_limited]


def longest_key(example: Entity, template: Template) -> int:
    """The bytes of the longest key that was found; 0 if none was. The example has the values that aren't texts."""
    found = {name: longest_text(type(example), name) for name in template.fields}
    texts = {name: each.text for name, each in found.items() if each.text is not None}
    try:
        return len((template.write({**example.__dict__, **texts}) or "").encode())
    except InvalidValue:
        return 0
