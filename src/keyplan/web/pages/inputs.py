"""Inputs: how a form asks for a field of a body, and how what was typed becomes its value.

The kind follows from the field's type (`input_for`); `Editor(inputs={"email": Line(type="email")})` chooses another.
A system makes a kind of its own with a subclass of `Input` and a template, which is included for each of them and knows
`form` and `each`: `each.name` is the name of the first element, `each.label`, `each.help`, `each.attributes` and
`each.options` are what it shows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypeAlias, get_args, get_origin

from pydantic.fields import FieldInfo

from keyplan.design import plain_type, takes_none
from keyplan.web.models.bodies import In
from keyplan.web.pages.attributes import html_attributes
from keyplan.web.pages.views import View

Options: TypeAlias = Sequence[tuple[str, str]]
"""Pairs of a value and what people read for it."""
OptionsOf: TypeAlias = Options | Callable[[View[Any]], Options]

_LONG = 400
"""Characters from which on a text is asked for with several lines."""


class Input:
    """Base of the kinds; by itself one line of text. Other arguments become attributes of the element."""

    template: ClassVar[str] = "inputs/line.html"
    needs_before: ClassVar[bool] = False
    """Whether its value depends on the thing that is changed."""

    def __init__(
        self, *, label: str | None = None, help: str | None = None, options: OptionsOf = (), **attributes: object
    ) -> None:
        self.label = label
        """What it is called, where that isn't the label of the field."""
        self.help = help
        self.attributes = attributes
        self._options = options

    def asked(self, name: str, info: FieldInfo) -> Mapping[str, FieldInfo]:
        """The fields of the form that ask for a field of the body, by their names in Python."""
        return {name: info}

    def shown(self, name: str, thing: object) -> Mapping[str, object]:
        """What these fields hold at first, for a thing that is to be changed."""
        return {name: getattr(thing, name)}

    def value(self, name: str, typed: In, before: object | None) -> object:
        """The value for the body. `before` is the thing that is changed; None for a new one."""
        return getattr(typed, name)

    def texts(self, name: str, sent: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        """What people read of what they entered, where they can copy it: by the names of the fields that asked."""
        return sent

    def options(self, view: View[Any]) -> Options:
        """What can be chosen."""
        return self._options(view) if callable(self._options) else self._options


class Line(Input):
    """One line of text. `type` is that of the HTML element: email, url, tel ..."""


class Number(Input):
    """A number."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - as of an input
        super().__init__(**{"type": "number", **given})


class Day(Input):
    """A date."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - as of an input
        super().__init__(**{"type": "date", **given})


class LongText(Input):
    """Several lines of text: `rows` at first."""

    template = "inputs/area.html"


class YesNo(Input):
    """A box to be ticked."""

    template = "inputs/tick.html"


class Choice(Input):
    """One of some options."""

    template = "inputs/choice.html"


class Choices(Input):
    """Several of some options; those that are chosen come first."""

    template = "inputs/many.html"


class WallTime(Input):
    """A date and a time of day, as clocks in the time zone of the page show it."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - as of an input
        super().__init__(**{"type": "datetime-local", **given})


@dataclass(frozen=True)
class ShownInput:
    """An input in a form, as its template sees it."""

    input: Input
    name: str
    label: str
    help: str | None
    options: Options

    @property
    def attributes(self) -> Mapping[str, object]:
        """Attributes of the element, beside those that its field has."""
        return self.input.attributes

    @property
    def template(self) -> str:
        """What shows it."""
        return self.input.template


def input_for(field: str, info: FieldInfo) -> Input:
    """The kind of input for a field, by its type."""
    plain = plain_type(info.annotation)
    if get_origin(plain) is Literal:
        return Choice(options=_choices(plain, optional=takes_none(info)))
    if get_origin(plain) is list and get_origin(plain_type(get_args(plain)[0])) is Literal:
        return Choices(options=_choices(plain_type(get_args(plain)[0])))
    if isinstance(plain, type):
        for kinds, made in _KINDS:
            if issubclass(plain, kinds):
                return made(info)
    raise TypeError(f"No kind of input is known for {field}: {info.annotation}. Say it with inputs={{{field!r}: ...}}.")


def _choices(literal: object, *, optional: bool = False) -> Options:
    found = [(str(each), str(each).replace("_", " ").capitalize()) for each in get_args(literal)]
    return [("", "–"), *found] if optional else found


def _number(info: FieldInfo) -> Input:
    return Number() if plain_type(info.annotation) is int else Number(step="any")


def _text(info: FieldInfo) -> Input:
    longest = html_attributes(info).get("maxlength")
    return LongText() if isinstance(longest, int) and longest >= _LONG else Line()


_KINDS: tuple[tuple[tuple[type, ...], Callable[[FieldInfo], Input]], ...] = (
    ((bool,), lambda info: YesNo()),
    ((int, float, Decimal), _number),
    ((datetime,), lambda info: WallTime()),
    ((date,), lambda info: Day()),
    ((str,), _text),
)
"""The kinds of input by types; the first that fits."""
