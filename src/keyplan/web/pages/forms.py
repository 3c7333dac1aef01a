"""Forms: what was entered becomes an `In`, and its errors are shown beside the fields."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from markupsafe import Markup
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from starlette.datastructures import FormData

from keyplan.design import CHECKED_ON_WRITE, label_of
from keyplan.web.models.bodies import In
from keyplan.web.models.problems import FieldProblem, Invalid, Problem
from keyplan.web.pages.messages import message_for
from keyplan.web.pages.zones import NoSuchTime, as_typed, clock, read_time
from keyplan.web.routes.once import ALREADY_DONE
from keyplan.web.system.confirm import CONFIRMED

TOKEN, FORM, KEY = "csrf", "form", "idempotency_key"
"""The names of hidden fields: the token that proves that a form is ours, which form of its page it is, and its key."""
MAIN = "main"
"""The name of the form of a page that has one, or of the most important one."""
_OURS = frozenset({TOKEN, FORM, KEY, CONFIRMED})
_ZONE, _BEFORE = ".zone", ".before"
"""The ends of the names of hidden fields beside a time: its zone, and the time that was shown first."""
I = TypeVar("I", bound=In)  # noqa: E741 - an In

Typed = Mapping[str, Sequence[str]]
"""What was entered in each field; several values if several were chosen."""


class OfVersion(In):
    """A button that does something to the version that was seen; base class of forms that change something."""

    version: int

    @property
    def seen(self) -> frozenset[int]:
        """The version, as services take it."""
        return frozenset({self.version})


class Nothing(In):
    """A button without any values."""


@dataclass(frozen=True)
class Message:
    """An error of a field, or of the whole form if it has no field."""

    field: str
    text: str


@dataclass(frozen=True)
class Sent:
    """A form that was sent: which one, what was entered, and what is wrong with it."""

    name: str | None
    """The name of the form in its page; None for a button without fields."""
    typed: Typed
    model: type[In] | None = None
    problem: Problem | None = None
    restored: bool = False
    """Whether it was sent before, and kept until somebody had signed in again."""

    @property
    def key(self) -> str:
        """The one-time key that it can be sent again with; empty if that would have no effect."""
        is_used = self.problem is not None and self.problem.code == ALREADY_DONE
        return "" if is_used else next(iter(self.typed.get(KEY, ())), "")


class Forms:
    """The forms of a page, each with a state of its own: `forms()` is the main one, `forms("member")` another.

    A form of which the page has several, such as one per row, has the row's key: `forms("role", member.user_id)`. What
    was sent, and its errors, belong to the form that was sent. All others show their first values.
    """

    def __init__(self, sent: Sent | None = None, hidden: Callable[[str, bool, str], Markup] | None = None) -> None:
        self._sent = sent
        self._hidden = hidden or (lambda name, once, key: Markup())
        self._made: dict[str, Form] = {}
        self._shown: set[str] = set()

    def __call__(self, name: str = MAIN, row: object = None) -> Form:
        """The form with this name, and in its row."""
        full = name if row is None else f"{name}-{hashlib.sha256(str(row).encode()).hexdigest()[:12]}"
        if full not in self._made:
            is_sent = self._sent is not None and self._sent.name == full
            self._made[full] = Form(self._sent if is_sent else None, full, self)
        return self._made[full]

    @property
    def refused(self) -> Form | None:
        """The form that was sent and has errors."""
        if self._sent is None or self._sent.problem is None:
            return None
        return Form(self._sent, None, self) if self._sent.name is None else self._of_sent(self._sent.name)

    @property
    def has_shown_sent(self) -> bool:
        """Whether the page shows the form that was sent, or what was sent is a button, which has nothing to show."""
        return self._sent is None or self._sent.name is None or self._sent.name in self._shown

    @property
    def restored(self) -> bool:
        """Whether the form that was sent is shown again after somebody had signed in again."""
        return self._sent is not None and self._sent.restored

    def _of_sent(self, name: str) -> Form:
        return self._made.get(name) or Form(self._sent, name, self)

    def hidden(self, name: str, *, once: bool) -> Markup:
        """The hidden fields of a form. One that is shown again keeps its key: it is still the same form."""
        self._shown.add(name)
        is_sent = self._sent is not None and self._sent.name == name
        return self._hidden(name, once, self._sent.key if self._sent is not None and is_sent else "")


class Form:
    """What a form shows: what was entered or stored before, and the errors."""

    def __init__(self, sent: Sent | None = None, name: str | None = MAIN, forms: Forms | None = None) -> None:
        self.name = name
        self._typed = None if sent is None else sent.typed
        self._forms = forms
        self._before: Mapping[str, object] = {}
        self._fields: Mapping[str, tuple[str, FieldInfo]] = {}
        self.messages: Sequence[Message] = ()
        if sent is not None:
            self.messages = () if sent.problem is None else tuple(_messages(sent.problem))
            if sent.model is not None:
                self.asking(sent.model)

    @property
    def typed(self) -> bool:
        """Whether the form shows what was entered, which is stored nowhere else."""
        return self._typed is not None

    @property
    def refused(self) -> Form | None:
        """The form of this page that was sent and has errors: this one or another."""
        if self._forms is not None:
            return self._forms.refused
        return self if self.messages else None

    def hidden(self, *, once: bool = True) -> Markup:
        """The hidden fields that the form begins with, among them a key with which it takes effect once."""
        return Markup() if self._forms is None or self.name is None else self._forms.hidden(self.name, once=once)

    def id(self, what: str, field: str) -> str:
        """The HTML id of a field, its hint or its error. No two forms of a page have the same."""
        return f"{what}-{field}" if self.name in (MAIN, None) else f"{what}-{self.name}-{field}"

    def asking(self, model: type[In]) -> Form:
        """The form for a model, which has the labels, help texts and limits of the fields."""
        self._fields = {info.alias or name: (name, info) for name, info in model.model_fields.items()}
        return self

    def label(self, name: str) -> str:
        """The label of a field."""
        if name not in self._fields:
            return name.replace("_", " ").capitalize()
        return label_of(*self._fields[name])

    def help(self, name: str) -> str | None:
        """The help text of a field."""
        return self._fields[name][1].description if name in self._fields else None

    def attributes(self, name: str) -> dict[str, object]:
        """The limits of a field, as attributes of its HTML element."""
        return html_attributes(self._fields[name][1]) if name in self._fields else {}

    def starting_from(self, before: BaseModel | Mapping[str, object]) -> Form:
        """The form with the first values of its fields. What was entered stays."""
        self._before = before.model_dump() if isinstance(before, BaseModel) else before
        return self

    def with_messages_at(self, places: Mapping[str, str]) -> Form:
        """The form with messages about some fields shown at others, which ask for the same."""
        self.messages = tuple(Message(places.get(each.field, each.field), each.text) for each in self.messages)
        return self

    def values(self, name: str) -> list[str]:
        """All values of a field, as text."""
        if self._typed is not None:
            return list(self._typed.get(name, ()))
        before = self._before.get(name)
        several = before if isinstance(before, list | tuple | set | frozenset) else [before]
        return [_shown(each) for each in several if each is not None and each is not False]

    def value(self, name: str) -> str:
        """The value of a field, as text."""
        return next(iter(self.values(name)), "")

    def zone(self, name: str) -> str:
        """The name of the time zone in which a field asks for a time."""
        return self._last_typed(f"{name}{_ZONE}") or clock().zone.key

    def time_before(self, name: str) -> str:
        """The time that a field showed first, to the second."""
        before = self._before.get(name)
        return self._last_typed(f"{name}{_BEFORE}") or (before.isoformat() if isinstance(before, datetime) else "")

    def _last_typed(self, name: str) -> str:
        return next(reversed((self._typed or {}).get(name, ())), "")

    def is_outdated(self, version: int) -> bool:
        """Whether the form was filled in for another version than this, the latest one."""
        filled_in_for = (self._typed or {}).get("version", [""])
        return filled_in_for[-1] not in ("", str(version))

    def errors(self, name: str) -> list[str]:
        """The errors of a field."""
        return [message.text for message in self.messages if message.field == name]


_ATTRIBUTES = {"max_length": "maxlength", "min_length": "minlength", "ge": "min", "le": "max"}
"""Limits, and the HTML attributes for them."""


def html_attributes(info: FieldInfo) -> dict[str, object]:
    """The limits of a field, as attributes of its HTML element."""
    kinds = set(_kinds(info.annotation))
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


def _shown(value: object) -> str:
    if value is True:
        return "true"
    if isinstance(value, datetime) and value.tzinfo is not None:
        return as_typed(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _messages(problem: Problem) -> Iterator[Message]:
    for error in problem.errors:
        yield Message(error.pointer.lstrip("/").partition("/")[0], error.detail)
    if not problem.errors:
        yield Message("", problem.detail)


def values_of(typed: Typed) -> dict[str, list[str]]:
    """What was entered, with its zone, without the hidden fields that every form has."""
    return {name: list(texts) for name, texts in typed.items() if name not in _OURS}


def typed_in(sent: FormData) -> dict[str, list[str]]:
    """The texts of a form. Files aren't sent with forms but to the store of files."""
    typed: dict[str, list[str]] = {}
    for name, value in sent.multi_items():
        if isinstance(value, str):
            # A browser sends each line break as two characters.
            typed.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return typed


