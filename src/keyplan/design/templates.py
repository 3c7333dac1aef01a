"""Key templates: `POSTS_BY_USER#{author_id}`, written from values, read back into values, told apart from each other.

A template never gives the same key for different values (but for a declared fold of case): a text that would not be
read back as the values it was made of is refused. So a separator inside a value is refused only where it would be
ambiguous; the last value of a key may hold anything.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from keyplan.design.errors import DesignError, InvalidValue
from keyplan.design.formats import ANY, BARE, DIGITS, Element, Format, Letters, Shape

SEPARATOR = "#"
_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(\.lower)?(?::([^{}|]+))?(?:\|([^{}]+))?\}")
_MOST_SHAPES = 64


@dataclass(frozen=True)
class Slot:
    """A place for a field's value."""

    field: str
    lower: bool = False
    spec: str = ""
    absent: str = ""
    """What stands in the key where the value is absent; with none, the item has no such key."""


def parse(text: str, place: str) -> tuple[str | Slot, ...]:
    """The literals and slots of a template."""
    parts: list[str | Slot] = []
    end = 0
    for match in _SLOT.finditer(text):
        if match.start() > end:
            parts.append(text[end : match.start()])
        parts.append(Slot(match[1], bool(match[2]), match[3] or "", match[4] or ""))
        end = match.end()
    if end < len(text):
        parts.append(text[end:])
    if any(isinstance(part, str) and ("{" in part or "}" in part) for part in parts):
        raise DesignError("bad-template", place, f"{text!r} can not be read", "Slots look like {field} or {field:04}.")
    if not parts:
        raise DesignError("empty-template", place, "an empty key", "DynamoDB has no empty keys; give it a text.")
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
        """Its fields, each once, in order."""
        return tuple(dict.fromkeys(slot.field for slot in self.slots))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Its slots, in order."""
        return tuple(part for part in self.parts if isinstance(part, Slot))

    @cached_property
    def _recipe(self) -> tuple[str | tuple[Slot, Format], ...]:
        """The parts with their formats at hand: keys are made for every item, and to look a slot up takes its hash."""
        return tuple(part if isinstance(part, str) else (part, self.formats[part]) for part in self.parts)

    def has_default(self, field: str) -> bool:
        """Whether the template says what stands for an absent value of the field."""
        return all(slot.absent for slot in self.slots if slot.field == field)

    def write(self, values: Mapping[str, object]) -> str | None:
        """The key of these values; None where one of them is absent."""
        text = ""
        for part in self._recipe:
            if isinstance(part, str):
                text += part
                continue
            slot, chosen = part
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
            value = values.get(slot.field)
            if value is None:
                break
            text += self._piece(slot, chosen, value)
        return text

    def read(self, text: str) -> dict[str, object] | None:
        """The values in a key; None where the key is not of this template."""
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        values: dict[str, object] = {}
        # What is folded comes last: the same field may stand elsewhere as it is.
        slots = enumerate(self.slots, start=1)
        for position, slot in sorted(slots, key=lambda numbered: self.formats[numbered[1]].folds):
            chosen, piece = self.formats[slot], match[position]
            try:
                value = None if slot.absent and piece == slot.absent else chosen.read(piece)
            except (ValueError, KeyError):
                return None
            known = values.setdefault(slot.field, value)
            if known != value and not (chosen.folds and known is not None and chosen.write(known) == piece):
                return None
        return values

    def piece(self, field: str, value: object) -> str:
        """One field's value, as it stands in the key."""
        if value is None:
            raise InvalidValue("empty-key-value", f"{self.place}.{field}", "the value is missing", field=field)
        slot = next(slot for slot in self.slots if slot.field == field)
        return self._piece(slot, self.formats[slot], value)

    def _piece(self, slot: Slot, chosen: Format, value: object) -> str:
        field = slot.field
        try:
            text = chosen.write(value)
        except InvalidValue as error:
            raise InvalidValue(error.code, f"{self.place}.{field}", error.problem, field=field) from None
        if not text:
            raise InvalidValue(
                "empty-key-value", f"{self.place}.{field}", "a value in a key must not be empty", field=field
            )
        if SEPARATOR in text and chosen.bare:
            raise InvalidValue(
                "separator-in-id", f"{self.place}.{field}", f"an id must not hold {SEPARATOR!r}: {text!r}", field=field
            )
        return text

    @cached_property
    def can_be_ambiguous(self) -> bool:
        """Whether values could be cut out of a key in more than one way: where an end is not told by what it is."""
        last = max((i for i, part in enumerate(self.parts) if isinstance(part, Slot)), default=0)
        return any(
            isinstance(part, Slot) and not self._ends_itself(i, part) for i, part in enumerate(self.parts[:last])
        )

    def _ends_itself(self, position: int, slot: Slot) -> bool:
        """Whether a slot has one width, or is a text without the separator that the separator follows."""
        shapes = self._slot_shapes(slot)
        if shapes == BARE:
            following = self.parts[position + 1]
            return isinstance(following, str) and following.startswith(SEPARATOR)
        return len(shapes) == 1 and not any(isinstance(element, Letters) for element in shapes[0])

    def _check(self, text: str, values: Mapping[str, object]) -> None:
        read = self.read(text)
        for slot in self.slots:
            field, chosen = slot.field, self.formats[slot]
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
                    "the text that follows this field in the key must not stand in it",
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
        """All shapes of its keys; one that covers them where there are too many."""
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
        """Whether some text is a key of both."""
        return any(_meet(mine, theirs) for mine in self.shapes for theirs in other.shapes)


def _element_pattern(element: Element) -> str:
    if isinstance(element, tuple):
        return rf"[0-9]{{{element[1]}}}"
    if isinstance(element, Letters):
        return ".+?" if element is ANY else f"[^{SEPARATOR}]+?"
    return re.escape(element)


# Two shapes are compared as automata: a state is a position in a list of tokens, a token is a character class and
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
    """The positions that can be reached without reading: behind any tokens that may stand no time at all."""
    yield position
    while position < len(tokens) and tokens[position][1]:
        position += 1
        yield position


def _share(first: str | Letters, second: str | Letters) -> bool:
    """Whether a character is in both classes."""
    if isinstance(first, str):
        return first == second if isinstance(second, str) else _holds(second, first)
    if isinstance(second, str):
        return _holds(first, second)
    return True


def _holds(letters: Letters, character: str) -> bool:
    if letters is DIGITS:
        return character in "0123456789"
    return letters is ANY or character != SEPARATOR
