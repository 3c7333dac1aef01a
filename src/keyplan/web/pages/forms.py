"""Forms: what was entered becomes an `In`, and its errors are shown beside the fields."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeVar
from zoneinfo import ZoneInfo

import orjson
from markupsafe import Markup
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from keyplan.design import label_of
from keyplan.web.models.bodies import In
from keyplan.web.models.problems import Problem, Stale
from keyplan.web.models.refusals import changed_meanwhile
from keyplan.web.pages.attributes import html_attributes, kinds_of
from keyplan.web.pages.newer import SHOWN, Newer, Texts, digests_of, newer_values
from keyplan.web.pages.zones import as_typed, clock, zone_named
from keyplan.web.routes.once import ALREADY_DONE
from keyplan.web.system.confirm import CONFIRMED

TOKEN, FORM, KEY = "csrf", "form", "idempotency_key"
"""The names of hidden fields: the token that proves that a form is ours, which form of its page it is, and its key."""
MAIN = "main"
"""The name of the form of a page that has one, or of the most important one."""
_OURS = frozenset({TOKEN, FORM, KEY, CONFIRMED, SHOWN})
ZONE, BEFORE, NAMES = ".zone", ".before", ".names"
"""The ends of the names of hidden fields beside others: the zone of a time, the time that was shown first, and what
people read for the values that can be chosen."""
_CHANGED = "This was changed in the meantime. Check what it is now, and try again if you still want to."
"""What a button is refused with if what it is about was changed. The page that has it was made again."""
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
    def is_stale(self) -> bool:
        """Whether it was refused because somebody else had changed the same."""
        return isinstance(self.problem, Stale) or (
            self.problem is not None and self.problem.code == changed_meanwhile().code
        )

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

    def __init__(
        self,
        sent: Sent | None = None,
        hidden: Callable[[str, bool, str], Markup] | None = None,
        start_over: str = "",
    ) -> None:
        self.start_over = start_over
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
        """The form that was sent, if it has errors or was filled in for an older version."""
        if self._sent is None:
            return None
        form = Form(self._sent, None, self) if self._sent.name is None else self._of_sent(self._sent.name)
        return form if self._sent.problem is not None or form.is_outdated else None

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
        self._version = "version"
        self._together: Sequence[Texts] = ()
        self._fields: Mapping[str, tuple[str, FieldInfo]] = {}
        self.messages: Sequence[Message] = ()
        self._is_stale = sent is not None and sent.is_stale
        if sent is not None:
            self.messages = () if sent.problem is None else tuple(_messages(sent.problem))
            if self._is_stale:
                self.messages = () if sent.name is not None else (Message("", _CHANGED),)
            if sent.model is not None:
                self.asking(sent.model)

    @property
    def typed(self) -> bool:
        """Whether the form shows what was entered, which is stored nowhere else."""
        return self._typed is not None

    @property
    def refused(self) -> Form | None:
        """The form of this page that was sent, if it has errors or is outdated: this one or another."""
        if self._forms is not None:
            return self._forms.refused
        return self if self.messages else None

    def hidden(self, *, once: bool = True) -> Markup:
        """The hidden fields that the form begins with, among them a key with which it takes effect once."""
        if self._forms is None or self.name is None:
            return Markup()
        return self._forms.hidden(self.name, once=once) + self._first_values()

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

    def is_seen(self, name: str) -> bool:
        """Whether people see a field."""
        return name not in self._fields or self._fields[name][1].title != ""

    def kinds(self, name: str) -> frozenset[type]:
        """The types that a value of a field may have, without annotations."""
        return frozenset(kinds_of(self._fields[name][1].annotation)) if name in self._fields else frozenset()

    def help(self, name: str) -> str | None:
        """The help text of a field."""
        return self._fields[name][1].description if name in self._fields else None

    def attributes(self, name: str) -> dict[str, object]:
        """The limits of a field, as attributes of its HTML element."""
        return html_attributes(self._fields[name][1]) if name in self._fields else {}

    def starting_from(
        self, before: BaseModel | Mapping[str, object], *, version: str = "version", together: Sequence[Texts] = ()
    ) -> Form:
        """The form with the first values of its fields, which are those that are stored now. What was entered stays.

        `version` is the field that tells one state of what is stored from another. `together` are groups of fields
        that make one value; see `newer`.
        """
        self._before = before.model_dump() if isinstance(before, BaseModel) else before
        self._version, self._together = version, together
        self.__dict__.pop("_newer", None)
        return self

    @property
    def is_outdated(self) -> bool:
        """Whether it was filled in for another version than the one that is stored now."""
        now = self._before.get(self._version)
        if self._typed is None or self._version not in self._typed or now is None:
            return False
        return self._typed[self._version][-1] != str(now)

    @property
    def replaces(self) -> bool:
        """Whether it changes what is stored. A form that adds something only says after what it was filled in."""
        return self._version == "version"

    @property
    def is_behind(self) -> bool:
        """Whether somebody else changed the same since the form was shown."""
        return self._is_stale or self.is_outdated

    def newer(self, name: str) -> Newer | None:
        """The value of a field that is stored now, if somebody else changed it since the form was shown."""
        return self._newer.get(name)

    @property
    def all_newer(self) -> list[Newer]:
        """All of them, in the order of the fields."""
        return list(self._newer.values())

    @cached_property
    def _newer(self) -> Mapping[str, Newer]:
        if self._typed is None or not self.is_outdated:
            return {}
        now = {name: self._stored(name) for name in self._before if self._has(name)}
        now = {name: now[name] for name in [*self._fields, *now] if name in now}
        return newer_values(self._typed, now, self._last_typed(SHOWN), self._together)

    def _has(self, name: str) -> bool:
        """Whether the form that was sent asks for a field. Boxes that aren't ticked aren't sent."""
        if name == self._version or self._typed is None:
            return False
        info = self._fields[name][1] if name in self._fields else None
        return name in self._typed or (
            info is not None and bool({*kinds_of(info.annotation)} & {bool, list, set, frozenset, tuple})
        )

    def _first_values(self) -> Markup:
        """The hidden field that tells later what the form showed first."""
        if self._before.get(self._version) is None:
            return Markup()
        names = (name for name in self._fields or self._before if name in self._before and name != self._version)
        value = digests_of({name: self._stored(name) for name in names})
        return Markup('<input type="hidden" name="{}" value="{}">').format(SHOWN, value)

    def with_messages_at(self, places: Mapping[str, str]) -> Form:
        """The form with messages about some fields shown at others, which ask for the same."""
        self.messages = tuple(Message(places.get(each.field, each.field), each.text) for each in self.messages)
        return self

    def values(self, name: str) -> list[str]:
        """All values of a field, as text."""
        if self._typed is None:
            return self._stored(name)
        newer = self.newer(name)
        return list(newer.texts if newer is not None and newer.is_taken else self._typed.get(name, ()))

    def _stored(self, name: str) -> list[str]:
        before, zone = self._before.get(name), zone_named(self.zone(name))
        several = before if isinstance(before, list | tuple | set | frozenset) else [before]
        return [_shown(each, zone) for each in several if each is not None and each is not False]

    def value(self, name: str) -> str:
        """The value of a field, as text."""
        return next(iter(self.values(name)), "")

    def zone(self, name: str) -> str:
        """The name of the time zone in which a field asks for a time."""
        return self._last_typed(f"{name}{ZONE}") or clock().zone.key

    def time_before(self, name: str) -> str:
        """The time that a field showed first, to the second."""
        before, newer = self._before.get(name), self.newer(name)
        typed = "" if newer is not None and newer.is_taken else self._last_typed(f"{name}{BEFORE}")
        return typed or (before.isoformat() if isinstance(before, datetime) else "")

    def stored(self, name: str) -> object:
        """The value that is stored now."""
        return self._before.get(name)

    def naming(self, name: str, options: Iterable[tuple[object, object]]) -> Markup:
        """A hidden field with what people read for the values of a field, for the page that shows what was entered."""
        names = {str(value): str(text) for value, text in options if value and str(value) != str(text)}
        if self.name is None or not names:
            return Markup()
        value = orjson.dumps(names).decode()
        return Markup('<input type="hidden" name="{}" value="{}">').format(f"{name}{NAMES}", value)

    def named(self, name: str) -> Mapping[str, str]:
        """What people read for the values of a field that was sent, as far as the form told."""
        try:
            found = orjson.loads(self._last_typed(f"{name}{NAMES}"))
        except orjson.JSONDecodeError:
            return {}
        return {value: str(text) for value, text in found.items()} if isinstance(found, dict) else {}

    @property
    def start_over(self) -> str:
        """The URL of the page as it is now, without what was entered."""
        return "" if self._forms is None else self._forms.start_over

    def _last_typed(self, name: str) -> str:
        return next(reversed((self._typed or {}).get(name, ())), "")

    def errors(self, name: str) -> list[str]:
        """The errors of a field."""
        return [message.text for message in self.messages if message.field == name]


def _shown(value: object, zone: ZoneInfo | None) -> str:
    if value is True:
        return "true"
    if isinstance(value, datetime) and value.tzinfo is not None:
        return as_typed(value, zone)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _messages(problem: Problem) -> Iterator[Message]:
    for error in problem.errors:
        yield Message(error.pointer.lstrip("/").partition("/")[0], error.detail)
    if not problem.errors:
        yield Message("", problem.detail)


def values_of(typed: Typed) -> dict[str, list[str]]:
    """What was entered, with its zone, without the hidden fields that the kit adds."""
    return {name: list(texts) for name, texts in typed.items() if name not in _OURS and not name.endswith(NAMES)}


def beside(typed: Typed) -> dict[str, list[str]]:
    """What a form tells beside what was entered: what it showed first, and the names of what was chosen."""
    return {name: list(texts) for name, texts in typed.items() if name == SHOWN or name.endswith(NAMES)}


def is_ours(name: str) -> bool:
    """Whether a hidden field was added by the kit."""
    return name in _OURS or name.endswith((ZONE, BEFORE, NAMES))