def read_form(model: type[I], typed: Typed) -> I:
    """What was entered, as a model. Raises `Invalid` with a message for each field that isn't valid.

    An empty field is None if the model allows it, is left out if it isn't a text field, and an unchecked box is false.
    A time is one of the zone that the form names. Fields that the model doesn't have are refused.
    """
    values: dict[str, object] = {name: texts[-1] for name, texts in typed.items() if texts and not _is_ours(name)}
    skipped: list[FieldProblem] = []
    for name, field in model.model_fields.items():
        sent_as = field.alias or name
        value = _value(field, typed.get(sent_as, ()))
        values.pop(sent_as, None)
        if value is not _LEFT_OUT:
            try:
                values[sent_as] = _time(sent_as, value, typed) if _asks_for_time(field) else value
            except NoSuchTime as error:
                skipped.append(FieldProblem(f"/{sent_as}", str(error), "no-such-time"))
    try:
        read = model.model_validate(values, context=CHECKED_ON_WRITE)
    except ValidationError as error:
        known = {each.pointer for each in skipped}
        others = [each for each in invalid(error, model).errors if each.pointer not in known]
        raise Invalid([*skipped, *others]) from error
    if skipped:
        raise Invalid(skipped)
    return read


def _is_ours(name: str) -> bool:
    return name in _OURS or name.endswith((_ZONE, _BEFORE))


