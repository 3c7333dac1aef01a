"""Example values of a type, within its limits. The same name, type and number always give the same value."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import BaseModel, PydanticUserError, Secret, SecretBytes, SecretStr, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from keyplan.design.entities.vectors import Vector
from keyplan.design.errors import DesignError
from keyplan.design.examples.texts import text_of_pattern
from keyplan.design.fields.declarations import Kind
from keyplan.design.values.aliases import aliased, expanded, is_alias, member_types
from keyplan.design.values.annotations import has_members

MOMENT = datetime(2026, 1, 31, 12, tzinfo=UTC)
"""The time of the first example. Each next one is a minute later."""
EXPIRY = datetime(2099, 12, 31, tzinfo=UTC)
"""When examples expire: never, as far as reads are concerned."""
_DEEPEST = 6


class _TooDeep(DesignError):
    """What contains itself has no example that ends here: a list of it is empty."""


def example_value(name: str, annotation: object, info: FieldInfo | None = None, number: int = 1) -> object:
    """An example value of a type, for a field or a parameter with this name; another one for each number.

    It respects the limits that the type and `info` declare. An example in `Field(examples=[...])` is used. Raises
    `DesignError` if no value is found that the limits accept.
    """
    marks = [] if info is None else list(info.metadata)
    declared = [] if info is None else list(info.examples or ())
    return _value(name, annotation, marks, declared, number, _DEEPEST)


def words_of(name: str) -> str:
    """What texts of a field begin with: `author_id` becomes `author`, `locationId` `location`."""
    dashed = re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", name).lower().replace("_", "-").strip("-")
    return dashed.removesuffix("-id") or "id"


def _value(
    name: str, annotation: object, marks: Sequence[object], declared: Sequence[object], number: int, depth: int
) -> object:
    """The first candidate that the type and the marks accept."""
    inner = annotation
    while hasattr(inner, "__metadata__") or is_alias(inner):
        if hasattr(inner, "__metadata__"):
            own, inner = inner.__metadata__, get_args(inner)[0]
            marks = [*own, *marks]
            declared = declared or [each for mark in own for each in (getattr(mark, "examples", None) or ())]
        elif expanded(inner) is inner:
            break  # it contains itself
        else:
            inner = aliased(inner)
    flat = [each for mark in marks for each in (mark.metadata if isinstance(mark, FieldInfo) else (mark,))]
    accepts = _validator(Annotated[(annotation, *marks)] if marks else annotation)
    for candidate in _candidates(name, inner, flat, declared, number, depth):
        try:
            return accepts(candidate)
        except (ValidationError, ValueError, TypeError):
            continue
        except PydanticUserError:  # the type is only defined in what contains it, which is checked
            return candidate
    problem = "no example value was found that its limits accept"
    remedy = "Declare one: Annotated[..., about(..., example=...)] or Field(examples=[...])."
    if depth == 0:
        raise _TooDeep("no-example", name, problem, remedy)
    raise DesignError("no-example", name, problem, remedy)


def _validator(annotation: Any) -> Any:  # noqa: ANN401 - a function of any values
    try:
        return partial(TypeAdapter(annotation).validate_python, by_name=True, by_alias=False)
    except (PydanticUserError, TypeError):
        return lambda value: value  # such as a type that only an entity's settings allow


def _candidates(
    name: str, kind: object, marks: Sequence[object], declared: Sequence[object], number: int, depth: int
) -> Iterator[object]:
    for each in declared:
        yield from _variations(each, number)
    arguments = get_args(kind)
    origin = get_origin(kind)
    if depth == 0:
        yield from _scalars(name, kind, marks, number) if isinstance(kind, type) else ()
        yield from ([], {}, None, "")
    elif origin is Literal:
        yield arguments[0]
    elif origin in (Union, UnionType):
        for each in sorted(arguments, key=lambda each: each is NoneType):
            with suppress(DesignError):  # another one of them may have an example
                yield None if each is NoneType else _value(name, each, marks, (), number, depth - 1)
    elif origin is Secret:
        yield _value(name, arguments[0], marks, (), number, depth - 1)
    elif has_members(kind):
        members = {each: _value(each, hint, (), (), number, depth - 1) for each, hint in member_types(kind).items()}
        base: Any = origin or kind
        yield base(**members) if isinstance(base, type) and issubclass(base, tuple) else members
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        below = depth - 2 if _contains_itself(kind) else _DEEPEST
        yield {
            each: _value(each, info.annotation, info.metadata, info.examples or (), number, max(0, below))
            for each, info in kind.model_fields.items()
        }
    elif is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        yield {each.name: _value(each.name, hints[each.name], (), (), number, depth - 1) for each in fields_of(kind)}
    elif isinstance(origin, type) or kind in (list, tuple, set, frozenset, dict):
        base = origin or kind
        yield from _containers(name, base if isinstance(base, type) else list, arguments, marks, number, depth)
    else:
        yield from _scalars(name, kind, marks, number)


def _contains_itself(kind: type[BaseModel]) -> bool:
    """Whether a value of a model can have others of the same model somewhere in it."""
    found: set[object] = set()
    left = _inside(kind)
    while left:
        each = left.pop()
        if each is kind:
            return True
        if isinstance(each, type) and each not in found:
            found.add(each)
            left += _inside(each)
        left += get_args(each)
    return False


def _inside(kind: type) -> list[object]:
    """The types of a model's, a dataclass's or a typed dictionary's members."""
    if issubclass(kind, BaseModel):
        return [info.annotation for info in kind.model_fields.values()]
    if has_members(kind):
        return list(member_types(kind).values())
    return list(get_type_hints(kind, include_extras=True).values()) if is_dataclass(kind) else []


