"""Sort keys that don't sort as their values do, and orders with ties."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from keyplan.design import InvalidValue
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeySpec
from keyplan.design.keys.templates import Slot, Template
from keyplan.design.operations.queries import Query
from keyplan.review.changed_lines import (
    changed_guard,
    slot_text,
    with_default,
    with_equal_widths,
    with_slot,
    with_ties_broken,
    with_width,
)
from keyplan.review.keys import choices, first_sorting, guard_slots, is_made, is_unique, number_range, sort_slots
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Severity, Violation, rule

_SAMPLES = ("Ada Lovelace", "Ada", "Ada@Example.org", "A-1", "A")
"""Texts with capital letters, one of which most limits on people's texts allow."""
_TIME_NAME = re.compile(
    r"(.*_)?(at|on|date|time|timestamp|ts|until|since|sent|posted|published|created|updated|modified|received|expires)"
)


@rule(
    "KP305",
    "mixed-case",
    group="wrong",
    severity="info",
    title="Text that is compared and sorted by its bytes",
)
def mixed_case(reviewed: Reviewed) -> Iterator[Violation]:
    """An index has text as people write it, with capital and small letters, and a query finds or sorts items by it.

    DynamoDB compares bytes: `Zoe` comes before `ada`, `Ägypten` after `Zypern`, and a search for `ada` doesn't find
    `Ada`. In a guard, `Ada@example.org` and `ada@example.org` are two values, so that both can be taken.

    Write it in one case: `{name.lower}` or, for e-mail addresses, `{email.address}`. The field itself stays as it was
    entered. If capital letters matter, or few people see the order, accept the finding.
    """
    for spec, key, slot, use in _read_by(reviewed):
        if slot is not None and _has_mixed_case(spec, slot):
            yield Violation(
                reviewed.at(spec, key=key),
                f"{slot.field} is text with capital and small letters, which {use} by its bytes",
                "Write it in lower case in the key, or accept that capital letters count.",
                with_slot(reviewed, spec, key, slot, _in_one_case(slot)),
            )
    for spec in reviewed.specs:
        for guard in spec.uniques:
            for slot in dict.fromkeys(each for each in guard_slots(guard) if _has_mixed_case(spec, each)):
                text = _in_one_case(slot)
                yield Violation(
                    reviewed.at(spec, guard.name),
                    f"two items can have the same {slot.field} in capital and in small letters: each has its own guard",
                    "Write it in lower case in the guard, unless capital letters count.",
                    changed_guard(spec, guard.name, guard.hash_text.replace(slot_text(slot), text)),
                    severity="warning" if text.endswith(".address}") else "info",
                )


def _in_one_case(slot: Slot) -> str:
    """A text in a template, without the difference between capital and small letters."""
    return f"{{{slot.field}.{'address' if 'mail' in slot.field else 'lower'}}}"


def _read_by(reviewed: Reviewed) -> Iterator[tuple[EntitySpec, KeySpec, Slot | None, str]]:
    """The fields by which queries find and sort items: with the key, and what is done by them."""
    seen: set[tuple[str, str, str]] = set()
    for _, query in reviewed.lists:
        spec = query.entities[0].spec
        if len(query.entities) > 1 or query.key.index is None:
            continue  # in a primary key, a text is what the item is known by
        hash_parts = () if query.key.index.local else query.key.hash
        found = [(slot, f"{query.key.name} finds") for part in hash_parts for slot in _slots(part.template)]
        sorting = first_sorting(query)
        found += [] if sorting is None else [(sorting, f"{query.key.name} sorts")]
        for slot, use in found:
            if (spec.name, query.key.name, slot.field) not in seen:
                seen.add((spec.name, query.key.name, slot.field))
                yield spec, query.key, slot, use


def _slots(template: Template | None) -> tuple[Slot, ...]:
    return () if template is None else template.slots


def _is_free_text(spec: EntitySpec, slot: Slot) -> bool:
    """Whether a key has a text as it is, which isn't an identifier."""
    field = spec.fields[slot.field]
    return field.annotation is str and not field.no_separator and slot.fold is None and slot.shards is None


def _has_mixed_case(spec: EntitySpec, slot: Slot) -> bool:
    """Whether a text surely can have capital letters: its limits allow it, and its validators leave them."""
    if not _is_free_text(spec, slot) or _TIME_NAME.fullmatch(slot.field):
        return False
    info = spec.entity.declared_fields[slot.field]
    with suppress(Exception):  # a validator that isn't ours
        form: Any = Annotated[info.annotation, info]
        adapter: TypeAdapter[object] = TypeAdapter(form)
        for sample in _SAMPLES:
            with suppress(ValidationError):
                value = adapter.validate_python(sample)
                if isinstance(value, str):
                    return value != value.lower()
    return False


