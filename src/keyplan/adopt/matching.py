"""Templates of keys: which literals, and which attributes' values in which formats, make up all texts of a key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from keyplan.adopt.formats import TextFormat, Times, formats_for
from keyplan.adopt.model import Parts, Record, Slot
from keyplan.adopt.names import is_generic, singular, words
from keyplan.adopt.shapes import VALUE, Form
from keyplan.data import AttributeValue

_JOINTS = "#|:/~^+_-@.$=, "
"""Where a value in a key can end, and a literal before a value."""
_TELLING = 4
"""A text of this length isn't equal by chance."""


@dataclass
class Sources:
    """What the values in the keys of an entity's items can come from: its attributes, and what only keys have."""

    records: Sequence[Record]
    separator: str
    times: Times
    values: dict[str, list[AttributeValue | None]]
    """The values of each attribute, by item."""
    variables: dict[str, list[AttributeValue | None]] = field(default_factory=dict)
    """The values that no attribute has, by name and item."""
    twins: dict[str, list[str]] = field(default_factory=dict)
    """For the source of a value in a key: others that have the same value in every item."""

    def all(self) -> Mapping[str, list[AttributeValue | None]]:
        return {**self.values, **self.variables}


@dataclass(frozen=True)
class _Match:
    slot: Slot
    pieces: list[str]
    score: tuple[object, ...]


def parts_of(sources: Sources, numbers: Sequence[int], texts: Sequence[str], form: Form, attribute: str) -> Parts:
    """The template of a key attribute, of whose values the form is known. `numbers` are the items that have it."""
    literals = [part for part in form if part != VALUE]
    parts: list[str | Slot] = []
    rests = list(texts)
    for position, part in enumerate(form):
        joint = sources.separator if position < len(form) - 1 else ""
        if part != VALUE:
            rests = [rest[len(part) + len(joint) :] for rest in rests]
            parts.append(part + joint)
            continue
        following = form[position + 1] if joint else None
        areas = [rest if following is None else _until(rest, joint, following) for rest in rests]
        rests = [rest[len(area) + len(joint) :] for rest, area in zip(rests, areas, strict=True)]
        before = literals[sum(each != VALUE for each in form[:position]) - 1] if position else ""
        parts += [*_area(sources, numbers, areas, before, attribute), joint]
    return _joined(parts)


def _until(rest: str, joint: str, literal: str) -> str:
    """The part of a key before a literal that follows it."""
    ends = rest.find(f"{joint}{literal}{joint}")
    if ends < 0:
        ends = len(rest) - len(joint) - len(literal)
    return rest[:ends]


def _joined(parts: Sequence[str | Slot]) -> Parts:
    joined: list[str | Slot] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part:
            joined.append(part)
    return tuple(joined)


def _area(
    sources: Sources, numbers: Sequence[int], texts: Sequence[str], before: str, attribute: str
) -> Iterator[str | Slot]:
    """The parts of a key between two literals: values, and what stands between them."""
    rests = list(texts)
    while any(rests):
        match: _Match | str | None = _match(sources, numbers, rests, before, attribute)
        literal = "" if match else _common(rests)
        if literal:
            match = _match(sources, numbers, [rest[len(literal) :] for rest in rests], before or literal, attribute)
            if match:
                yield literal
                rests = [rest[len(literal) :] for rest in rests]
        if match is None:
            match = _variable(sources, numbers, rests, before, attribute)
        if isinstance(match, str):
            yield match
            return
        yield match.slot
        rests = [rest[len(piece) :] for rest, piece in zip(rests, match.pieces, strict=True)]
        joint = _joint(rests)
        if joint:
            yield joint
            rests = [rest[len(joint) :] for rest in rests]


def _joint(rests: Sequence[str]) -> str:
    first = rests[0][:1]
    return first if first and first in _JOINTS and all(rest.startswith(first) for rest in rests) else ""


def _common(rests: Sequence[str]) -> str:
    """What all texts begin with, up to where a literal can end."""
    low, high = min(rests), max(rests)
    length = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    while length and low[length - 1] not in _JOINTS:
        length -= 1
    return low[:length] if length > 1 else ""