def _containers(
    name: str, kind: type, arguments: Sequence[object], marks: Sequence[object], number: int, depth: int
) -> Iterator[object]:
    if issubclass(kind, Mapping):
        of_key, of_value = arguments or (str, str)
        with suppress(_TooDeep):
            yield {_value("key", of_key, (), (), number, depth - 1): _value(name, of_value, (), (), number, depth - 1)}
        yield {}
        return
    vector = next((mark for mark in marks if isinstance(mark, Vector)), None)
    if vector is not None:
        yield [((number * 7 + place * 3) % 10 + 1) / 10 for place in range(vector.dimensions)]
        return
    singular = name.removesuffix("s") if len(name) > 1 else name
    if issubclass(kind, tuple) and Ellipsis not in arguments:
        yield tuple(
            _value(f"{name}-{place}", each, (), (), number, depth - 1) for place, each in enumerate(arguments, 1)
        )
        return
    if issubclass(kind, (Sequence, Set)) or kind in (Iterable, Sequence):
        least = max(1, _limit(marks, "min_length", 1))
        of_each = arguments[0] if arguments else str
        with suppress(_TooDeep):
            yield [_value(singular, of_each, (), (), number + place, depth - 1) for place in range(least)]
        yield []


def _limit(marks: Sequence[object], name: str, otherwise: int) -> int:
    found = [value for mark in marks if isinstance(value := getattr(mark, name, None), int)]
    return found[-1] if found else otherwise


