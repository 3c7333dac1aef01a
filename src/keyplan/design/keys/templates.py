"""Key templates, such as `POSTS_BY_USER#{author_id}`: write keys from values, and read values from keys.

A template never gives the same key for different values (except with `.lower` and `.address`, and with what is computed
of a value: date buckets and shards): a key that wouldn't be read back as the values it was made of is refused. So a
separator in a value is refused only if it would be ambiguous. The last value of a key can contain anything.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from keyplan.design.errors import DesignError, InvalidValue
from keyplan.design.keys.formats import ANY, DIGITS, Element, Fold, Format, Letters, Shape
from keyplan.design.keys.shards import Shards

SEPARATOR = "#"
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_SLOT = re.compile(
    rf"\{{(?:shard\( *(?P<sharded>{_NAME}) *, *(?P<count>[0-9]{{1,9}}) *(?:, *was *= *(?P<was>[0-9]{{1,9}}) *)?\)"
    rf"|(?P<field>{_NAME})(?:\.(?P<way>lower|address|desc))?(?::(?P<spec>[^{{}}|]+))?(?:\|(?P<absent>[^{{}}]+))?)\}}"
)
_MOST_SHAPES = 64


@dataclass(frozen=True)
class Slot:
    """A field in a template."""

    field: str
    fold: Fold | None = None
    """How different values become the same text, if they do."""
    spec: str = ""
    absent: str = ""
    """The text for a missing value. Without one, an item without the value doesn't have this key."""
    inverted: bool = False
    """Whether it sorts in reverse."""
    shards: Shards | None = None
    """For the shard of the field: of how many."""


def _slot(match: re.Match[str]) -> Slot:
    if match["sharded"]:
        return Slot(match["sharded"], shards=Shards(int(match["count"]), int(match["was"]) if match["was"] else None))
    inverted = match["way"] == "desc"
    fold: Fold | None = None if inverted else match["way"]  # type: ignore[assignment]  # by the pattern
    return Slot(match["field"], fold, match["spec"] or "", match["absent"] or "", inverted)


def parse(text: str, place: str) -> tuple[str | Slot, ...]:
    """The literals and slots of a template."""
    parts: list[str | Slot] = []
    end = 0
    for match in _SLOT.finditer(text):
        if match.start() > end:
            parts.append(text[end : match.start()])
        parts.append(_slot(match))
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    if any(isinstance(part, str) and ("{" in part or "}" in part) for part in parts):
        raise DesignError(
            "bad-template",
            place,
            f"{text!r} isn't a valid template",
            "Fields are written as {field}, {field:04}, {field:%Y-%m}, {field.lower}, {field.address}, {field.desc}, "
            "{field|text} or {shard(field, 16)}.",
        )
    if not parts:
        raise DesignError(
            "empty-template", place, "the template is empty", "DynamoDB doesn't allow empty keys. Add text or a field."
        )
    return tuple(parts)


