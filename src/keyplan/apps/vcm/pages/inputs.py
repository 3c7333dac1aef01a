"""The club's own kinds of input: rich text, images, training times, addresses, and last days."""

from collections.abc import Mapping, Sequence
from copy import copy
from datetime import date, datetime, time, timedelta
from typing import cast

import orjson
from pydantic import JsonValue
from pydantic.fields import FieldInfo

from keyplan.apps.vcm.fields import MOST_SCHEDULES, Address, Schedule
from keyplan.apps.vcm.markdown import from_markdown, to_markdown
from keyplan.apps.vcm.models import NewsOut
from keyplan.apps.vcm.pages.shared import BERLIN
from keyplan.apps.vcm.richtext import BadDocument, checked, excerpt, images_in
from keyplan.web import In, Input, LongText, Unprocessable

_PARTS = {"place": "name", "street": "street", "postal_code": "postalCode", "city": "city"}
"""The fields of a form that ask for an address, and the parts of the address."""
_ROW = {"day": "day", "start": "startTime", "end": "endTime", "place": "locationId"}
"""The same for a training time; a form is flat, and has each of them with a number."""
_ROW_LABELS = {"day": "Wochentage", "start": "Von", "end": "Bis", "place": "Ort"}


def _text_field(info: FieldInfo) -> FieldInfo:
    return FieldInfo(annotation=str, default="", title=info.title, description=info.description)


class RichTextInput(Input):
    """A text that is written with Tiptap, or in Markdown where there are no scripts."""

    template = "inputs/rich_text.html"

    def asked(self, name: str, info: FieldInfo) -> Mapping[str, FieldInfo]:
        """The Markdown, and what Tiptap made."""
        return {name: _text_field(info), f"{name}_json": FieldInfo(annotation=str, default="")}

    def shown(self, name: str, thing: object) -> Mapping[str, object]:
        """The Markdown."""
        return {name: to_markdown(getattr(thing, name)), f"{name}_json": ""}

    def value(self, name: str, typed: In, before: object | None) -> dict[str, JsonValue]:
        """What was written."""
        return document_in(getattr(typed, name), getattr(typed, f"{name}_json"), getattr(before, name, None))

    def texts(self, name: str, sent: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        """The Markdown, also of what was written with Tiptap."""
        try:
            written = to_markdown(checked(document_in("", sent[f"{name}_json"][-1], None)))
        except (KeyError, BadDocument, Unprocessable):
            written = ""
        return {name: [written] if written else sent.get(name, ())}


def document_in(markdown: str, json: str, before: Mapping[str, JsonValue] | None) -> dict[str, JsonValue]:
    """What was written: with Tiptap, or in Markdown. A text that was not touched stays just as it is."""
    if json:
        try:
            found = orjson.loads(json)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise Unprocessable("bad-rich-text", "The text can't be read.", pointer="/content")
        return found
    if before is not None and markdown.strip() == to_markdown(before).strip():
        return dict(before)
    return from_markdown(markdown)


class ExcerptInput(LongText):
    """An excerpt; empty where it is the beginning of the text."""

    def shown(self, name: str, thing: object) -> Mapping[str, object]:
        """What somebody wrote."""
        article = cast("NewsOut", thing)
        return {name: article.excerpt if article.excerpt != excerpt(article.content) else ""}


class ImageInput(Input):
    """One of the media items, or none."""

    template = "inputs/images.html"
    several = False


class ImagesInput(ImageInput):
    """Some of the media items. Images that a text shows are left to the text."""

    several = True

    def __init__(self, beside: str | None = None, *, label: str | None = None) -> None:
        super().__init__(label=label)
        self._text = beside

    def shown(self, name: str, thing: object) -> Mapping[str, object]:
        """Those that stand beside the text."""
        in_text = images_in(getattr(thing, self._text)) if self._text else []
        return {name: [id for id in getattr(thing, name) if id not in in_text]}


class AddressInput(Input):
    """The parts of an address."""

    template = "inputs/address.html"

    def asked(self, name: str, info: FieldInfo) -> Mapping[str, FieldInfo]:
        """A field for each part."""
        return {field: copy(Address.model_fields[part]) for field, part in _PARTS.items()}

    def shown(self, name: str, thing: object) -> Mapping[str, object]:
        """The parts."""
        address = cast("Address | None", getattr(thing, name))
        known = {} if address is None else address.model_dump()
        return {field: known.get(part) for field, part in _PARTS.items()}

    def value(self, name: str, typed: In, before: object | None) -> dict[str, str] | None:
        """The address; None without any part."""
        given = {part: getattr(typed, field) for field, part in _PARTS.items()}
        return {part: text for part, text in given.items() if text} or None


class TrainingsInput(Input):
    """Rows for training times. A stored row without a place is removed; a new one with anything in it needs a place."""

    template = "inputs/trainings.html"
    needs_before = True
    rows = range(MOST_SCHEDULES)

    def asked(self, name: str, info: FieldInfo) -> Mapping[str, FieldInfo]:
        """The fields of all rows."""
        found: dict[str, FieldInfo] = {}
        for row in self.rows:
            for field, label in _ROW_LABELS.items():
                title = f"Training {row + 1}, {label}"
                if field == "day":
                    asks = FieldInfo(annotation=list[int], default_factory=list, title=title)
                else:
                    asks = FieldInfo(annotation=str, default="", title=title)
                found[f"{field}{row}"] = asks
        return found

    def shown(self, name: str, thing: object) -> Mapping[str, object]:
        """A row for each training time, and then empty ones."""
        known = cast("list[Schedule]", getattr(thing, name))
        rows = [*known, *([None] * (len(self.rows) - len(known)))]
        return {
            f"{field}{row}": getattr(each, part, None) for row, each in enumerate(rows) for field, part in _ROW.items()
        }

    def value(self, name: str, typed: In, before: object | None) -> list[dict[str, object]]:
        """The training times."""
        stored = len(cast("list[Schedule]", getattr(before, name, [])))
        rows = ({part: getattr(typed, f"{field}{row}") for field, part in _ROW.items()} for row in self.rows)
        return [row for number, row in enumerate(rows) if row["locationId"] or (number >= stored and any(row.values()))]


class LastDayInput(Input):
    """The last day before something expires, in Berlin."""

    def asked(self, name: str, info: FieldInfo) -> Mapping[str, FieldInfo]:
        """The day."""
        return {"last_day": FieldInfo(annotation=cast("type", date | None), default=None, title=self.label)}

    def shown(self, name: str, thing: object) -> Mapping[str, object]:
        """The day."""
        expiry = cast("datetime | None", getattr(thing, name))
        return {"last_day": None if expiry is None else (expiry.astimezone(BERLIN) - timedelta(seconds=1)).date()}

    def value(self, name: str, typed: In, before: object | None) -> datetime | None:
        """When the day is over."""
        last = cast("date | None", getattr(typed, "last_day"))  # noqa: B009 - the field is made above
        return None if last is None else datetime.combine(last + timedelta(days=1), time(), BERLIN)