def _scalars(name: str, kind: object, marks: Sequence[object], number: int) -> Iterator[object]:
    if not isinstance(kind, type):
        yield from (f"{words_of(name)}-{number}", number, None)
        return
    if issubclass(kind, Enum):
        yield next(iter(kind))
    elif kind is bool:
        yield True
        yield False
    elif issubclass(kind, datetime):
        expires = any(isinstance(mark, Kind) and mark.kind == "ttl" for mark in marks)
        moment = EXPIRY if expires else MOMENT + timedelta(minutes=number - 1)
        yield moment
        yield moment.replace(tzinfo=None)
    elif issubclass(kind, date):
        yield (MOMENT + timedelta(days=number - 1)).date()
    elif issubclass(kind, time):
        yield MOMENT.time()
    elif issubclass(kind, timedelta):
        yield timedelta(minutes=number)
    elif issubclass(kind, UUID):
        yield UUID(int=number, version=4) if number > 1 else UUID(int=1)
    elif issubclass(kind, (int, float, Decimal)):
        yield from _numbers(kind, marks, number)
    elif issubclass(kind, (bytes, SecretBytes)):
        text = f"{words_of(name)}-{number}".encode()
        yield from (text, text.ljust(_limit(marks, "min_length", 0), b"-")[: _limit(marks, "max_length", len(text))])
    elif issubclass(kind, (str, SecretStr, Secret)) or kind is object:
        yield from _texts(name, marks, number)
    else:  # a class with a pydantic schema of its own
        yield from (*_texts(name, marks, number), number, {}, [])


def _numbers(kind: type[int] | type[float] | type[Decimal], marks: Sequence[object], number: int) -> Iterator[object]:
    """Whole numbers within the limits; for others, with a half."""
    bounds = {
        name: float(value)
        for mark in marks
        for name in ("ge", "gt", "le", "lt", "multiple_of")
        if (value := getattr(mark, name, None)) is not None
    }
    step = bounds.get("multiple_of", 1.0)
    low = max(bounds.get("ge", -1e30), bounds.get("gt", -1e30) + step)
    high = min(bounds.get("le", 1e30), bounds.get("lt", 1e30) - step)
    first = low if low > step or high < step else step
    room = max(1, int((high - first) // step) + 1)
    whole = first + (number - 1) % room * step
    if not issubclass(kind, int):
        yield Decimal(str(whole + 0.5)) if issubclass(kind, Decimal) else whole + 0.5
        yield Decimal(str(whole)) if issubclass(kind, Decimal) else whole
        middle = (max(low, -1e6) + min(high, 1e6)) / 2
        yield Decimal(str(middle)) if issubclass(kind, Decimal) else middle
        return
    yield int(whole)
    yield from (int(low) if low > -1e30 else 0, int(high) if high < 1e30 else 0, 0)


def _texts(name: str, marks: Sequence[object], number: int) -> Iterator[str]:
    """Texts that most limits accept, the plainest first."""
    base = words_of(name)
    least, most = _limit(marks, "min_length", 0), _limit(marks, "max_length", 10_000)
    address, link = f"{base}-{number}@example.com", f"https://example.com/{base}-{number}"
    last = base.rpartition("-")[2]
    if "mail" in last:
        yield address
    if last in ("url", "link", "website", "homepage"):
        yield link
    cut = base[: max(0, most - len(str(number)) - 1)].rstrip("-") or "x"
    for text in (f"{cut}-{number}", f"{cut}{number}".replace("-", ""), f"{cut}_{number}".replace("-", "_")):
        yield text if len(text) >= least else text.ljust(least, "0")
    yield from (str(number).zfill(least), address, link, f"+49 30 {number:07}", f"#{number:06x}", base)
    for mark in marks:
        pattern = getattr(mark, "pattern", None)
        if pattern is not None:
            text_or_none = text_of_pattern(getattr(pattern, "pattern", pattern), number)
            if text_or_none is not None:
                yield text_or_none
    moment = MOMENT + timedelta(minutes=number - 1)
    yield from (moment.strftime("%H:%M"), moment.date().isoformat(), moment.isoformat().replace("+00:00", "Z"))
    yield from (str(UUID(int=number)), "en", "US", "USD", "")


def _variations(given: object, number: int) -> Iterator[object]:
    """A declared example for the first number, and texts that differ from it for the others."""
    if number == 1 or not isinstance(given, str):
        yield given
        return
    user, at, domain = given.partition("@")
    if at:
        yield f"{user}{number}@{domain}"
    yield from (f"{given}-{number}", f"{given}{number}", f"{given}_{number}", f"{given} {number}")