@dataclass(frozen=True)
class Template:
    """A template with the formats of its fields."""

    text: str
    parts: tuple[str | Slot, ...]
    formats: Mapping[Slot, Format]
    place: str

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Its fields in order, without duplicates."""
        return tuple(dict.fromkeys(slot.field for slot in self.slots))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Its slots, in order."""
        return tuple(part for part in self.parts if isinstance(part, Slot))

    @cached_property
    def _recipe(self) -> tuple[str | tuple[Slot, Format], ...]:
        """The parts with their formats, since looking up the format of each slot for each item is slow."""
        return tuple(part if isinstance(part, str) else (part, self.formats[part]) for part in self.parts)

    @cached_property
    def readable_fields(self) -> frozenset[str]:
        """The fields whose values can be read back from a key."""
        return frozenset(
            slot.field for slot in self.slots if not (self.formats[slot].folds or self.formats[slot].computed)
        )

    @cached_property
    def computed_slots(self) -> Mapping[str, Slot]:
        """The slots of the fields that are in a key as a bucket or shard only, by field."""
        written = {slot.field for slot in self.slots if not self.formats[slot].computed}
        return {slot.field: slot for slot in self.slots if slot.field not in written}

    @cached_property
    def by_field(self) -> Mapping[str, tuple[Slot, Format]]:
        """The first slot of each field, with its format."""
        return {slot.field: (slot, self.formats[slot]) for slot in reversed(self.slots)}

    def has_default(self, field: str) -> bool:
        """Whether the template has a text for a missing value of the field."""
        return all(slot.absent for slot in self.slots if slot.field == field)

    def write(self, values: Mapping[str, object], pieces: Mapping[Slot, str] | None = None) -> str | None:
        """The key for these values, or None if one of them is missing. With `pieces`, these slots have other text."""
        text = ""
        for part in self._recipe:
            if isinstance(part, str):
                text += part
                continue
            slot, chosen = part
            if pieces and slot in pieces:
                text += pieces[slot]
                continue
            value = values.get(slot.field)
            if value is None and not slot.absent:
                return None
            text += slot.absent if value is None else self._piece(slot, chosen, value)
        if self.can_be_ambiguous:
            self._check(text, values)
        return text

    def prefix(self, values: Mapping[str, object]) -> str:
        """The key up to the first field that has no value."""
        text = ""
        for part in self._recipe:
            if isinstance(part, str):
                text += part
                continue
            slot, chosen = part
            if slot.field not in values:
                break
            value = values[slot.field]
            if value is None and not slot.absent:
                raise InvalidValue(
                    "empty-key-value", f"{self.place}.{slot.field}", "the value is missing", field=slot.field
                )
            text += slot.absent if value is None else self._piece(slot, chosen, value)
        return text

    def read(self, text: str) -> dict[str, object] | None:
        """The values in a key, or None if the key doesn't match the template."""
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        values: dict[str, object] = {}
        for position, slot in self._reading_order:
            chosen, piece = self.formats[slot], match[position]
            if chosen.computed:
                if not self._agrees(slot, chosen, piece, values):
                    return None
                continue
            try:
                value = None if slot.absent and piece == slot.absent else chosen.read(piece)
            except (ValueError, KeyError):
                return None
            known = values.setdefault(slot.field, value)
            if known != value and not (chosen.folds and known is not None and chosen.write(known) == piece):
                return None
        return values

    @cached_property
    def _reading_order(self) -> Sequence[tuple[int, Slot]]:
        """The slots with their numbers. Folded and computed ones come last: the field may be in the key unchanged."""
        slots = enumerate(self.slots, start=1)
        return sorted(
            slots, key=lambda numbered: self.formats[numbered[1]].folds + 2 * self.formats[numbered[1]].computed
        )

    def _agrees(self, slot: Slot, chosen: Format, piece: str, values: Mapping[str, object]) -> bool:
        """Whether a computed piece of a key is the one of the value in the same key, if that has the value."""
        if slot.field not in values:
            return True
        value = values[slot.field]
        if value is None:
            return piece == slot.absent
        return piece == chosen.write(value) or (chosen.former is not None and piece == chosen.former(value))

    def piece(self, field: str, value: object) -> str:
        """One field's value as it is written in the key."""
        if value is None:
            raise InvalidValue("empty-key-value", f"{self.place}.{field}", "the value is missing", field=field)
        return self._piece(*self.by_field[field], value)

    def _piece(self, slot: Slot, chosen: Format, value: object) -> str:
        field = slot.field
        try:
            text = chosen.write(value)
        except InvalidValue as error:
            raise InvalidValue(error.code, f"{self.place}.{field}", error.problem, field=field) from None
        if not text:
            raise InvalidValue(
                "empty-key-value", f"{self.place}.{field}", "a value in a key can't be empty", field=field
            )
        if SEPARATOR in text and chosen.bare:
            raise InvalidValue(
                "separator-in-id", f"{self.place}.{field}", f"an id can't contain {SEPARATOR!r}: {text!r}", field=field
            )
        return text

    @cached_property
    def can_be_ambiguous(self) -> bool:
        """Whether a key could be read as different values, because the end of a value isn't always clear."""
        slots = [(i, part) for i, part in enumerate(self.parts) if isinstance(part, Slot)]
        return any(not self._ends_itself(i, slot) for i, slot in slots[:-1]) or any(slot.absent for _, slot in slots)

    def ends_itself(self, slot: Slot) -> bool:
        """Whether it is clear where the value of a slot ends, wherever in the key it is."""
        return all(self._ends_itself(i, slot) for i, part in enumerate(self.parts) if part == slot)

    def _ends_itself(self, position: int, slot: Slot) -> bool:
        """Whether a value has a fixed width, or is text without the separator and followed by it."""
        shapes = self.formats[slot].shapes
        if len(shapes) == 1 and not any(isinstance(element, Letters) for element in shapes[0]):
            return True
        following = next(iter(self.parts[position + 1 :]), None)
        return (
            isinstance(following, str)
            and following.startswith(SEPARATOR)
            and not any(_may_separate(element) for shape in shapes for element in shape)
        )

    def _check(self, text: str, values: Mapping[str, object]) -> None:
        read = self.read(text)
        for slot in self.slots:
            field, chosen = slot.field, self.formats[slot]
            if chosen.computed:
                continue  # of one width, so the end is clear
            value, found = values.get(field), None if read is None else read[field]
            if (
                read is None
                or (value is None) != (found is None)
                or (value is not None and chosen.write(found) != chosen.write(value))
            ):
                raise InvalidValue(
                    "ambiguous-key",
                    f"{self.place}.{field}",
                    f"{values[field]!r} would make the key {text!r}, which reads as other values; "
                    "the value can't contain the text that follows it in the key",
                    field=field,
                )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        pieces = [re.escape(part) if isinstance(part, str) else f"({self._slot_pattern(part)})" for part in self.parts]
        return re.compile("".join(pieces), re.DOTALL)

    def _slot_pattern(self, slot: Slot) -> str:
        return "|".join("".join(map(_element_pattern, shape)) for shape in self._slot_shapes(slot))

    def _slot_shapes(self, slot: Slot) -> tuple[Shape, ...]:
        shapes = self.formats[slot].shapes
        return (*shapes, (slot.absent,)) if slot.absent else shapes

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """All shapes of its keys, or one that covers them if there are too many."""
        choices: list[tuple[Shape, ...]] = [
            ((part,),) if isinstance(part, str) else self._slot_shapes(part) for part in self.parts
        ]
        total = 1
        for choice in choices:
            total *= len(choice)
        if total > _MOST_SHAPES:
            choices = [choice if len(choice) == 1 else ((ANY,),) for choice in choices]
        return tuple(tuple(element for shape in combination for element in shape) for combination in product(*choices))

    def may_equal(self, other: "Template") -> bool:
        """Whether some text could be a key of both templates."""
        return any(_meet(mine, theirs) for mine in self.shapes for theirs in other.shapes)