def _asks_for_time(field: FieldInfo) -> bool:
    return datetime in _kinds(field.annotation)


def _time(name: str, value: object, typed: Typed) -> object:
    zone, before = (next(reversed(typed.get(f"{name}{each}", ())), None) for each in (_ZONE, _BEFORE))
    return read_time(value, zone, before) if isinstance(value, str) else value


def invalid(error: ValidationError, model: type[In] | None = None) -> Invalid:
    """What pydantic refused, as a problem with messages for people. `model` knows the labels of its fields."""
    form = Form() if model is None else Form().asking(model)
    return Invalid([_field_problem(each, form) for each in error.errors(include_url=False)])


_LEFT_OUT = object()


def _value(field: FieldInfo, texts: Sequence[str]) -> object:
    kinds = set(_kinds(field.annotation))
    if kinds & {list, set, frozenset, tuple}:
        return [text for text in texts if text]
    if bool in kinds:
        return texts[-1] if texts else False
    text = texts[-1] if texts else ""
    if text or (texts and str in kinds and NoneType not in kinds):
        return _choices(field.annotation).get(text, text)
    return None if NoneType in kinds and texts else _LEFT_OUT


def _choices(annotation: Any) -> dict[str, object]:  # noqa: ANN401 - a type
    """The values of a `Literal`, by the texts that browsers send for them: a choice of numbers is not parsed."""
    if get_origin(annotation) in (Union, UnionType):
        return {text: value for each in get_args(annotation) for text, value in _choices(each).items()}
    return {str(each): each for each in get_args(annotation)} if get_origin(annotation) is Literal else {}


def _kinds(annotation: Any) -> Iterator[type]:  # noqa: ANN401 - a type
    """The types that a value may have, without annotations. A list is a list, whatever its items are."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _kinds(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for each in get_args(annotation):
            yield from _kinds(each)
    elif isinstance(origin, type):
        yield origin
    elif origin is not None:  # Literal: its values
        yield from (type(each) for each in get_args(annotation))
    elif isinstance(annotation, type):
        yield str if issubclass(annotation, str) else annotation


def _field_problem(error: ErrorDetails, form: Form) -> FieldProblem:
    pointer = "".join(f"/{step}" for step in error["loc"])
    label = form.label(str(error["loc"][0])) if error["loc"] else "value"
    return FieldProblem(pointer, message_for(error, label), error["type"].replace("_", "-"))