@rule(
    "KP306",
    "time-as-text",
    group="wrong",
    severity="warning",
    title="A time that is any text, in a key",
)
def time_as_text(reviewed: Reviewed) -> Iterator[Violation]:
    """A key contains a time, by its name, that is declared as text of any form.

    Times sort as text only if all have the same width, the same zone and the same form. `2026-01-31T12:00:00Z` comes
    after `2026-01-31T12:00:00.500Z`, and `+02:00` sorts by the clock there. Python's `isoformat()` leaves out
    microseconds when they are 0.

    Declare the field as `datetime` or `date`: Keyplan writes them in UTC, with a fixed width.
    """
    for spec in reviewed.specs:
        for key in spec.keys:
            for slot in dict.fromkeys(sort_slots(key)):
                if _is_free_text(spec, slot) and _TIME_NAME.fullmatch(slot.field) and not _has_pattern(spec, slot):
                    yield Violation(
                        reviewed.at(spec, key=key),
                        f"{slot.field} is text of any form, and only times of one form sort as text",
                        "Declare the field as a datetime or a date.",
                        f"{slot.field}: datetime",
                    )


def _has_pattern(spec: EntitySpec, slot: Slot) -> bool:
    marks = spec.entity.declared_fields[slot.field].metadata
    return any(getattr(mark, "pattern", None) is not None or callable(getattr(mark, "func", None)) for mark in marks)


@rule(
    "KP307",
    "digits-as-text",
    group="wrong",
    severity="warning",
    title="Numbers of different widths as texts in a sort key",
)
def digits_as_text(reviewed: Reviewed) -> Iterator[Violation]:
    """A sort key contains one of several texts that are all digits, but not equally many: "2" and "10".

    DynamoDB sorts text character by character, so "10" comes before "2". A range of such texts finds the wrong items,
    and a list has the wrong order. Nobody notices until there is a tenth value.

    Use numbers with a width (`{level:02}`), or write the texts with zeros in front: "02".
    """
    for spec in reviewed.specs:
        for key in spec.keys:
            for slot in dict.fromkeys(sort_slots(key)):
                texts = [each for each in choices(spec, slot.field) or () if isinstance(each, str)]
                digits = [each for each in texts if each.isdecimal()]
                if (
                    slot.shards is None
                    and digits
                    and len(digits) == len(texts)
                    and sorted(digits) != sorted(digits, key=int)
                ):
                    yield Violation(
                        reviewed.at(spec, key=key),
                        f"the values of {slot.field} don't sort as numbers do: {', '.join(sorted(digits))}",
                        "Use whole numbers with a width, or texts of one width.",
                        with_equal_widths(spec, slot.field, digits),
                    )


@rule(
    "KP308",
    "number-over-width",
    group="wrong",
    severity="error",
    title="A number that doesn't fit into its key",
)
def number_over_width(reviewed: Reviewed) -> Iterator[Violation]:
    """The limits of a field allow numbers for which its key has not enough digits.

    In `{number:04}`, numbers go up to 9999. A write with a larger one is refused, so that the 10,000th order can't be
    placed, although the field's own limits allow it. Negative numbers need a sign: `{number:+04}`. Changing the width
    later means rewriting all items, and their keys.

    Give the key enough digits for all that the field allows, or the field a smaller limit.
    """
    for spec in reviewed.specs:
        for key in spec.keys:
            for template in (part.template for part in key.parts):
                for slot in dict.fromkeys(_slots(template)):
                    wrong = _not_in_key(spec, template, slot)
                    if wrong is not None:
                        yield Violation(
                            reviewed.at(spec, key=key),
                            f"{slot.field} can be {wrong}, which doesn't fit into {{{slot.field}:{slot.spec}}}",
                            "Give the key more digits (or a sign), or the field a smaller range.",
                            _with_more_digits(reviewed, spec, key, slot),
                        )


def _with_more_digits(reviewed: Reviewed, spec: EntitySpec, key: KeySpec, slot: Slot) -> str:
    wide = with_width(spec, slot.field)
    return with_slot(reviewed, spec, key, slot, wide) if wide and not slot.inverted else ""


def _not_in_key(spec: EntitySpec, template: Template | None, slot: Slot) -> int | None:
    if template is None or not slot.spec or spec.fields[slot.field].annotation is not int:
        return None
    for value in number_range(spec, slot.field):
        try:
            if value is not None:
                template.formats[slot].write(value)
        except InvalidValue:
            return value
    return None


@rule(
    "KP309",
    "newest-by-text",
    group="wrong",
    severity="warning",
    title="The newest first, by something that isn't a time",
)
def newest_by_text(reviewed: Reviewed) -> Iterator[Violation]:
    """A pattern reads the newest items first, and the sort key begins with a text that says nothing about time.

    `newest_first` reads the index in reverse. That is in order of time only if the sort key is: if it begins with a
    time, a growing number, or an id that was made by `new_id`. A name, a slug or an id from elsewhere gives some order,
    which looks right as long as there are few items.

    Let the sort key begin with a time: `{created_at}#{slug}`.
    """
    for pattern, query in reviewed.lists:
        slot = first_sorting(query) if query.newest_first and len(query.entities) == 1 else None
        if slot is not None and _says_nothing_of_time(reviewed, query.entities[0].spec, slot):
            yield Violation(
                reviewed.at_pattern(pattern),
                f"it reads {query.key.place} in reverse, which sorts by {slot.field}: not the newest first",
                _begin_with_time(query, slot),
                _with_time(reviewed, query, slot),
            )