def _may_separate(element: Element) -> bool:
    """Whether a part of a key's shape can contain the separator."""
    return element is ANY or (isinstance(element, str) and SEPARATOR in element)


def _element_pattern(element: Element) -> str:
    if isinstance(element, tuple):
        return rf"[0-9]{{{element[1]}}}"
    if isinstance(element, Letters):
        return ".+?" if element is ANY else f"[^{SEPARATOR}]+?"
    return re.escape(element)


# Two shapes are compared as automata. A state is a position in a list of tokens; a token is a class of characters and
# whether it may repeat.
_Token = tuple[str | Letters, bool]


def _tokens(shape: Shape) -> list[_Token]:
    tokens: list[_Token] = []
    for element in shape:
        if isinstance(element, tuple):
            tokens += [(DIGITS, False)] * element[1]
        elif isinstance(element, Letters):
            tokens += [(element, False), (element, True)]
        else:
            tokens += [(character, False) for character in element]
    return tokens


def _meet(first: Shape, second: Shape) -> bool:
    left, right = _tokens(first), _tokens(second)
    seen: set[tuple[int, int]] = set()
    pending = [(0, 0)]
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        for i in _skips(left, state[0]):
            for j in _skips(right, state[1]):
                if i == len(left) and j == len(right):
                    return True
                if i < len(left) and j < len(right) and _share(left[i][0], right[j][0]):
                    pending.append((i if left[i][1] else i + 1, j if right[j][1] else j + 1))
    return False


def _skips(tokens: list[_Token], position: int) -> Iterator[int]:
    """The positions that can be reached without reading a character, by skipping optional tokens."""
    yield position
    while position < len(tokens) and tokens[position][1]:
        position += 1
        yield position


def _share(first: str | Letters, second: str | Letters) -> bool:
    """Whether a character is in both classes."""
    if isinstance(first, str):
        return first == second if isinstance(second, str) else _contains(second, first)
    if isinstance(second, str):
        return _contains(first, second)
    return True


def _contains(letters: Letters, character: str) -> bool:
    if letters is DIGITS:
        return character in "0123456789"
    return letters is ANY or character != SEPARATOR
