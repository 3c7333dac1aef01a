"""Keys and items that can become larger than DynamoDB allows."""

from collections.abc import Iterator
from itertools import chain

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.keys.templates import Template
from keyplan.design.operations.item_reads import guard_fields
from keyplan.review.changed_lines import annotated
from keyplan.review.longest import LARGEST_ITEM, longest_key, longest_text, unlimited_fields
from keyplan.review.places import Place
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Unjudged, Violation, rule

LONGEST_HASH, LONGEST_RANGE = 2048, 1024
"""AWS, "Constraints in Amazon DynamoDB": the longest partition key and sort key values, in bytes."""
_LIMIT = "Field(max_length=...)"
_SHORT = 90_000
"""So many characters fit into an item whatever they are, with some other fields."""


@rule(
    "KP208",
    "key-too-long",
    group="rejected",
    severity="warning",
    title="A key that can become longer than DynamoDB allows",
    needs=(_LIMIT,),
)
def key_too_long(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """A hash key can have 2,048 bytes, and a range key 1,024, in a table and in an index. The limits of the fields in
    the key accept values that make it longer, so a value that your forms and API accept can't be stored.

    A character has up to four bytes. `{title}` with `max_length=300` has 300 bytes in English, and 900 in Chinese. Ids
    (`Id`) are taken to be ASCII, since programs make most of them.

    Lower the limit of the field, limit it to ASCII by a pattern, or put a shorter value into the key: an id, or a slug.
    """
    for spec, place, template, most in _templates(reviewed):
        for name in unlimited_fields(spec.entity, template):
            yield Unjudged(reviewed.at(spec, name), _LIMIT)
        example = reviewed.example(spec)
        size = 0 if example is None else longest_key(example, template)
        if size > most:
            yield Violation(
                place,
                f"{template.text} can have {size:,} bytes by the limits of its fields, and can have {most:,} in a key",
                "Lower the limits of the fields, or put a shorter value into the key.",
            )


def _templates(reviewed: Reviewed) -> Iterator[tuple[EntitySpec, Place, Template, int]]:
    """The templates of all keys and guards, with the most bytes that they can make."""
    for spec in reviewed.specs:
        for key in spec.keys:
            place = reviewed.at(spec, key=key)
            parts = chain(((each, LONGEST_HASH) for each in key.hash), ((each, LONGEST_RANGE) for each in key.range))
            yield from ((spec, place, part.template, most) for part, most in parts if part.template is not None)
        for guard in spec.uniques:
            place = reviewed.at(spec, guard.name)
            yield spec, place, guard.hash, LONGEST_HASH
            if guard.range is not None:
                yield spec, place, guard.range, LONGEST_RANGE


@rule(
    "KP209",
    "item-too-large",
    group="rejected",
    severity="warning",
    title="An item that can become larger than 400 KB",
    needs=(_LIMIT,),
)
def item_too_large(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """An item can have 400 KB: 409,600 bytes, with the names of its attributes. The limits of the texts accept more,
    alone or together, so a value that your forms and API accept can't be stored.

    A character has up to four bytes: `max_length=200_000` can be 800,000 bytes. Only texts and bytes are looked at
    here; lists count in an item, too.

    Lower the limits, or declare the field as large: `Annotated[str, large()]` keeps what doesn't fit beside the item.
    """
    for spec in reviewed.specs:
        found = {
            name: longest_text(spec.entity, name)
            for name, field in spec.fields.items()
            if field.large is None and field.annotation in (str, bytes)
        }
        for name in (name for name, each in found.items() if not each.is_limited):
            yield Unjudged(reviewed.at(spec, name), _LIMIT)
        most = sum(each.size for each in found.values())
        if most > LARGEST_ITEM:
            largest = max(found, key=lambda name: found[name].size)
            is_alone = found[largest].size > LARGEST_ITEM
            yield Violation(
                reviewed.at(spec, largest if is_alone else None),
                f"its text can have {found[largest].size:,} bytes, and an item {LARGEST_ITEM:,}"
                if is_alone
                else f"its texts can have {most:,} bytes together, and an item {LARGEST_ITEM:,}",
                f"Lower the limit of {largest}, or declare it as large.",
                _made_smaller(spec, largest),
            )


def _made_smaller(spec: EntitySpec, field: str) -> str:
    """The line that declares a text as large, or one that is short enough for an item if it can't be large."""
    in_keys = {name for key in spec.keys for name in key.fields}
    is_in_key = field in in_keys.union(*map(guard_fields, spec.uniques))
    if spec.table.envelope is None and spec.table.range and not is_in_key:
        return annotated(spec, field, "large()")
    return annotated(spec, field, f"Field(max_length={_SHORT:_})")