def _begin_with_time(query: Query[Any], slot: Slot) -> str:
    if query.key.index is None and _is_own_id(query.entities[0].spec, slot):
        return "Let Keyplan make the id, in order of time, or leave newest_first out."
    return "Begin the sort key with a time, or leave newest_first out."


def _is_own_id(spec: EntitySpec, slot: Slot) -> bool:
    """Whether a field is an id of the items themselves, and not of what they belong to."""
    is_id = spec.fields[slot.field].no_separator and slot.field == spec.primary.fields[-1]
    return is_id and not any(slot.field in each.fields.values() for each in spec.parents)


def _with_time(reviewed: Reviewed, query: Query[Any], slot: Slot) -> str:
    """The lines that put items in order of time: with an id that Keyplan makes, or with a time in an index."""
    spec, key = query.entities[0].spec, query.key
    if key.index is None:
        return with_default(spec, slot.field, "new_id()") if _is_own_id(spec, slot) else ""
    times = [each.name for each in spec.fields.values() if each.annotation is datetime and not each.optional]
    created = spec.by_kind["created"].name if "created" in spec.by_kind else next(iter(times), None)
    line = with_slot(reviewed, spec, key, slot, f"{{{created or 'created_at'}}}#{slot_text(slot)}")
    return line if created or not line else f"created_at: Created = created()\n{line}"


def _says_nothing_of_time(reviewed: Reviewed, spec: EntitySpec, slot: Slot) -> bool:
    """Whether a text in a key is neither a time nor an id that Keyplan made, here or in another entity."""
    field = spec.fields[slot.field]
    if field.annotation is not str or _TIME_NAME.fullmatch(slot.field) or _has_pattern_of_digits(spec, slot):
        return False
    if spec.entity in reviewed.made_by_others:
        return False  # its value may be the id of what it was made from
    names = {slot.field, *(name for each in spec.parents for name, own in each.fields.items() if own == slot.field)}
    makers = ((each, name) for each in reviewed.specs for name in each.fields if name in names)
    return not any(is_made(each, name) for each, name in makers) and field.name not in _refers(spec)


def _has_pattern_of_digits(spec: EntitySpec, slot: Slot) -> bool:
    marks = spec.entity.declared_fields[slot.field].metadata
    patterns = [str(mark.pattern) for mark in marks if getattr(mark, "pattern", None) is not None]
    return any("0-9" in each or r"\d" in each for each in patterns if "a-z" not in each)


def _refers(spec: EntitySpec) -> set[str]:
    """The fields that refer to other items, whose ids may be in order of time."""
    return {own for each in spec.parents for own in each.fields.values() if own not in spec.primary.fields[:1]}


@rule(
    "KP310",
    "ties",
    group="wrong",
    severity="info",
    title="An order in which items can tie",
)
def ties(reviewed: Reviewed) -> Iterator[Violation]:
    """A list is sorted by a key in an index that several items can have, and nothing says which of them comes first.

    The keys of an index needn't be unique. Items with the same one are all there, in an order that DynamoDB doesn't
    define and that can differ between two reads, and between DynamoDB and other engines. Cursors still lead through
    all of them. The coarser the value, the more often it happens: a day, a second, a price, a name.

    End the sort key with what tells the items apart: `{created_at}#{post_id}`.
    """
    seen: set[tuple[str, str]] = set()
    for _, query in reviewed.lists:
        spec, key = query.entities[0].spec, query.key
        last = _last_sorting(query)
        if len(query.entities) > 1 or key.index is None or last is None or (spec.name, key.name) in seen or spec.broken:
            continue
        seen.add((spec.name, key.name))
        if not (is_unique(reviewed, spec, key) or _may_be_unique(spec, last)):
            yield Violation(
                reviewed.at(spec, key=key),
                f"items with the same {last.field} are in no defined order",
                "End the sort key with the fields of the primary key.",
                with_ties_broken(reviewed, spec, key),
                severity=_coarseness(spec, last),
            )


def _may_be_unique(spec: EntitySpec, slot: Slot) -> bool:
    """Whether a field may tell items apart by itself: an id in the primary key that refers to nothing."""
    field = spec.fields[slot.field]
    is_id = field.no_separator and field.name in spec.primary.fields
    return is_id and not any(field.name in each.fields.values() for each in spec.parents)


def _last_sorting(query: Query[Any]) -> Slot | None:
    """The last field by which a query sorts, if it sorts by any."""
    return sort_slots(query.key)[-1] if first_sorting(query) is not None else None


def _coarseness(spec: EntitySpec, slot: Slot) -> Severity:
    """A second or a day is shared by many items, a millisecond by few."""
    annotation = spec.fields[slot.field].annotation
    name = getattr(annotation, "__name__", "")
    coarse = name == "date" or (name == "datetime" and spec.table.times == "seconds")
    return "warning" if coarse else "info"