def _match(
    sources: Sources, numbers: Sequence[int], rests: Sequence[str], before: str, attribute: str
) -> _Match | None:
    """The best attribute whose values are at the beginning of all texts."""
    found: list[_Match] = []
    inside = any(record.inside for record in sources.records)  # what is beside an envelope is from its members
    whole = not is_generic(attribute) and not before and not inside
    whole = whole and list(rests) == [sources.records[number].item[attribute].get("S") for number in numbers]
    for name, everywhere in sources.all().items():
        values = [everywhere[number] for number in numbers]
        present = next((n for n, value in enumerate(values) if value is not None), None)
        if present is None or not ({"S", "N"} & {*values[present]}):  # type: ignore[misc]  # it isn't None
            continue
        for chosen in formats_for(values, rests, sources.times):
            made = _pieces(values, rests, chosen)
            if made is not None:
                pieces, absent = made
                alike = likeness(name, before, attribute)
                if whole and not alike and name in sources.values and pieces == list(rests):
                    break  # the key attribute is a value of its own, which happens to be equal
                varied = len({*pieces}) > 1
                score = (varied, sum(map(len, pieces)), -chosen.rank, alike, name in sources.values)
                found.append(_Match(Slot(name, chosen.suffix, absent), pieces, score))
                break
    if not found:
        return None
    best = max(found, key=lambda match: match.score)
    if not best.score[0] and not best.score[3] and len(best.pieces[0]) < _TELLING:
        return None  # the same short text in every item, and nothing says that it is this attribute
    equal = [match.slot.source for match in found if match.score[:3] == best.score[:3] and match is not best]
    if equal:
        sources.twins[best.slot.source] = equal
    return best


def _pieces(
    values: Sequence[AttributeValue | None], rests: Sequence[str], chosen: TextFormat
) -> tuple[list[str], str] | None:
    """What each text begins with, in this format, and the text for missing values; None if one doesn't fit."""
    pieces: list[str] = []
    absent = ""
    for value, rest in zip(values, rests, strict=True):
        if value is None:
            piece = absent = absent or rest[: next((i for i, c in enumerate(rest) if c in "#|/"), len(rest))]
        else:
            written = chosen.write(next(iter(value.values())))
            if not written:
                return None
            piece = written
        if not piece or not rest.startswith(piece):
            return None
        pieces.append(piece)
    tails = [rest[len(piece) :] for rest, piece in zip(rests, pieces, strict=True)]
    if any(tails) and not _joint(tails):
        return None
    if absent and sum(value is None for value in values) * 2 > len(values):
        return None  # a text that most items have stands for something else than a missing value
    return pieces, absent


def likeness(name: str, before: str, attribute: str) -> int:
    """How many words a name shares with the literal before a value, and with the key attribute."""
    own = {*map(singular, words(name))}
    exact = 3 * (name == attribute)
    return exact + 2 * len(own & {*map(singular, words(before))}) + len(own & {*map(singular, words(attribute))})


def _variable(
    sources: Sources, numbers: Sequence[int], rests: Sequence[str], before: str, attribute: str
) -> "_Match | str":
    """A value that no attribute has; a literal if it is the same word in capitals everywhere."""
    separator = sources.separator
    counts = {rest.count(separator) for rest in rests}
    pieces = [rest.partition(separator)[0] for rest in rests] if len(counts) == 1 else list(rests)
    if not all(pieces):
        pieces = list(rests)
    if len({*rests}) == 1 and len(numbers) > 1 and rests[0].isupper() and not any(map(str.isdigit, rests[0])):
        return rests[0]
    name = before if before and words(before) else attribute
    name = f"{'_'.join(map(singular, words(name)))}_id" if name is before else name
    while name in sources.values or name in sources.variables:
        name = f"{name}_key"
    values: list[AttributeValue | None] = [None] * len(sources.records)
    for number, piece in zip(numbers, pieces, strict=True):
        values[number] = {"S": piece}
    sources.variables[name] = values
    return _Match(Slot(name), pieces, ())
