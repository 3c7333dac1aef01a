"""The limits of fields, as attributes of HTML elements."""

import re
from collections.abc import Iterator
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

_ATTRIBUTES = {"max_length": "maxlength", "min_length": "minlength", "ge": "min", "le": "max"}
"""Limits, and the HTML attributes for them."""


def html_attributes(info: FieldInfo) -> dict[str, object]:
    """The limits of a field, as attributes of its HTML element."""
    kinds = set(kinds_of(info.annotation))
    found: dict[str, object] = {}
    if info.is_required() and not kinds & {bool, list, set, frozenset, tuple}:
        found["required"] = True
    if kinds <= {str, int, float, Decimal, NoneType}:
        for mark in (*info.metadata, *_inner_limits(info.annotation)):
            for limit, attribute in _ATTRIBUTES.items():
                if (value := getattr(mark, limit, None)) is not None:
                    found[attribute] = value
            if (pattern := _html_pattern(getattr(mark, "pattern", None))) is not None:
                found["pattern"] = pattern
    if found.get("minlength") == 1 or "required" not in found:
        found.pop("minlength", None)  # an empty field counts as left out
    return found


_SIMPLE_PATTERN = re.compile(r"\^((?:\[[A-Za-z0-9_-]+\](?:[+*?]|\{\d+(?:,\d*)?\})?)+)\$")


def _html_pattern(pattern: object) -> str | None:
    """A pattern as browsers read it, which differs from Python's; None for all but the plainest."""
    simple = _SIMPLE_PATTERN.fullmatch(pattern) if isinstance(pattern, str) else None
    return None if simple is None else simple[1].replace("-]", r"\-]")


def _inner_limits(annotation: Any) -> Iterator[object]:  # noqa: ANN401 - a type
    """What is said about the types that a value may have."""
    for each in get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ():
        for mark in getattr(each, "__metadata__", ()):
            yield from mark.metadata if isinstance(mark, FieldInfo) else (mark,)


def kinds_of(annotation: Any) -> Iterator[type]:  # noqa: ANN401 - a type
    """The types that a value may have, without annotations. A list is a list, whatever its items are."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from kinds_of(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for each in get_args(annotation):
            yield from kinds_of(each)
    elif isinstance(origin, type):
        yield origin
    elif origin is not None:  # Literal: its values
        yield from (type(each) for each in get_args(annotation))
    elif isinstance(annotation, type):
        yield str if issubclass(annotation, str) else annotation
